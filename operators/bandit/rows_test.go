package bandit

import (
	"math"
	"math/rand/v2"
	"strconv"
	"testing"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"oriel/mechanisms"
	"oriel/mechanisms/mechtest/tiertest"
	"oriel/mechanisms/protection"
	"oriel/operators"
	"oriel/operators/convex"
	"oriel/operators/optest"
	"oriel/schemas/event"
)

// TestSmoothingMovesALossByItsSlope checks |f − f̂| ≤ ζL, and that the difference is ζ·n/(n+1) if f is the distance
// from the centre of the ball.
func TestSmoothingMovesALossByItsSlope(t *testing.T) {
	const n, draws, zeta = 3, 100_000, 0.5
	rng := rand.New(rand.NewPCG(3, 1))
	var u directions
	u.use([seedLen]byte{2})
	for _, x := range [][]float64{{0, 0, 0}, {0.1, 0.2, -0.1}, {2, -1, 1}} {
		d, y, mean, square := make([]float64, n), make([]float64, n), 0.0, 0.0
		for play := range uint64(draws) {
			u.write(d, play+1)
			floats.AddScaledTo(y, x, zeta*math.Cbrt(rng.Float64()), d) // y is uniform in the ball of radius ζ about x
			f := floats.Norm(y, 2)
			mean += f / draws
			square += f * f / draws
		}
		off, deviation := math.Abs(mean-floats.Norm(x, 2)), math.Sqrt((square-mean*mean)/draws)
		if off > zeta+6*deviation {
			t.Errorf("at %v a loss moves by %g, above %g", x, off, zeta)
		}
		if floats.Norm(x, 2) == 0 && math.Abs(off-zeta*n/(n+1)) > 6*deviation {
			t.Errorf("in the middle the distance from it moves by %g, want %g", off, zeta*n/(n+1.0))
		}
	}
}

// TestFrankWolfeConverges checks that after K linear minimisations q is within 2D²/(K+2) of its minimum (Jaggi,
// "Revisiting Frank-Wolfe", ICML 2013, Theorem 1, with the curvature D² of ½|x|²).
func TestFrankWolfeConverges(t *testing.T) {
	rng := rand.New(rand.NewPCG(8, 9))
	for _, name := range []string{"l2-ball", "simplex", "box", "l1-ball"} {
		s := set(t, name, 5, 0.7)
		projection, err := convex.NewProjection(s)
		if err != nil {
			t.Fatal(err)
		}
		for most := 1; most <= 256; most *= 2 {
			m := newMirror(s, most, 0)
			m.stopGap = 0
			sum, least := make([]float64, 5), make([]float64, 5)
			for i := range sum {
				sum[i] = rng.NormFloat64()
				least[i] = m.start[i] - sum[i]
			}
			q := func(x []float64) float64 {
				d := floats.Distance(x, m.start, 2)
				return d*d/2 + floats.Dot(sum, x)
			}
			projection.Project(least, least)
			m.move(1, sum)
			if off, bound := q(m.centre)-q(least), 2*s.Diameter()*s.Diameter()/float64(most+2); off > bound {
				t.Errorf("%s, %d linear minimisations: %g from the least, above %g", name, most, off, bound)
			}
		}
	}
}

// TestCentresAreAsPreciseAsAsked checks that centres are within the configured precision of the projection, with no
// more linear minimisations than the bound allows. This includes steps of one record, for which the paper's centres are
// only within a diameter.
func TestCentresAreAsPreciseAsAsked(t *testing.T) {
	rng := rand.New(rand.NewPCG(8, 10))
	for _, name := range []string{"l2-ball", "simplex", "box", "l1-ball"} {
		s := set(t, name, 5, 0.7)
		projection, err := convex.NewProjection(s)
		if err != nil {
			t.Fatal(err)
		}
		for _, precision := range []float64{0.1, 0.01} {
			m := newMirror(s, 1, precision)
			counted := &counting{LinearOracle: m.oracle}
			m.oracle = counted
			sum, want := make([]float64, 5), make([]float64, 5)
			for range 20 {
				for i := range sum {
					sum[i] += 0.2 * rng.NormFloat64()
					want[i] = m.start[i] - sum[i]
				}
				projection.Project(want, want)
				counted.calls = 0
				m.move(1, sum)
				off := floats.Distance(m.centre, want, 2)
				if most := 4 * math.Pow(s.Diameter()/precision, 2); off > precision || float64(counted.calls) > most+1 {
					t.Fatalf("%s: %g from the exact centre after %d linear minimisations, want %g", name, off, counted.calls,
						precision)
				}
			}
		}
	}
}

