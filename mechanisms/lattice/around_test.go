package lattice

import (
	"encoding/binary"
	"math"
	"math/big"
	"math/rand/v2"
	"testing"

	_ "oriel/mechanisms/mechtest/tiertest" // sets up the test process
)

// coarse is a grid of a few hundred points, so that a test can visit all of them. No configuration has such a grid.
var coarse = Grid{Exp: 0, Lambda: 12}

// squaredDistance returns the square of the distance of two lattice points.
func squaredDistance(a, b []int64) *big.Int {
	sum := new(big.Int)
	for i := range a {
		d := new(big.Int).Sub(big.NewInt(a[i]), big.NewInt(b[i]))
		sum.Add(sum, d.Mul(d, d))
	}
	return sum
}

func square(r int64) *big.Int { return new(big.Int).Mul(big.NewInt(r), big.NewInt(r)) }

// TestAroundByEnumeration visits every vector of a fine mesh in the plane, and the worst cases of floating point,
// around every kind of centre. Two contributions with the same centre must be at most 2ρ apart, and each at most 2ρ
// from zero. Some must attain 2ρ.
func TestAroundByEnumeration(t *testing.T) {
	for _, size := range []struct{ radius, reach int64 }{{5, 4}, {7, 5}, {6, 0}, {1, 1}, {0, 0}} {
		widest := new(big.Int)
		centres := [][]float64{
			{0, 0},
			{3, 2.5},
			{-3.4, 1.4},
			{0.5, 0.5},
			{-0.5, 1.5},
			{4, 0},
			{0, -4.49},
			{5, 5},
			{1e300, 0},
			{math.NaN(), 1},
			{1, math.Inf(-1)},
			{0x1p62, 0},
		}
		for _, centre := range centres {
			m := middle(size.reach, centre)
			contributions := map[[2]int64]bool{}
			visit := func(v ...float64) {
				n := []int64{77, 77}
				coarse.Around(n, v, centre, size.radius, size.reach)
				if squaredDistance(n, m).Cmp(square(size.radius)) > 0 || !coarse.Contains(n) {
					t.Fatalf("radius %d, centre %v: %v becomes %v", size.radius, centre, v, n)
				}
				if length := math.Hypot(v[0]-float64(m[0]), v[1]-float64(m[1])); length < float64(size.radius)-math.Sqrt2/2 {
					if n[0] != int64(math.RoundToEven(v[0])) || n[1] != int64(math.RoundToEven(v[1])) {
						t.Fatalf("radius %d, centre %v: %v, which is inside, becomes %v", size.radius, centre, v, n)
					}
				}
				contributions[[2]int64{n[0], n[1]}] = true
			}
			for x := -20.0; x <= 20; x += 0.25 {
				for y := -20.0; y <= 20; y += 0.25 {
					visit(x, y)
				}
			}
			wild := []float64{
				0, math.Inf(1), math.Inf(-1), math.NaN(), math.MaxFloat64, -math.MaxFloat64, 5e-324, 0x1p43, -0x1p44, 0x1p51,
				0x1p400, -0x1p450,
			}
			for _, x := range wild {
				for _, y := range wild {
					visit(x, y)
				}
			}
			contributions[[2]int64{}] = true // the null event's contribution
			for a := range contributions {
				for b := range contributions {
					if d := squaredDistance(a[:], b[:]); d.Cmp(widest) > 0 {
						widest = d
					}
				}
			}
		}
		if limit := square(2 * size.radius); widest.Cmp(limit) != 0 {
			t.Errorf("radius %d: contributions are √%v apart, want √%v", size.radius, widest, limit)
		}
	}
}

// middle is the slow reference model of the centre: it rounds, and returns zero if the result exceeds the reach.
func middle(reach int64, centre []float64) []int64 {
	m := make([]int64, len(centre))
	sum := new(big.Float).SetPrec(3000)
	for i, x := range centre {
		if math.IsNaN(x) || math.IsInf(x, 0) {
			return make([]int64, len(centre))
		}
		r := math.RoundToEven(x)
		m[i] = int64(r)
		f := new(big.Float).SetPrec(3000).SetFloat64(r)
		sum.Add(sum, f.Mul(f, f))
	}
	if sum.Cmp(new(big.Float).SetInt(square(reach))) > 0 {
		return make([]int64, len(centre))
	}
	return m
}

