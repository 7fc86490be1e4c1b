package optest

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"hash"
	"math"
)

// Digest is the form in which golden tests store decisions: half of the SHA-256 of their numbers and texts, bit for
// bit.
type Digest struct {
	hash hash.Hash
	word [8]byte
}

// NewDigest returns an empty digest.
func NewDigest() *Digest { return &Digest{hash: sha256.New()} }

// Numbers adds the bits of numbers, little-endian.
func (d *Digest) Numbers(all ...float64) {
	for _, x := range all {
		binary.LittleEndian.PutUint64(d.word[:], math.Float64bits(x))
		d.hash.Write(d.word[:])
	}
}

// Text adds a text.
func (d *Digest) Text(s string) { d.hash.Write([]byte(s)) }

// String returns the digest in hexadecimal.
func (d *Digest) String() string { return hex.EncodeToString(d.hash.Sum(nil)[:sha256.Size/2]) }
