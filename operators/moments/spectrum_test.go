package moments

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"
)

// TestSpectrumMatchesGonum checks that eigenvalues agree with gonum, that eigenvectors are orthonormal, and that Solve
// and Rows use the raised matrix. It covers matrices of data, of noise only, with a single eigenvalue, and diagonal
// ones.
func TestSpectrumMatchesGonum(t *testing.T) {
	rng := rand.New(rand.NewPCG(12, 13))
	for _, n := range []int{1, 2, 3, 5, 8, 27} {
		flat := drawn(rng, n+1, 0, 0)
		for i := range n + 1 {
			flat.Values[flat.index(i, i)] = 3
		}
		for _, m := range []Symmetric{drawn(rng, n+1, 3*n, 2), drawn(rng, n+1, 0, 5), drawn(rng, n+1, 2, 0), flat} {
			const floor, scale, add = 4, 1.5, 0.25
			s := NewSpectrum(n)
			if !s.Factor(m, scale, floor, add) {
				t.Fatalf("n = %d: no spectrum", n)
			}
			if used, doublings := s.Used(); used != floor || doublings != 0 {
				t.Errorf("floor %g after %d doublings", used, doublings)
			}
			var e mat.EigenSym
			top := mat.NewSymDense(n, nil)
			top.CopySym(dense(m).SliceSym(0, n))
			if !e.Factorize(top, true) {
				t.Fatal("gonum finds none")
			}
			want, got, size := e.Values(nil), []float64{}, mat.Norm(top, 2)
			for k := range n {
				got = append(got, s.eigen.Value(k))
			}
			slices.Sort(got)
			for k := range want {
				if math.Abs(got[k]-want[k]) > 1e-12*(size+1) {
					t.Fatalf("n = %d: eigenvalues %v, want %v", n, got, want)
				}
			}
			var q, weighted, inverse, gram mat.Dense
			e.VectorsTo(&q)
			weights := make([]float64, n)
			for k, x := range want {
				weights[k] = 1 / (scale*math.Max(x, floor) + add)
			}
			weighted.Mul(&q, mat.NewDiagDense(n, weights))
			inverse.Mul(&weighted, q.T())
			vectors := mat.NewDense(n, n, nil)
			for k := range n {
				vectors.SetRow(k, s.eigen.Vector(k))
			}
			gram.Mul(vectors, vectors.T())
			b, x, rows := make([]float64, n), make([]float64, n), make([]float64, n)
			for i := range b {
				b[i] = rng.NormFloat64()
			}
			s.Rows(rows)
			copy(x, b)
			s.Solve(x, x)
			var solved mat.VecDense
			solved.MulVec(&inverse, mat.NewVecDense(n, b))
			for i := range n {
				if math.Abs(x[i]-solved.AtVec(i)) > 1e-11 || math.Abs(rows[i]-mat.Norm(inverse.RowView(i), 2)) > 1e-11 {
					t.Fatalf("n = %d: %v and %v, want %v", n, x, rows, solved.RawVector().Data)
				}
				for j := range n {
					if math.Abs(gram.At(i, j)-map[bool]float64{true: 1}[i == j]) > 1e-13 {
						t.Fatalf("n = %d: vectors %d and %d have the product %g", n, i, j, gram.At(i, j))
					}
				}
			}
		}
	}
}

// TestSpectrumRefuses checks that Factor returns false if there is no inverse: for numbers that are not finite, and for
// a floor that leaves zero.
func TestSpectrumRefuses(t *testing.T) {
	s := NewSpectrum(2)
	for _, odd := range []float64{math.NaN(), math.Inf(1), math.Inf(-1)} {
		if s.Factor(Symmetric{Size: 2, Values: []float64{1, odd, 1}}, 1, 1, 1) {
			t.Errorf("a matrix with %g has a spectrum", odd)
		}
	}
	singular := Symmetric{Size: 2, Values: []float64{0, 0, -1}}
	if s.Factor(singular, 1, 0, 0) || !s.Factor(singular, 1, 0, 0.5) || !s.Factor(singular, 1, 0.5, 0) {
		t.Error("a singular matrix has an inverse, or a raised one has none")
	}
}

// TestGoldenSpectrum checks that solutions keep their bytes, because decisions are computed from them.
func TestGoldenSpectrum(t *testing.T) {
	next := numbers()
	var all []float64
	for _, n := range []int{1, 2, 5, 16, 27} {
		m, s := Symmetric{Size: n + 1, Values: make([]float64, (n+1)*(n+2)/2)}, NewSpectrum(n)
		for i := range m.Values {
			m.Values[i] = next()
		}
		if !s.Factor(m, 1.5, 0.25, 0.125) {
			t.Fatalf("n = %d: no spectrum", n)
		}
		x, rows := make([]float64, n), make([]float64, n)
		for i := range x {
			x[i] = next()
		}
		s.Solve(x, x)
		s.Rows(rows)
		all = append(append(all, x...), rows...)
	}
	if got := hashed(all); got != "b091a56303c7aa4a0c9f37f64af7ecad" {
		t.Errorf("solutions are %s", got)
	}
}

// TestSpectrumAllocatesNothing checks that nothing is allocated after the constructor.
func TestSpectrumAllocatesNothing(t *testing.T) {
	m, s, x := drawn(rand.New(rand.NewPCG(1, 1)), 28, 100, 1), NewSpectrum(27), make([]float64, 27)
	if n := testing.AllocsPerRun(10, func() {
		s.Factor(m, 1, 1, 1)
		s.Solve(x, m.Values[:27])
		s.Rows(x)
	}); n > 0 {
		t.Errorf("%g allocations", n)
	}
}

func BenchmarkSpectrum(b *testing.B) {
	m, s, x := drawn(rand.New(rand.NewPCG(1, 1)), 28, 54, 1), NewSpectrum(27), make([]float64, 27)
	for b.Loop() {
		s.Factor(m, 1, 1, 1)
		s.Solve(x, m.Values[:27])
	}
}
