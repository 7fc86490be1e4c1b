package plan

import (
	"math"
	"runtime"
	"time"

	"oriel/mechanisms"
	"oriel/mechanisms/noise"
	"oriel/mechanisms/protection"
)

// Cost is what a step of B valid events takes, as counts of the expensive operations. Of a tree they are averages over
// a block; its first block draws fewer.
type Cost struct {
	Vectors      Number `json:"noise_vectors"`       // drawn
	WorstVectors uint64 `json:"worst_noise_vectors"` // drawn at the costliest step
	HashBlocks   Number `json:"hash_blocks"`         // compressions of SHA-256: the chain of B records, and a seed a vector
	CipherBlocks Number `json:"cipher_blocks"`       // AES-256 blocks of keystream, extensions of single draws apart
	Products     uint64 `json:"products_128"`        // a 128-bit buffer times a dyadic: two a pole and coordinate
	Nanoseconds  Number `json:"nanoseconds"`         // measured on this machine; null unless asked for
}

// Messages of the chain (mechanisms/noise, doc.go, format 1), bytes.
const (
	// and 8 an integer of a contribution that is absorbed
	recordLen  = (1 + 4 + 6) + (1 + 8) + (1 + 4) + (1 + 16 + 4 + 8 + 4) + (1 + 1 + 4)
	noiseLen   = (1 + 4 + 5) + (1 + 2 + 8 + 1 + 8)
	hashBlock  = 64
	hashFooter = 1 + 8 // a bit, and the length
)

// authentications returns the compressions of one HMAC-SHA-256 (RFC 2104): padded key and message, padded key and inner
// hash.
func authentications(message int) uint64 {
	blocks := func(n int) uint64 { return uint64((hashBlock + n + hashFooter + hashBlock - 1) / hashBlock) }
	return blocks(message) + blocks(32)
}

// cost counts. A tree activates each of the 2W − 1 nodes of a block once, at most one a level in a step; in its first
// block, and so in all its life before a horizon, one a step.
func (m *machine) cost() Cost {
	c := Cost{Vectors: 1, WorstVectors: 1, Nanoseconds: none}
	n, parts := uint64(m.config.Dimension()), uint64(len(m.config.Contribution.Components))
	if m.facts.Tree && m.config.Scope.End() == protection.Endless {
		c.Vectors = Number(2 - 1/float64(m.config.Scope.Span()))
		c.WorstVectors = uint64(m.plan.Levels)
	}
	blocks := uint64(0) // of one vector of each part
	for _, p := range m.config.Contribution.Components {
		words := uint64(p.Size)
		if m.facts.Law == mechanisms.Gamma {
			words = 2*words + 1
		}
		blocks += (words + 1) / 2
	}
	if m.facts.Draws { // noise is drawn with the draws, an element at a time
		c.Vectors, c.WorstVectors = 0, 0
	}
	c.CipherBlocks = c.Vectors * Number(blocks)
	c.Vectors, c.WorstVectors = c.Vectors*Number(parts), c.WorstVectors*parts
	record := authentications(recordLen + 8*m.config.Contribution.Absorbed())
	c.HashBlocks = Number(float64(m.config.Batch*record) + float64(c.Vectors)*float64(authentications(noiseLen)))
	c.Products = 2 * uint64(m.poles()) * n
	if m.plan.Decays() {
		c.Products += n // of the sum
	}
	return c
}

// leastRecords are taken whatever the time is: a process that waits for a processor may have closed no step in it, and
// is not at its limit.
const leastRecords = 64

// measure returns the nanoseconds of a step on this machine, over so much time: gradients of half the clip in every
// coordinate's share; spent tells the time since the call. It is none when the time and leastRecords were too few for a
// step.
func (m *machine) measure(limit time.Duration, spent func() time.Duration) (Number, error) {
	stream, err := mechanisms.Open(m.config, m.plan, [32]byte{})
	if err != nil {
		return none, err
	}
	gradient := make([]float64, m.config.Contribution.Entries())
	for i := range gradient {
		gradient[i] = m.config.Clip() / float64(2*len(gradient))
	}
	took, id := none, noise.Identity{} // took is as of the last step
	for records := 1; ; records++ {
		id.Offset++
		closed := stream.Add(id, gradient)
		now := spent()
		if closed {
			took = Number(float64(now.Nanoseconds()) / float64(stream.Step()))
		}
		if stream.Ended() {
			return took, nil
		}
		if closed && now >= limit/2 || now >= limit && records >= leastRecords {
			return took, nil
		}
	}
}

// footprint returns the bytes that one more stream takes in memory: what the allocator hands out while a stream is
// opened, so that what streams share, such as the tables of a sampler, does not count. Another goroutine that allocates
// at the same time can only add to an opening, so the least of three counts.
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
