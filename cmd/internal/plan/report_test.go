package plan

import (
	"math"
	"slices"
	"strings"
	"testing"

	"oriel/cmd/internal/plan/opened"
	"oriel/mechanisms"
	"oriel/mechanisms/dp"
	"oriel/mechanisms/mechtest"
	"oriel/mechanisms/noise"
	"oriel/mechanisms/protection"
)

// TestSensitivity checks that Δ is 2L, or L under zero-out at event level, on a lattice whose unit is at most L/2²⁴.
func TestSensitivity(t *testing.T) {
	each(t, func(t *testing.T, in Input, r *Report) {
		c, s := in.Configured, r.Setting
		want := 2 * c.Clip()
		if c.Unit.AgainstNull() {
			want = c.Clip()
		}
		if s.Sensitivity > want || s.Sensitivity < want*(1-0x1p-24) ||
			s.Sensitivity != float64(s.LatticeUnits)*s.LatticeUnit {
			t.Errorf("sensitivity %g = %d · %g, want %g", s.Sensitivity, s.LatticeUnits, s.LatticeUnit, want)
		}
		if fraction, _ := math.Frexp(s.LatticeUnit); fraction != 0.5 {
			t.Errorf("lattice unit %g: not a power of two", s.LatticeUnit)
		}
	})
}

// TestNoiseScale checks σ and θ against the formulas of mechanisms/doc.go and, for blt, against the series d. The η
// term changes them by a factor of less than 1 + 10⁻⁴.
func TestNoiseScale(t *testing.T) {
	each(t, func(t *testing.T, in Input, r *Report) {
		for _, m := range r.Mechanisms {
			budget, n := in.Configured.Budget, math.Sqrt(float64(in.Configured.Dimension()))
			h := math.Log2(float64(max(m.Window, 1))) + 1
			squaresMoved, moved, tolerance := h, h, 1e-9
			// At most ⌈2^l/s⌉ of the k events of a user are under one node of 2^l steps.
			if s, several := in.Configured.Unit.EventSeparation(); several {
				k := math.Ceil(float64(m.Window) / float64(s))
				squaresMoved, moved = 0, k*h
				for span := uint64(1); span <= m.Window; span *= 2 {
					squaresMoved += k * math.Ceil(float64(span)/float64(s))
				}
			}
			want := 0.0
			switch m.Name {
			case "blt":
				terms := int(m.Window)
				_, d := series(m.opened.Calibration.Filter, terms)
				train := make([]float64, terms)
				for shift := 0; shift < terms; shift += max(int(in.Configured.Unit.Figures().Separation), 1) {
					for j := shift; j < terms; j++ {
						train[j] += d[j-shift]
					}
					if !r.Setting.users() {
						break
					}
				}
				want, tolerance = math.Sqrt(squares(train))/muOf(budget.Epsilon, budget.Delta), 1e-4
			case "tree-gaussian":
				want = math.Sqrt(squaresMoved) / muOf(budget.Epsilon, budget.Delta)
			case "tree-gamma":
				want = moved / budget.Epsilon
			case "tree-laplace":
				want = n * moved / budget.Epsilon
			case "once-gaussian":
				want = 1 / muOf(budget.Epsilon, budget.Delta)
			case "once-gamma":
				want = 1 / budget.Epsilon
			default:
				t.Fatalf("%s: no twin", m.Name)
			}
			near(t, m.Name+": noise scale", m.NoiseScale, want*r.Setting.Sensitivity, tolerance)
		}
	})
}