// TestNoisyOCO checks Lemma 6. With exact maps the regret of linear losses seen with noise is at most 2√T·κ·D_ω. A map
// with error γ adds at most Tκγ, and more than nothing. Losses change sign when this increases the regret most.
func TestNoisyOCO(t *testing.T) {
	const n, total, kappa, gamma = 3, 4000, 2.0, 0.1
	s := set(t, "l2-ball", n, 0.5)
	lose := func(gamma float64) float64 {
		rng := rand.New(rand.NewPCG(2, 2))
		m := newMirror(s, 400, 0)
		m.projection, _ = convex.NewProjection(s)
		far := s.MaxNorm() / math.Sqrt2          // D_ω, because ω is at most R²/2
		rate := far / (kappa * math.Sqrt(total)) // η, the learning rate
		sum, all, lost := make([]float64, n), make([]float64, n), 0.0
		for round := range total {
			m.move(rate, sum)
			loss := []float64{0, 0, 0}
			loss[0] = math.Copysign(1, m.centre[0]) // the loss before noise has norm up to κ/2
			if round%3 == 0 {
				loss = []float64{0.5, -0.5, 0.5}
			}
			lost += floats.Dot(loss, m.centre) + gamma*floats.Norm(loss, 2) // the map's point is off by γ
			floats.Add(all, loss)
			for i := range sum {
				sum[i] += loss[i] + rng.NormFloat64() // E|g|² ≤ 1 + n = κ²
			}
		}
		return lost + s.MaxNorm()*floats.Norm(all, 2)
	}
	bound := 2 * math.Sqrt(total) * kappa * s.MaxNorm() / math.Sqrt2
	exact, off := lose(0), lose(gamma)
	more := bound + total*kappa*gamma
	t.Logf("regret %.1f with exact maps, %.1f with maps off by %g; bounds %.1f, %.1f", exact, off, gamma, bound, more)
	if !(exact <= bound) || !(off <= more) || !(off > exact+total*gamma/2) {
		t.Errorf("regret %g, bound %g; with maps off by %g %g, bound %g", exact, bound, gamma, off, more)
	}
}

// TestActionsOfARoundHaveOneCentre checks that the actions of a round are at distance ζ from one centre, and that the
// next step has another centre.
func TestActionsOfARoundHaveOneCentre(t *testing.T) {
	for _, c := range kinds(t) {
		machine := open(t, c, mechanism(c, "blt", 1), 3, false)
		counted := operators.ByCount(machine)
		made := machine.Open(nil)
		last := []float64(nil)
		for i, e := range optest.Feedback(60, -2, 3) {
			if len(made) > 0 {
				step, _ := c.episodeOf(made[0].Step + 1)
				centre := make([]float64, c.Set.Dimension())
				machine.params.Episodes[step].surrounded(centre, machine.middle, made[0].Extras[0].Numbers)
				for _, d := range made {
					off := floats.Distance(d.Point, centre, 2)
					if math.Abs(off-machine.params.Episodes[step].Smoothing) > 1e-9 {
						t.Fatalf("%+v, play %d: %g from its centre", c, d.Index, off)
					}
				}
				last = centre
			}
			made = counted.Add(nil, operators.Record{Key: optest.ActionKey(c.Actions, i), Event: e})
		}
		first := make([]float64, len(last))
		c.Set.Start(first)
		if floats.Distance(first, last, 2) < 1e-6 {
			t.Errorf("%+v: the centre stays", c)
		}
	}
}

// TestNeighboursDifferInOneContribution compares two runs without noise that differ in one loss, with actions and
// baseline forced to be equal. Releases are equal before the step that adds the loss. From then on they differ by one
// constant vector of norm at most (m/ζ)Φ.
func TestNeighboursDifferInOneContribution(t *testing.T) {
	for _, c := range kinds(t) {
		const changed = 16
		m := mechanism(c, "blt", 1)
		n, all := c.Set.Dimension(), [2][][]float64{}
		for run := range all {
			machine := open(t, c, m, 1, true)
			counted := operators.ByCount(machine)
			machine.baseline.bound = 0
			machine.Open(nil)
			for i, e := range optest.Feedback(60, -2, 3) {
				if i == changed && run == 1 {
					e = event.Event{Numbers: []float64{1e9}}
				} else if i == changed {
					e = event.Event{Numbers: []float64{-1e9}}
				}
				if made := counted.Add(nil, operators.Record{Key: optest.ActionKey(c.Actions, i), Event: e}); len(made) > 0 {
					all[run] = append(all[run], append([]float64(nil), machine.Stream.Sum(0)...))
				}
			}
		}
		closes := changed/c.Actions.Records + int(c.Actions.Delay)
		var moved []float64
		for step := range all[0] {
			d := make([]float64, n)
			floats.SubTo(d, all[1][step], all[0][step])
			switch {
			case step < closes && floats.Norm(d, 2) != 0:
				t.Fatalf("%+v: step %d knows", c, step+1)
			case step == closes:
				moved = d
				distance := machineGain(c) * floats.Norm(d, 2)
				most := float64(c.NewParams().Dimension) / c.NewParams().Episodes[0].Smoothing * (c.Losses.High - c.Losses.Low)
				if !(distance > 0.999*most && distance < 1.001*most) {
					t.Fatalf("%+v: releases are %g apart, want %g", c, distance, most)
				}
			case step > closes && floats.Distance(d, moved, 2) > 1e-6:
				t.Fatalf("%+v: step %d is %v apart, the first %v", c, step+1, d, moved)
			}
		}
	}
}

