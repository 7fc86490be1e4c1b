package plan

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/binary"
	"hash"
	"math"
	"runtime"
	"strings"
	"testing"

	"oriel/cmd/internal/plan/opened"
	"oriel/mechanisms"
	"oriel/mechanisms/contribution"
	"oriel/mechanisms/mechtest"
	"oriel/mechanisms/noise"
	"oriel/mechanisms/protection"
)

// counter is a sampler without noise that counts the vectors drawn from it.
type counter struct{ vectors int }

func (c *counter) Fill(dst []int64, _ noise.Seed) {
	clear(dst)
	c.vectors++
}

// TestVectors compares the planned number of noise vectors a step with the number that the mechanism draws, over three
// blocks after the first, or over the life of a stream.
func TestVectors(t *testing.T) {
	each(t, func(t *testing.T, in Input, r *Report) {
		if in.Configured.Name == "blt" && in.Configured.Scope.Span() == 1024 && r.Setting.Adjacency != "zero-out" {
			return // costs the same as the other mechanisms, so it needs no test
		}
		for _, m := range r.Mechanisms {
			c := m.opened.Config
			c.Batch = 1
			sampler := &counter{}
			stream := mechtest.Planted(t, c, m.opened.Calibration, sampler)
			steps, skip := 4*max(c.Scope.Span(), 1), max(c.Scope.Span(), 1)
			ends := c.Scope.End() != protection.Endless
			if ends {
				steps, skip = c.Scope.End(), 0
			}
			total, worst := 0, 0
			for step := range steps {
				before := sampler.vectors
				stream.Add(noise.Identity{Offset: int64(step)}, nil)
				stream.Close()
				if drawn := sampler.vectors - before; step >= skip {
					total += drawn
					worst = max(worst, drawn)
				}
			}
			near(t, m.Name+": vectors a step", float64(m.Cost.Vectors), float64(total)/float64(steps-skip), 1e-12)
			if m.Cost.WorstVectors < uint64(worst) || !ends && m.Cost.WorstVectors != uint64(worst) {
				t.Errorf("%s: at most %d vectors, want %d", m.Name, m.Cost.WorstVectors, worst)
			}
		}
	})
}

// meter counts the blocks that SHA-256 compresses, 64 bytes each; padding adds one byte and a length of 8 bytes.
type meter struct {
	hash.Hash
	bytes  int
	blocks *uint64
}

func (m *meter) Write(p []byte) (int, error) {
	m.bytes += len(p)
	return m.Hash.Write(p)
}

func (m *meter) Sum(b []byte) []byte {
	*m.blocks += uint64((m.bytes + 9 + 63) / 64)
	return m.Hash.Sum(b)
}

func (m *meter) Reset() {
	m.bytes = 0
	m.Hash.Reset()
}

// TestHashBlocks rebuilds the chain's messages from mechanisms/noise, doc.go, and checks that they give the chain's own
// key and seed. So the lengths of the messages are right, and with them the number of blocks that crypto/hmac hashes.
func TestHashBlocks(t *testing.T) {
	for _, n := range []int{1, 27, 28, 500} {
		blocks := uint64(0)
		open := func() hash.Hash { return &meter{Hash: sha256.New(), blocks: &blocks} }
		mac := func(key [32]byte, message []byte) (out [32]byte) {
			h := hmac.New(open, key[:])
			h.Write(message)
			h.Sum(out[:0])
			return out
		}
		leaf := make([]int64, n)
		for i := range leaf {
			leaf[i] = int64(i) - 5
		}
		key := [32]byte{1, 2, 3}
		chain := noise.NewChain(key)
		le := binary.LittleEndian
		digest := make([]byte, 32)
		for offset := range int64(3) {
			chain.Absorb(noise.Identity{Partition: 3, Offset: offset, LeaderEpoch: 2}, leaf)
			h := open()
			h.Write(le.AppendUint32(le.AppendUint32(le.AppendUint64(digest, uint64(offset)), 2), uint32(n)))
			for _, x := range leaf {
				h.Write(le.AppendUint64(nil, uint64(x)))
			}
			digest = h.Sum(nil)
		}
		chain.Close(9)
		message := append([]byte{1, 4, 0, 0, 0}, "step"...)
		message = append(le.AppendUint64(append(message, 2), 9), 3)
		message = append(append(message, make([]byte, 16)...), 4)
		message = append(le.AppendUint64(le.AppendUint32(message, 3), 3), digest...)
		if key = mac(key, message); key != chain.Key() {
			t.Fatalf("n=%d: not the chain's step", n)
		}
		step := blocks
		message = append([]byte{1, 5, 0, 0, 0}, "noise"...)
		message = le.AppendUint64(le.AppendUint16(append(message, 5), 0), 9)
		message = le.AppendUint64(append(message, 0), 0)
		if got := mac(key, message); got != chain.Seed(noise.NodeID{Block: 9}) {
			t.Fatalf("n=%d: not the chain's seed", n)
		}
		seed := blocks - step
		chain.Drawn()
		if mac(key, append([]byte{1, 5, 0, 0, 0}, "drawn"...)) != chain.Key() {
			t.Fatalf("n=%d: not the chain's key after a step", n)
		}
		step = blocks - seed
		in := everySetting[0].input()
		in.Configured.Contribution, in.Configured.Batch = contribution.OneComponent(n, in.Configured.Clip()), 3
		r, err := New(in)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range r.Mechanisms {
			near(t, m.Name+": hash blocks", float64(m.Cost.HashBlocks),
				float64(step)+float64(m.Cost.Vectors)*float64(seed), 1e-12)
		}
		if n%2 > 0 {
			continue
		}
		// number of places equals number of values
		in.Configured.Contribution.Components[0].Size, in.Configured.Contribution.Nonzero = 10*n, n/2
		if r, err = New(in); err != nil {
			t.Fatal(err)
		}
		for _, m := range r.Mechanisms {
			near(t, m.Name+": hash blocks of places", float64(m.Cost.HashBlocks),
				float64(step)+float64(m.Cost.Vectors)*float64(seed), 1e-12)
		}
	}
}