// TestError checks errors by enumerating the steps of a block, or of a stream that ends; for blt, it sums the series of
// b.
func TestError(t *testing.T) {
	each(t, func(t *testing.T, in Input, r *Report) {
		for _, m := range r.Mechanisms {
			n := float64(in.Configured.Dimension())
			one := map[mechanisms.Law]float64{
				mechanisms.Gaussian: 1, mechanisms.Gamma: n + 1,
				mechanisms.Laplace: 2,
			}[opened.FactsOf(m.Name).Law]
			mean, worst := 1.0, 1.0
			from, to := m.Window, 3*m.Window // steps from+1 to `to`, which are whole blocks after the first block
			end := in.Configured.Scope.End()
			ends := end != protection.Endless
			if ends {
				from, to = 0, end
			}
			switch {
			case m.Name == "blt":
				b, _ := series(m.opened.Calibration.Filter, 200_000)
				mean = squares(b)
				worst = mean
				if ends {
					sum, total := 0.0, 0.0
					for j := range to {
						sum += b[j] * b[j]
						total += sum
					}
					mean, worst = total/float64(to), sum
				}
			case strings.HasPrefix(m.Name, "tree"):
				total, most := 0, 0
				for step := from + 1; step <= to; step++ {
					total += active(step, m.Window)
					most = max(most, active(step, m.Window))
				}
				mean, worst = float64(total)/float64(to-from), float64(most)
			}
			near(t, m.Name+": rms", m.RMSCoordinate, m.NoiseScale*math.Sqrt(one*mean), 1e-9)
			near(t, m.Name+": worst rms", m.WorstCoordinate, m.NoiseScale*math.Sqrt(one*worst), 1e-9)
			near(t, m.Name+": rms of the vector", m.RMSVector, m.RMSCoordinate*math.Sqrt(n), 1e-12)
			near(t, m.Name+": worst rms of the vector", m.WorstVector, m.WorstCoordinate*math.Sqrt(n), 1e-12)
		}
	})
}

// TestVarianceOfAVector checks the variance of one coordinate of a noise vector over 20 000 vectors. The sum of squares
// has a relative standard error of at most 0.0156 for the noise distributions here (fourth moment over the square of
// the second at most 5.8; 6 for Laplace), so that 6.11 such errors are below 0.1.
func TestVarianceOfAVector(t *testing.T) {
	const vectors, n = 20_000, 3
	for _, name := range []string{"once-gaussian", "once-gamma", "tree-laplace"} {
		c := mechtest.Config(n)
		c.Name, c.Scope = name, protection.PerStep{}
		if strings.HasPrefix(name, "tree") {
			c.Scope = protection.Window{Steps: 1}
		}
		m, err := opened.New(c)
		if err != nil {
			t.Fatal(err)
		}
		stream := mechtest.Open(t, c, [32]byte{7})
		sum, before := 0.0, 0.0
		for i := range vectors {
			stream.Add(noise.Identity{Offset: int64(i)}, nil)
			stream.Close()
			x := stream.Sum(0)[0] - before
			sum += x * x
		}
		rms, _ := m.RMS()
		near(t, name, sum/vectors, rms*rms, 0.1)
	}
}

// TestOptimum checks the ratio to the optimum, and the optimum's own row.
func TestOptimum(t *testing.T) {
	each(t, func(t *testing.T, in Input, r *Report) {
		c := in.Configured
		bounded := !c.Scope.ForLife()
		if r.Optimum.Factor.Known() != bounded || r.Optimum.Mu.Known() != (bounded && c.Budget.Delta > 0) {
			t.Errorf("optimum %+v", r.Optimum)
		}
		if r.Optimum.Mu.Known() {
			mu := muOf(c.Budget.Epsilon, c.Budget.Delta)
			near(t, "µ", float64(r.Optimum.Mu), mu, 1e-9)
			near(t, "factor", float64(r.Optimum.Factor), optimum(c.Scope.Span()), 1e-9)
			near(t, "rms", float64(r.Optimum.RMSCoordinate), math.Sqrt(optimum(c.Scope.Span()))*r.Setting.Sensitivity/mu, 1e-9)
			near(t, "rms of the vector", float64(r.Optimum.RMSVector),
				float64(r.Optimum.RMSCoordinate)*math.Sqrt(float64(c.Dimension())), 1e-12)
		}
		for _, m := range r.Mechanisms {
			prefix := !strings.HasPrefix(m.Name, "once")
			if m.OverOptimum.Known() != (bounded && prefix && m.Mu.Known()) {
				t.Errorf("%s: ratio %g", m.Name, float64(m.OverOptimum))
			}
			if m.OverOptimum.Known() {
				least := optimum(c.Scope.Span()) * math.Pow(r.Setting.Sensitivity/float64(m.Mu), 2)
				near(t, m.Name+": ratio", float64(m.OverOptimum), m.RMSCoordinate*m.RMSCoordinate/least, 1e-8)
				if m.OverOptimum < 1 {
					t.Errorf("%s: below the optimum: %g", m.Name, float64(m.OverOptimum))
				}
			}
		}
	})
}

