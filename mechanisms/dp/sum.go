package dp

import (
	"math"
	"math/big"
)

// sum is a number ≥ 0, high + low: the nearest float64, and the rest rounded up. A value, unlike big.Float, and it
// holds the square of a float64 exactly.
type sum struct{ high, low float64 }

// plus returns s + x, rounded up.
func (s sum) plus(x *big.Float) sum {
	total := s.float()
	total.Add(total, x)
	high, _ := total.Float64()
	if math.IsInf(high, 1) {
		return sum{high: high}
	}
	return sum{high, RoundUp(total.Sub(total, exact(high)))}
}

// times returns s·k, rounded up.
func (s sum) times(k *big.Float) sum {
	x := s.float()
	return sum{}.plus(x.Mul(x, k))
}

// float returns s in a new big.Float that rounds up.
func (s sum) float() *big.Float {
	x := newFloat().SetMode(big.ToPositiveInf).SetFloat64(s.high)
	return x.Add(x, exact(s.low))
}

// rootUp returns the least float64 that is at least √x, x ≥ 0.
func rootUp(x *big.Float) float64 {
	if x.IsInf() {
		return math.Inf(1)
	}
	atLeast := func(root float64) bool { // a square of a float64 is exact at this precision
		return newFloat().Mul(exact(root), exact(root)).Cmp(x) >= 0
	}
	root, _ := newFloat().Sqrt(x).Float64()
	for !atLeast(root) {
		root = math.Nextafter(root, math.Inf(1))
	}
	for root > 0 && atLeast(math.Nextafter(root, 0)) {
		root = math.Nextafter(root, 0)
	}
	return root
}
