package noise

import (
	"crypto/aes"
	"crypto/cipher"
	"encoding/binary"
)

// chunkWords is how many words are made at a time: few, to stay in the first-level cache beside a table, but enough to
// make the cipher's cost of a call small.
const chunkWords = 128

// zeros is what the keystream is added to.
var zeros [8 * chunkWords]byte

// keystream is the words of one seed: AES-256 in counter mode from a zero IV, words little-endian. The word at position i
// may be extended to any length by words from counter blocks that the mode never reaches.
type keystream struct {
	seed  Seed
	block cipher.Block
	ctr   cipher.Stream
	iv    [aes.BlockSize]byte
	buf   [8 * chunkWords]byte
}

// open starts the keystream of seed at word 0.
func (k *keystream) open(seed Seed) {
	k.seed = seed
	block, err := aes.NewCipher(k.seed[:])
	if err != nil {
		panic("BUG: noise: AES refuses a key of 32 bytes")
	}
	k.block = block
	k.ctr = cipher.NewCTR(block, k.iv[:])
}

// next returns the next n ≤ chunkWords words as bytes, valid until the next call.
func (k *keystream) next(n int) []byte {
	b := k.buf[:8*n]
	k.ctr.XORKeyStream(b, zeros[:8*n])
	return b
}

// extension returns the words that follow the word at position i, one a call. Words 2p and 2p+1 are the block
// 0x01 ‖ i u32 ‖ p u64 ‖ 0 0 0 (little-endian) encrypted; the counter mode's first byte stays 0.
func (k *keystream) extension(i uint32) func() uint64 {
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

// wordAt returns word i of what next returned.
func wordAt(words []byte, i int) uint64 { return binary.LittleEndian.Uint64(words[8*i:]) }
