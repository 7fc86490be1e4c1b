package audit_test

import (
	"errors"
	"fmt"
	"math/bits"
	"slices"
	"testing"

	"oriel/mechanisms"
	"oriel/mechanisms/audit"
	"oriel/mechanisms/contribution"
	"oriel/mechanisms/dp"
	"oriel/mechanisms/lattice"
	"oriel/mechanisms/mechtest"
	"oriel/mechanisms/noise"
	"oriel/mechanisms/protection"
)

// caughtRuns is the number of runs, enough to catch every fault here, because their losses exceed the claim by at least
// a quarter.
const caughtRuns = 2500

// bentSampler plants a fault in the draws, which are counted from 0 in each run.
type bentSampler struct {
	fill func(dst []int64, seed noise.Seed, draw int)
	draw int
}

func (b *bentSampler) Fill(dst []int64, seed noise.Seed) {
	b.fill(dst, seed, b.draw)
	b.draw++
}

// bentSum plants a fault between a stream and a correct sum.
type bentSum struct {
	mechanisms.Sum
	restore func() // resets the fault when a run starts
	add     func(dst []float64, v []lattice.Int128, chain *noise.Chain)
}

func (b *bentSum) Restore(state []byte) error {
	b.restore()
	return b.Sum.Restore(state)
}

func (b *bentSum) Add(dst []float64, v []lattice.Int128, chain *noise.Chain) { b.add(dst, v, chain) }

func open(t *testing.T, c mechanisms.Config, p mechanisms.Calibration, sum mechanisms.Sum) *mechanisms.Stream {
	t.Helper()
	stream, err := mechanisms.NewStream(c, p, [32]byte{7}, sum)
	if err != nil {
		t.Fatal(err)
	}
	return stream
}