func machineGain(c Config) float64 { return c.gain(c.NewParams(), c.NewParams().Episodes[0]) }

// TestLengthsOfManyDirections checks Lemma 9: for k independent directions the matrix U has |U| ≤ 10·ln((n+k)/δ) + √((1
// + k/n)·10·ln((n+k)/δ)), and so |Σc_i·u_i| ≤ |U||c|. The bound also holds for an adversarial c that aligns all
// directions. The norm is about 1 + √(k/n), as for normal numbers (Vershynin, *High-Dimensional Probability*, 2018,
// Theorem 4.4.5).
func TestLengthsOfManyDirections(t *testing.T) {
	const delta = 1e-6
	var u directions
	u.use([seedLen]byte{3})
	play := uint64(0)
	for _, n := range []int{1, 2, 4, 16} {
		for _, k := range []int{1, 10, 100, 1000} {
			all, sum, first := mat.NewDense(n, k, nil), make([]float64, n), make([]float64, n)
			d := make([]float64, n)
			for i := range k {
				play++
				u.write(d, play)
				if i == 0 {
					copy(first, d)
				}
				all.SetCol(i, d)
				floats.AddScaled(sum, math.Copysign(1, floats.Dot(first, d)), d)
			}
			var svd mat.SVD
			if !svd.Factorize(all, mat.SVDNone) {
				t.Fatal("no singular values")
			}
			log := math.Log(float64(n+k) / delta)
			size, bound := svd.Values(nil)[0], 10*log+math.Sqrt((1+float64(k)/float64(n))*10*log)
			if size > bound || floats.Norm(sum, 2) > math.Sqrt(float64(k))*size*(1+1e-9) {
				t.Errorf("n = %d, k = %d: |U| = %g, bound %g; a sum of length %g", n, k, size, bound, floats.Norm(sum, 2))
			}
			mean := math.Sqrt(float64(k) / float64(n)) // root mean square of the singular values
			if size < mean*(1-1e-9) || size > 1.5*(1+mean) {
				t.Errorf("n = %d, k = %d: |U| = %g, not about %g", n, k, size, 1+mean)
			}
		}
	}
}

// TestRegretWithoutNoise checks that the regret is below Theorem 1 of SPEC.md and falls faster with T. With the paper's
// constants the bound is (9/2 + 1/√n + 1/n)·√n·LD/T^¼ an action.
func TestRegretWithoutNoise(t *testing.T) {
	most := tiertest.Runs(40_000, 100_000)
	falls := math.Pow(0.6, math.Log10(float64(most)/10_000)) // ten times as many actions must lower the regret to 60 %
	for _, n := range []int{2, 4, 8} {
		last := math.Inf(1)
		for _, total := range []int{10_000, most} {
			c := paper(t, n, float64(total))
			c.Losses.High = 1
			root := math.Sqrt(float64(n))
			bound := (4.5 + 1/root + 1/float64(n)) * root * math.Pow(float64(total), -0.25)
			if got := c.regretBound(c.episode(float64(total)), float64(total)); math.Abs(got/bound-1) > 0.01 {
				t.Errorf("n = %d, T = %d: Theorem 1 comes to %g, want %g", n, total, got, bound)
			}
			c = paper(t, n, float64(total))
			// Lipschitz constant of ½|x − z|² for |x| ≤ ½ + ζ and |z| ≤ 0.4.
			c.Lipschitz = 0.9 + c.NewParams().Episodes[0].Smoothing
			got := world{}.answered(t, paper(t, n, float64(total)), "blt", true, total, seeds())
			bound = c.regretBound(c.episode(float64(total)), float64(total))
			t.Logf("n = %d, T = %d: regret %.4f a play, bound %.3f", n, total, got, bound)
			if got > bound/4 || got > falls*last {
				t.Errorf("n = %d, T = %d: regret %.4f a play, bound %.3f; %.4f of fewer", n, total, got, bound, last)
			}
			last = got
		}
	}
}

