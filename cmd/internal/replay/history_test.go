package replay_test

import (
	"bytes"
	"math"
	"math/bits"
	"math/rand/v2"
	"slices"
	"testing"

	"oriel/cmd/internal/decisiontest"
	"oriel/cmd/internal/settings"
	"oriel/mechanisms"
	"oriel/mechanisms/lattice"
	"oriel/mechanisms/noise"
	"oriel/pipeline/streams"
	"oriel/schemas/decision"
	"oriel/schemas/text"
	"oriel/state"
)

// history is a file of linear losses; a nil entry is a malformed line.
type history [][]float64

// newHistory draws costs with norms around the clip, some beyond it, and a few malformed lines.
func newHistory(events, n int) history {
	r := rand.New(rand.NewPCG(4, 4))
	h := make(history, events)
	for i := range h {
		if i%11 == 5 {
			continue
		}
		for range n {
			h[i] = append(h[i], float64(r.IntN(2001)-1000)/1024)
		}
	}
	return h
}

func (h history) file() []byte {
	var b []byte
	for _, cost := range h {
		b = append(b, `{"cost":[`...)
		for i, x := range cost {
			if i > 0 {
				b = append(b, ',')
			}
			b = text.AppendFloat(b, x)
		}
		b = append(b, "]}\n"...) // a malformed line: without costs, or of the wrong dimension
	}
	return b
}

// with returns the history with one line changed.
func (h history) with(at int, cost []float64) history {
	h = slices.Clone(h)
	h[at] = cost
	return h
}

// noisy returns settings under which a release can be computed from the decision. With linear losses, µ = 1 and a set
// whose boundary is never reached, the decision is x_{t+1} = −ĝ_t/(Bt).
func noisy(t *testing.T, more ...string) settings.Settings {
	t.Helper()
	return decisiontest.Load(t, append([]string{
		"OPERATOR=coco", "UPDATE=projection", "LOSS=linear", "SET=box", "RADIUS=1e9", "STRONG_CONVEXITY=1",
		"EPSILON=1", "DELTA=1e-6", "CLIP=1",
	}, more...)...)
}

// contributions returns the contributions of a history: the quantised gradients that the mechanism sums.
func (h history) contributions(t *testing.T, s settings.Settings) (contributions [][]int64, grid lattice.Grid) {
	t.Helper()
	m := mechanismOf(t, s)
	grid, err := lattice.NewGrid(m.Clip())
	if err != nil {
		t.Fatal(err)
	}
	contributions = make([][]int64, len(h))
	for i, cost := range h {
		if cost != nil {
			contributions[i] = make([]int64, m.Dimension())
			grid.Quantise(contributions[i], cost)
		}
	}
	return contributions, grid
}

// recovered returns the noise in decisions, in lattice units: releases minus exact sums. The rounding of decisions to
// 53 bits is far finer than the lattice.
func recovered(t *testing.T, s settings.Settings, h history, out []byte) (released [][]int64) {
	t.Helper()
	contributions, grid := h.contributions(t, s)
	dimension := mechanismOf(t, s).Dimension()
	sum := make([]int64, dimension)
	lines := bytes.Split(bytes.TrimSuffix(out, []byte("\n")), []byte("\n"))
	if want := len(h) / int(s.Batch); len(lines) != want {
		t.Fatalf("%d decisions, want %d", len(lines), want)
	}
	for i, line := range lines {
		d, err := decision.Parse(line)
		if err != nil || d.Step != uint64(i+1) || d.Index != d.Step || len(d.Point) != dimension {
			t.Fatalf("line %d: step %d, index %d, %d coordinates, %v", i+1, d.Step, d.Index, len(d.Point), err)
		}
		for _, contribution := range contributions[i*int(s.Batch) : (i+1)*int(s.Batch)] {
			for k, x := range contribution {
				sum[k] += x
			}
		}
		release := make([]int64, dimension)
		for k, x := range d.Point {
			units := -x * float64(s.Batch*d.Step) / grid.Unit()
			if math.Abs(units-math.Round(units)) > 1e-3 {
				t.Fatalf("step %d: release of %g units is not on the lattice", d.Step, units)
			}
			release[k] = int64(math.Round(units)) - sum[k]
		}
		released = append(released, release)
	}
	return released
}

// active returns the nodes whose noise is in release t, by definition: the dyadic intervals of steps [1, p] of the
// current block, and of steps [p+1, W] of the previous block.
func active(window, t uint64) (nodes []noise.NodeID) {
	block, p := (t-1)/window, (t-1)%window+1
	pieces := func(block, from, to uint64) {
		for from < to {
			level := min(bits.Len64(to-from)-1, bits.TrailingZeros64(from))
			nodes = append(nodes, noise.NodeID{Block: block, Level: uint8(level), Index: from >> level})
			from += 1 << level
		}
	}
	if block > 0 {
		pieces(block-1, p, window)
	}
	pieces(block, 0, p)
	return nodes
}

func mechanismOf(t *testing.T, s settings.Settings) mechanisms.Config {
	t.Helper()
	learner := s.Learner()
	mechanism := learner.Mechanism()
	return mechanism
}

// node is a node's noise, and the step at which it is drawn.
type node struct {
	step   uint64
	values []int64
}

// drawn is a slow reference implementation of the mechanism in a replay of partition 0. It returns the noise of each
// node that a history activates.
func drawn(t *testing.T, s settings.Settings, m streams.Model, seed [32]byte, h history) map[noise.NodeID]node {
	t.Helper()
	plan, sampler := plannedSampler(t, s, m)
	inc := state.Incarnation{ID: state.SeededID(seed), Stream: "0", Config: m.Settings, Params: plan}
	chain := noise.NewChain(inc.InitialKey(seed))
	mechanism, nodes := mechanismOf(t, s), map[noise.NodeID]node{}
	contributions, _ := h.contributions(t, s)
	for i, contribution := range contributions {
		step, place := uint64(i)/s.Batch+1, uint64(i)%s.Batch
		chain.Absorb(noise.Identity{Offset: int64(i)}, contribution)
		if place+1 < s.Batch {
			continue
		}
		chain.Close(step)
		for _, id := range active(mechanism.Scope.Span(), step) {
			if _, known := nodes[id]; !known {
				nodes[id] = node{step, make([]int64, mechanism.Dimension())}
				sampler.Fill(nodes[id].values, chain.Seed(id))
			}
		}
		chain.Drawn()
	}
	return nodes
}

// planned returns a model's frozen plan, and the mechanism's calibration in it.
func planned(t *testing.T, m streams.Model) (whole []byte, private mechanisms.Calibration) {
	t.Helper()
	whole, err := m.Learner.Params()
	if err != nil {
		t.Fatal(err)
	}
	// the calibration follows its length, u32 little-endian
	private, err = mechanisms.ParseCalibration(whole[4 : 4+int(whole[0])])
	if err != nil {
		t.Fatal(err)
	}
	return whole, private
}

func plannedSampler(t *testing.T, s settings.Settings, m streams.Model) (plan []byte, sampler noise.Sampler) {
	t.Helper()
	plan, private := planned(t, m)
	var err error
	switch s.Mechanism {
	case "tree-gaussian":
		sampler, err = noise.NewGaussian(private.Scale)
	case "tree-gamma":
		sampler, err = noise.NewGamma(private.Scale, mechanismOf(t, s).Dimension())
	default:
		sampler, err = noise.NewLaplace(private.Scale)
	}
	if err != nil {
		t.Fatal(err)
	}
	return plan, sampler
}
