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
	"time"

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
			c := m.machine.config
			c.Batch = 1
			sampler := &counter{}
			stream := mechtest.Planted(t, c, m.machine.calibration, sampler)
			steps, skip := 4*max(c.Scope.Span(), 1), max(c.Scope.Span(), 1)
			ends := c.Scope.End() != protection.Endless
			if ends {
				steps, skip = c.Scope.End(), 0
			}
			total, worst := 0, 0
			for step := range steps {
				before := sampler.vectors
				stream.Add(noise.Identity{Offset: int64(step)}, nil)
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
		mac := func(key [32]byte, message []byte) (out [32]byte) {
			blocks = 0
			h := hmac.New(func() hash.Hash { return &meter{Hash: sha256.New(), blocks: &blocks} }, key[:])
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
		chain.Absorb(9, 4, noise.Identity{Partition: 3, Offset: 77, LeaderEpoch: 2}, leaf)
		le := binary.LittleEndian
		message := append([]byte{1, 6, 0, 0, 0}, "record"...)
		message = le.AppendUint64(append(message, 2), 9)
		message = le.AppendUint32(append(message, 3), 4)
		message = append(append(message, 4), make([]byte, 16)...)
		message = le.AppendUint32(le.AppendUint64(le.AppendUint32(message, 3), 77), 2)
		message = le.AppendUint32(append(message, 5, 0), uint32(n))
		for _, x := range leaf {
			message = le.AppendUint64(message, uint64(x))
		}
		if got := mac(key, message); got != chain.Key() {
			t.Fatalf("n=%d: not the chain's record", n)
		}
		record := blocks
		message = append([]byte{1, 5, 0, 0, 0}, "noise"...)
		message = le.AppendUint64(le.AppendUint16(append(message, 6), 0), 9)
		message = le.AppendUint64(append(message, 0), 0)
		if got := mac(chain.Key(), message); got != chain.Seed(noise.NodeID{Block: 9}) {
			t.Fatalf("n=%d: not the chain's seed", n)
		}
		in := everySetting[0].input()
		in.Configured.Contribution, in.Configured.Batch = contribution.OneComponent(n, in.Configured.Clip()), 3
		r, err := New(in)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range r.Mechanisms {
			near(t, m.Name+": hash blocks", float64(m.Cost.HashBlocks),
				float64(3*record)+float64(m.Cost.Vectors)*float64(blocks), 1e-12)
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
				float64(3*record)+float64(m.Cost.Vectors)*float64(blocks), 1e-12)
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
			stream := mechtest.Open(t, m.machine.config, [32]byte{})
			for i := range 5 * m.machine.config.Batch {
				stream.Add(noise.Identity{Offset: int64(i)}, nil)
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
		m, err := open(c)
		if err != nil {
			t.Fatal(err)
		}
		said := m.footprint()
		const streams = 100
		kept := make([]*mechanisms.Stream, streams)
		var before, after runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&before)
		for i := range kept {
			kept[i] = m.opened.Open([32]byte{})
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

// TestFootprintCountsOnce checks that footprint does not count memory that streams share, and counts nothing twice.
func TestFootprintCountsOnce(t *testing.T) {
	in := everySetting[0].input()
	m, err := open(in.Configured)
	if err != nil {
		t.Fatal(err)
	}
	once := m.footprint()
	if again := m.footprint(); again != once {
		t.Errorf("footprint %d, then %d", once, again)
	}
	if once < 27*(16+4*16+2*8) || once > 1<<15 {
		t.Errorf("footprint %d: not that of 27 coordinates", once)
	}
}

func TestMeasure(t *testing.T) {
	in := everySetting[0].input()
	// the stream ends long before the measurement's time limit
	in.Configured.Scope = protection.Lifetime{Steps: 16, Within: 16}
	in.Measure = 40 * time.Millisecond
	start := time.Now()
	r, err := New(in)
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range r.Mechanisms {
		// wide limits, because a step may wait for other processes
		if ns := float64(m.Cost.Nanoseconds); !(ns > 100 && ns < 10e9) {
			t.Errorf("%s: a step of %g ns", m.Name, ns)
		}
	}
	if took := time.Since(start); took > 20*time.Second {
		t.Errorf("took %v", took)
	}
}

// TestMeasureWaitsForAStep checks that one step is measured even if the time limit passes before the first step closes,
// as on a machine without a free processor.
func TestMeasureWaitsForAStep(t *testing.T) {
	in := everySetting[0].input()
	in.Configured.Batch = 4
	m, err := open(in.Configured)
	if err != nil {
		t.Fatal(err)
	}
	if took, err := m.measure(0, func() time.Duration { return 1 }); err != nil || !took.Known() {
		t.Errorf("no time: %v", err)
	}
}

// TestMeasureEndsBetweenSteps checks that earlier steps count if the time limit passes between two steps, as on a
// machine without a free processor.
func TestMeasureEndsBetweenSteps(t *testing.T) {
	in := everySetting[0].input()
	in.Configured.Batch = 4
	m, err := open(in.Configured)
	if err != nil {
		t.Fatal(err)
	}
	records := 0
	took, err := m.measure(time.Hour, func() time.Duration {
		if records++; records > leastRecords {
			return time.Hour
		}
		return time.Duration(records) * time.Microsecond
	})
	if err != nil || took != 4000 {
		t.Errorf("%g ns, want 4 µs: %v", float64(took), err)
	}
}

// TestMeasureGivesUp checks that measure returns none if a single step takes longer than the time limit.
func TestMeasureGivesUp(t *testing.T) {
	in := everySetting[0].input()
	in.Configured.Batch = 1 << 30
	m, err := open(in.Configured)
	if err != nil {
		t.Fatal(err)
	}
	start := time.Now()
	if took, err := m.measure(time.Millisecond, func() time.Duration { return time.Since(start) }); err != nil ||
		took.Known() {
		t.Errorf("%g ns: %v", float64(took), err)
	}
}
