package dp

import (
	"math"
	"math/big"
)

// seriesLimit separates the two methods of mills: below it the series needs fewer terms than the continued fraction.
const seriesLimit = 6

var (
	pi      = constant("3.1415926535897932384626433832795028841971693993751058209749445923078164062862089986280348253421170679821480865132823066470938446095505")
	root2Pi = newFloat().Sqrt(newFloat().Mul(exact(2), pi)) // √(2π)
)

// margin is the relative outward margin of every bound, 2^margin of each of its terms.
const margin = -140

// A bound is a sum of terms, each with a relative error below 2^(margin−1). up returns an upper bound of the exact sum.
type bound struct{ value, size *big.Float }

func newBound() bound { return bound{newFloat(), newFloat()} }

func (b bound) add(terms ...*big.Float) {
	for _, x := range terms {
		b.value.Add(b.value, x)
		b.size.Add(b.size, newFloat().Abs(x))
	}
}

func (b bound) up() *big.Float {
	slack := newFloat().SetMantExp(b.size, margin)
	return slack.Add(slack, b.value)
}

// outward multiplies a positive x by 1 + 2^margin, which covers the rounding of the few operations that made it.
func outward(x *big.Float) *big.Float {
	slack := newFloat().SetMantExp(x, margin)
	return slack.Add(slack, x)
}

// density returns the normal density φ(x) for |x| ≤ tail.
func density(x *big.Float) *big.Float {
	square := newFloat().Mul(x, x)
	square.Neg(square).Quo(square, exact(2))
	return square.Quo(exponential(square), root2Pi)
}

// maxExponent is the largest |x| that exponential accepts; beyond it e^−x is below the least float64.
const maxExponent = tail * tail / 2

// negligible returns a bound on Φ(−tail) and on e^−maxExponent that is itself below the least float64.
func negligible() *big.Float { return newFloat().SetMantExp(exact(1), -1154) }

// The loops here never use a big.Float both as operand and as result, so that big.Float reuses the result's memory.

// exponential returns e^x for |x| ≤ maxExponent: with x = k·ln 2 + r, the Taylor series of r·2⁻⁶ and 6 squarings.
func exponential(x *big.Float) *big.Float {
	const halvings = 6
	quotient, _ := newFloat().Quo(x, ln2).Float64()
	k := math.Round(quotient)
	r := newFloat().Sub(x, newFloat().Mul(exact(k), ln2))
	r.SetMantExp(r, -halvings)
	// |r| < 2⁻⁶, so the first omitted term, 25, is below 2⁻¹⁵⁰/25! < 2⁻²³³.
	sum := nested(r, 24, func(k int) uint64 { return uint64(k) })
	for range halvings {
		sum.Mul(sum, sum)
	}
	return sum.SetMantExp(sum, int(k))
}

// nestedBits is the binary logarithm of a bound on |y| in nested.
const nestedBits = 6

// nested returns 1 + y/d(1)·(1 + y/d(2)·(1 + … + y/d(n))) for small whole d, |y| < 2⁶, no negative inner sum, and a
// result below 2²⁵. An error of an inner sum reaches the result times the term of the sum that it belongs to. So for y
// ≥ 0 the relative error is below 2^{8−fixedBits}, and likewise for |y| < ½.
func nested(y *big.Float, n int, d func(k int) uint64) *big.Float {
	one, negative := fixedOne(), y.Sign() < 0
	factor := toFixed(newFloat().Abs(y), 256-nestedBits)
	sum := one
	for k := n; k >= 1; k-- {
		sum.scale(&factor)
		sum.double(nestedBits)
		sum.divide(d(k))
		sum = one.plus(&sum, negative)
	}
	return sum.float()
}

// mills returns the Mills ratio R(x) = Φ(−x)/φ(x) for x ≥ 0.
//
// Below seriesLimit: R(x) = 1/(2φ(x)) − Σ_{k≥0} x^{2k+1}/(2k+1)!! (Abramowitz and Stegun 26.2.11), all terms positive;
// the difference loses 29 bits at x = 6. Above: Laplace's continued fraction R(x) = 1/(x + 1/(x + 2/(x + 3/(x + …))))
// (26.2.14), evaluated backwards; with n = 30 + 5 000/x² terms the error is below 2⁻¹⁶⁰, which a test checks by
// doubling n.
func mills(x *big.Float) *big.Float {
	if x.Cmp(exact(seriesLimit)) >= 0 {
		return millsAt(x, nil)
	}
	return millsAt(x, density(x))
}

// millsAt is mills for a known density φ(x), which x from seriesLimit on do not need.
func millsAt(x, phi *big.Float) *big.Float {
	approximate, _ := x.Float64()
	if x.Cmp(exact(seriesLimit)) >= 0 {
		return fraction(x, 30+int(5000/(approximate*approximate)))
	}
	odd := func(k int) uint64 { return uint64(2*k + 1) }
	terms := 0
	for term := approximate; term > math.Ldexp(1, -precision); terms++ {
		term *= approximate * approximate / float64(odd(terms+1))
	}
	sum := nested(newFloat().Mul(x, x), terms, odd)
	sum.Mul(sum, x)
	r := newFloat().Mul(exact(2), phi)
	r.Quo(exact(1), r)
	return r.Sub(r, sum)
}

// fraction returns 1/(x + 1/(x + 2/(x + … + terms/x))). A step with r = above/below gives x + k/r = (x·above +
// k·below)/above.
func fraction(x *big.Float, terms int) *big.Float {
	above, below, next, product, whole := newFloat().Set(x), exact(1), newFloat(), newFloat(), newFloat()
	for k := terms; k >= 1; k-- {
		product.Mul(x, above)
		next.Mul(below, whole.SetFloat64(float64(k)))
		below.Add(product, next)
		above, below = below, above
	}
	return below.Quo(below, above)
}
