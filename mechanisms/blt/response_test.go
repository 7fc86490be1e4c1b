package blt

import (
	"fmt"
	"math"
	"math/big"
	"slices"
	"testing"

	"oriel/mechanisms/mechtest/sumtest"
	"oriel/mechanisms/noise"
	"oriel/mechanisms/rational"
)

// series returns b, β and d of a filter by their recurrences: b_j by its definition, β = 1/b term by term, d by summing
// β.
func series(f Filter, terms int) (b, beta, d []*big.Float) {
	f64 := func() *big.Float { return new(big.Float).SetPrec(400) }
	part := make([]*big.Float, f.Count) // the terms R_k·q_k^{j−1} of b_j
	for k := range part {
		part[k] = f64().SetInt64(int64(f.Residues[k]))
		part[k].SetMantExp(part[k], -fractionBits)
	}
	for j := range terms {
		x, inverse := f64(), f64()
		if j == 0 {
			x.SetInt64(1)
			inverse.SetInt64(1)
		}
		for k := range part {
			if j > 0 {
				x.Add(x, part[k])
				part[k].Mul(part[k], f64().SetMantExp(f64().SetUint64(uint64(f.Poles[k])), -fractionBits))
			}
		}
		b = append(b, x)
		for i := 1; i <= j; i++ {
			inverse.Sub(inverse, f64().Mul(b[i], beta[j-i]))
		}
		beta = append(beta, inverse)
		sum := f64().Set(inverse)
		if j > 0 {
			sum.Add(sum, d[j-1])
		}
		d = append(d, sum)
	}
	return b, beta, d
}

func filters(t testing.TB) []Filter {
	return []Filter{
		handmade(t), fitFilter(t, 1, 0.3, 0), fitFilter(t, 16, 0, 2), fitFilter(t, 64, 0.3, 3),
		fitFilter(t, 1024, 0.3, 4), fitFilter(t, 1<<20, 1, 4), fitFilter(t, MaxWindow, 1, 4),
		mixed(t), fitFilter(t, 3, 0, 4), fitFilter(t, 64, 0, 4), fitFilter(t, 256, 0, 4),
	}
}

// mixed returns the filter of W = 64 and age weight 0 as a literal. It has residues of both signs.
func mixed(t testing.TB) Filter {
	t.Helper()
	f := Filter{
		Poles:    [MaxPoles]uint32{1_052_354_465, 1_045_669_734, 1_037_294_768, 741_663_244},
		Residues: [MaxPoles]int32{-599_674_462, 1_593_753_234, -791_473_509, 325_239_546},
		Count:    4,
	}
	f.Shift, _ = f.shift()
	if err := f.Validate(); err != nil {
		t.Fatal(err)
	}
	return f
}

// TestPartialFractionsAreTheSeries checks PROOF.md, Lemma 1 by the recurrences of b, β and d: signs, order, the rise,
// and the closed forms of the sums.
func TestPartialFractionsAreTheSeries(t *testing.T) {
	const terms = 400
	for _, f := range filters(t) {
		r, err := NewResponse(f)
		if err != nil {
			t.Fatal(err)
		}
		_, beta, d := series(f, terms)
		weights := slices.Clone(r.d.Weights)
		energy, absolute, trough := new(big.Float).SetPrec(400), new(big.Float).SetPrec(400), 0
		for j := range terms {
			if d[j].Sign() <= 0 || d[j].Cmp(d[0]) > 0 {
				t.Fatalf("%v: d_%d = %g", f, j, d[j])
			}
			if j > 0 && d[j].Cmp(d[j-1]) < 0 {
				if trough < j-1 {
					t.Fatalf("%v: d falls at %d after it rose", f, j)
				}
				trough = j
			}
			sum := rational.Whole(0)
			for i := range weights {
				sum = sum.Add(weights[i])
				weights[i] = weights[i].Mul(r.d.Rates[i])
			}
			sumtest.Inside(t, fmt.Sprintf("%v: d_%d", f, j), d[j], sum)
			energy.Add(energy, new(big.Float).Mul(d[j], d[j]))
			if j%37 == 0 || j < 3 {
				sumtest.Inside(t, fmt.Sprintf("%v: Σ_{j<%d}d²", f, j+1), energy, r.d.Energy(uint64(j+1)))
				sumtest.Inside(t, fmt.Sprintf("%v: d_%d at once", f, j), d[j], r.d.At(uint64(j)))
			}
			// Σ_{l≤j}|β_l| ≤ 2 + 2E − d_j, with equality in the limit if d rises, and at every j if it does not.
			absolute.Add(absolute, new(big.Float).Abs(beta[j]))
			bound := new(big.Float).Add(d[j], absolute)
			bound.Sub(bound, big.NewFloat(2))
			if excess := bound.Sub(bound, new(big.Float).Add(r.rise.Hi, r.rise.Hi)); excess.Sign() > 0 &&
				excess.MantExp(nil) > -150 {
				t.Fatalf("%v: Σ|β| to %d is %g above its bound", f, j, excess)
			}
		}
		if signed := slices.Min(f.Residues[:]) < 0; signed != (r.rise.Lo.Sign() > 0) {
			t.Errorf("%v: rises by %g", f, r.rise.Lo)
		} else if signed {
			sumtest.Inside(t, fmt.Sprintf("%v: rise", f), new(big.Float).Sub(r.d.Weights[0].Lo, d[trough]), rational.Interval{
				Lo: rational.Down().Sub(r.rise.Lo, new(big.Float).SetMantExp(r.rise.Lo, -145)),
				Hi: rational.Up().Add(r.rise.Hi, new(big.Float).SetMantExp(r.rise.Hi, -145)),
			})
			if trough == 0 || trough == terms-1 {
				t.Errorf("%v: trough at %d", f, trough)
			}
		}
	}
}

