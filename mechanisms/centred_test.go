package mechanisms_test

import (
	"math"
	"testing"

	"oriel/mechanisms/contribution"
	"oriel/mechanisms/lattice"
	"oriel/mechanisms/mechtest"
	"oriel/mechanisms/noise"
)

// centred is a quantiser for a ball around a public centre, whose n numbers follow the n private numbers of a record. A
// contribution is a lattice point within r of the centre's lattice point; a vector outside is moved towards the centre.
// A centre farther than r from zero counts as zero, so that the null contribution is inside. Two contributions with the
// same centre are at most 2r apart, and a contribution is at most 2r from zero.
type centred struct {
	n int
	r int64
}

func (q centred) Entries() int { return 2 * q.n }

func (q centred) Distances(lattice.Grid) (replace, zeroOut lattice.Int128) {
	square := lattice.Square(2 * q.r)
	return square, square
}

func (q centred) Quantise(g lattice.Grid, dst []int64, v []float64) {
	centre := make([]int64, q.n)
	q.within(g, centre, v[q.n:], make([]int64, q.n))
	q.within(g, dst, v[:q.n], centre)
}

// within writes the lattice point of v, or the centre if v is not within r of it. The last check of the distance uses
// integers.
func (q centred) within(g lattice.Grid, dst []int64, v []float64, centre []int64) {
	square := int64(0)
	for i, x := range v {
		n := math.RoundToEven(x / g.Unit())
		if !(math.Abs(n) < 1<<30) {
			square = math.MaxInt32 * q.r
			break
		}
		dst[i] = int64(n)
		square += (dst[i] - centre[i]) * (dst[i] - centre[i])
	}
	if square > q.r*q.r {
		copy(dst, centre)
	}
}

// TestDistancesAroundAPublicCentre checks that for each public centre all contributions are within the claimed distance
// of each other and of zero, and that some contributions attain this distance.
func TestDistancesAroundAPublicCentre(t *testing.T) {
	g, err := lattice.NewGrid(1)
	if err != nil {
		t.Fatal(err)
	}
	q := centred{n: 2, r: 5}
	claimReplace, claimZero := mechtest.Claims(t, g, q)
	most := uint64(0)
	for _, centre := range [][]float64{{0, 0}, {3, 4}, {-5, 0}, {1, -2}, {4, 4}, {1e300, 0}, {math.NaN(), 1}} {
		vectors := [][]float64{{math.Inf(1), 0, centre[0] * g.Unit(), centre[1] * g.Unit()}}
		for x := -12.0; x <= 12; x++ {
			for y := -12.0; y <= 12; y++ {
				vectors = append(vectors, []float64{x * g.Unit(), y * g.Unit(), centre[0] * g.Unit(), centre[1] * g.Unit()})
			}
		}
		replace, zeroOut := mechtest.LargestDistances(g, q, q.n, vectors)
		if replace > claimReplace || zeroOut > claimZero {
			t.Errorf("centre %v: √%d and √%d, claimed √%d and √%d", centre, replace, zeroOut, claimReplace, claimZero)
		}
		most = max(most, replace, zeroOut)
	}
	if most != claimReplace {
		t.Errorf("√%d is much less than the claimed √%d", most, claimReplace)
	}
}

// TestPublicNumbersAreNotSummed checks that public numbers are not part of the contribution: the stream sums only the
// private ones, and the guarantee uses the smaller distance.
func TestPublicNumbersAreNotSummed(t *testing.T) {
	c := config("tree-gaussian", 1)
	c.Contribution = contribution.Contribution{
		Components: []contribution.Component{{Size: 2, Clip: 1, Quantiser: centred{n: 2, r: 1 << 22}}},
	}
	stream := mechtest.ByCount(mechtest.ZeroStream(t, c))
	stream.Add(noise.Identity{}, []float64{0.25, 0, 0.125, 0})
	stream.Add(noise.Identity{}, []float64{9, 9, 0.125, 0}) // outside the ball, so the mechanism shrinks it
	if got := stream.Sum(0); got[0] != 0.375 || got[1] != 0 || stream.Dimension() != 2 {
		t.Errorf("sum %v of %d coordinates, want (0.375, 0)", got, stream.Dimension())
	}
	whole := config("tree-gaussian", 2) // r and the noise scale are both a quarter of the default contribution's Λ
	a, b := mechtest.Plan(t, c).Scale.Float64(), mechtest.Plan(t, whole).Scale.Float64()
	if math.Abs(a/b-0.25) > 1e-12 {
		t.Errorf("noise of the ball in the ball is %g of the other's", a/b)
	}
}
