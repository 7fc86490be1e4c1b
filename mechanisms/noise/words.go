package noise

import (
	"crypto/aes"
	"crypto/cipher"
	"encoding/binary"
)

// portableWords are the words of AES-256 in counter mode by crypto/cipher. It costs two allocations a key:
// aes.NewCipher and cipher.NewCTR are too large to be inlined, so what they return is on the heap, and nothing can key
// it again.
type portableWords struct {
	stream cipher.Stream
	buf    [8 * chunkWords]byte
}

// zeros is what the keystream is added to.
var zeros [8 * chunkWords]byte

// start puts the words of a key at word 0.
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
