package mechanisms_test

import (
	"bytes"
	"errors"
	"math"
	"strings"
	"testing"

	"oriel/mechanisms"
	"oriel/mechanisms/contribution"
	"oriel/mechanisms/dp"
	"oriel/mechanisms/lattice"
	"oriel/mechanisms/mechtest"
	"oriel/mechanisms/noise"
	"oriel/mechanisms/protection"
)

// drawing returns a configuration of draws among n elements, k at a time.
func drawing(n int, horizon uint64, d mechanisms.Draws) mechanisms.Config {
	c := mechtest.Config(n)
	c.Name, c.Scope, c.Draws = mechanisms.ExponentialMechanism, protection.Lifetime{Steps: horizon, Within: horizon}, d
	return c
}

// TestDrawsAreWithinTheirBudget recomputes the loss that a calibration proves by the test's own formulas: n draws of ε₀
// = 2d/β lose nε₀, or the ε of nε₀²/8 in zCDP. Calibration must leave almost nothing of the budget unused.
func TestDrawsAreWithinTheirBudget(t *testing.T) {
	for _, epsilon := range []float64{0.01, 1, 30} {
		for _, delta := range []float64{0, 1e-6, 0.01} {
			for _, draws := range []mechanisms.Draws{{K: 1, Every: 1}, {K: 3, Every: 7}, {K: 200, Every: 1000}} {
				for _, adjacency := range []dp.Adjacency{dp.Replace, dp.ZeroOut} {
					c := drawing(4, 1000, draws)
					c.Budget, c.Unit = dp.Budget{Epsilon: epsilon, Delta: delta}, protection.Event{Exchange: adjacency}
					calibration := mechtest.Plan(t, c)
					g, err := calibration.Guarantee(c)
					if err != nil {
						t.Fatal(err)
					}
					d := float64(calibration.Grid.Lambda)
					if adjacency == dp.Replace {
						d *= 2
					}
					n, each := float64(draws.K*(1000/draws.Every)), 2*d/calibration.Scale.Float64()
					proved := n * each
					if delta > 0 {
						rho := n * each * each / 8
						proved = min(proved, zcdpEpsilon(rho, delta))
					}
					if proved > epsilon*(1+1e-9) || proved < epsilon*(1-1e-4) {
						t.Errorf("%g, %g, %+v, %v: proves %g", epsilon, delta, draws, adjacency, proved)
					}
					if g.Epsilon != epsilon || g.Delta != delta || g.Mu != 0 || g.Draws == (dp.Draws{}) ||
						g.Terms != c.Terms {
						t.Errorf("guarantee %+v", g)
					}
					for _, age := range []uint64{1, 500, 1000, 1 << 40} {
						if at := g.At(age); at.Epsilon != epsilon || at.Delta != delta {
							t.Errorf("at age %d: %+v", age, at)
						}
					}
					// For a group of 2 a draw loses 2ε₀, and the total ρ is four times as large.
					group, want := g.Group(2), 2*proved
					if g.Draws.Rho > 0 {
						want = zcdpEpsilon(4*n*each*each/8, delta)
					}
					if group.Delta != delta || group.Epsilon > want*1.0001 ||
						g.Draws.Rho > 0 && group.Epsilon < want*0.9999 {
						t.Errorf("%g, %g, %+v: of two %+v, want %g", epsilon, delta, draws, group, want)
					}
				}
			}
		}
	}
}

// TestDrawsOfDisjointContributions checks disjoint contributions. An exchange affects one draw of each draw time: the
// difference of two scores changes by d. So the loss of n draw times is n·d/β, independent of k.
func TestDrawsOfDisjointContributions(t *testing.T) {
	for _, delta := range []float64{0, 1e-6} {
		for _, adjacency := range []dp.Adjacency{dp.Replace, dp.ZeroOut} {
			c := drawing(4, 1000, mechanisms.Draws{K: 2, MaxDraws: 200, Disjoint: true})
			c.Budget, c.Unit = dp.Budget{Epsilon: 1, Delta: delta}, protection.Event{Exchange: adjacency}
			calibration := mechtest.Plan(t, c)
			g, err := calibration.Guarantee(c)
			if err != nil || g.Epsilon != 1 || g.Delta != delta {
				t.Fatalf("%+v, %v", g, err)
			}
			d := float64(calibration.Grid.Lambda)
			if adjacency == dp.Replace {
				d *= 2
			}
			each, beta := d/calibration.Scale.Float64(), calibration.Scale.Float64()
			proved := 200 * each
			if delta > 0 {
				proved = zcdpEpsilon(200*each*each/8, delta)
			}
			if proved > 1+1e-9 || proved < 1-1e-4 {
				t.Errorf("δ = %g, %v: proves %g", delta, adjacency, proved)
			}
			law := calibration.DrawLaw(c)
			rate := law.Epsilon.Up() / 2 * float64(law.Sensitivity.Den) / float64(law.Sensitivity.Num)
			if math.Abs(rate*beta-1) > 1e-12 || math.Abs(law.Epsilon.Up()/each-1) > 1e-12 {
				t.Errorf("δ = %g, %v: a draw by e^(%g q) of ε = %g, want e^(q/%g) and %g", delta, adjacency, rate,
					law.Epsilon.Up(), beta, each)
			}
		}
	}
}

