// Package arithmetic holds what CheckArithmetic must flag: a finding in exactly the lines that end in "want", and in no
// other.
package arithmetic

import (
	"maps"
	"math"
	"slices"

	"gonum.org/v1/gonum/mathext"
)

const exact = 2.0 * 3.0

func products(a, b, c float64, xs []float64) float64 {
	r := a*b + c                // want
	r = c - (a * b)             // want
	r += a * b                  // want
	r -= -(a * b)               // want
	t := a * b                  // want
	r = t + c                   // the sum of a stored product: t is flagged where it is made
	xs[0] *= a                  // want
	xs[1] = float64(a*b) + c    // rounded
	r += float64(a * b)         // rounded
	r = float64((a * b)) + c    // rounded
	r = float64(a*b*c) + r      // the inner product is a factor
	r = a*b/c + r               // a quotient cannot be fused
	r = math.Sqrt(a*b) + c      // rounded by the root
	r = math.Abs(a*b) + c       // want
	r = float64(float32(a) * 2) // rounded
	r = c + exact*2             // a constant
	if a*b < c {                // compared
		return a * b // want
	}
	return r + float64(int(a*b)) + sum(a*b) // want
}

func sum[F float32 | float64](x F) F {
	return x*x + 1 // want
}

func integers(a, b, c int64) int64 { return a*b + c }

func complexes(a, b, c complex128) complex128 {
	return a*b + c // want want
}

func functions(x float64) float64 {
	x = math.Exp(x)               // want
	f := math.Log                 // want
	x = math.Floor(f(x))          // exact
	x += math.MaxFloat64          // a constant
	x += mathext.Digamma(x)       // want
	return math.Pow(x, .5)        // want
}

func order(m map[string]int) (n int) {
	for range m { // want
		n++
	}
	for k := range maps.Keys(m) { // want
		n += len(k)
	}
	for _, k := range slices.Sorted(maps.Keys(m)) {
		n += len(k)
	}
	done := make(chan int)
	go func() { done <- n }() // want
	select {                  // want
	case n = <-done:
	default:
	}
	return n
}
