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

// TestRestoreChecksReleasesAndNoPrivateSum checks, at every coordinate, that Restore refuses a release that is not
// finite, and takes any contribution sum: a step may have any number of records, and no check may depend on a private
// sum.
func TestRestoreChecksReleasesAndNoPrivateSum(t *testing.T) {
	c, v := withComponents("tree-gaussian")
	calibration := mechtest.Plan(t, c)
	stream, err := mechanisms.Open(c, calibration, [32]byte{4})
	if err != nil {
		t.Fatal(err)
	}
	stream.Add(noise.Identity{}, v)
	good := stream.AppendState(nil)
	const head, size = 1 + 32 + 16 + 4 + 44, 10 // a chain with one partition
	with := func(at int, x uint64) error {
		state := append([]byte(nil), good...)
		binary.LittleEndian.PutUint64(state[head+8*at:], x)
		return stream.Restore(state)
	}
	for i := range size {
		for word := range 2 {
			if err := with(2*i+word, math.MaxUint64-7); err != nil {
				t.Errorf("coordinate %d: a large contribution sum is refused: %v", i, err)
			}
		}
		for _, x := range []float64{math.NaN(), math.Inf(-1)} {
			if with(2*size+i, math.Float64bits(x)) == nil {
				t.Errorf("coordinate %d: a release of %g is taken", i, x)
			}
		}
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