// TestDrawsAreCounted checks that MaxDraws limits the number of draw times, even across a restart. With Disjoint, the
// draws of one time must be among successive ranges of coordinates, and a contribution with two nonzero integers must
// not be added.
func TestDrawsAreCounted(t *testing.T) {
	c := drawing(4, 9, mechanisms.Draws{K: 2, MaxDraws: 3, Disjoint: true})
	c.Contribution.Components[0].Quantiser = boundedBy(50)
	stream := mechtest.ByCount(mechtest.Open(t, c, [32]byte{1}))
	refused := func(from, to int) (yes bool) {
		defer func() { yes = recover() != nil }()
		stream.Draw(from, to)
		return false
	}
	if !refused(0, 2) {
		t.Error("drawn before any step")
	}
	var scores []int64
	stream.DrawBy(func(d mechanisms.Draw, drawn int) int {
		scores = append(scores, d.Scores...)
		return drawn
	})
	made := 0
	for step := range 9 {
		v := []float64{0, 0, 0, 0}
		v[step%4] = float64(step + 1)
		if step == 1 {
			v[3] = 1 // two nonzero numbers break Disjoint
		}
		stream.Add(noise.Identity{Offset: int64(step)}, v)
		if step%2 == 1 {
			continue // a draw time is due only after every second step
		}
		if !refused(0, 2) {
			made++
			if step == 2 && !refused(1, 3) || refused(2, 4) != (step == 2) && step != 2 || !refused(3, 4) {
				t.Errorf("step %d: drawn twice among one coordinate, or three times", step)
			}
		}
		again := mechtest.ByCount(mechtest.Open(t, c, [32]byte{1}))
		if err := again.Restore(stream.AppendState(nil)); err != nil {
			t.Fatal(err)
		}
		again.DrawBy(func(d mechanisms.Draw, drawn int) int {
			scores = append(scores, d.Scores...)
			return drawn
		})
		stream = again
	}
	if made != 3 {
		t.Errorf("drawn %d times, want 3", made)
	}
	want := []int64{1, 0, 0, 0, 1, 0, 3, 0, 6, 0, 3, 4}
	if len(scores) != len(want) || scores[0] != 1 || scores[4] != 1 || scores[6] != 3 || scores[8] != 6 || scores[9] != 0 {
		t.Errorf("scores %v, want %v", scores, want)
	}
	state := stream.AppendState(nil)
	state[len(state)-8] = 4
	if err := mechtest.ByCount(mechtest.Open(t, c, [32]byte{1})).Restore(state); err == nil ||
		!strings.Contains(err.Error(), "drawn 4 times") {
		t.Errorf("a state of 4 times of 3: %v", err)
	}
}

// TestDrawsBeyondTheirBudgetAreRefused checks that a calibration whose draws lose more than the budget opens no stream:
// one with a slightly too small scale, one calibrated only for zero-out, and one whose scale is impossible for draws.
func TestDrawsBeyondTheirBudgetAreRefused(t *testing.T) {
	for _, draws := range []mechanisms.Draws{{K: 3, Every: 7}, {K: 2, MaxDraws: 90, Disjoint: true}} {
		for _, delta := range []float64{0, 1e-6} {
			c := drawing(4, 1000, draws)
			c.Budget.Delta = delta
			calibration := mechtest.Plan(t, c)
			scaled := func(by float64) mechanisms.Calibration {
				other := calibration
				other.Scale = noise.ScaleUp(math.Floor(by * calibration.Scale.Float64()))
				return other
			}
			for what, other := range map[string]mechanisms.Calibration{"half": scaled(0.5), "99.9 %": scaled(0.999)} {
				if _, err := other.Guarantee(c); !errors.Is(err, mechanisms.ErrUnproved) {
					t.Errorf("%+v, δ = %g: %s of the scale: %v, want ErrUnproved", draws, delta, what, err)
				}
				if _, err := mechanisms.Open(c, other, [32]byte{}); !errors.Is(err, mechanisms.ErrUnproved) {
					t.Errorf("%+v, δ = %g: %s of the scale opens a stream: %v", draws, delta, what, err)
				}
			}
			null := c
			null.Unit = zeroOut
			if _, err := mechtest.Plan(t, null).Guarantee(c); !errors.Is(err, mechanisms.ErrUnproved) {
				t.Errorf("%+v, δ = %g: the calibration against null, of an exchange: %v, want ErrUnproved", draws, delta, err)
			}
			for _, scale := range []noise.Scale{{Mant: 1, Exp: -1}, {Mant: 1, Exp: 50}, {Mant: 3, Exp: 1000}} {
				other := calibration
				other.Scale = scale
				if _, err := other.Guarantee(c); err == nil || !strings.Contains(err.Error(), "not a whole number below") {
					t.Errorf("scale %v: %v", scale, err)
				}
			}
		}
	}
}

