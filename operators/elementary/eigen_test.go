package elementary

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"
)

// TestEigenIsThatOfGonum checks that eigenvalues agree with gonum, that eigenvectors are orthonormal, and that both
// together give the matrix. It covers eigenvalues that are equal, zero or of very different size.
func TestEigenIsThatOfGonum(t *testing.T) {
	rng := rand.New(rand.NewPCG(2, 2))
	for trial := range 200 {
		n := 1 + rng.IntN(9)
		whole, e := mat.NewSymDense(n, nil), NewEigen(n)
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

// TestGoldenEigen checks that values and vectors keep their bits, because they decide published bytes.
func TestGoldenEigen(t *testing.T) {
	hash, e := sha256.New(), NewEigen(5)
	for k := range 20 {
		for i := range 5 {
			for j := i; j < 5; j++ {
				e.Set(i, j, float64((k*31+i*17+j*7)%23-11)/float64(1+(i+j+k)%5))
			}
		}
		e.Run()
		for i := range 5 {
			_ = binary.Write(hash, binary.LittleEndian, e.Value(i)) // writing to a hash never fails
			_ = binary.Write(hash, binary.LittleEndian, e.Vector(i))
		}
	}
	const want = "bc91652a1ca6d6d8018a1c7cfa55c221"
	if got := hex.EncodeToString(hash.Sum(nil)[:16]); got != want {
		t.Errorf("%s, stored %s", got, want)
	}
}
