package lattice

import (
	"fmt"
	"math"
)

// Dot returns Σaᵢbᵢ in one fixed order: four interleaved sums over the indices equal to 0, 1, 2, 3 modulo 4, then
// (s₀+s₁)+(s₂+s₃). Four sums let a CPU run four additions in parallel. The order determines bytes and must not change.
// It panics if the lengths differ.
func Dot(a, b []float64) float64 {
	if len(a) != len(b) {
		panic(fmt.Sprintf("BUG: lattice: Dot of %d and %d entries", len(a), len(b)))
	}
	var s0, s1, s2, s3 float64
	for len(a) >= 4 && len(b) >= 4 {
		s0 += float64(a[0] * b[0])
		s1 += float64(a[1] * b[1])
		s2 += float64(a[2] * b[2])
		s3 += float64(a[3] * b[3])
		a, b = a[4:], b[4:]
	}
	switch len(a) {
	case 3:
		s2 += float64(a[2] * b[2])
		fallthrough
	case 2:
		s1 += float64(a[1] * b[1])
		fallthrough
	case 1:
		s0 += float64(a[0] * b[0])
	}
	return float64(s0+s1) + float64(s2+s3)
}

// Norm returns ‖a‖₂ in the order of Dot, without intermediate overflow or underflow: entries are first scaled by an
// exact power of two if their squares would leave the range. It is +Inf if an entry is infinite or the norm itself
// overflows, and NaN if an entry is NaN and none is infinite.
func Norm(a []float64) float64 {
	top := largest(a)
	switch {
	case top == 0:
		return 0
	case top >= infinityBits:
		return notFiniteNorm(a)
	}
	exponent := int(top>>fractionBits) - bias
	if exponent >= -headroom && exponent <= headroom {
		return math.Sqrt(Dot(a, a))
	}
	// Both 2^k and 2^-k must be normal; a subnormal entry is at least 2⁻⁵² after scaling, and the largest is below 4.
	k := min(max(exponent, -bias+1), bias-1)
	return float64(scaledNorm(a, powerOfTwo(-k)) * powerOfTwo(k))
}

// scaledNorm returns ‖scale·v‖₂, scale a power of two that keeps the squares in range.
func scaledNorm(v []float64, scale float64) float64 {
	var s0, s1, s2, s3 float64
	for len(v) >= 4 {
		x0, x1, x2, x3 := float64(v[0]*scale), float64(v[1]*scale), float64(v[2]*scale), float64(v[3]*scale)
		s0 += float64(x0 * x0)
		s1 += float64(x1 * x1)
		s2 += float64(x2 * x2)
		s3 += float64(x3 * x3)
		v = v[4:]
	}
	for i, x := range v {
		x = float64(x * scale)
		switch i {
		case 0:
			s0 += float64(x * x)
		case 1:
			s1 += float64(x * x)
		default:
			s2 += float64(x * x)
		}
	}
	return math.Sqrt(float64(s0+s1) + float64(s2+s3))
}

// notFiniteNorm returns the norm of a vector with an infinite or NaN entry.
func notFiniteNorm(a []float64) float64 {
	norm := math.NaN()
	for _, x := range a {
		if math.IsInf(x, 0) {
			norm = math.Inf(1)
		}
	}
	return norm
}
