package jacobi

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"
)

// Values are gonum's, vectors are orthonormal, and values and vectors make the matrix again, also where values are
// equal, zero or far apart.
func TestEigenIsThatOfGonum(t *testing.T) {
	rng := rand.New(rand.NewPCG(2, 2))
	for trial := range 200 {
		n := 1 + rng.IntN(9)
		whole, e := mat.NewSymDense(n, nil), New(n)
		for i := range n {
			for j := i; j < n; j++ {
				x := rng.NormFloat64()
				switch trial % 4 {
				case 1:
					x = float64(rng.IntN(3) - 1)
				case 2:
					x *= math.Pow(10, float64(4*i))
				}
				whole.SetSym(i, j, x)
				e.Set(i, j, x)
			}
		}
		e.Run()
		var want mat.EigenSym
		if !want.Factorize(whole, false) {
			t.Fatal("gonum finds none")
		}
		got := make([]float64, n)
		for k := range got {
			got[k] = e.Value(k)
		}
		slices.Sort(got)
		size := mat.Norm(whole, 2) + 1e-300
		for k, x := range want.Values(nil) {
			if math.Abs(x-got[k]) > 1e-12*size {
				t.Fatalf("trial %d: values %v, want %v", trial, got, want.Values(nil))
			}
		}
		for i := range n {
			for j := range n {
				inner, sum := 0.0, 0.0
				for k := range n {
					inner += e.Vector(i)[k] * e.Vector(j)[k]
					sum += e.Value(k) * e.Vector(k)[i] * e.Vector(k)[j]
				}
				one := map[bool]float64{true: 1}[i == j]
				if math.Abs(inner-one) > 1e-12 || math.Abs(sum-whole.At(i, j)) > 1e-12*size {
					t.Fatalf("trial %d: vectors %d and %d: %g, matrix %g, want %g", trial, i, j, inner, sum, whole.At(i, j))
				}
			}
		}
	}
}