// TestAroundDrawsAlongTheLineToTheCentre checks that a vector outside the ball is moved to the ball's edge along the
// line to the centre, within rounding.
func TestAroundDrawsAlongTheLineToTheCentre(t *testing.T) {
	r := source(t, 8)
	g := mustGrid(t, 1.9)
	for range 4000 {
		n := 1 + r.IntN(40)
		radius, reach := g.Lambda/2+r.Int64N(g.Lambda/4), g.Lambda/8
		centre, v, dst := wild(r, n, 0, 2), wild(r, n, r.IntN(900)-2, 3), make([]int64, n)
		length := Norm(centre) / (float64(reach) * g.Unit() * 0.9)
		for i := range centre {
			centre[i] /= length
		}
		g.Around(dst, v, centre, radius, reach)
		d := make([]float64, n)
		for i := range v {
			d[i] = v[i]/g.Unit()/4 - centre[i]/g.Unit()/4 // a quarter of both, so that 1e308 does not overflow
		}
		away := Norm(d)
		factor := min(1, float64(radius)/4/away)
		for i := range d {
			want := centre[i]/g.Unit() + 4*d[i]*factor
			if off := math.Abs(float64(dst[i]) - want); !(off <= 3+math.Sqrt(float64(n))) {
				t.Fatalf("coordinate %d of %d is %d, want %g", i, n, dst[i], want)
			}
		}
	}
}

func TestAroundRefusesABallThatLosesZeroOrTheGrid(t *testing.T) {
	for _, size := range []struct{ radius, reach int64 }{{-1, 0}, {3, -1}, {3, 4}, {9, 4}, {13, 0}} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("radius %d, reach %d is taken", size.radius, size.reach)
				}
			}()
			coarse.Around(make([]int64, 1), []float64{1}, []float64{0}, size.radius, size.reach)
		}()
	}
}

func TestAroundDoesNotAllocate(t *testing.T) {
	g := mustGrid(t, 1)
	r := source(t, 9)
	v, far, centre, dst := wild(r, 32, -4, 4), wild(r, 32, 9, 4), wild(r, 32, -8, 4), make([]int64, 32)
	if n := testing.AllocsPerRun(100, func() {
		g.Around(dst, v, centre, g.Lambda/2, g.Lambda/2)
		g.Around(dst, far, centre, g.Lambda/2, g.Lambda/2)
	}); n != 0 {
		t.Errorf("%g allocations, want 0", n)
	}
}

func FuzzAround(f *testing.F) {
	f.Add([]byte("0123456789abcdef0123456789abcdef"), uint64(0x3ff0000000000000), int64(1<<23), int64(1<<22))
	f.Fuzz(func(t *testing.T, raw []byte, clip uint64, radius, reach int64) {
		g, err := NewGrid(math.Float64frombits(clip))
		if err != nil || reach < 0 || radius < reach || radius > g.Lambda-reach {
			return
		}
		n := len(raw) / 16
		v, centre, dst := make([]float64, n), make([]float64, n), make([]int64, n)
		for i := range n {
			v[i] = math.Float64frombits(binary.LittleEndian.Uint64(raw[16*i:]))
			centre[i] = math.Float64frombits(binary.LittleEndian.Uint64(raw[16*i+8:]))
		}
		m := make([]int64, n)
		g.Around(m, make([]float64, n), centre, 0, 0) // the result is zero, because the radius admits no centre
		g.Around(dst, v, centre, radius, reach)
		nan := make([]float64, n)
		for i := range nan {
			nan[i] = math.NaN()
		}
		if n > 0 {
			g.Around(m, nan, centre, radius, reach)
		}
		if squaredDistance(m, make([]int64, n)).Cmp(square(reach)) > 0 ||
			squaredDistance(dst, m).Cmp(square(radius)) > 0 || !g.Contains(dst) {
			t.Fatalf("Around(%v, %v) on %+v within %d, %d = %v", v, centre, g, radius, reach, dst)
		}
	})
}

func BenchmarkAround(b *testing.B) {
	g := mustGrid(b, 1)
	r := rand.New(rand.NewPCG(10, 0))
	centre := wild(r, 32, -8, 4)
	for name, v := range map[string][]float64{"inside": wild(r, 32, -4, 2), "beyond": wild(r, 32, 4, 2)} {
		b.Run("d=32/"+name, func(b *testing.B) {
			dst := make([]int64, 32)
			b.ReportAllocs()
			for b.Loop() {
				g.Around(dst, v, centre, g.Lambda/2, g.Lambda/2)
			}
		})
	}
}

// TestOverflowingSumOfSquaresIsRefused checks that a sum of squares beyond 128 bits is outside every radius, even if
// its low 128 bits are small.
func TestOverflowingSumOfSquaresIsRefused(t *testing.T) {
	var s squares
	for i := range 5 {
		if s.within(math.MaxInt64) != (i < 2) {
			t.Errorf("%d squares of %d are within it: %v", i, int64(math.MaxInt64), i >= 2)
		}
		s = s.plus(math.MaxInt64)
	}
	if s.within(math.MaxInt64) {
		t.Error("5 squares have come back to one")
	}
}
