package noise

import (
	"math/big"
	"testing"
)

// proofPrec is the precision of the proof's own arithmetic: its rounding, and that of the enclosed expansion points, is
// below 2^-80 of a unit of x, which margin covers.
const (
	proofPrec = 220
	proofTop  = 12 // degree of the Taylor polynomials
	margin    = 1e-9
)

// TestSegmentErrorBounds proves, for every segment, that evaluation and cell together keep to the slack of its octave:
//
//	|stored polynomial − bias − x(t)|  by the Taylor expansion of x at the segment's middle,
//	+ half the range of the floors (1 + degree·2^-guard, the bias is in their middle)
//	+ |x'| times one cell.
//
// Independent of the generator: x is expanded by the differential equation of the quantile, x' = y, y' = x·y² (Gaussian)
// or y' = y² (Laplace), not interpolated. All derivatives by t are positive (the equation shows it) and so increase: the
// remainder's derivative is largest at t = 1. With -short, every eighth segment and both ends of each octave.
func TestSegmentErrorBounds(t *testing.T) {
	for name, c := range map[string]*curve{"gaussian": &gaussianCurve, "laplace": &laplaceCurve} {
		worst := 0.0
		for octave := range octaves {
			for segment := range segments {
				if testing.Short() && segment%8 != 0 && segment != segments-1 {
					continue
				}
				bound := c.segmentError(t, octave, segment)
				if limit := float64(c.slack[octave]); !(bound <= limit) {
					t.Fatalf("%s octave %d segment %d: error %g, slack %g", name, octave, segment, bound, limit)
				}
				if octave == 0 {
					worst = max(worst, bound)
				}
			}
		}
		t.Logf("%s: proven error in octave 0: %.3f units", name, worst)
	}
}

// segmentError bounds |points.x − x(v)|, for every v of the cell, over one segment, in units of 2^-frac.
func (c *curve) segmentError(t *testing.T, octave, segment int) float64 {
	row := c.table[octave*segments+segment]
	var sum uint64
	for _, coefficient := range row[1:] {
		if sum+coefficient < sum {
			t.Fatalf("octave %d segment %d: Horner's sums leave 64 bits", octave, segment)
		}
		sum += coefficient
	}
	if row[0]+sum>>guard > 3<<62 { // factor and squares count on a quarter of room
		t.Fatalf("octave %d segment %d: x leaves its range", octave, segment)
	}

	middle := c.taylor(octave, segment, 0.5)
	end := c.taylor(octave, segment, 1)

	// diff(τ) = stored(1/2 + τ) − bias − x(1/2 + τ), by powers of z = 2τ in [−1, 1].
	diff := make([]*big.Float, proofTop+1)
	for k := range diff {
		diff[k] = scaled(middle[k], c.frac-k)
		diff[k].Neg(diff[k])
	}
	binomial := []int64{1}
	for j, coefficient := range row {
		exp := -guard
		if j == 0 {
			exp = 0
		}
		for k, b := range binomial { // coefficient·(1/2)^j·(1 + z)^j
			part := new(big.Float).SetPrec(proofPrec).SetUint64(coefficient)
			part.Mul(part, big.NewFloat(float64(b)))
			diff[k].Add(diff[k], scaled(part, exp-j))
		}
		next := []int64{1}
		for k := 1; k < len(binomial); k++ {
			next = append(next, binomial[k-1]+binomial[k])
		}
		binomial = append(next, 1)
	}
	floors := (1 + float64(degree)/(1<<guard)) / 2
	diff[0].Sub(diff[0], big.NewFloat(floors))

	bound := floors + margin
	for _, coefficient := range chebyshev(diff) {
		bound += toFloat(coefficient.Abs(coefficient))
	}
	bound += toFloat(scaled(end[proofTop+1], c.frac-proofTop-1)) // Lagrange: τ ≤ 1/2
	// A cell is 2^-64 of v, 2^(octave+8-64) of t.
	return bound + toFloat(scaled(end[1], c.frac+octave+8-64))
}

// taylor returns the Taylor coefficients of x by t at the given place of a segment, up to degree proofTop+1.
func (c *curve) taylor(octave, segment int, place float64) []*big.Float {
	// v = 2^-(octave+8)·(65 + segment − place), exactly, as 192 binary digits.
	numerator := int64(2*(65+segment)) - int64(2*place)
	value := new(big.Int).Lsh(big.NewInt(numerator), uint(192-octave-8-1))
	d := &digits{value: value, bits: 192}
	x := c.enclose(d, interval{})
	at := new(big.Float).SetPrec(proofPrec).SetInt(new(big.Int).Add(x.lo, x.hi))
	at.SetMantExp(at, -int(x.p)-1)

	gaussian := c == &gaussianCurve
	// y = w/density(x), w = 2^-(octave+8) the width of the segment.
	_, density := c.tail(new(big.Int).Rsh(new(big.Int).Add(x.lo, x.hi), 1), x.p)
	y0 := new(big.Float).SetPrec(proofPrec).SetInt(density)
	y0.Quo(new(big.Float).SetPrec(proofPrec).SetMantExp(big.NewFloat(1), int(x.p)-octave-8), y0)

	a, b := []*big.Float{at}, []*big.Float{y0}
	var square []*big.Float // y²
	for k := range proofTop + 1 {
		square = append(square, convolve(b, b, k))
		right := square[k]
		if gaussian {
			right = convolve(a, square, k)
		}
		over := big.NewFloat(float64(k + 1))
		a = append(a, new(big.Float).SetPrec(proofPrec).Quo(b[k], over))
		b = append(b, new(big.Float).SetPrec(proofPrec).Quo(right, over))
	}
	return a
}

