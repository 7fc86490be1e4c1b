package opened

import (
	"math"
	"runtime"

	"oriel/cmd/internal/digits"
	"oriel/mechanisms/protection"
)

// Cost is the cost of a step of B valid events, as counts of the expensive operations. For a tree they are averages
// over a block; its first block draws less noise.
type Cost struct {
	Vectors      digits.Number `json:"noise_vectors"`       // mean number of noise vectors drawn in a step
	WorstVectors uint64        `json:"worst_noise_vectors"` // number of noise vectors drawn in the costliest step
	HashBlocks   digits.Number `json:"hash_blocks"`         // compressions of SHA-256: B records of one partition, the step, and one seed per noise vector
	CipherBlocks digits.Number `json:"cipher_blocks"`       // AES-256 blocks of keystream, without extensions of single draws
	Products     uint64        `json:"products_128"`        // number of 128-bit products: two for each pole and coordinate
}

// Lengths in bytes of the messages of the hash chain (mechanisms/noise, doc.go, format 1).
const (
	eventLen   = 32 + 8 + 4 + 4 // an absorbed contribution adds 8 bytes for each of its integers
	stepLen    = (1 + 4 + 4) + (1 + 8) + (1 + 16) + (1 + 4 + 8 + 32)
	drawnLen   = 1 + 4 + 5
	noiseLen   = (1 + 4 + 5) + (1 + 2 + 8 + 1 + 8)
	hashBlock  = 64
	hashFooter = 1 + 8 // padding bit and message length
)

// blocks returns the number of SHA-256 compressions of a message.
func blocks(message int) uint64 { return uint64((message + hashFooter + hashBlock - 1) / hashBlock) }

// authentications returns the number of SHA-256 compressions of one HMAC-SHA-256 (RFC 2104): padded key and message,
// then padded key and inner hash.
func authentications(message int) uint64 { return blocks(hashBlock+message) + blocks(hashBlock+32) }

// Cost counts the operations. A tree activates each of the 2W − 1 nodes of a block once, and at most one node of each
// level in a step. In its first block, and so in every stream that ends within one window, it activates one node a
// step.
func (m *Mechanism) Cost() Cost {
	c := Cost{Vectors: 1, WorstVectors: 1}
	n, parts := uint64(m.Config.Dimension()), uint64(len(m.Config.Contribution.Components))
	if m.Facts.AtNodes() && m.Config.Scope.End() == protection.Endless {
		c.Vectors = digits.Number(2 - 1/float64(m.Config.Scope.Span()))
		c.WorstVectors = uint64(m.Calibration.Levels)
	}
	ciphered := uint64(0) // cipher blocks for one noise vector of each component
	for _, p := range m.Config.Contribution.Components {
		words := uint64(p.Size)
		if m.Facts.Radial() {
			words = 2*words + 1
		}
		ciphered += (words + 1) / 2
	}
	if !m.Facts.ReleasesSums() { // each draw reads its noise element by element
		c.Vectors, c.WorstVectors = 0, 0
	}
	c.CipherBlocks = c.Vectors * digits.Number(ciphered)
	c.Vectors, c.WorstVectors = c.Vectors*digits.Number(parts), c.WorstVectors*parts
	step := m.Config.Batch*blocks(eventLen+8*m.Config.Contribution.Absorbed()) + authentications(stepLen) +
		authentications(drawnLen)
	c.HashBlocks = digits.Number(float64(step) + float64(c.Vectors)*float64(authentications(noiseLen)))
	c.Products = 2 * uint64(m.Poles()) * n
	if m.Calibration.Decays() {
		c.Products += n // the decaying sum takes one more product per coordinate
	}
	return c
}

// Footprint returns the bytes of memory that one more stream takes: the bytes allocated while a stream is opened.
// Shared memory, such as the tables of a sampler, does not count. Another goroutine that allocates meanwhile can only
// increase a count, so Footprint returns the smallest of three counts.
func (m *Mechanism) Footprint() uint64 {
	least := uint64(math.MaxUint64)
	var before, after runtime.MemStats
	for range 3 {
		runtime.ReadMemStats(&before)
		stream := m.Opened.Open([32]byte{})
		runtime.ReadMemStats(&after)
		runtime.KeepAlive(stream)
		least = min(least, after.TotalAlloc-before.TotalAlloc)
	}
	return least
}
