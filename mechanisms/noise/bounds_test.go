package noise

import (
	"math/big"
	"testing"

	"oriel/mechanisms/mechtest/tiertest"
	"oriel/mechanisms/noise/internal/tables"
)

// proofPrec is the precision of the proof's own arithmetic. Its rounding error, including that of the enclosed
// expansion points, is below 2^-80 of a unit of x, which margin covers.
const (
	proofPrec = 220
	proofTop  = 12 // degree of the Taylor polynomials
	margin    = 1e-9
)

// TestSegmentErrorBounds proves, for every segment of both tables, that evaluation and cell together stay within the
// slack:
//
//	|stored polynomial − bias − x(t)|  by the Taylor expansion of x at the segment's middle,
//	+ half the range of the floors (the bias is in their middle)
//	+ |x'| times the distance between the t used and the t of any v in the cell.
//
// It is independent of the generator: x is expanded by the differential equation of the quantile, x' = y, y' = x·y²
// (Gaussian) or y' = y² (Laplace), not interpolated. All derivatives by t are positive (by the equation) and so
// increasing: the remainder's derivative is largest at t = 1. The short form takes every eighth segment and both ends
// of each octave.
func TestSegmentErrorBounds(t *testing.T) {
	for name, c := range map[string]*curve{"gaussian": &gaussianCurve, "laplace": &laplaceCurve} {
		worst, worstCoarse := 0.0, 0.0
		for octave := range tables.Octaves {
			for segment := range tables.Segments {
				if tiertest.Runs(segment%8 != 0 && segment != tables.Segments-1, false) {
					continue
				}
				x := c.expand(octave, segment)
				bound := c.fineError(t, x, octave, segment)
				if limit := float64(c.slack[octave]); !(bound <= limit) {
					t.Fatalf("%s octave %d segment %d: error %g, slack %g", name, octave, segment, bound, limit)
				}
				if octave == 0 {
					worst = max(worst, bound)
				}
				if octave >= tables.CoarseOctaves {
					continue
				}
				bound = c.coarseError(t, x, octave, segment)
				if limit := float64(c.coarseSlack); !(bound <= limit) {
					t.Fatalf("%s coarse octave %d segment %d: error %g, slack %g", name, octave, segment, bound, limit)
				}
				worstCoarse = max(worstCoarse, bound)
			}
		}
		t.Logf("%s: proven error in octave 0: %.3f units; of the coarse table %.1f", name, worst, worstCoarse)
	}
}

// expansion holds the power series of x in t around the middle and around the end of a segment.
type expansion struct{ middle, end []*big.Float }

func (c *curve) expand(octave, segment int) expansion {
	return expansion{c.taylor(octave, segment, 0.5), c.taylor(octave, segment, 1)}
}

// fineError bounds |x − x(v)| of curve.fine, for every v of the cell, over one segment, in units of 2^-frac. A cell is
// 2^-64 wide in v, and 2^(octave+8) times as wide in t.
func (c *curve) fineError(t *testing.T, x expansion, octave, segment int) float64 {
	row := c.table[octave*tables.Segments+segment]
	floors := 1 + float64(tables.Degree)/(1<<tables.Guard)
	return c.segmentError(t, x, row[:], tables.Guard, floors) + toFloat(scaled(x.end[1], c.frac+octave+8-64))
}

// coarseError bounds the error of coarse levels (discrete.go). A float64 near v·2^64 is at most 2^(10−octave) from
// it. The t used differs from its t by at most 2^-64 of a segment, less than a 64th of a cell, and v may be anywhere
// in a cell. Together these are below 2^(10−octave) + 1 + 2^-6 cells. v may also be in the next segment, or in the
// one before; the slope is largest at the end of the next one, t = 2.
func (c *curve) coarseError(t *testing.T, x expansion, octave, segment int) float64 {
	row := c.coarse[(tables.CoarseOctaves-1-octave)*tables.Segments+segment]
	distance := big.NewFloat(float64(int(1)<<(10-octave)) + 1 + 1.0/64)
	distance.Mul(distance, c.taylor(octave, segment, 2)[1])
	return c.segmentError(t, x, row[:], 0, tables.CoarseDegree) + toFloat(scaled(distance, c.frac+octave+8-64))
}