// TestLosses checks ε at every age. The pure ε of several windows is the ε of one window times their number, and
// per-step releases lose nothing more with age. Gaussian trees have µ = (Δ√(h − 1 + m(2W − 1)/W) + √(2nm(W − 1)))/s,
// and blt follows from its series, up to the η term.
func TestLosses(t *testing.T) {
	each(t, func(t *testing.T, in Input, r *Report) {
		c := in.Configured
		_, several := c.Unit.EventSeparation()
		for _, m := range r.Mechanisms {
			var d []float64
			for i, loss := range m.Losses {
				age := r.Ages[i].Steps
				if loss.Steps != age {
					t.Fatalf("%s: age %d in place %d", m.Name, loss.Steps, i)
				}
				windows := math.Ceil(float64(age) / float64(m.Window))
				want, tolerance := float64(m.Epsilon), 1e-9
				switch {
				case m.Window == 0 || age == m.Window || c.Scope.ForLife(): // at these ages the loss equals the claim
				case !m.Mu.Known():
					want *= windows
				case m.Name == "blt" && !several && age <= 102_400:
					if d == nil {
						_, d = series(m.opened.Calibration.Filter, 102_400)
					}
					mu := r.Setting.Sensitivity * math.Sqrt(squares(d[:age])) / m.NoiseScale
					want, tolerance = epsilonOf(mu, m.Delta), 1e-3
				case m.Name != "blt" && !several:
					h, w := math.Log2(float64(m.Window))+1, float64(m.Window)
					if windows > 1 {
						shift := float64(r.Setting.LatticeUnits)*math.Sqrt(h-1+windows*(2*w-1)/w) +
							math.Sqrt(2*float64(c.Dimension())*windows*(w-1))
						want = epsilonOf(shift*r.Setting.LatticeUnit/m.NoiseScale, m.Delta)
					}
				default:
					want = m.opened.Guarantee.At(age).Epsilon
				}
				near(t, m.Name+": ε", float64(loss.Epsilon), want, tolerance)
				if loss.All.Known() != several {
					t.Errorf("%s: loss of all events %g", m.Name, float64(loss.All))
				}
				if several {
					stream := mechtest.Open(t, m.opened.Config, [32]byte{})
					near(t, m.Name+": ε of all events", float64(loss.All), stream.Guarantee().AtAll(age).Epsilon, 0)
					near(t, m.Name+": ε of a window", float64(loss.Epsilon), stream.Guarantee().At(age).Epsilon, 0)
				}
			}
		}
	})
}