// TestProjectionHasTheRegretOfFrankWolfe checks that centres by exact projection, as in Thakurta and Smith's algorithm,
// give a regret within a tenth of the regret with Frank-Wolfe.
func TestProjectionHasTheRegretOfFrankWolfe(t *testing.T) {
	total := tiertest.Runs(30_000, 100_000)
	for _, exact := range []bool{true, false} {
		c := paper(t, 2, float64(total))
		seeds := tiertest.Runs(2, 4)
		oracle := world{}.answered(t, c, "blt", exact, total, seeds)
		c.Projected = true
		projected := world{}.answered(t, c, "blt", exact, total, seeds)
		if math.Abs(projected/oracle-1) > 0.1 {
			t.Errorf("without noise %v: regret %.5f a play by projection, %.5f by oracle", exact, projected, oracle)
		}
	}
}

// TestDecayFollowsAChange checks a linear loss that changes sign half way. Sums without decay must first outweigh
// the old losses; decaying sums have less than half of their regret.
func TestDecayFollowsAChange(t *testing.T) {
	total, seeds := tiertest.Runs(40_000, 100_000), tiertest.Runs(2, 4)
	c := paper(t, 2, float64(total))
	p := c.NewParams().Episodes[0]
	c.Smoothing, c.Rate = p.Smoothing, 10*p.Rate
	c.Baseline = 0.5 / c.Losses.High
	keeps := mechanism(c, "blt", 1)
	forgets := keeps
	forgets.Scope = protection.Decay{Steps: c.Rounds / 10}
	after := func(m mechanisms.Config) (lost float64) {
		for seed := range seeds {
			machine := open(t, c, m, byte(seed+1), false)
			counted := operators.ByCount(machine)
			made := machine.Open(nil)
			for play := range total {
				d := made[play%c.Actions.Records]
				slope := 0.5
				if play > total/2 {
					slope = -0.5
					// 0.25 cancels the loss at the best point, which is on the other side of the ball.
					lost += (slope*d.Extras[0].Numbers[0] + 0.25) / float64(seeds*(total/2))
				}
				r := operators.Record{
					Key:   strconv.AppendUint(nil, d.Index, 10),
					Event: event.Event{Numbers: []float64{0.5 + slope*d.Point[0]}},
				}
				r.Identity.Offset = int64(play)
				if next := counted.Add(nil, r); len(next) > 0 {
					made = next
				}
			}
		}
		return lost
	}
	life, keep := after(forgets), after(keeps)
	t.Logf("a centre after the change costs %.4f above the best with a memory, %.4f without", life, keep)
	if !(life < keep/2) {
		t.Errorf("a centre after the change costs %.4f above the best with a memory, %.4f without", life, keep)
	}
}

// TestFeedbackThatFails checks that lost, doubled, late and forged answers increase the regret only as if there were
// fewer actions, and cost no privacy. Every action is published once, in the order of numbers, and decisions state the
// same guarantee.
func TestFeedbackThatFails(t *testing.T) {
	total := tiertest.Runs(60_000, 100_000)
	c := paper(t, 2, float64(total))
	p := c.NewParams().Episodes[0]
	c.Smoothing, c.Rate = p.Smoothing, p.Rate
	c.Rounds *= 2 // each second or forged record also takes a place in a step
	c.Actions.Actions, c.Actions.Delay = 2*c.Actions.Actions, 4
	whole := world{}.answered(t, c, "blt", false, total, seeds())
	t.Logf("delay of 4 steps: regret a play %.4f", whole)
	if stays := 0.3 * 0.3 / 2; whole > stays/4 { // stays is the regret of an algorithm that stays in the middle
		t.Errorf("delay of 4 steps: regret %.4f a play, of who learns nothing %.4f", whole, stays)
	}
	for _, share := range tiertest.Runs([]float64{0.1, 0.5}, []float64{0.01, 0.1, 0.5}) {
		w := world{lost: share, doubled: share, forged: share, late: c.Actions.Records}
		got := w.answered(t, c, "blt", false, total, seeds())
		t.Logf("%g of each: %.4f, %.2f times", share, got, got/whole)
		if limit := 1.2 * whole / (1 - share); !(got < limit) {
			t.Errorf("%g of each: regret %.4f a play, above %.4f; %.4f with all", share, got, limit, whole)
		}
	}
}