// segmentError bounds |x − x(t)| over one segment for the polynomial of row. Coefficients after the first have guard
// more fraction bits. The evaluation's floors lose up to floors units of 2^-frac.
func (c *curve) segmentError(t *testing.T, x expansion, row []uint64, guard int, floors float64) float64 {
	t.Helper()
	var sum uint64
	for _, coefficient := range row[1:] {
		if sum+coefficient < sum {
			t.Fatalf("row %x: Horner's sums leave 64 bits", row)
		}
		sum += coefficient
	}
	if row[0]+sum>>guard > 3<<62 { // the factor and its square must leave a quarter of the range free
		t.Fatalf("row %x: x leaves its range", row)
	}

	// diff(τ) = stored(1/2 + τ) − bias − x(1/2 + τ), by powers of z = 2τ in [−1, 1].
	diff := make([]*big.Float, proofTop+1)
	for k := range diff {
		diff[k] = scaled(x.middle[k], c.frac-k)
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
	diff[0].Sub(diff[0], big.NewFloat(floors/2))

	bound := floors/2 + margin
	for _, coefficient := range chebyshev(diff) {
		bound += toFloat(coefficient.Abs(coefficient))
	}
	return bound + toFloat(scaled(x.end[proofTop+1], c.frac-proofTop-1)) // Lagrange's remainder, with τ ≤ 1/2
}

// taylor returns the Taylor coefficients of x by t at position place of a segment, up to degree proofTop+1.
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
	var square []*big.Float // coefficients of y²
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

// TestEvaluationStaysWithinItsBound compares both tables with the enclosure of the slow path, at the ends of segments
// and between. The upper ends round to a float64 of the next segment.
func TestEvaluationStaysWithinItsBound(t *testing.T) {
	for name, c := range map[string]*curve{"gaussian": &gaussianCurve, "laplace": &laplaceCurve} {
		for octave := range tables.Octaves {
			if octave >= tables.CoarseOctaves && octave%3 != 0 {
				continue
			}
			for i := range 40 {
				a := (uint64(64+i*63/39)<<57 | uint64(i%2)*(1<<57-1)) >> (octave + 1)
				d := newDigits(a, func() uint64 { return uint64(i%3) * (1<<63 - 1) })
				d.extend(128)
				at := c.enclose(d, interval{})
				within := func(x, slack uint64) {
					t.Helper()
					up := at.p - uint(c.frac)
					got, room := new(big.Int).SetUint64(x), new(big.Int).SetUint64(slack)
					low := new(big.Int).Lsh(new(big.Int).Sub(got, room), up)
					high := new(big.Int).Lsh(new(big.Int).Add(got, room), up)
					if at.lo.Cmp(low) < 0 || at.hi.Cmp(high) > 0 {
						t.Errorf("%s a=%x: %d±%d does not hold x", name, a, x, slack)
					}
				}
				within(c.fine(a))
				row, place := segment(int64(a))
				if inside := row < uint64(len(c.coarse)); inside {
					within(eval(&c.coarse[row], place), c.coarseSlack)
				} else if octave < tables.CoarseOctaves && a+1 != 1<<63 {
					t.Errorf("%s a=%x: beyond the coarse table", name, a)
				}
			}
		}
	}
}

// TestInvRootTwoPi checks c²·2π = 1, with π by another formula than the generator's (Euler: π/4 = atan 1/2 + atan 1/3).
func TestInvRootTwoPi(t *testing.T) {
	const q = tables.InvRootTwoPiBits
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
	below := func(c *big.Int) bool { // whether c²·2π < 1
		s := new(big.Int).Mul(c, c)
		s.Mul(s, twoPi)
		return s.BitLen() <= 3*q+64
	}
	if !below(c) || below(new(big.Int).Add(c, big.NewInt(1))) {
		t.Error("the constant is not floor(2^2048/√(2π))")
	}
}
