package decay

import (
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/mat"

	"oriel/mechanisms/dp"
	"oriel/mechanisms/mechtest/tiertest"
	"oriel/mechanisms/rational"
)

// short returns a response with a period of a few steps and without rounding of the carry, small enough for dense
// matrices.
func short(t testing.TB, f Filter, period uint64) *response {
	t.Helper()
	r := must(t, f)
	r.period, r.slack = period, rational.Whole(0)
	return r
}

// noises returns the matrix of the noise of Ŝ_1 … Ŝ_T as a function of n_1 … n_T, step by step from the definition: u =
// e∗n within a block, and Ŝ ← γŜ + u. Blocks end at multiples of the period; first is the number of the first step.
func noises(f Filter, period, first, steps int) *mat.Dense {
	e, _, _ := floats(f, steps)
	gamma, m := float64(f.Decay())/unit, mat.NewDense(steps, steps, nil)
	for t := range steps {
		for j := range t + 1 {
			if t > 0 {
				m.Set(t, j, gamma*m.At(t-1, j))
			}
			if (first+t-1)/period == (first+j-1)/period {
				m.Set(t, j, m.At(t, j)+e[t-j])
			}
		}
	}
	return m
}

// decayedSums returns the share of Ŝ_1 … Ŝ_T that comes from contributions of size 1 at the given places, counted from
// 0.
func decayedSums(f Filter, places []int, steps int) *mat.VecDense {
	gamma, v := float64(f.Decay())/unit, mat.NewVecDense(steps, nil)
	at := map[int]float64{}
	for _, p := range places {
		at[p]++
	}
	x := 0.0
	for t := range steps {
		x = gamma*x + at[t]
		v.SetVec(t, x)
	}
	return v
}

// distance returns mᵀ(NNᵀ)⁻¹m by dense algebra: µ², in units of (Δ/s)², of releases with noise matrix N whose means
// differ by m.
func distance(t testing.TB, n mat.Matrix, m *mat.VecDense) float64 {
	t.Helper()
	covariance := mat.NewSymDense(m.Len(), nil)
	covariance.SymOuterK(1, n)
	var factor mat.Cholesky
	if !factor.Factorize(covariance) {
		t.Fatal("covariance is singular")
	}
	var solved mat.VecDense
	if err := factor.SolveVecTo(&solved, m); err != nil {
		t.Fatal(err)
	}
	return mat.Dot(m, &solved)
}

// TestDenseMatrixIsTheClaim checks PROOF.md, Theorem 1 without η, for events at any step of releases over several
// blocks, at any age. No event may exceed the claim, and the first event of a block must attain it. For a period off by
// one step the test must fail.
func TestDenseMatrixIsTheClaim(t *testing.T) {
	const period, steps = 8, 30
	for _, f := range []Filter{handmade(t), fitFilter(t, 2), fitFilter(t, 64)} {
		n := noises(f, period, 1, steps)
		square := func(period uint64, age int) float64 {
			x, _ := short(t, f, period).shift(rational.Whole(1), 1, min(uint64(age), period)).Hi.Float64()
			return x * x
		}
		for age := 1; age <= steps; age++ {
			worst, want := 0.0, square(period, age)
			for i := range steps - age + 1 {
				m := decayedSums(f, []int{i}, i+age)
				worst = max(worst, distance(t, n.Slice(0, i+age, 0, i+age), m))
			}
			if math.Abs(worst-want) > 1e-9*want {
				t.Errorf("%v: age %d: µ² = %.12g, claimed %.12g", f, age, worst, want)
			}
			if age >= period+1 && (worst <= square(period-1, age)*(1+1e-8) || worst >= square(period+1, age)*(1-1e-8)) {
				t.Errorf("%v: age %d: µ² = %g is also that of another period", f, age, worst)
			}
		}
	}
}

