package laplace

import (
	"math"
	"math/rand/v2"
	"testing"

	"oriel/operators/aggregate/interval"
)

// scale returns the deviation of a discrete draw with P(N = j) ∝ e^(−r|j|).
func scale(r float64) float64 { return 1 / (math.Sqrt2 * math.Sinh(r/2)) }

// convolved returns P(S = j), j = −reach … reach, of n draws of each r, by convolution.
func convolved(reach int, n int, rs ...float64) []float64 {
	p := make([]float64, 2*reach+1)
	p[reach] = 1
	for _, r := range rs {
		q := math.Exp(-r)
		for range n {
			next := make([]float64, len(p))
			for i, x := range p {
				for j := range p {
					next[j] += x * (1 - q) / (1 + q) * math.Pow(q, math.Abs(float64(i-j)))
				}
			}
			p = next
		}
	}
	return p
}

// TestWholeIsTheShortestWindow enumerates the law of sums of discrete draws by convolution: the window must have at
// least 95 %, and the best window that is shorter by 1 must have less, but for 10⁻⁶.
func TestWholeIsTheShortestWindow(t *testing.T) {
	const reach = 150
	for _, rs := range [][]float64{{1}, {0.4}, {3}, {12}, {0.7, 2}} {
		for _, n := range []int{1, 2, 3, 7} {
			var s Sum
			for _, r := range rs {
				s = append(s, Draws{float64(n), scale(r), 1})
			}
			p := convolved(reach, n, rs...)
			covers := func(below, above float64) (sum float64) {
				for j := -int(below); j <= int(above); j++ {
					sum += p[reach+j]
				}
				return sum
			}
			below, above := s.Whole()
			w := below + above - 1
			if got := covers(below, above); got < level || above-below != 0 && above-below != 1 ||
				w >= 0 && covers(math.Floor(w/2), math.Ceil(w/2)) >= level+1e-6 {
				t.Errorf("%d draws of %g: [%g, %g] has %.7f", n, rs, -below, above, got)
			}
			if want := covers(2, 3) - s.wrapped(max(3, s.beyond(1-level)), true).within(2, 3); want < 0 || want > 1e-7 {
				t.Errorf("%d draws of %g: [−2, 3] is off by %g of %.12g", n, rs, want, covers(2, 3))
			}
		}
	}
	if below, above := (Sum{{1, scale(1), 1}}).Whole(); below != 2 || above != 3 {
		t.Errorf("one draw with r = 1: [%g, %g], want [−2, 3]", -below, above)
	}
	for _, r := range []float64{1e-4, 0.03, 0.5, 1, 2.5, 40} { // decisions show the same interval of one step
		below, above := (Sum{{1, scale(r), 1}}).Whole()
		if x := interval.Discrete(0, scale(r)); x.Low != -above || x.High != below {
			t.Errorf("one draw with r = %g: [%g, %g], want %+v", r, -above, below, x)
		}
	}
}

// TestWholeCovers draws sums of as many steps as nobody can enumerate. The share of n sums is off by more than
// 6.11·√(0.05·0.95/n) with probability 10⁻⁹; a window of whole numbers has up to the probability of one number more.
func TestWholeCovers(t *testing.T) {
	const n = 4000
	random := rand.New(rand.NewPCG(1, 2))
	for _, draws := range []int{60, 1440} {
		s, within := Sum{{float64(draws), scale(1), 1}}, 0.0
		below, above := s.Whole()
		for range n {
			sum := 0.0
			for range draws {
				sum += math.Floor(random.ExpFloat64()) - math.Floor(random.ExpFloat64())
			}
			if -below <= sum && sum <= above {
				within++
			}
		}
		away, one := 6.11*math.Sqrt(0.05*0.95/n), 1/(s.Deviation()*math.Sqrt(2*math.Pi))
		if share := within / n; share < level-away || share > level+away+one {
			t.Errorf("%d draws: %.4f within [%g, %g]", draws, share, -below, above)
		}
	}
}

// TestManyDrawsAreNormal checks sums of up to 10¹² draws, whose kurtosis exceeds that of a normal law by at most 6/n.
func TestManyDrawsAreNormal(t *testing.T) {
	for _, n := range []float64{1e3, 1e6, 1e9, 1e12} {
		whole := Sum{{n, scale(0.5), 1}}
		below, above := whole.Whole()
		half := Sum{{n, 3, 0}, {n, scale(2), 0.7}}
		for _, z := range []float64{(below + above + 1) / 2 / whole.Deviation(), half.Half() / half.Deviation()} {
			if math.Abs(z-interval.Z95) > 6/n+1/whole.Deviation()+1e-6 {
				t.Errorf("%g draws: %g deviations", n, z)
			}
		}
	}
}

