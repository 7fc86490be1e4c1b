package blt

import (
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"testing"

	"oriel/mechanisms/noise"
)

// series returns b, β and d of a filter by their recurrences: b_j by its definition, β = 1/b term by term, d by summing β.
func series(f Filter, terms int) (b, beta, d []*big.Float) {
	f64 := func() *big.Float { return new(big.Float).SetPrec(400) }
	part := make([]*big.Float, f.Count) // R_k·q_k^{j−1}
	for k := range part {
		part[k] = f64().SetUint64(uint64(f.Residues[k]))
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
	}
}

// PROOF.md, Lemma 1, by the recurrences of b, β and d: signs, order, and the closed forms of the sums.
func TestPartialFractionsAreTheSeries(t *testing.T) {
	const terms = 400
	for _, f := range filters(t) {
		r, err := NewResponse(f)
		if err != nil {
			t.Fatal(err)
		}
		_, beta, d := series(f, terms)
		weights := make([]interval, len(r.weights))
		copy(weights, r.weights)
		energy := new(big.Float).SetPrec(400)
		for j := range terms {
			if j > 0 && (beta[j].Sign() > 0 || d[j].Cmp(d[j-1]) > 0) || d[j].Sign() <= 0 {
				t.Fatalf("%v: β_%d = %g, d_%d = %g", f, j, beta[j], j, d[j])
			}
			sum := whole(0)
			for i := range weights {
				sum = sum.add(weights[i])
				weights[i] = weights[i].mul(r.rates[i])
			}
			inside(t, fmt.Sprintf("%v: d_%d", f, j), d[j], sum)
			energy.Add(energy, new(big.Float).Mul(d[j], d[j]))
			if j%37 == 0 || j < 3 {
				inside(t, fmt.Sprintf("%v: Σ_{j<%d}d²", f, j+1), energy, r.energy(r.weights, uint64(j+1)))
			}
		}
	}
}

// inside fails unless x is in the interval, which is narrow: to 2⁻¹⁴⁰ of x.
func inside(t *testing.T, what string, x *big.Float, in interval) {
	t.Helper()
	if x.Cmp(in.lo) < 0 || x.Cmp(in.hi) > 0 {
		t.Fatalf("%s: %g is not in [%g, %g]", what, x, in.lo, in.hi)
	}
	width := new(big.Float).Sub(in.hi, in.lo)
	if width.Sign() > 0 && width.MantExp(nil)-x.MantExp(nil) > -140 {
		t.Fatalf("%s: interval [%g, %g] is wide", what, in.lo, in.hi)
	}
}

func TestIntervalsHoldTheirResults(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	for range 2000 {
		a, b := 4*rng.Float64()-2, 4*rng.Float64()-2
		at := func(x float64) interval { return interval{down().SetFloat64(x), up().SetFloat64(x)} }
		x, y := at(a), at(b)
		p, q := new(big.Rat).SetFloat64(a), new(big.Rat).SetFloat64(b)
		f := func(what string, got interval, want *big.Rat) {
			t.Helper()
			lo, _ := got.lo.Rat(nil)
			hi, _ := got.hi.Rat(nil)
			if lo.Cmp(want) > 0 || hi.Cmp(want) < 0 {
				t.Fatalf("%s of %g, %g: [%g, %g]", what, a, b, got.lo, got.hi)
			}
		}
		f("sum", x.add(y), new(big.Rat).Add(p, q))
		f("difference", x.sub(y), new(big.Rat).Sub(p, q))
		f("product", x.mul(y), new(big.Rat).Mul(p, q))
		f("inverse", x.inverse(), new(big.Rat).Inv(p))
		square := x.mul(x)
		root := square.root()
		if root.lo.Cmp(down().SetFloat64(math.Abs(a))) > 0 || root.hi.Cmp(up().SetFloat64(math.Abs(a))) < 0 {
			t.Fatalf("root of %g²: [%g, %g]", a, root.lo, root.hi)
		}
	}
	if x := dyadic(1, -1).power(1 << 60); x.lo.Sign() != 0 || x.hi.MantExp(nil) > tiny+1 {
		t.Errorf("2^-2^60 is in [%g, %g]", x.lo, x.hi)
	}
}

// PROOF.md, Theorem 1: the closed form is the sum.
func TestMuIsTheSumOfTheTheorem(t *testing.T) {
	const terms = 300
	for _, f := range filters(t) {
		_, beta, d := series(f, terms)
		eta, _ := f.Slack().Float64()
		for _, c := range []struct {
			delta int64
			n     int
		}{{1 << 25, 27}, {1 << 24, 1}, {1, 1}, {3, 10000}} {
			l := Loss{Filter: f, Delta: c.delta, N: c.n, Scale: noise.Scale{Mant: 3, Exp: 20}}
			sum, absolute := 0.0, 0.0
			for j := range terms {
				x, _ := d[j].Float64()
				a := x*float64(c.delta) + 2*eta*math.Sqrt(float64(c.n))*absolute
				sum += a * a
				y, _ := beta[j].Float64()
				absolute += math.Abs(y)
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

// µ grows with age, without a jump, up to ages that no sum could reach; age 0 is before the first release.
func TestMuOfAnyAge(t *testing.T) {
	l := Loss{Filter: fitFilter(t, 1024, 0.3, 4), Delta: 1 << 25, N: 32, Scale: noise.Scale{Mant: 1, Exp: 28}}
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

func TestScaleProvesWhatItWasMadeFor(t *testing.T) {
	for _, f := range filters(t) {
		for _, mu := range []float64{1e-3, 0.2, math.Pi} {
			s, err := ScaleFor(f, 1<<25, 27, 1024, mu)
			if err != nil {
				t.Fatal(err)
			}
			l := Loss{Filter: f, Delta: 1 << 25, N: 27, Scale: s}
			if got := l.Mu(1024); got > mu || got < mu*(1-1e-15) {
				t.Errorf("scale for µ = %g proves %g", mu, got)
			}
			l.Scale.Mant -= 2
			if got := l.Mu(1024); got <= mu {
				t.Errorf("a scale one step smaller still proves %g: it is not the least", mu)
			}
		}
	}
	if s, err := ScaleFor(handmade(t), 1, 1, 1, 0); err != nil || s != (noise.Scale{}) {
		t.Errorf("scale for µ = 0: %v, %v", s, err)
	}
}