// TestUserLossIsThatOfTheWorstPlaces checks PROOF.md, Theorem 4 without η. No placement of a user's events, over two
// blocks or more, may exceed the claim. The densest placement from the start of a block must attain it while all events
// are within the block. It must exceed a claim that accounts for one event less.
func TestUserLossIsThatOfTheWorstPlaces(t *testing.T) {
	const period, steps = 16, 44
	rng := rand.New(rand.NewPCG(8, 1))
	for _, f := range []Filter{handmade(t), fitFilter(t, 64)} {
		n := noises(f, period, 1, steps)
		for _, window := range []int{1, 5, 12, 20} {
			for _, separation := range []int{1, 2, 4, 5, 11, 13} {
				k := rational.Events(uint64(window), uint64(separation))
				l := UserLoss{Loss: Loss{N: 1}, Separation: uint64(separation), Window: uint64(window)}
				l.Square.Lo = 1
				of := func(age int, count uint64) float64 {
					x, _ := short(t, f, period).userShift(rational.Whole(1), 1, uint64(age), l.Separation, count).Hi.Float64()
					return x * x
				}
				life, _ := l.sensitivity(short(t, f, period), forever).Hi.Float64()
				for range 12 {
					start := rng.IntN(2 * period)
					var places []int
					for p := start; p < min(steps, start+window); p += separation + rng.IntN(1+separation)*rng.IntN(2) {
						places = append(places, p)
					}
					got := distance(t, n, decayedSums(f, places, steps))
					if got > life*life*(1+1e-9) {
						t.Fatalf("W=%d s=%d at %v: µ² = %g, claimed for life %g", window, separation, places, got, life*life)
					}
				}
				var worst []int
				for p := 0; p < window; p += separation {
					worst = append(worst, p)
				}
				if window <= period {
					got := distance(t, n.Slice(0, period, 0, period), decayedSums(f, worst, period))
					if want := of(period, k); math.Abs(got-want) > 1e-9*want || want > life*life*(1+1e-12) {
						t.Errorf("W=%d s=%d: the worst places have µ² = %g, claimed %g, for life %g", window, separation, got, want, life*life)
					}
					if k > 1 && !(got > of(period, k-1)*(1+1e-6)) {
						t.Errorf("W=%d s=%d: not caught: %d events accounted of %d", window, separation, k-1, k)
					}
				}
			}
		}
	}
}

// TestBlocksAreTheWorstStretches checks that blocks returns a rounding term at least as large as any division of the
// steps into blocks.
func TestBlocksAreTheWorstStretches(t *testing.T) {
	const period = 5
	r := short(t, handmade(t), period)
	energy := func(x int) float64 { y, _ := r.sums.Energy(uint64(x)).Hi.Float64(); return y }
	var worst func(left, first int) float64
	worst = func(left, first int) float64 { // the first block may lack its first steps
		most := energy(min(left, first))
		if left > first {
			most += worst(left-first, period)
		}
		return most
	}
	for steps := 1; steps < 4*period; steps++ {
		got, _ := r.blocks(uint64(steps)).Hi.Float64()
		most := 0.0
		for first := 1; first <= period; first++ {
			most = max(most, worst(steps, first))
		}
		if got < most*(1-1e-12) || got > most*(1+1e-12) {
			t.Errorf("%d steps: %g, the worst stretches have %g", steps, got, most)
		}
	}
}

// TestVarianceAtIsThatOfTheMatrix compares the variance of every release, across resets, with its row of the matrix.
// Peak must be above all these variances.
func TestVarianceAtIsThatOfTheMatrix(t *testing.T) {
	const steps = 60
	for _, f := range []Filter{handmade(t), fitFilter(t, 2), fitFilter(t, 64)} {
		for _, period := range []int{1, 7, 25, 1 << 20} {
			r, n := short(t, f, uint64(period)), noises(f, period, 1, steps)
			for step := 1; step <= steps; step++ {
				want := 0.0
				for _, x := range n.RawRowView(step - 1) {
					want += x * x
				}
				if got, _ := r.variance(uint64(step)).Hi.Float64(); math.Abs(got-want) > 1e-10*want {
					t.Errorf("%v: step %d, period %d: variance %g, want %g", f, step, period, got, want)
				}
			}
		}
	}
}