// TestHalfIsTheQuantile compares sums with continuous draws with closed forms: of one and of two equal draws, and of a
// discrete draw and a continuous one. The ends may be further out, by the bounded errors.
func TestHalfIsTheQuantile(t *testing.T) {
	compare := func(what string, s Sum, want float64) {
		t.Helper()
		if got := s.Half(); got < want-1e-9*want || got > want*(1+2e-5) {
			t.Errorf("%s: %.9g, want %.9g", what, got, want)
		}
	}
	compare("one", Sum{{1, math.Sqrt2, 0}}, math.Log(20))
	compare("two", Sum{{2, math.Sqrt2, 0}}, interval.LaplaceSum(1, math.Sqrt2, 1, false))
	for _, unit := range []float64{0.3, 2, 5} {
		compare("mixed", Sum{{1, scale(1), unit}, {1, math.Sqrt2, 0}}, interval.LaplaceSum(unit, scale(1), 1, true))
	}
}

// TestChernoffsBoundHolds compares the bound with the tail of one continuous draw, and with a sum of multiples of
// units, whose interval it is alone.
func TestChernoffsBoundHolds(t *testing.T) {
	for _, p := range []float64{0.05, 1e-6, 1e-12} {
		if got, exact := (Sum{{1, math.Sqrt2, 0}}).beyond(p), -math.Log(p); got < exact || got > 2*exact+2 {
			t.Errorf("P(|S| ≥ %g) ≤ %g, but the quantile is %g", got, p, exact)
		}
	}
	s := Sum{{2, scale(1), 0.5}}
	if got, most := s.Half(), s.beyond(1-level); math.Abs(got-most) > 1e-9 {
		t.Errorf("%g, want %g", got, most)
	}
}

// TestMeansAreBoundedOutward compares z of means with the quantiles of S − m·N at many means between those of Means: it
// is never below them, and hardly above the largest of them.
func TestMeansAreBoundedOutward(t *testing.T) {
	for _, n := range []float64{1, 2, 24, 168} {
		for _, x := range []float64{0.3, 1.4, 9} {
			steps := []Steps{{N: n, Count: scale(1), Value: x, Draws: 1, Fractions: x == 9}}
			z, most := Means(steps), 0.0
			for m := 0.003; m <= 1; m += 0.0611 {
				s := combined(steps, m, 1)
				most = max(most, s.Half()/s.Deviation())
			}
			if z < most || z > most*1.012 || n == 168 && z > interval.Z95*1.012 {
				t.Errorf("%g steps, a value of %g: %.4f, and %.4f at worst", n, x, z, most)
			}
		}
	}
}

// TestOneColumnIsTheWorst checks the claim of Columns with sums of up to four columns of random factors.
func TestOneColumnIsTheWorst(t *testing.T) {
	random := rand.New(rand.NewPCG(5, 6))
	for _, n := range []float64{1, 2, 5, 24} {
		z := Columns([]Steps{{N: n, Value: 1}})
		for range 40 {
			var s Sum
			for range 2 + random.IntN(3) {
				s = append(s, Draws{N: n, Deviation: math.Pow(random.Float64(), 3) + 1e-3})
			}
			if got := s.Half() / s.Deviation(); got > z*(1+1e-4) {
				t.Errorf("%g draws each of %+v: %.6f deviations, %.6f of one column", n, s, got, z)
			}
		}
	}
}

// TestColumnsAreTheirDraws compares counts, sums and ratios over steps with the laws of their draws, spelt out: several
// draws of a count in a step, steps of two kinds, and counts that are no whole numbers.
func TestColumnsAreTheirDraws(t *testing.T) {
	steps := []Steps{{N: 3, Count: scale(1), Value: 5, Draws: 4}, {N: 2, Count: scale(0.5), Value: 7, Draws: 1}}
	below, above := Counts(steps)
	if b, a := (Sum{{12, scale(1), 1}, {2, scale(0.5), 1}}).Whole(); b != below || a != above {
		t.Errorf("counts: −%g and +%g, want −%g and +%g", below, above, b, a)
	}
	want := (Sum{{12, scale(1), 30}, {3, 10, 0}, {2, scale(0.5), 30}, {2, 14, 0}}).Half()
	if got := Sums(steps, -30, 2); math.Abs(got/want-1) > 1e-9 {
		t.Errorf("sums: %g, want %g", got, want)
	}
	fractions := []Steps{{N: 6, Count: 2, Value: 1, Draws: 1, Fractions: true}}
	half := (Sum{{6, 2, 0}}).Half()
	if below, above := Counts(fractions); below != half || above != half {
		t.Errorf("fractions: −%g and +%g, want %g", below, above, half)
	}
	one := Sum{{6, 1, 0}}
	if z := one.Half() / one.Deviation(); Columns(fractions) != z {
		t.Errorf("a column: %g, want %g", Columns(fractions), z)
	}
}
