package noise

import (
	"crypto/aes"
	"crypto/cipher"
	"encoding/binary"
)

// keystream produces the words of one seed: AES-256 in counter mode from a zero IV, words little-endian. The word at
// position i may be extended to any length by words from counter blocks that the mode never reaches.
type keystream struct {
	seed Seed
	words
	block cipher.Block // for the extension of the stream; made on first use
}

// open starts the keystream of seed at word 0.
func (k *keystream) open(seed Seed) {
	k.seed, k.block = seed, nil
	k.start(&k.seed)
}

// extension returns a function that returns the words following the word at position i, one a call. Words 2p and 2p+1
// are the block 0x01 ‖ i u32 ‖ p u64 ‖ 0 0 0 (little-endian), encrypted; the counter mode's first byte stays 0.
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

// portableWords produces the words of AES-256 in counter mode by crypto/cipher. It costs two allocations a key, because
// aes.NewCipher and cipher.NewCTR are too large to be inlined, so their results are on the heap and cannot be given
// another key.
type portableWords struct {
	stream cipher.Stream
	buf    [8 * chunkWords]byte
}

// zeros is the plaintext to which the keystream is added.
var zeros [8 * chunkWords]byte

// start sets the key and goes to word 0.
func (p *portableWords) start(key *Seed) {
	p.stream = cipher.NewCTR(newCipher(key), zeros[:aes.BlockSize])
}

// read writes the next len(dst) words to dst.
func (p *portableWords) read(dst []int64) {
	for len(dst) > 0 {
		n := min(len(dst), chunkWords)
		b := p.buf[:8*n]
		p.stream.XORKeyStream(b, zeros[:8*n])
		for i := range dst[:n] {
			dst[i] = int64(binary.LittleEndian.Uint64(b[8*i:]))
		}
		dst = dst[n:]
	}
}

func newCipher(key *Seed) cipher.Block {
	block, err := aes.NewCipher(key[:])
	if err != nil {
		panic("BUG: noise: AES refuses a key of 32 bytes")
	}
	return block
}