// TestClaims checks the claims for one window, for groups, and for one event of a user.
func TestClaims(t *testing.T) {
	each(t, func(t *testing.T, in Input, r *Report) {
		c := in.Configured
		_, several := in.Configured.Unit.EventSeparation()
		for _, m := range r.Mechanisms {
			near(t, m.Name+": ε", float64(m.Epsilon), c.Budget.Epsilon, 0)
			if pure := opened.FactsOf(m.Name).Pure(); m.Mu.Known() == pure || (m.Delta == 0) != pure {
				t.Errorf("%s: µ %g, δ %g", m.Name, float64(m.Mu), m.Delta)
			}
			if m.Mu.Known() {
				near(t, m.Name+": ε of µ", float64(m.Epsilon), epsilonOf(float64(m.Mu), m.Delta), 1e-8)
			}
			for i, k := range []uint64{2, 5, 10} {
				want := float64(k) * float64(m.Epsilon)
				if m.Mu.Known() {
					want = epsilonOf(float64(k)*float64(m.Mu), m.Delta)
				}
				if m.Groups[i].Size != k {
					t.Errorf("%s: group %d of %d", m.Name, i, m.Groups[i].Size)
				}
				near(t, m.Name+": ε of a group", float64(m.Groups[i].Epsilon), want, 1e-8)
			}
			if m.EventEpsilon.Known() != several || several && m.EventEpsilon > m.Epsilon {
				t.Errorf("%s: one event %g, user %g", m.Name, float64(m.EventEpsilon), float64(m.Epsilon))
			}
		}
	})
}

// TestRows checks that every mechanism has a row or a reason for its absence. The configured mechanism must come first,
// and only it may be marked.
func TestRows(t *testing.T) {
	each(t, func(t *testing.T, in Input, r *Report) {
		var names []string
		for i, m := range r.Mechanisms {
			names = append(names, m.Name)
			if m.Configured != (i == 0) || m.Configured != (m.Name == in.Configured.Name) {
				t.Errorf("%s in row %d: configured %t", m.Name, i, m.Configured)
			}
		}
		for _, l := range r.LeftOut {
			names = append(names, l.Name)
			if l.Reason == "" || strings.Contains(l.Reason, "mechanisms:") {
				t.Errorf("%s is left out: %q", l.Name, l.Reason)
			}
		}
		want := slices.DeleteFunc(mechanisms.Names(), func(name string) bool { // only for operators that state ℓ1 distances
			facts, _ := mechanisms.FactsOf(name)
			return facts.Discrete()
		})
		slices.Sort(names)
		slices.Sort(want)
		if !slices.Equal(names, want) {
			t.Errorf("rows and left out: %v", names)
		}
	})
}

func TestCandidates(t *testing.T) {
	f := func(what string, change func(*mechanisms.Config), name, wantReason, wantNote string, wantWindow uint64) {
		t.Helper()
		in := everySetting[0].input()
		change(&in.Configured)
		c, note, reason := in.candidate(variant{name: name})
		if !strings.Contains(reason, wantReason) || (reason == "") != (wantReason == "") ||
			!strings.Contains(note, wantNote) || wantReason == "" && c.Scope.Span() != wantWindow {
			t.Errorf("%s, %s: window %d, note %q, reason %q", what, name, c.Scope.Span(), note, reason)
		}
	}
	same := func(*mechanisms.Config) {}
	f("configured", same, "blt", "", "", 1024)
	f("fits", same, "tree-gaussian", "", "", 1024)
	f("single steps", same, "once-gamma", "", "no prefix sum", 0)
	f("no δ", func(c *mechanisms.Config) { c.Budget.Delta = 0; c.Name = "tree-gamma" }, "blt", "ORIEL_DELTA", "", 0)
	f("no δ", func(c *mechanisms.Config) { c.Budget.Delta = 0; c.Name = "tree-gamma" }, "tree-laplace", "", "", 1024)
	f("no power of two", func(c *mechanisms.Config) { c.Scope = protection.Window{Steps: 1025} }, "tree-gaussian", "",
		"window 2048, the next power of two", 2048)
	f("large", func(c *mechanisms.Config) { c.Scope = protection.Window{Steps: 1 << 23}; c.Name = "tree-gamma" }, "blt", "4194304", "", 0)
	f("users", func(c *mechanisms.Config) { c.Unit = protection.User{Exchange: dp.Replace, Separation: 3} }, "once-gamma", "no user level", "", 0)
	f("horizon", func(c *mechanisms.Config) {
		c.Name, c.Scope = "tree-gamma", protection.Lifetime{Steps: 700, Within: 1024}
	}, "blt", "", "", 700)
	f("no window", func(c *mechanisms.Config) {
		c.Name, c.Scope = "once-gamma", protection.PerStep{}
	}, "blt", "needs a window", "", 0)
}

