package decay

import (
	"fmt"
	"math"
	"math/big"
	"testing"

	"oriel/mechanisms/dp"
	"oriel/mechanisms/lattice"
	"oriel/mechanisms/mechtest/sumtest"
	"oriel/mechanisms/noise"
	"oriel/mechanisms/rational"
)

// handmade returns a filter as a literal, not a fitted one.
func handmade(t testing.TB) Filter {
	t.Helper()
	f := Filter{
		Memory: 7, Count: 3,
		Poles:    [MaxPoles]uint32{900_000_000, 700_000_000, 123_456_789},
		Residues: [MaxPoles]uint32{30_000_000, 100_000_000, 200_000_000},
	}
	if err := f.Validate(); err != nil {
		t.Fatal(err)
	}
	return f
}

func fitFilter(t testing.TB, memory uint64) Filter {
	t.Helper()
	f, err := Fit(memory)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func filters(t testing.TB) []Filter {
	return []Filter{
		handmade(t), fitFilter(t, MinMemory), fitFilter(t, 64), fitFilter(t, 1000), fitFilter(t, 1<<16),
		fitFilter(t, MaxMemory),
	}
}

func must(t testing.TB, f Filter) *response {
	t.Helper()
	r, err := newResponse(f)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// series returns e, c = 1/e and b = e/(1 − γx) by their recurrences.
func series(f Filter, terms int) (e, c, b []*big.Float) {
	f64 := func() *big.Float { return new(big.Float).SetPrec(400) }
	dyadic := func(x uint32) *big.Float { return f64().SetMantExp(f64().SetUint64(uint64(x)), -rational.Bits) }
	part := make([]*big.Float, f.Count) // the terms R_k·q_k^{j−1} of e_j
	for k := range part {
		part[k] = dyadic(f.Residues[k])
	}
	for j := range terms {
		x, inverse, sum := f64(), f64(), f64()
		if j == 0 {
			x.SetInt64(1)
			inverse.SetInt64(1)
		}
		for k := range part {
			if j > 0 {
				x.Sub(x, part[k])
				part[k].Mul(part[k], dyadic(f.Poles[k]))
			}
		}
		e = append(e, x)
		for i := 1; i <= j; i++ {
			inverse.Sub(inverse, f64().Mul(e[i], c[j-i]))
		}
		c = append(c, inverse)
		if j > 0 {
			sum.Mul(b[j-1], dyadic(f.Decay()))
		}
		b = append(b, sum.Add(sum, x))
	}
	return e, c, b
}

// floats returns series in float64.
func floats(f Filter, terms int) (e, c, b []float64) {
	e, c, b = make([]float64, terms), make([]float64, terms), make([]float64, terms)
	for k := range f.Count {
		x := float64(f.Residues[k]) / unit
		for j := 1; j < terms; j++ {
			e[j] -= x
			x *= float64(f.Poles[k]) / unit
		}
	}
	for j := range terms {
		if j == 0 {
			e[0], c[0], b[0] = 1, 1, 1
			continue
		}
		for i := 1; i <= j; i++ {
			c[j] -= e[i] * c[j-i]
		}
		b[j] = e[j] + float64(f.Decay())/unit*b[j-1]
	}
	return e, c, b
}

// TestPartialFractionsAreTheSeries checks PROOF.md, Lemma 1, by the recurrences of e, c and b: c is positive and falls
// from 1, and the closed forms of the sequences and of their sums of squares enclose the values of the recurrences.
func TestPartialFractionsAreTheSeries(t *testing.T) {
	const terms = 300
	for _, f := range filters(t) {
		r := must(t, f)
		_, c, b := series(f, terms)
		shift, noises, total := new(big.Float).SetPrec(400), new(big.Float).SetPrec(400), new(big.Float).SetPrec(400)
		for j := range terms {
			if c[j].Sign() <= 0 || j > 0 && c[j].Cmp(c[j-1]) >= 0 {
				t.Fatalf("%v: c_%d = %g does not fall", f, j, c[j])
			}
			if x := r.sums.Weights[0].Hi; total.Cmp(x) >= 0 {
				t.Fatalf("%v: B_%d = %g, above c(1) = %g", f, j, total, x)
			}
			sumtest.Inside(t, fmt.Sprintf("%v: c_%d", f, j), c[j], r.c.At(uint64(j)))
			sumtest.Inside(t, fmt.Sprintf("%v: b_%d", f, j), b[j], r.b.At(uint64(j)))
			if j == 0 {
				if x := r.sums.At(0); x.Lo.Sign() > 0 || x.Hi.Sign() < 0 || x.Hi.MantExp(nil) > -140 {
					t.Fatalf("%v: B_0 is in [%g, %g]", f, x.Lo, x.Hi)
				}
			} else {
				sumtest.Inside(t, fmt.Sprintf("%v: B_%d", f, j), total, r.sums.At(uint64(j)))
			}
			shift.Add(shift, new(big.Float).Mul(c[j], c[j]))
			noises.Add(noises, new(big.Float).Mul(b[j], b[j]))
			total.Add(total, c[j])
			if j%37 == 0 || j < 3 {
				sumtest.Inside(t, fmt.Sprintf("%v: Σ_{j<%d}c²", f, j+1), shift, r.c.Energy(uint64(j+1)))
				sumtest.Inside(t, fmt.Sprintf("%v: Σ_{j<%d}b²", f, j+1), noises, r.b.Energy(uint64(j+1)))
			}
		}
	}
}

// claim returns µ·s of PROOF.md, Theorem 1, term by term, optionally with a fault.
func claim(f Filter, delta float64, n, age int, fault string) float64 {
	_, c, _ := floats(f, age)
	eta, _ := f.Slack().Float64()
	d, sum := 0.0, 0.0
	for _, x := range c {
		total := d // B_j, the sum of d up to j
		d += x
		switch fault {
		case "d for c":
			x = d
		case "B without its 1":
			total = max(0, total-1)
		case "no rounding":
			total = 0
		}
		a := x*delta + 2*eta*math.Sqrt(float64(n))*total
		sum += a * a
	}
	return math.Sqrt(sum)
}

// TestMuIsTheSumOfTheTheorem checks that the closed form is the sum of PROOF.md, Theorem 1, up to the full life of the
// shortest memory, and that it differs from each faulty sum.
func TestMuIsTheSumOfTheTheorem(t *testing.T) {
	for _, f := range filters(t) {
		for _, c := range []struct {
			delta int64
			n     int
		}{{1 << 25, 27}, {1 << 30, 1}, {1, 1}, {3, 10000}} {
			l := Loss{
				Filter: f, Square: lattice.Int128{Lo: uint64(c.delta * c.delta)}, N: c.n,
				Scale: noise.Scale{Mant: 3, Exp: 20},
			}
			for _, age := range []int{1, 2, 3, 60, 301, 2048} {
				want := claim(f, float64(c.delta), c.n, age, "") / (3 << 20)
				got := l.Mu(uint64(age))
				if math.Abs(got-want) > 1e-9*want {
					t.Fatalf("%v Δ=%d n=%d: µ(%d) = %.15g, want %.15g", f, c.delta, c.n, age, got, want)
				}
				for _, fault := range []string{"d for c", "B without its 1", "no rounding"} {
					if age < 60 || fault != "d for c" && c.delta > 3 {
						continue
					}
					if x := claim(f, float64(c.delta), c.n, age, fault) / (3 << 20); math.Abs(got-x) < 1e-6*got {
						t.Errorf("%v Δ=%d n=%d: µ(%d) = %g is also that with a fault: %s", f, c.delta, c.n, age, got, fault)
					}
				}
			}
		}
	}
}

// TestWideSquares checks distances of more than 32 bits, whose squares exceed 64 bits.
func TestWideSquares(t *testing.T) {
	l := Loss{Filter: handmade(t), Square: lattice.Int128{Hi: 1 << 10}, N: 1, Scale: noise.Scale{Mant: 1, Exp: 40}}
	narrow := l
	narrow.Square, narrow.Scale.Exp = lattice.Int128{Lo: 1 << 62}, 34
	if got, want := l.Mu(1), 0x1p37/0x1p40; got < want || got > want*(1+1e-15) {
		t.Errorf("µ(1) = %g, want %g", got, want)
	}
	if x, y := l.Mu(50), narrow.Mu(50); math.Abs(x-y) > 1e-6*x {
		t.Errorf("µ(50) = %g, and %g on a lattice of 2⁶ times the unit", x, y)
	}
}

// TestMuEndsAtTheReset checks that µ grows with age up to a period and no further. With the lattice of Bits, ε after
// ten memories must equal the lifetime ε to four digits.
func TestMuEndsAtTheReset(t *testing.T) {
	for _, f := range filters(t) {
		const n = 32
		square := replaceSquare
		bits, err := f.Bits(n, square)
		if err != nil {
			t.Fatal(err)
		}
		l, budget := Loss{Filter: f, Square: square(bits), N: n}, dp.Budget{Epsilon: 1, Delta: 1e-6}
		if l.Scale, err = l.ScaleFor(dp.GaussianMu(budget)); err != nil {
			t.Fatal(err)
		}
		if got := l.Mu(0); got != 0 {
			t.Errorf("µ(0) = %g", got)
		}
		before, period := 0.0, f.Period()
		for age := uint64(1); age < period; age <<= 1 {
			got := l.Mu(age)
			if !(got > before) {
				t.Errorf("%v: µ(%d) = %g after %g at half the age", f, age, got, before)
			}
			before = got
		}
		life := l.Life()
		for _, age := range []uint64{period, period + 1, 2 * period, 1e6 * f.Memory, math.MaxUint64} {
			if got := l.Mu(age); age >= period && got != life {
				t.Errorf("%v: µ(%d) = %g, for life %g", f, age, got, life)
			}
		}
		if got := l.Mu(period - 1); !(got < life) {
			t.Errorf("%v: µ(P − 1) = %g, for life %g", f, got, life)
		}
		early, late := dp.GaussianEpsilon(l.Mu(10*f.Memory), budget.Delta), dp.GaussianEpsilon(life, budget.Delta)
		t.Logf("H=%d: %d bits, s = %g, ε(10H) = %.6f, ε for life %.6f", f.Memory, bits, l.Scale.Float64(), early, late)
		if early < 0.99995 || late > 1 || late < 0.999999 {
			t.Errorf("%v: ε is %g after ten memories, %g for life", f, early, late)
		}
		if l.Scale.Float64() > 1<<41 {
			t.Errorf("%v: scale %g is beyond the sampler's fine table", f, l.Scale.Float64())
		}
	}
}

// replaceSquare returns 4Λ² for the smallest Λ with this number of bits.
func replaceSquare(bits int) lattice.Int128 { return power(2 * bits) }

// power returns 2^exp.
func power(exp int) lattice.Int128 {
	if exp < 64 {
		return lattice.Int128{Lo: 1 << exp}
	}
	return lattice.Int128{Hi: 1 << (exp - 64)}
}

// TestSensitivityCountsByItsUpperEnd checks that if a sensitivity is known only to lie between 1 and 2, loss and scale
// are computed for 2.
func TestSensitivityCountsByItsUpperEnd(t *testing.T) {
	sensitivity := rational.Interval{Lo: rational.Down().SetInt64(1), Hi: rational.Up().SetInt64(2)}
	if got := (Loss{Scale: noise.Scale{Mant: 1}}).mu(sensitivity); got != 2 {
		t.Errorf("µ = %g, want 2", got)
	}
	if s, err := scaleOf(sensitivity, 1); err != nil || s.Float64() < 2 {
		t.Errorf("scale %v, want 2 at least", s)
	}
}

func TestScaleProvesWhatItWasMadeFor(t *testing.T) {
	for _, f := range filters(t) {
		type lives interface {
			Life() float64
			ScaleFor(mu float64) (noise.Scale, error)
		}
		for _, of := range []func(s noise.Scale) lives{
			func(s noise.Scale) lives { return Loss{Filter: f, Square: power(60), N: 27, Scale: s} },
			func(s noise.Scale) lives {
				return UserLoss{Loss: Loss{Filter: f, Square: power(60), N: 27, Scale: s}, Separation: 10, Window: 300}
			},
		} {
			for _, mu := range []float64{1e-3, 0.2, math.Pi} {
				s, err := of(noise.Scale{}).ScaleFor(mu)
				if err != nil {
					t.Fatal(err)
				}
				if got := of(s).Life(); got > mu || got < mu*(1-1e-15) {
					t.Errorf("scale for µ = %g proves %g", mu, got)
				}
				s.Mant -= 2
				if got := of(s).Life(); got <= mu {
					t.Errorf("a scale one step smaller still proves %g: it is not the least", mu)
				}
			}
		}
	}
	l := Loss{Filter: handmade(t), Square: power(60), N: 1}
	if s, err := l.ScaleFor(0); err != nil || s != (noise.Scale{}) {
		t.Errorf("scale for µ = 0: %v, %v", s, err)
	}
	l.Square = power(98)
	if s, err := l.ScaleFor(0.1); err == nil {
		t.Errorf("scale %v beyond the sampler's", s)
	}
}

// TestBitsKeepRoundingSmall checks that the rounding term is at most 2⁻¹⁴ of the main one, and larger with one bit
// less. So rounding to the lattice costs a negligible part of µ.
func TestBitsKeepRoundingSmall(t *testing.T) {
	for _, f := range filters(t) {
		last := 0
		for _, n := range []int{1, 32, 10_000, 1 << 20} {
			bits, err := f.Bits(n, replaceSquare)
			if err != nil {
				t.Fatal(err)
			}
			if bits < last {
				t.Errorf("%v: %d bits for %d coordinates, %d for fewer", f, bits, n, last)
			}
			last = bits
			// share is the rounding term of µ² divided by the main term. The rounding term is the total minus the main
			// term and minus the product of both, 2ρΣc_jB_j = ρ(B_P² − Σc_j²).
			share := func(bits int) float64 {
				l := Loss{Filter: f, Square: replaceSquare(bits), N: n, Scale: noise.Scale{Mant: 1, Exp: 30}}
				r := must(t, f)
				main, _ := r.c.Energy(r.period).Hi.Float64()
				last, _ := r.sums.At(r.period).Hi.Float64()
				rho, _ := r.rounding(n).Hi.Float64()
				mu := l.Life() * (1 << 30) / math.Ldexp(1, bits)
				return (mu*mu-main-rho/math.Ldexp(1, bits)*(last*last-main))/main + 1e-15
			}
			if got := share(bits); got <= 0 || got > 0x1p-14*(1+1e-9) {
				t.Errorf("%v: %d coordinates on %d bits: rounding adds %g to µ²", f, n, bits, got)
			}
			if got := share(bits - 1); bits > MinBits && got < 0x1p-14 {
				t.Errorf("%v: %d coordinates: one bit less than %d would do, adding %g to µ²", f, n, bits, got)
			}
		}
	}
	if bits, err := fitFilter(t, MaxMemory).Bits(1<<24, func(int) lattice.Int128 { return power(80) }); err == nil {
		t.Errorf("%d bits for everything", bits)
	}
}