// TestDrawsOfTwoLawsHaveTheirOwnLaw alternates draws by two laws, as a machine does that also draws by public numbers.
// Each draw must follow its own law: the same gap of scores is decisive under the first law and negligible under the
// second.
func TestDrawsOfTwoLawsHaveTheirOwnLaw(t *testing.T) {
	c := drawing(2, 2, mechanisms.Draws{K: 200, Every: 1})
	c.Budget.Epsilon = 1e6 // so large that the larger sum always wins
	stream := mechtest.ByCount(mechtest.Open(t, c, [32]byte{3}))
	stream.Add(noise.Identity{}, []float64{1, 0})
	slow := mechanisms.ByLogs(40) // so small that both elements are equally likely
	other := 0
	for i := range 200 {
		if stream.Draw(0, 2) != 0 {
			t.Fatalf("draw %d is not of its law", i)
		}
		other += stream.Choose(0, []int64{1 << 20, 0}, slow)
	}
	if other < 57 || other > 143 { // outside 100 ± 43: 6.11 standard errors of 200 fair coins
		t.Errorf("%d of 200 draws by another law are of the second, want a half", other)
	}
}

// TestMaxEpsilonReducesTheStatedLoss checks that a bound on ε of a draw makes the guarantee smaller, and that the
// calibration reports it.
func TestMaxEpsilonReducesTheStatedLoss(t *testing.T) {
	c := drawing(4, 100, mechanisms.Draws{K: 2, Every: 10, MaxEpsilon: 0.001})
	c.Budget.Delta = 0
	g, err := mechtest.Plan(t, c).Guarantee(c)
	if err != nil || g.Epsilon > 20*0.001 || g.Epsilon < 20*0.001*(1-1e-4) {
		t.Errorf("ε = %g, %v: want 20 draws of 0.001", g.Epsilon, err)
	}
}

func TestExponentialMechanismConfigIsRefused(t *testing.T) {
	for want, change := range map[string]func(c *mechanisms.Config){
		"takes lifetime": func(c *mechanisms.Config) { c.Scope = protection.Window{Steps: 16} },
		"memory H = 16":  func(c *mechanisms.Config) { c.Scope = protection.Decay{Steps: 16} },
		"no window":      func(c *mechanisms.Config) { c.Scope = protection.PerStep{} },
		"1 to 2^32 steps": func(c *mechanisms.Config) {
			c.Scope = protection.Lifetime{Steps: 1<<32 + 1, Within: 1<<32 + 1}
		},
		"horizon 8":           func(c *mechanisms.Config) { c.Scope = protection.Lifetime{Steps: 8, Within: 16} },
		"asks for none":       func(c *mechanisms.Config) { c.Draws = mechanisms.Draws{} },
		"0 at a time":         func(c *mechanisms.Config) { c.Draws.K = 0 },
		"every 0 steps":       func(c *mechanisms.Config) { c.Draws.Every = 0 },
		"3 times, and every":  func(c *mechanisms.Config) { c.Draws.MaxDraws = 3 },
		"17 times, and every": func(c *mechanisms.Config) { c.Draws = mechanisms.Draws{K: 1, MaxDraws: 17} },
		"every 17 steps":      func(c *mechanisms.Config) { c.Draws.Every = 17 },
		"of one at most":      func(c *mechanisms.Config) { c.Draws.MaxEpsilon = math.NaN() },
		"only the unit event": func(c *mechanisms.Config) { c.Unit = separated(4) },
		"no error bound":      func(c *mechanisms.Config) { c.Failure = 0.1 },
		"has none of its own": func(c *mechanisms.Config) { c.Name, c.Scope = "blt", protection.Window{Steps: 16} },
		"2^37 records": func(c *mechanisms.Config) {
			c.Batch, c.Scope = 1<<31, protection.Lifetime{Steps: 1 << 7, Within: 1 << 7}
		},
		"scales": func(c *mechanisms.Config) { c.Contribution.Components[0].Scales = []uint32{1, 1, 1, 1} },
		"2 components": func(c *mechanisms.Config) {
			c.Contribution.Components = []contribution.Component{{Size: 1, Clip: 1, Share: 1}, {Size: 1, Clip: 1, Share: 1}}
		},
		"bound 0": func(c *mechanisms.Config) { c.Contribution.Components[0].Quantiser = boundedBy(0) },
	} {
		c := drawing(4, 16, mechanisms.Draws{K: 2, Every: 4})
		if err := c.Validate(); err != nil {
			t.Fatal(err)
		}
		change(&c)
		if err := c.Validate(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v", want, err)
		}
	}
	c := drawing(4, 1<<32, mechanisms.Draws{K: 60000, Every: 1})
	c.Budget = dp.Budget{Epsilon: 1e-6}
	if _, err := mechanisms.Calibrate(c); err == nil || !strings.Contains(err.Error(), "of so little") {
		t.Errorf("draws that lose nothing: %v", err)
	}
}