// convolve returns coefficient k of the product of two power series.
func convolve(a, b []*big.Float, k int) *big.Float {
	sum := new(big.Float).SetPrec(proofPrec)
	for i := range k + 1 {
		sum.Add(sum, new(big.Float).SetPrec(proofPrec).Mul(a[i], b[k-i]))
	}
	return sum
}

// chebyshev rewrites Σ a_k·z^k in Chebyshev polynomials: z·T_m = (T_{m+1} + T_{|m−1|})/2, by Horner's rule.
func chebyshev(a []*big.Float) []*big.Float {
	n := len(a)
	out := make([]*big.Float, n)
	for i := range out {
		out[i] = new(big.Float).SetPrec(proofPrec)
	}
	for k := n - 1; k >= 0; k-- {
		next := make([]*big.Float, n)
		for i := range next {
			next[i] = new(big.Float).SetPrec(proofPrec)
		}
		for m := range n - 1 {
			half := scaled(out[m], -1)
			next[m+1].Add(next[m+1], half)
			if m > 0 {
				next[m-1].Add(next[m-1], half)
			} else {
				next[1].Add(next[1], half)
			}
		}
		next[0].Add(next[0], a[k])
		out = next
	}
	return out
}

func scaled(x *big.Float, exp int) *big.Float {
	return new(big.Float).SetPrec(proofPrec).SetMantExp(x, exp)
}

func toFloat(x *big.Float) float64 {
	f, _ := x.Float64()
	return f
}

// TestEvaluationStaysWithinItsBound compares locate with the enclosure of the slow path, at the ends of segments and
// between.
func TestEvaluationStaysWithinItsBound(t *testing.T) {
	var p points
	var words [8]byte
	for name, c := range map[string]*curve{"gaussian": &gaussianCurve, "laplace": &laplaceCurve} {
		for octave := 0; octave < octaves; octave += 3 {
			for i := range 40 {
				a := (uint64(64+i*63/39)<<57 | uint64(i%2)*(1<<57-1)) >> (octave + 1)
				for j := range words {
					words[j] = byte(a >> (8 * j))
				}
				c.locate(&p, words[:])
				d := newDigits(a, func() uint64 { return uint64(i%3) * (1<<63 - 1) })
				d.extend(128)
				x := c.enclose(d, interval{})
				got, slack := new(big.Int).SetUint64(p.x[0]), new(big.Int).SetUint64(p.mark[0]>>1)
				up := x.p - uint(c.frac)
				low := new(big.Int).Lsh(new(big.Int).Sub(got, slack), up)
				high := new(big.Int).Lsh(new(big.Int).Add(got, slack), up)
				if x.lo.Cmp(low) < 0 || x.hi.Cmp(high) > 0 {
					t.Errorf("%s a=%x: %d±%d does not hold x", name, a, got, slack)
				}
			}
		}
	}
}

// TestInvRootTwoPi: c²·2π = 1 with π by another formula than the generator's (Euler: π/4 = atan 1/2 + atan 1/3).
func TestInvRootTwoPi(t *testing.T) {
	const q = invRootTwoPiBits
	atan := func(k int64) *big.Int {
		power, sum := new(big.Int).Lsh(big.NewInt(1), q+64), new(big.Int)
		power.Quo(power, big.NewInt(k))
		for n := int64(1); power.Sign() != 0; n += 2 {
			sum.Add(sum, new(big.Int).Quo(power, big.NewInt((2-n%4)*n)))
			power.Quo(power, big.NewInt(k*k))
		}
		return sum
	}
	twoPi := new(big.Int).Add(atan(2), atan(3))
	twoPi.Lsh(twoPi, 3)
	c := invRootTwoPiAt(q)
	below := func(c *big.Int) bool { // c²·2π < 1
		s := new(big.Int).Mul(c, c)
		s.Mul(s, twoPi)
		return s.BitLen() <= 3*q+64
	}
	if !below(c) || below(new(big.Int).Add(c, big.NewInt(1))) {
		t.Error("the constant is not floor(2^2048/√(2π))")
	}
}