// sampler returns the calibration's sampler at a scale that may differ from the calibration's.
func sampler(t *testing.T, c mechanisms.Config, s noise.Scale) noise.Sampler {
	t.Helper()
	var out noise.Sampler
	var err error
	switch c.Name {
	case "tree-gamma", "once-gamma":
		out, err = noise.NewGamma(s, c.Dimension())
	case "tree-laplace":
		out, err = noise.NewLaplace(s)
	case "once-laplace":
		out, err = noise.NewDiscreteLaplace(s, []int64{1})
	default:
		out, err = noise.NewGaussian(s)
	}
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// fault builds a faulty Sum in place of the calibration's.
type fault func(t *testing.T, c mechanisms.Config, p mechanisms.Calibration) mechanisms.Sum

// drawn plants a fault in the draws of a run.
func drawn(
	bend func(t *testing.T, c mechanisms.Config, p mechanisms.Calibration) func(dst []int64, seed noise.Seed, draw int),
) fault {
	return func(t *testing.T, c mechanisms.Config, p mechanisms.Calibration) mechanisms.Sum {
		bent := &bentSampler{fill: bend(t, c, p)}
		sum := mechtest.Sum(t, c, p, bent)
		return &bentSum{Sum: sum, restore: func() { bent.draw = 0 }, add: sum.Add}
	}
}

// Faults that show in the law of a single run. Each mechanism here makes one draw per step in its first 8 steps.
var (
	halfScale = drawn(func(t *testing.T, c mechanisms.Config, p mechanisms.Calibration) func([]int64, noise.Seed, int) {
		half := sampler(t, c, noise.Scale{Mant: p.Scale.Mant, Exp: p.Scale.Exp - 1})
		return func(dst []int64, seed noise.Seed, _ int) { half.Fill(dst, seed) }
	})
	noiseOfL = drawn(func(t *testing.T, c mechanisms.Config, _ mechanisms.Calibration) func([]int64, noise.Seed, int) {
		c.Unit = protection.Event{Exchange: dp.ZeroOut}
		less := sampler(t, c, mechtest.Plan(t, c).Scale)
		return func(dst []int64, seed noise.Seed, _ int) { less.Fill(dst, seed) }
	})
	// If x₃ = x₁, then the noise cancels in y₁ + y₂ − y₃ of a tree, which leaves the canary.
	reused = drawn(func(t *testing.T, c mechanisms.Config, p mechanisms.Calibration) func([]int64, noise.Seed, int) {
		whole, first := sampler(t, c, p.Scale), noise.Seed{}
		return func(dst []int64, seed noise.Seed, draw int) {
			if draw == 0 {
				first = seed
			} else if draw == 2 {
				seed = first
			}
			whole.Fill(dst, seed)
		}
	})
	missing = drawn(func(t *testing.T, c mechanisms.Config, p mechanisms.Calibration) func([]int64, noise.Seed, int) {
		whole := sampler(t, c, p.Scale)
		return func(dst []int64, seed noise.Seed, draw int) {
			if whole.Fill(dst, seed); draw == 7 { // the draw of step 8 = W
				clear(dst)
			}
		}
	})
)

// longContributions plants contributions of 1.25 times their true length, like a clip that is too large by this factor.
func longContributions(t *testing.T, c mechanisms.Config, p mechanisms.Calibration) mechanisms.Sum {
	sum, longer := mechtest.Sum(t, c, p, sampler(t, c, p.Scale)), make([]lattice.Int128, c.Dimension())
	return &bentSum{Sum: sum, restore: func() {}, add: func(dst []float64, v []lattice.Int128, chain *noise.Chain) {
		for i, x := range v {
			longer[i] = x.AddInt64(int64(x.Lo) / 4)
		}
		sum.Add(dst, longer, chain)
	}}
}

// catch checks that the audit refutes the claim (ErrClaim) or the law of the noise (ErrLaw).
func catch(t *testing.T, what string, c mechanisms.Config, step uint64, f fault, want error) {
	t.Helper()
	age := max(1, c.Scope.Span())
	p, k := mechtest.Plan(t, c), canary(t, c, step, age)
	stream := open(t, c, p, f(t, c, p))
	r := run(t, player(stream, c, k), newLaw(t, c, p, k), stream.Guarantee(), caughtRuns)
	err := r.Err()
	t.Logf("%s, %s: %v", c.Name, what, err)
	if !errors.Is(err, want) {
		t.Errorf("%s, %s: not caught: %+v", c.Name, what, r.Bounds)
	}
}

func TestAuditCatchesPlantedFaults(t *testing.T) {
	gamma := config("tree-gamma")
	gamma.Contribution, gamma.Budget = contribution.OneComponent(1, gamma.Clip()), dp.Budget{Epsilon: 2}
	for _, c := range []mechanisms.Config{config("tree-gaussian"), config("blt"), config("once-gaussian"), gamma} {
		catch(t, "noise at half scale", c, 1, halfScale, audit.ErrClaim)
		catch(t, "noise for L where 2L is due", c, 1, noiseOfL, audit.ErrClaim)
		if c.Scope != (protection.PerStep{}) {
			catch(t, "one noise used twice", c, 1, reused, audit.ErrClaim)
			catch(t, "no noise at the block's last step", c, 1, missing, audit.ErrClaim)
		}
		if c.Name != gamma.Name { // at ε = 2 the audit would need too many runs, so Gamma claims 2.5
			catch(t, "clip off by a quarter", c, 1, longContributions, audit.ErrClaim)
		}
	}
}

// TestAuditComparesWithTheLawOfItsCanary plants a fault that stays within the claim. A tree is calibrated for a
// contribution at its worst step, so at a later step the claim still holds for too little noise. The audit must
// nevertheless refute the law of the noise.
func TestAuditComparesWithTheLawOfItsCanary(t *testing.T) {
	catch(t, "clip off by a quarter", config("tree-gaussian"), 12, longContributions, audit.ErrLaw)
}

// slowTree is a window tree by its definition ([WDP] §3): it keeps the noise of each node for ever, and adds the noise
// of the nodes that active returns.
type slowTree struct {
	window, steps uint64
	calibration   mechanisms.Calibration
	sampler       noise.Sampler
	total         []lattice.Int128
	drawn         map[noise.NodeID][]int64
	active        func(window, t uint64) []noise.NodeID
}

func newSlowTree(
	t *testing.T, c mechanisms.Config, p mechanisms.Calibration, active func(window, t uint64) []noise.NodeID,
) *slowTree {
	t.Helper()
	tree := &slowTree{
		window: c.Scope.Span(), calibration: p, sampler: sampler(t, c, p.Scale), total: make([]lattice.Int128, c.Dimension()),
		active: active,
	}
	_ = tree.Restore(nil)
	return tree
}

func (s *slowTree) Add(dst []float64, v []lattice.Int128, chain *noise.Chain) {
	s.steps++
	for _, id := range activeNodes(s.window, s.steps) {
		if s.drawn[id] == nil {
			s.drawn[id] = make([]int64, len(v))
			s.sampler.Fill(s.drawn[id], chain.Seed(id))
		}
	}
	shown := s.active(s.window, s.steps)
	for i, x := range v {
		s.total[i] = s.total[i].Add(x)
		y := s.total[i]
		for _, id := range shown {
			y = y.AddInt64(s.drawn[id][i])
		}
		dst[i] = s.calibration.Grid.Float64(y)
	}
}

func (s *slowTree) Steps() uint64                 { return s.steps }
func (s *slowTree) AppendState(dst []byte) []byte { return append(dst, make([]byte, 8)...) }
func (s *slowTree) StateLen() int                 { return 8 }

// Restore returns to step 0, the only state of a slowTree.
func (s *slowTree) Restore([]byte) error {
	s.steps, s.drawn = 0, map[noise.NodeID][]int64{}
	clear(s.total)
	return nil
}

// activeNodes returns active(t): the dyadic suffix of [p+1, W] in block k−1 and the dyadic prefix of [1, p] in block k.
func activeNodes(window, t uint64) (nodes []noise.NodeID) {
	block, p := (t-1)/window, (t-1)%window+1
	for size := window; size > 0; size /= 2 {
		level := uint8(bits.Len64(size) - 1)
		if p&size != 0 { // the prefix: dyadic blocks from the left, the largest first
			nodes = append(nodes, noise.NodeID{Block: block, Level: level, Index: (p &^ (2*size - 1)) >> level})
		}
		if left := window - p; block > 0 && left&size != 0 { // the suffix: dyadic blocks from the right, mirrored
			nodes = append(nodes, noise.NodeID{
				Block: block - 1, Level: level, Index: window>>level - 1 - (left&^(2*size-1))>>level,
			})
		}
	}
	return nodes
}

// TestNoiseRetiredOneStepEarlyIsCaught plants noise that leaves a step early. The noise of an expired step must leave
// after the last release that contains it. If it leaves earlier, before other nodes take over, the total is without
// noise: at t the noise is missing that should leave at t+1. If the nodes that take over came earlier too, nothing
// would be lost, because any noise covers the total.
func TestNoiseRetiredOneStepEarlyIsCaught(t *testing.T) {
	c := config("tree-gaussian")
	p, k := mechtest.Plan(t, c), canary(t, c, 3, 20)
	record := func(sum mechanisms.Sum) (releases [][]float64) {
		if err := player(open(t, c, p, sum), c, k)(1, true,
			func(y []float64) { releases = append(releases, slices.Clone(y)) }); err != nil {
			t.Fatal(err)
		}
		return releases
	}
	if reference, tree := record(newSlowTree(t, c, p, activeNodes)),
		record(mechtest.Sum(t, c, p, sampler(t, c, p.Scale))); !slices.EqualFunc(reference, tree, slices.Equal[[]float64]) {
		t.Fatal("the reference model of the window tree has other releases")
	}
	early := func(window, t uint64) []noise.NodeID {
		next, block := activeNodes(window, t+1), (t-1)/window
		return slices.DeleteFunc(activeNodes(window, t), func(id noise.NodeID) bool {
			expires := id.Block < block || t%window == 0
			return expires && !slices.Contains(next, id)
		})
	}
	for _, step := range []uint64{1, 5, 8, 12} {
		catch(t, fmt.Sprintf("an expired step's noise leaves early, canary at step %d", step), c, step,
			func(t *testing.T, c mechanisms.Config, p mechanisms.Calibration) mechanisms.Sum {
				return newSlowTree(t, c, p, early)
			}, audit.ErrClaim)
	}
}