// boundedBy is a quantiser that claims a bound and does not enforce it.
type boundedBy int64

func (boundedBy) Entries() int { return 4 }

func (boundedBy) Distances(g lattice.Grid) (replace, zeroOut lattice.Int128) {
	return lattice.Square(2 * g.Lambda), lattice.Square(g.Lambda)
}

func (b boundedBy) Bound(lattice.Grid) int64 { return int64(b) }

func (boundedBy) Quantise(_ lattice.Grid, dst []int64, v []float64) {
	for i, x := range v {
		dst[i] = int64(x)
	}
}

// TestScoresAreSumsOfContributions checks that scores are sums of contributions over closed steps only. A contribution
// with an integer beyond the bound, on which the loss of a draw depends, is not added.
func TestScoresAreSumsOfContributions(t *testing.T) {
	c := drawing(4, 6, mechanisms.Draws{K: 2, Every: 3})
	c.Batch, c.Contribution.Components[0].Quantiser = 2, boundedBy(50)
	stream := mechtest.ByCount(mechtest.Open(t, c, [32]byte{1}))
	var seen [][]int64
	stream.DrawBy(func(d mechanisms.Draw, drawn int) int {
		if int(d.Instance) != len(seen)%2 || d.Law.Sensitivity != (mechanisms.Ratio{Num: 100, Den: 1}) {
			t.Errorf("draw %+v", d)
		}
		seen = append(seen, append([]int64{}, d.Scores...))
		return drawn
	})
	for i := range 12 {
		v := []float64{float64(i), -50, 1, 51}
		if i%2 == 0 {
			v[3] = 7
		}
		if i == 4 {
			v[0] = -51
		}
		if closed := stream.Add(noise.Identity{Offset: int64(i)}, v); closed && stream.Step()%3 == 0 {
			stream.Draw(0, 2)
			stream.Draw(2, 4)
		}
		if stream.Sum(0)[0] != 0 {
			t.Fatal("a sum is released")
		}
	}
	// The sums of records 0 and 2, later with records 6, 8 and 10.
	want := [][]int64{{2, -100}, {2, 14}, {26, -250}, {5, 35}}
	for i := range want {
		if seen[i][0] != want[i][0] || seen[i][1] != want[i][1] || len(seen) != 4 {
			t.Errorf("scores %v, want %v", seen, want)
		}
	}
}

// TestDrawsKeepTheirSchedule checks that a draw outside the schedule is refused, because no loss is accounted for it.
func TestDrawsKeepTheirSchedule(t *testing.T) {
	refused := func(s *mechtest.Counted) (yes bool) {
		defer func() { yes = recover() != nil }()
		s.Draw(0, 4)
		return false
	}
	c := drawing(4, 6, mechanisms.Draws{K: 2, Every: 3})
	c.Batch = 2
	stream := mechtest.ByCount(mechtest.Open(t, c, [32]byte{1}))
	for i := range 13 {
		records := i // count before this iteration's record
		due := 0
		if records > 0 && records%6 == 0 {
			due = 2
		}
		made := 0
		for made < 9 && !refused(stream) {
			made++
		}
		if made != due {
			t.Errorf("after %d records %d draws, want %d", records, made, due)
		}
		if i < 12 {
			stream.Add(noise.Identity{Offset: int64(i)}, []float64{0.1, 0.2, 0.3, 0.1})
		}
	}
	late := mechtest.ByCount(mechtest.Open(t, c, [32]byte{1}))
	for i := range 7 {
		late.Add(noise.Identity{Offset: int64(i)}, nil)
	}
	if !refused(late) {
		t.Error("a stream draws in the midst of a step")
	}
	if !refused(mechtest.ByCount(mechtest.Open(t, mechtest.Config(4), [32]byte{1}))) {
		t.Error("a stream of sums draws by sums that it has not")
	}
	again := mechtest.ByCount(mechtest.Open(t, c, [32]byte{1}))
	if err := again.Restore(stream.AppendState(nil)); err != nil || !refused(again) {
		t.Errorf("a stream that was read back draws once more: %v", err)
	}
}