// TestTrainCoversEveryPlace checks that the sums of userShift, computed with d_j + E, bound every placement of events.
// This matters if d rises, because then events at steps 0, s, 2s, … need not be the worst.
func TestTrainCoversEveryPlace(t *testing.T) {
	const age, separation = 400, 50
	f := mixed(t)
	r, err := NewResponse(f)
	if err != nil {
		t.Fatal(err)
	}
	_, _, exact := series(f, age)
	d := make([]float64, age)
	for j := range d {
		d[j], _ = exact[j].Float64()
	}
	energy := func(places ...int) (sum float64) {
		for j := range age {
			x := 0.0
			for _, p := range places {
				if j >= p {
					x += d[j-p]
				}
			}
			sum += x * x
		}
		return sum
	}
	two, _ := r.majorant.Train(age, separation, 2).Hi.Float64()
	three, _ := r.majorant.Train(age, separation, 3).Hi.Float64()
	for p := separation; p < age; p++ {
		if x := energy(0, p); x > two {
			t.Errorf("events at 0 and %d move %g, bound %g", p, x, two)
		}
		for q := p + separation; q < age; q += 3 {
			if x := energy(0, p, q); x > three {
				t.Errorf("events at 0, %d and %d move %g, bound %g", p, q, x, three)
			}
		}
	}
}

// TestMuIsTheSumOfTheTheorem checks that the closed form equals the sum of PROOF.md, Theorem 1.
func TestMuIsTheSumOfTheTheorem(t *testing.T) {
	const terms = 300
	for _, f := range filters(t) {
		_, _, d := series(f, terms)
		eta, _ := f.Slack().Float64()
		r, err := NewResponse(f)
		if err != nil {
			t.Fatal(err)
		}
		rise, _ := r.rise.Hi.Float64()
		for _, c := range []struct {
			delta int64
			n     int
		}{{1 << 25, 27}, {1 << 24, 1}, {1, 1}, {3, 10000}} {
			l := Loss{Filter: f, Square: uint64(c.delta * c.delta), N: c.n, Scale: noise.Scale{Mant: 3, Exp: 20}}
			sum, absolute := 0.0, 0.0 // absolute: 1 plus the total variation of d
			for j := range terms {
				x, _ := d[j].Float64()
				a := x*float64(c.delta) + 2*eta*math.Sqrt(float64(c.n))*absolute
				sum += a * a
				absolute = 2 + 2*rise - x
				if j%60 == 0 || j < 3 {
					want := math.Sqrt(sum) / (3 << 20)
					if got := l.Mu(uint64(j + 1)); math.Abs(got-want) > 1e-12*want {
						t.Fatalf("Δ=%d n=%d: µ(%d) = %g, want %g", c.delta, c.n, j+1, got, want)
					}
				}
			}
		}
	}
}

// TestMuOfAnyAge checks that µ grows with age without a jump, up to ages for which no term-by-term sum is possible. Age
// 0 is before the first release.
func TestMuOfAnyAge(t *testing.T) {
	l := Loss{Filter: fitFilter(t, 1024, 0.3, 4), Square: 1 << 50, N: 32, Scale: noise.Scale{Mant: 1, Exp: 28}}
	if got := l.Mu(0); got != 0 {
		t.Errorf("µ(0) = %g", got)
	}
	if got, want := l.Mu(1), 0.125; got < want || got > want*(1+1e-15) {
		t.Errorf("µ(1) = %g, want Δ/s = %g", got, want)
	}
	before := 0.0
	for age := uint64(1); age != 0; age <<= 1 {
		got := l.Mu(age)
		if !(got > before) || age > 1 && got > math.Sqrt2*before {
			t.Errorf("µ(%d) = %g after %g at half the age", age, got, before)
		}
		before = got
	}
	if got := l.Mu(math.MaxUint64); !(got >= before) {
		t.Errorf("µ(2^64 − 1) = %g", got)
	}
}

// TestSensitivityCountsByItsUpperEnd checks that if a sensitivity is known only to lie between 1 and 2, loss and scale
// are computed for 2.
func TestSensitivityCountsByItsUpperEnd(t *testing.T) {
	sensitivity := rational.Interval{Lo: rational.Down().SetInt64(1), Hi: rational.Up().SetInt64(2)}
	if got := (Loss{Scale: noise.Scale{Mant: 1}}).mu(sensitivity); got != 2 {
		t.Errorf("µ = %g, want 2", got)
	}
	if s := scaleOf(sensitivity, 1); s.Float64() < 2 {
		t.Errorf("scale %v, want 2 at least", s)
	}
}

func TestScaleProvesWhatItWasMadeFor(t *testing.T) {
	for _, f := range filters(t) {
		for _, mu := range []float64{1e-3, 0.2, math.Pi} {
			s, err := Loss{Filter: f, Square: 1 << 50, N: 27}.ScaleFor(1024, mu)
			if err != nil {
				t.Fatal(err)
			}
			l := Loss{Filter: f, Square: 1 << 50, N: 27, Scale: s}
			if got := l.Mu(1024); got > mu || got < mu*(1-1e-15) {
				t.Errorf("scale for µ = %g proves %g", mu, got)
			}
			l.Scale.Mant -= 2
			if got := l.Mu(1024); got <= mu {
				t.Errorf("a scale one step smaller still proves %g: it is not the least", mu)
			}
		}
	}
	if s, err := (Loss{Filter: handmade(t), Square: 1, N: 1}).ScaleFor(1, 0); err != nil || s != (noise.Scale{}) {
		t.Errorf("scale for µ = 0: %v, %v", s, err)
	}
}
