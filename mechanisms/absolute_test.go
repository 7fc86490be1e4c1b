package mechanisms_test

import (
	"math"
	"slices"
	"testing"

	"oriel/mechanisms"
	"oriel/mechanisms/contribution"
	"oriel/mechanisms/dp"
	"oriel/mechanisms/lattice"
	"oriel/mechanisms/mechtest"
	"oriel/mechanisms/noise"
	"oriel/mechanisms/protection"
)

// pair is a Quantiser of two coordinates that takes integers as they are: the first must be a multiple of 5, and both
// together at most 12.
type pair struct{}

func (pair) Entries() int { return 2 }

func (pair) Distances(g lattice.Grid) (replace, zeroOut lattice.Int128) {
	return lattice.Square(24), lattice.Square(12)
}

func (pair) AbsoluteDistances(lattice.Grid) (replace, zeroOut uint64) { return 20, 12 }

func (pair) Steps(lattice.Grid) []int64 { return []int64{5, 1} }

func (pair) Quantise(_ lattice.Grid, dst []int64, v []float64) {
	dst[0], dst[1] = int64(v[0]), int64(v[1])
}

func ofPairs(unit protection.Unit, epsilon float64) mechanisms.Config {
	c := config("once-laplace", 2)
	c.Batch, c.Terms, c.Budget = 0, protection.Terms{Scope: protection.PerStep{}, Unit: unit}, dp.Budget{Epsilon: epsilon}
	if unit.Adjacency() != dp.AddRemove {
		c.Batch = 1
	}
	c.Contribution = contribution.Contribution{Components: []contribution.Component{{Size: 2, Clip: 1, Quantiser: pair{}}}}
	return c
}

// TestDiscreteScalesAreQuotients checks the scale of every unit and adjacency: the ℓ1 distance divided by ε, exact
// where it is a float64, and otherwise rounded up to the next one. The proved ε must be the configured one, and a scale
// one float64 smaller must prove nothing.
func TestDiscreteScalesAreQuotients(t *testing.T) {
	for _, of := range []struct {
		unit     protection.Unit
		distance float64
	}{
		{protection.Event{Exchange: dp.AddRemove}, 12},
		{protection.Event{Exchange: dp.ZeroOut}, 12},
		{protection.Event{Exchange: dp.Replace}, 20},
		{protection.UserPeriod{PeriodSteps: 24, Events: 7}, 84},
	} {
		for _, epsilon := range []float64{0.1, 0.5, 1, 3, 12} {
			c := ofPairs(of.unit, epsilon)
			p := mechtest.Plan(t, c)
			scale := p.Scale.Float64()
			if scale < of.distance/epsilon || scale > math.Nextafter(of.distance/epsilon, math.Inf(1)) ||
				epsilon == 0.5 && scale != 2*of.distance {
				t.Errorf("%s, ε = %g: scale %g, want %g", of.unit.Name(), epsilon, scale, of.distance/epsilon)
			}
			if g, err := p.Guarantee(c); err != nil || g.Epsilon != epsilon || g.Delta != 0 || g.Mu != 0 {
				t.Errorf("%s, ε = %g: %+v, %v", of.unit.Name(), epsilon, g, err)
			}
			p.Scale = noise.ScaleUp(math.Nextafter(of.distance/epsilon, 0))
			p.Components[0].Scale = p.Scale
			if _, err := p.Guarantee(c); err == nil {
				t.Errorf("%s, ε = %g: a scale rounded down is accepted", of.unit.Name(), epsilon)
			}
		}
	}
}

// TestDiscreteNoiseIsOnSteps checks that released sums stay on the lattice of steps, and that a contribution beyond the
// ℓ1 distance, or off its steps, is not added.
func TestDiscreteNoiseIsOnSteps(t *testing.T) {
	c := ofPairs(protection.Event{Exchange: dp.ZeroOut}, 1)
	stream := mechtest.ByCount(mechtest.Open(t, c, [32]byte{4}))
	unit := mechtest.Plan(t, c).Grid.Unit()
	zero := mechtest.ByCount(mechtest.ZeroStream(t, c))
	for i, x := range []struct {
		event []float64
		added []float64
	}{
		{[]float64{5, 7}, []float64{5, 7}},
		{[]float64{-10, 2}, []float64{-10, 2}},
		{[]float64{10, -3}, []float64{0, 0}},
		{[]float64{0, 13}, []float64{0, 0}},
		{[]float64{6, 1}, []float64{0, 0}},
	} {
		stream.Add(noise.Identity{Offset: int64(i)}, x.event)
		if on := stream.Sum(0)[0] / unit / 5; on != math.Trunc(on) {
			t.Errorf("released %g units, not a multiple of 5", stream.Sum(0)[0]/unit)
		}
		zero.Add(noise.Identity{Offset: int64(i)}, x.event)
		if got := []float64{zero.Sum(0)[0] / unit, zero.Sum(0)[1] / unit}; !slices.Equal(got, x.added) {
			t.Errorf("event %v is added as %v, want %v", x.event, got, x.added)
		}
	}
	if got, want := stream.ErrorBound(), 0.0; got != want {
		t.Errorf("error bound %g without a failure probability", got)
	}
}

// TestAbsoluteDistanceOfOthers checks ⌈√n·Δ⌉ for contributions without an ℓ1 distance of their own.
func TestAbsoluteDistanceOfOthers(t *testing.T) {
	for n, want := range map[int]float64{1: 1 << 25, 2: math.Ceil(math.Sqrt2 * (1 << 25)), 4: 1 << 26, 1 << 20: 1 << 35} {
		p := contribution.OneComponent(n, 1).Components[0]
		g, err := lattice.NewGrid(1)
		if err != nil {
			t.Fatal(err)
		}
		if replace, zeroOut := p.AbsoluteDistances(g); float64(replace) != want || float64(zeroOut) != math.Ceil(want/2) {
			t.Errorf("n = %d: %d and %d, want %g", n, replace, zeroOut, want)
		}
	}
}