// TestDrawsOfAStepStartAnew checks that the ranges of Disjoint draws may start at the first coordinate again after the
// next step has closed.
func TestDrawsOfAStepStartAnew(t *testing.T) {
	c := drawing(4, 9, mechanisms.Draws{K: 2, MaxDraws: 3, Disjoint: true})
	c.Contribution.Components[0].Quantiser = boundedBy(50)
	stream, drawn := mechtest.ByCount(mechtest.Open(t, c, [32]byte{1})), 0
	defer func() {
		if refused := recover(); refused != nil || drawn != 6 {
			t.Errorf("after %d draws: %v", drawn, refused)
		}
	}()
	for step := range 3 {
		stream.Add(noise.Identity{Offset: int64(step)}, nil)
		for _, from := range []int{0, 2} {
			if i := stream.Draw(from, from+2); i < 0 || i > 1 {
				t.Errorf("drawn %d of 2", i)
			}
			drawn++
		}
	}
}

// TestStateOfDraws checks that a restored stream continues with the same draws, and that impossible states are refused.
func TestStateOfDraws(t *testing.T) {
	c := drawing(4, 40, mechanisms.Draws{K: 1, Every: 2})
	c.Budget.Epsilon = 1000 // so large that the scores decide
	play := func(broken bool) (drawn []int, states [][]byte) {
		stream := mechtest.ByCount(mechtest.Open(t, c, [32]byte{3}))
		for i := range 40 {
			if stream.Add(noise.Identity{Offset: int64(i)}, []float64{0.01, 0.02 * float64(i%5), -0.3, 0.05}); i%2 == 1 {
				drawn = append(drawn, stream.Draw(0, 4))
			}
			state := stream.AppendState(nil)
			if states = append(states, state); broken {
				stream = mechtest.ByCount(mechtest.Open(t, c, [32]byte{9}))
				if err := stream.Restore(state); err != nil {
					t.Fatal(err)
				}
			}
		}
		return drawn, states
	}
	drawn, states := play(false)
	again, broken := play(true)
	for i := range drawn {
		if drawn[i] != again[i] {
			t.Errorf("draw %d: %d, want %d", i, again[i], drawn[i])
		}
	}
	if !bytes.Equal(states[39], broken[39]) {
		t.Error("another state after restarts")
	}
}

// TestDrawsHaveTheirLaw compares the frequencies of 60 000 first draws with e^(q/β). 6.11 standard errors are at most
// 6.11·√(p/60 000).
func TestDrawsHaveTheirLaw(t *testing.T) {
	c := drawing(3, 1, mechanisms.Draws{K: 60_000, Every: 1})
	c.Budget.Epsilon = 200_000 // β is some 0.6 of L, so the two probabilities differ
	stream, calibration := mechtest.ByCount(mechtest.Open(t, c, [32]byte{3})), mechtest.Plan(t, c)
	stream.Add(noise.Identity{}, []float64{0.6, 0, -0.7})
	var count, weight [3]float64
	total := 0.0
	for i, v := range []float64{0.6, 0, -0.7} {
		weight[i] = math.Exp(v / (calibration.Scale.Float64() * calibration.Grid.Unit()))
		total += weight[i]
	}
	for range 60_000 {
		count[stream.Draw(0, 3)]++
	}
	for i, w := range weight {
		p := w / total
		if z := math.Abs(count[i]/60_000-p) / math.Sqrt(p*(1-p)/60_000); z > 6.11 {
			t.Errorf("element %d has %g of all draws, want %g", i, count[i]/60_000, p)
		}
	}
	if weight[0]/total < 0.5 || weight[2]/total > 0.2 {
		t.Errorf("chances %v of %g: the rate is not that of the test", weight, total)
	}
}

// zcdpEpsilon returns ε of a ρ-zCDP mechanism at δ.
func zcdpEpsilon(rho, delta float64) float64 {
	var total dp.Total
	total.AddRho(rho)
	return total.Epsilon(delta)
}
