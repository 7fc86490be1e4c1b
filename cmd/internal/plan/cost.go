package plan

import (
	"math"
	"runtime"
	"time"

	"oriel/cmd/internal/digits"
	"oriel/mechanisms"
	"oriel/mechanisms/noise"
	"oriel/mechanisms/protection"
)

// Cost is the cost of a step of B valid events, as counts of the expensive operations. For a tree they are averages
// over a block; its first block draws less noise.
type Cost struct {
	Vectors      digits.Number `json:"noise_vectors"`       // mean number of noise vectors drawn in a step
	WorstVectors uint64        `json:"worst_noise_vectors"` // number of noise vectors drawn in the costliest step
	HashBlocks   digits.Number `json:"hash_blocks"`         // compressions of SHA-256: the chain of B records, and one seed per noise vector
	CipherBlocks digits.Number `json:"cipher_blocks"`       // AES-256 blocks of keystream, without extensions of single draws
	Products     uint64        `json:"products_128"`        // number of 128-bit products: two for each pole and coordinate
	Nanoseconds  digits.Number `json:"nanoseconds"`         // measured on this machine; null unless requested
}

// Lengths in bytes of the messages of the hash chain (mechanisms/noise, doc.go, format 1).
const (
	// a contribution that is absorbed adds 8 bytes for each of its integers
	recordLen  = (1 + 4 + 6) + (1 + 8) + (1 + 4) + (1 + 16 + 4 + 8 + 4) + (1 + 1 + 4)
	noiseLen   = (1 + 4 + 5) + (1 + 2 + 8 + 1 + 8)
	hashBlock  = 64
	hashFooter = 1 + 8 // padding bit and message length
)

// authentications returns the number of SHA-256 compressions of one HMAC-SHA-256 (RFC 2104): padded key and message,
// then padded key and inner hash.
func authentications(message int) uint64 {
	blocks := func(n int) uint64 { return uint64((hashBlock + n + hashFooter + hashBlock - 1) / hashBlock) }
	return blocks(message) + blocks(32)
}

// cost counts the operations. A tree activates each of the 2W − 1 nodes of a block once, and at most one node of each
// level in a step. In its first block, and so in every stream that ends within one window, it activates one node a
// step.
func (m *machine) cost() Cost {
	c := Cost{Vectors: 1, WorstVectors: 1, Nanoseconds: digits.None}
	n, parts := uint64(m.config.Dimension()), uint64(len(m.config.Contribution.Components))
	if m.facts.Structure == mechanisms.Tree && m.config.Scope.End() == protection.Endless {
		c.Vectors = digits.Number(2 - 1/float64(m.config.Scope.Span()))
		c.WorstVectors = uint64(m.plan.Levels)
	}
	blocks := uint64(0) // cipher blocks for one noise vector of each component
	for _, p := range m.config.Contribution.Components {
		words := uint64(p.Size)
		if m.facts.Law == mechanisms.Gamma {
			words = 2*words + 1
		}
		blocks += (words + 1) / 2
	}
	if m.facts.Structure == mechanisms.Selection { // each draw reads its noise element by element
		c.Vectors, c.WorstVectors = 0, 0
	}
	c.CipherBlocks = c.Vectors * digits.Number(blocks)
	c.Vectors, c.WorstVectors = c.Vectors*digits.Number(parts), c.WorstVectors*parts
	record := authentications(recordLen + 8*m.config.Contribution.Absorbed())
	c.HashBlocks = digits.Number(float64(m.config.Batch*record) + float64(c.Vectors)*float64(authentications(noiseLen)))
	c.Products = 2 * uint64(m.poles()) * n
	if m.plan.Decays() {
		c.Products += n // the decaying sum takes one more product per coordinate
	}
	return c
}

// leastRecords is the number of records that are measured even if the time has run out. Without this minimum, a process
// that waits for a processor might close no step within the limit.
const leastRecords = 64

// measure returns the nanoseconds of a step on this machine, measured for about the given time. Each coordinate of a
// gradient is half of its share of the clip. spent returns the time since the call of measure. The result is none if no
// step has closed by the time limit and after leastRecords.
func (m *machine) measure(limit time.Duration, spent func() time.Duration) (digits.Number, error) {
	stream, err := mechanisms.Open(m.config, m.plan, [32]byte{})
	if err != nil {
		return digits.None, err
	}
	gradient := make([]float64, m.config.Contribution.Entries())
	for i := range gradient {
		gradient[i] = m.config.Clip() / float64(2*len(gradient))
	}
	took, id := digits.None, noise.Identity{} // took is the measured time per step, up to the last closed step
	for records := 1; ; records++ {
		id.Offset++
		closed := stream.Add(id, gradient)
		now := spent()
		if closed {
			took = digits.Number(float64(now.Nanoseconds()) / float64(stream.Step()))
		}
		if stream.Ended() || closed && now >= limit/2 || now >= limit && records >= leastRecords {
			return took, nil
		}
	}
}

// footprint returns the bytes of memory that one more stream takes: the bytes allocated while a stream is opened.
// Shared memory, such as the tables of a sampler, does not count. Another goroutine that allocates meanwhile can only
// increase a count, so footprint returns the smallest of three counts.
func (m *machine) footprint() uint64 {
	least := uint64(math.MaxUint64)
	var before, after runtime.MemStats
	for range 3 {
		runtime.ReadMemStats(&before)
		stream := m.opened.Open([32]byte{})
		runtime.ReadMemStats(&after)
		runtime.KeepAlive(stream)
		least = min(least, after.TotalAlloc-before.TotalAlloc)
	}
	return least
}
