package mechanisms_test

import (
	"encoding/binary"
	"math"
	"testing"

	"oriel/mechanisms"
	"oriel/mechanisms/contribution"
	"oriel/mechanisms/lattice"
	"oriel/mechanisms/mechtest"
	"oriel/mechanisms/noise"
)

// TestRestoreChecksTheBoundsOfEachComponent checks that Restore refuses impossible states at every coordinate. In an
// open batch of one record, each coordinate of each component holds at most one contribution, Λ of its own component,
// and releases are finite. It would find that the first component's bounds are applied to all components, or that only
// its coordinates are checked.
func TestRestoreChecksTheBoundsOfEachComponent(t *testing.T) {
	c, v := withComponents("tree-gaussian")
	c.Batch = 2
	calibration := mechtest.Plan(t, c)
	stream, err := mechanisms.Open(c, calibration, [32]byte{4})
	if err != nil {
		t.Fatal(err)
	}
	stream.Add(noise.Identity{}, v)
	good := stream.AppendState(nil)
	const head, size = 1 + 32 + 4, 10
	with := func(at int, x uint64) error {
		state := append([]byte(nil), good...)
		binary.LittleEndian.PutUint64(state[head+8*at:], x)
		return stream.Restore(state)
	}
	from := 0
	for k, part := range calibration.Components {
		for i := from; i < from+part.Size; i++ {
			for _, sign := range []int64{1, -1} {
				if err := with(i, uint64(sign*part.Grid.Lambda)); err != nil {
					t.Errorf("part %d, coordinate %d: a contribution of Λ is refused: %v", k, i, err)
				}
				if with(i, uint64(sign*(part.Grid.Lambda+1))) == nil {
					t.Errorf("part %d, coordinate %d: a contribution beyond Λ is taken", k, i)
				}
			}
			for _, x := range []float64{math.NaN(), math.Inf(-1)} {
				if with(size+i, math.Float64bits(x)) == nil {
					t.Errorf("part %d, coordinate %d: a release of %g is taken", k, i, x)
				}
			}
		}
		from += part.Size
	}
}

// TestErrorBoundsAreOfTheLargestScale checks error bounds under scales. One lattice unit of a coordinate of scale k is
// √k·q, and its noise grows with it. So for every law of noise the error bound of a component with scales must be √max
// k times its bound without scales.
func TestErrorBoundsAreOfTheLargestScale(t *testing.T) {
	for _, name := range mechanisms.Names() {
		c := config(name, 1)
		c.Failure = 0.01
		bound := func(scales []uint32) float64 {
			c.Contribution = contribution.Contribution{Components: []contribution.Component{{Size: 3, Clip: 1, Scales: scales}}}
			return mechtest.Plan(t, c).ErrorBound
		}
		plain, scaled := bound(nil), bound([]uint32{1, 7, 4})
		if !(plain > 0) || math.Abs(scaled/plain-math.Sqrt(7)) > 1e-12 {
			t.Errorf("%s: bound %g without scales, %g with: √7 = %g times it is right", name, plain, scaled, math.Sqrt(7))
		}
	}
}

// near is a quantiser whose contributions are all close to one another and far from zero.
type near struct{}

func (near) Entries() int { return 1 }

func (near) Distances(g lattice.Grid) (replace, zeroOut lattice.Int128) {
	return lattice.Square(2), lattice.Square(g.Lambda)
}

func (near) Quantise(g lattice.Grid, dst []int64, v []float64) {
	if dst[0] = g.Lambda; v[0] < 0 {
		dst[0] -= 2
	}
}

// TestExchangeForNullEventIsCounted checks that under replace an event may also be exchanged for the null event, which
// contributes zero. If contributions are closer to one another than to zero, the distance from zero is the sensitivity.
// So the noise must be the same as under zero-out, at user level too.
func TestExchangeForNullEventIsCounted(t *testing.T) {
	for _, name := range mechanisms.Names() {
		c := config(name, 1)
		c.Contribution = contribution.Contribution{
			Components: []contribution.Component{{Size: 2, Clip: 1, Quantiser: near{}}},
		}
		calibration := mechtest.Plan(t, c)
		against := c
		against.Unit = zeroOut
		if null := mechtest.Plan(t, against); calibration.Scale != null.Scale || calibration.Sensitivity(c) != 1 {
			t.Errorf("%s: Δ = %g and scale %v, %v against the null event", name, calibration.Sensitivity(c),
				calibration.Scale, null.Scale)
		}
		if facts, _ := mechanisms.FactsOf(name); facts.Structure == mechanisms.PerStep {
			continue
		}
		c.Unit = separated(3)
		if user := mechtest.Plan(t, c); user.Sensitivity(c) != 1 {
			t.Errorf("%s: Δ = %g of a user's event", name, user.Sensitivity(c))
		}
	}
}