// TestCipherBlocksAndProducts counts words of keystream as mechanisms/noise, doc.go, defines them: one word for each
// coordinate, and for Gamma noise n + 1 words for χ and n for Z. Two words make a block. It also counts products: two
// for each pole and buffer, with the residue and with the pole.
func TestCipherBlocksAndProducts(t *testing.T) {
	each(t, func(t *testing.T, in Input, r *Report) {
		n := in.Configured.Dimension()
		for _, m := range r.Mechanisms {
			words := n
			if strings.Contains(m.Name, "gamma") {
				words = n + 1 + n
			}
			near(t, m.Name+": cipher blocks", float64(m.Cost.CipherBlocks), float64(m.Cost.Vectors)*math.Ceil(float64(words)/2),
				1e-12)
			products := 0
			for range m.Poles {
				products += n + n
			}
			if m.Cost.Products != uint64(products) || (m.Poles > 0) != (m.Name == "blt") {
				t.Errorf("%s: %d products, %d poles", m.Name, m.Cost.Products, m.Poles)
			}
		}
	})
}

// TestStateBytes compares the planned length of the state with the bytes that a stream writes.
func TestStateBytes(t *testing.T) {
	each(t, func(t *testing.T, _ Input, r *Report) {
		for _, m := range r.Mechanisms {
			stream := mechtest.Open(t, m.opened.Config, [32]byte{})
			for i := range 5 {
				stream.Add(noise.Identity{Offset: int64(i)}, nil)
				stream.Close()
			}
			if got := len(stream.AppendState(nil)); got != m.StateBytes {
				t.Errorf("%s: state of %d bytes, said to be %d", m.Name, got, m.StateBytes)
			}
		}
	})
}

// TestMemoryBytes compares the planned memory with the memory of a hundred open streams. Opening a stream leaves hardly
// any garbage.
func TestMemoryBytes(t *testing.T) {
	for _, name := range mechanisms.Names() {
		in := everySetting[0].input()
		in.Configured.Contribution = contribution.OneComponent(1000, in.Configured.Clip())
		c, _, reason := in.candidate(variant{name: name})
		if reason != "" {
			t.Fatal(reason)
		}
		m, err := opened.New(c)
		if err != nil {
			t.Fatal(err)
		}
		said := m.Footprint()
		const streams = 100
		kept := make([]*mechanisms.Stream, streams)
		var before, after runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&before)
		for i := range kept {
			kept[i] = m.Opened.Open([32]byte{})
		}
		runtime.GC()
		runtime.ReadMemStats(&after)
		took := (float64(after.HeapAlloc) - float64(before.HeapAlloc)) / streams
		runtime.KeepAlive(kept)
		if float64(said) > took*1.03 || float64(said) < took*0.99 {
			t.Errorf("%s: %d bytes said, %.0f taken", name, said, took)
		}
	}
}