func TestAges(t *testing.T) {
	terms := protection.Terms{Scope: protection.Window{Steps: 1000}}
	in := Input{Configured: mechanisms.Config{Terms: terms, Batch: 4}, Rate: 2, Age: 55_000}
	steps, seconds := []uint64{1000, 10_000, 55_000, 100_000, 1_000_000}, []float64{
		2000, 20_000, 110_000, 200_000,
		2_000_000,
	}
	for i, age := range in.ages() {
		if age.Steps != steps[i] || float64(age.Seconds) != seconds[i] || (age.Windows == 0) != (i == 2) {
			t.Errorf("age %d: %+v", i, age)
		}
	}
	in.Configured.Scope = protection.Window{Steps: 1 << 62}
	if last := in.ages()[3]; last.Steps != math.MaxUint64 {
		t.Errorf("1000 windows of 2^62 steps: %d", last.Steps)
	}
}

func TestWarnings(t *testing.T) {
	f := func(window, batch uint64, delta, rate float64, want ...string) {
		t.Helper()
		in := everySetting[0].input()
		in.Configured.Scope, in.Configured.Batch, in.Rate = protection.Window{Steps: window}, batch, rate
		r := &Report{
			Setting: Setting{
				Window: window, Batch: batch, WindowSeconds: in.seconds(window),
				terms: protection.Terms{Scope: in.Configured.Scope, Unit: protection.Event{Exchange: dp.Replace}},
			},
			Mechanisms: []Mechanism{{Epsilon: 1, Delta: delta}},
		}
		r.warn(in)
		if len(r.Warnings) != len(want) {
			t.Fatalf("%q, want %q", r.Warnings, want)
		}
		for i, text := range want {
			if !strings.Contains(r.Warnings[i], text) {
				t.Errorf("%q, want %q", r.Warnings[i], text)
			}
		}
	}
	f(1024, 1, 0x1p-10, 0)
	f(1000, 1, 1.01e-3, 0, "δ = 0.00101 is too large: publishing one random event of the 1000 ")
	f(100, 20, 1e-3, 0, "Use well below 1/2000")
	f(1000, 1, 1e-6, 0.01)
	f(1000, 86, 1e-6, 1, "less than a day of traffic (1005 steps)")
	f(864, 100, 1e-6, 1)
}

// TestWarningOfFiltersOfBothSigns covers a filter of four poles at age weight 0, which is better for events and worse
// for users. The plan of a user must warn of it, and name the better setting.
func TestWarningOfFiltersOfBothSigns(t *testing.T) {
	report := func(separation uint64, poles int, weight float64) *Report {
		t.Helper()
		in := everySetting[0].input()
		c := &in.Configured
		c.Name, c.Scope, c.Batch, c.Budget.Delta = "blt", protection.Window{Steps: 64}, 1, 1e-9
		c.Poles, c.AgeWeight = poles, weight
		c.Unit = protection.Event{Exchange: dp.Replace}
		if separation > 0 {
			c.Unit = protection.User{Exchange: dp.Replace, Separation: separation}
		}
		r, err := New(in)
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	f := func(separation uint64, poles int, weight float64, want bool) {
		t.Helper()
		warnings := strings.Join(report(separation, poles, weight).Warnings, "\n")
		if got := strings.Contains(warnings, "leave ORIEL_POLES at 0"); got != want {
			t.Errorf("separation %d, %d poles, weight %g: warned %v", separation, poles, weight, got)
		}
	}
	f(4, 4, 0, true)
	f(0, 4, 0, false)
	f(4, 0, 0, false)
	f(4, 4, 0.3, false)
	both, positive := report(4, 4, 0).Mechanisms[0].RMSCoordinate, report(4, 0, 0).Mechanisms[0].RMSCoordinate
	if both <= positive {
		t.Errorf("noise %g of residues of both signs, %g of positive ones", both, positive)
	}
}
