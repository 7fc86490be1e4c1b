package contribution_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"oriel/mechanisms/contribution"
	"oriel/mechanisms/lattice"
	"oriel/mechanisms/mechtest"
)

// TestBallKeepsVectorsInside checks for all centres that vectors on the edge of the ball are rounded but not moved,
// because ρ includes √n units for both roundings. The worst case is a corner, half a unit off in every coordinate.
func TestBallKeepsVectorsInside(t *testing.T) {
	rng := rand.New(rand.NewPCG(8, 8))
	for _, n := range []int{1, 2, 30, 1000} {
		b := contribution.Ball{Size: n, Radius: 0.8086, Reach: 0.3836}
		g, err := lattice.NewGrid(b.Component().Clip)
		if err != nil {
			t.Fatal(err)
		}
		dst := make([]int64, n)
		check := func(v, centre []float64) {
			t.Helper()
			clear(dst)
			b.Quantise(g, dst, append(append([]float64(nil), v...), centre...))
			for i, x := range v {
				if want := int64(math.RoundToEven(x / g.Unit())); dst[i] != want {
					t.Fatalf("n = %d: %g units become %d", n, x/g.Unit(), dst[i])
				}
			}
		}
		for range 200 {
			centre := onSphere(rng, make([]float64, n), b.Reach*rng.Float64())
			check(onSphere(rng, centre, b.Radius*(1-1e-12)), centre)
		}
		// The vector is rounded up and the centre down, by half a unit in every coordinate.
		centre, v := make([]float64, n), make([]float64, n)
		step := math.Floor(b.Radius/math.Sqrt(float64(n))/g.Unit()) - 1
		for i := range v {
			centre[i], v[i] = 0.49*g.Unit(), (step+0.51)*g.Unit()
		}
		check(v, centre)
	}
}

// TestBallDistancesHoldForEveryVector checks that contributions with the same centre, including the null contribution,
// are within the claimed distances. Opposite vectors far outside the ball attain the distances along a coordinate.
func TestBallDistancesHoldForEveryVector(t *testing.T) {
	rng := rand.New(rand.NewPCG(9, 9))
	for _, b := range []contribution.Ball{
		{Size: 2, Radius: 0.8, Reach: 0.4}, {Size: 2, Radius: 0.5, Reach: 0.5}, {Size: 2, Radius: 1, Reach: 0},
	} {
		g, err := lattice.NewGrid(b.Component().Clip)
		if err != nil {
			t.Fatal(err)
		}
		claimReplace, claimZero := mechtest.Claims(t, g, b)
		most := uint64(0)
		for _, centre := range [][]float64{
			{0, 0}, {b.Reach, 0}, {0, -b.Reach}, {0.6 * b.Reach, 0.8 * b.Reach}, {1.5 * b.Radius, 0}, {math.NaN(), 0},
		} {
			vectors := [][]float64{
				{1e9, 0}, {-1e9, 0}, {math.Inf(1), 0}, {math.NaN(), math.NaN()}, {0, math.MaxFloat64}, {0, -math.MaxFloat64},
			}
			for range 300 {
				vectors = append(vectors, onSphere(rng, []float64{0, 0}, math.Exp(4*rng.NormFloat64())))
			}
			for i := range vectors {
				vectors[i] = append(vectors[i], centre...)
			}
			replace, zeroOut := mechtest.LargestDistances(g, b, b.Size, vectors)
			if replace > claimReplace || zeroOut > claimZero {
				t.Errorf("%+v, centre %v: √%d and √%d, claimed √%d and √%d", b, centre, replace, zeroOut, claimReplace, claimZero)
			}
			most = max(most, replace)
		}
		if most != claimReplace {
			t.Errorf("%+v: √%d of the claimed √%d", b, most, claimReplace)
		}
	}
}

func TestBallValidate(t *testing.T) {
	for _, b := range []contribution.Ball{
		{Size: 2},
		{Size: 2, Radius: -1},
		{Size: 2, Radius: 1, Reach: 2},
		{Size: 2, Radius: math.NaN()},
		{Size: 2, Radius: math.Inf(1)},
		{Size: 2, Radius: 1, Reach: -1},
	} {
		if b.Validate() == nil {
			t.Errorf("%+v is valid", b)
		}
	}
}

// TestLargestIsTheClipUnlessAQuantiserBoundsIt checks that a single integer of a ball is bounded only by the clip,
// unless the quantiser is Bounded.
func TestLargestIsTheClipUnlessAQuantiserBoundsIt(t *testing.T) {
	g, err := lattice.NewGrid(1)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		quantiser contribution.Quantiser
		want      int64
	}{{nil, g.Lambda}, {contribution.Ball{Size: 2, Radius: 1}, g.Lambda}, {bounded{}, 7}} {
		if got := (contribution.Component{Size: 2, Clip: 1, Quantiser: c.quantiser}).Largest(g); got != c.want {
			t.Errorf("%T: %d, want %d", c.quantiser, got, c.want)
		}
	}
}

// bounded is a ball whose integers are at most 7.
type bounded struct{ contribution.Ball }

func (bounded) Bound(lattice.Grid) int64 { return 7 }

// onSphere returns a vector that is uniform on the sphere with the given centre and radius.
func onSphere(rng *rand.Rand, centre []float64, radius float64) []float64 {
	v, sum := make([]float64, len(centre)), 0.0
	for i := range v {
		v[i] = rng.NormFloat64()
		sum += v[i] * v[i]
	}
	for i := range v {
		v[i] = centre[i] + v[i]*radius/math.Sqrt(sum)
	}
	return v
}