// TestPeakBoundsEveryStep checks that after a reset the variance of a fitted filter rises at most to Peak, comes close
// to Peak, and falls again. Averaged over a period it is within a thousandth of Variance.
func TestPeakBoundsEveryStep(t *testing.T) {
	for _, f := range filters(t) {
		r := must(t, f)
		at := func(step uint64) float64 { x, _ := r.variance(step).Hi.Float64(); return x }
		reached, peak, whole := 0.0, f.Peak(), f.Variance()
		for a := uint64(1); a <= r.period; a += 1 + a/tiertest.Runs[uint64](8, 20) {
			reached = max(reached, at(r.period+a))
		}
		if reached > peak || reached < 0.93*peak || peak > 1.9*whole {
			t.Errorf("%v: variance reaches %g of %g, bound %g", f, reached, whole, peak)
		}
		if got := f.VarianceAt(2 * r.period); got > whole || got < whole*(1-1e-9) {
			t.Errorf("%v: variance %g at the end of a period, %g for ever", f, got, whole)
		}
		if got := f.VarianceAt(1); got < 1 || got > 1+1e-15 {
			t.Errorf("%v: variance %g of the first release", f, got)
		}
		if f.Memory > 2 {
			continue
		}
		mean := 0.0
		for a := range r.period {
			mean += at(1+r.period+a) / float64(r.period)
		}
		if mean > whole*1.001 {
			t.Errorf("mean variance of a period %g, %g between resets", mean, whole)
		}
	}
}

// TestPeakIsTheLargestOfAllSpans compares Peak with the largest bound in directed rounding of all spans.
func TestPeakIsTheLargestOfAllSpans(t *testing.T) {
	for _, f := range []Filter{handmade(t), fitFilter(t, 2), fitFilter(t, 300)} {
		r := must(t, f)
		whole := r.b.Energy(all)
		peak := whole.Hi
		for _, s := range f.spans(r.b, dp.RoundUp(whole.Hi)) {
			x := r.b.Energy(s.next - 1).Add(r.decay.Power(2 * s.first).Mul(whole)).Hi
			if rough, _ := x.Float64(); math.Abs(rough-s.rough) > peakError/2 {
				t.Errorf("%v: ages %d to %d: %g in floating point, %g in directed rounding", f, s.first, s.next, s.rough, rough)
			}
			if x.Cmp(peak) > 0 {
				peak = x
			}
		}
		if got, want := f.Peak(), dp.Up(peak, -peakEnd+1); got != want {
			t.Errorf("%v: peak %g, want %g", f, got, want)
		}
	}
}

// TestNewLifeComposesOnlyWhatIsReleasedTwice checks PROOF.md, Theorem 3. A first life releases steps 1 to 20, and a
// second one steps 16 to 30, starting from the first one's Ŝ_15. An event in the releases of only one life must lose as
// much as without the other life. An event of steps 16 to 20 must lose at most √2 times the claim.
func TestNewLifeComposesOnlyWhatIsReleasedTwice(t *testing.T) {
	const period, ended, from, until = 8, 20, 16, 30
	f := handmade(t)
	gamma := float64(f.Decay()) / unit
	first, second := noises(f, period, 1, ended), noises(f, period, from, until-from+1)
	rows, columns := ended+until-from+1, ended+until-from+1
	n := mat.NewDense(rows, columns, nil)
	n.Slice(0, ended, 0, ended).(*mat.Dense).Copy(first)
	n.Slice(ended, rows, ended, columns).(*mat.Dense).Copy(second)
	for t := range until - from + 1 {
		for j := range from - 1 {
			n.Set(ended+t, j, math.Pow(gamma, float64(t+1))*first.At(from-2, j))
		}
	}
	claim, _ := short(t, f, period).shift(rational.Whole(1), 1, period).Hi.Float64()
	twice := 0.0
	for i := range until {
		m := mat.NewVecDense(rows, nil)
		if i < ended {
			x := decayedSums(f, []int{i}, ended)
			for t := range ended {
				m.SetVec(t, x.AtVec(t))
			}
		}
		x := decayedSums(f, []int{i}, until)
		// The decayed Ŝ_15 of the first life, and the step's contribution if it belongs to the second life.
		for t := from - 1; t < until; t++ {
			m.SetVec(ended+t-from+1, x.AtVec(t))
		}
		got := distance(t, n, m)
		lives := 1.0
		if i+1 >= from && i+1 <= ended {
			lives, twice = 2, max(twice, got)
		}
		if got > lives*claim*claim*(1+1e-9) {
			t.Errorf("event %d: µ² = %g, claimed %g", i+1, got, lives*claim*claim)
		}
	}
	if twice <= claim*claim*1.2 {
		t.Errorf("events that are released twice lose µ² = %g only: the test tests nothing", twice)
	}
}
