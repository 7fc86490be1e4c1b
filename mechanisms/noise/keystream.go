package noise

import (
	"crypto/aes"
	"crypto/cipher"
	"encoding/binary"
)

// keystream is the words of one seed: AES-256 in counter mode from a zero IV, words little-endian. The word at position
// i may be extended to any length by words from counter blocks that the mode never reaches.
type keystream struct {
	seed Seed
	words
	block cipher.Block // of the extension, made when first asked for
}

// open starts the keystream of seed at word 0.
func (k *keystream) open(seed Seed) {
	k.seed, k.block = seed, nil
	k.start(&k.seed)
}

// extension returns the words that follow the word at position i, one a call. Words 2p and 2p+1 are the block
// 0x01 ‖ i u32 ‖ p u64 ‖ 0 0 0 (little-endian) encrypted; the counter mode's first byte stays 0.
func (k *keystream) extension(i uint32) func() uint64 {
	if k.block == nil {
		k.block = newCipher(&k.seed)
	}
	block := k.block
	var in, out [aes.BlockSize]byte
	in[0] = 0x01
	binary.LittleEndian.PutUint32(in[1:], i)
	word := uint64(0)
	return func() uint64 {
		half := word % 2
		if half == 0 {
			binary.LittleEndian.PutUint64(in[5:], word/2)
			block.Encrypt(out[:], in[:])
		}
		word++
		return binary.LittleEndian.Uint64(out[8*half:])
	}
}
