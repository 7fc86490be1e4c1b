package mechanisms_test

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"oriel/mechanisms"
	"oriel/mechanisms/contribution"
	"oriel/mechanisms/dp"
	"oriel/mechanisms/mechtest"
	"oriel/mechanisms/noise"
	"oriel/mechanisms/protection"
)

// byName returns a configuration of names: of events, or of m names of a user in a period.
func byName(mechanism string, epsilon, delta float64, m uint64) mechanisms.Config {
	c := mechanisms.Config{
		Name: mechanism, Contribution: contribution.OfNames(256), Budget: dp.Budget{Epsilon: epsilon, Delta: delta},
		Terms: protection.Terms{Scope: protection.PerStep{}, Unit: protection.Event{Exchange: dp.AddRemove}},
	}
	if m > 0 {
		c.Unit = protection.UserPeriod{PeriodSteps: 24, Values: m}
	}
	return c
}

func openNames(t testing.TB, c mechanisms.Config, key byte) *mechanisms.Stream {
	t.Helper()
	s, err := mechanisms.Open(c, mechtest.Plan(t, c), [32]byte{key})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func place(offset int) noise.Identity {
	return noise.Identity{Topic: [16]byte{1}, Offset: int64(offset)}
}

// TestFiguresOfNames pins thresholds and deviations at ε = 1, δ = 10⁻⁶, and the count that is published in 99.5 % of
// the steps.
func TestFiguresOfNames(t *testing.T) {
	for _, f := range []struct {
		mechanism string
		m         uint64
		threshold int64
		deviation float64
		published int64
	}{
		{"once-laplace", 0, 15, 1.357, 19},
		{"once-laplace", 1, 15, 1.357, 19},
		{"once-laplace", 3, 41, 4.223, 55},
		{"once-gaussian", 1, 23, 4.375, 34},
		{"once-gaussian", 3, 41, 7.566, 60},
	} {
		c := byName(f.mechanism, 1, 1e-6, f.m)
		law := openNames(t, c, 1).Names()
		published := int64(1)
		for law.Reaches(published) < 0.995 {
			published++
		}
		if law.Threshold != f.threshold || math.Abs(law.Deviation-f.deviation) > 6e-4 || published != f.published {
			t.Errorf("%s, m = %d: threshold %d, deviation %.3f, published at %d, want %+v",
				f.mechanism, f.m, law.Threshold, law.Deviation, published, f)
		}
	}
}

// TestNamesProveTheirBudget recomputes ε, µ and δ from the calibration: they must be at most the budget's, and nearly
// reach it. A threshold that is smaller by one, or a smaller scale, proves less.
func TestNamesProveTheirBudget(t *testing.T) {
	for _, mechanism := range []string{"once-laplace", "once-gaussian"} {
		budgets := []dp.Budget{{Epsilon: 1, Delta: 1e-6}, {Epsilon: 0.1, Delta: 1e-9}, {Epsilon: 3.3, Delta: 1e-3}}
		for _, budget := range budgets {
			for _, m := range []uint64{0, 1, 2, 7} {
				c := byName(mechanism, budget.Epsilon, budget.Delta, m)
				p := mechtest.Plan(t, c)
				g, err := p.Guarantee(c)
				if err != nil {
					t.Fatal(err)
				}
				law, m := openNames(t, c, 1).Names(), max(1, float64(m))
				told, s, all := m*law.Leak, p.Scale.Float64(), g.Delta
				if mechanism == "once-gaussian" {
					all = 1 - (1-told)*(1-dp.GaussianDelta(budget.Epsilon, math.Sqrt(m)/s))
				}
				pure := g.Told == g.Delta && m/s <= budget.Epsilon && m/s >= budget.Epsilon*(1-1e-12)
				if math.Abs(g.Told-told) > 1e-12*told || g.Epsilon != budget.Epsilon || all > budget.Delta*(1+1e-9) ||
					g.Delta > budget.Delta || mechanism == "once-laplace" && !pure ||
					mechanism == "once-gaussian" && all < 0.6*budget.Delta {
					t.Errorf("%s, %+v, m = %g: %+v, in all %g", mechanism, budget, m, g, all)
				}
				for title, change := range map[string]func(*mechanisms.Calibration){
					"a threshold one less": func(p *mechanisms.Calibration) { p.Threshold-- },
					"a smaller scale":      func(p *mechanisms.Calibration) { p.Scale = noise.ScaleUp(math.Nextafter(s*0.999, 0)) },
				} {
					less := p
					change(&less)
					if _, err := less.Guarantee(c); mechanism == "once-laplace" && !errors.Is(err, mechanisms.ErrUnproved) {
						t.Errorf("%s, %+v, m = %g: %s: %v", mechanism, budget, m, title, err)
					}
				}
				b, err := p.AppendBinary(nil)
				if err != nil {
					t.Fatal(err)
				}
				if q, err := mechanisms.ParseCalibration(b); err != nil || q.Threshold != p.Threshold || q.Scale != p.Scale {
					t.Errorf("parsed %+v, %v", q, err)
				}
			}
		}
	}
}

// TestLossesOfNames checks the losses of several periods, of one event, and of groups of a guarantee with told events.
func TestLossesOfNames(t *testing.T) {
	for _, mechanism := range []string{"once-laplace", "once-gaussian"} {
		c := byName(mechanism, 1, 1e-6, 2)
		p := mechtest.Plan(t, c)
		g, _ := p.Guarantee(c)
		week, group, one := g.AtPeriods(7), g.Group(3), g.AtOneEvent()
		event, err := p.EventGuarantee(c)
		if err != nil {
			t.Fatal(err)
		}
		near := func(title string, got, want float64) {
			t.Helper()
			if !(math.Abs(got-want) <= 1e-6*want) {
				t.Errorf("%s: %s: %g, want %g", mechanism, title, got, want)
			}
		}
		near("δ of a week", week.Delta, g.Delta+6*g.Told)
		near("ε of three", group.Epsilon, 3)
		near("δ of three", group.Delta, g.Delta*(1+math.E+math.E*math.E))
		if mechanism == "once-laplace" {
			near("ε of a week", week.Epsilon, 7)
		} else {
			rest := (g.Delta - g.Told) / (1 - 7*g.Told)
			near("ε of a week", week.Epsilon, dp.GaussianEpsilon(math.Sqrt(7)*g.Mu, rest))
		}
		whole := 1.0 // removing an event admits another name, so that two of two names change
		if mechanism == "once-gaussian" {
			whole = dp.GaussianEpsilon(g.Mu, (g.Delta-g.Told)/(1-g.Told))
		}
		near("ε of one event", one.Epsilon, whole)
		near("δ of one event", one.Delta, g.Delta)
		near("ε of one event, by calibration", event.Epsilon, whole)
		near("told of one event", event.Told, g.Told)
		if at := g.At(1); at != (dp.Budget{Epsilon: 1, Delta: g.Delta}) {
			t.Errorf("%s: at age 1: %v", mechanism, at)
		}
	}
}

func TestNamesRefuse(t *testing.T) {
	for want, change := range map[string]func(*mechanisms.Config){
		"delta 0":               func(c *mechanisms.Config) { c.Budget.Delta = 0 },
		"once-gamma has no law": func(c *mechanisms.Config) { c.Name = "once-gamma" },
		"unit event, adjacency zero": func(c *mechanisms.Config) {
			c.Unit, c.Batch = protection.Event{Exchange: dp.ZeroOut}, 1
		},
		"unit user-period": func(c *mechanisms.Config) {
			c.Unit = protection.UserPeriod{PeriodSteps: 1, Events: 1}
		},
		"with one component": func(c *mechanisms.Config) {
			c.Contribution = contribution.OneComponent(2, 1)
			c.Contribution.Names = 1
		},
		"not in [1, 4096]":   func(c *mechanisms.Config) { c.Contribution.Names = 4097 },
		"an end below 2^-64": func(c *mechanisms.Config) { c.Budget.Delta = 1e-25 },
		"not 1 ≤ M ≤ 2^16":   func(c *mechanisms.Config) { c.Budget.Epsilon = 1e-5 },
	} {
		c := byName("once-laplace", 1, 1e-6, 0)
		change(&c)
		if _, err := mechanisms.Calibrate(c); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
	names, sums := byName("once-laplace", 1, 1e-6, 0), byName("once-laplace", 1, 1e-6, 0)
	sums.Contribution.Names = 0
	if _, err := mechtest.Plan(t, names).Guarantee(sums); err == nil {
		t.Error("a calibration of names proves sums")
	}
	if _, err := mechtest.Plan(t, sums).Guarantee(names); err == nil {
		t.Error("a calibration of sums proves names")
	}
	s := openNames(t, names, 1)
	for title, add := range map[string]func(){
		"an empty name": func() { s.AddName(place(0), []byte{}) },
		"a long name":   func() { s.AddName(place(0), make([]byte, 257)) },
		"numbers":       func() { s.Add(place(0), []float64{1}) },
	} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%s: no panic", title)
				}
			}()
			add()
		}()
	}
	s.AddName(place(0), []byte("of the open step"))
	s.Rekey([32]byte{2}) // forgets the open step, so that its counts are as many as its events
	s.Close()
}

// listed returns the published names of a step as text.
func listed(s *mechanisms.Stream) string {
	var b strings.Builder
	for _, l := range s.Listed() {
		fmt.Fprintf(&b, "%s=%d ", l.Name, l.Count)
	}
	return b.String()
}

// TestNamesRestoreInMidStep stops a stream after each event, and continues another one from the state and the parts.
// Each must list the same. A part that is missing, or taken twice, stops the stream.
func TestNamesRestoreInMidStep(t *testing.T) {
	c := byName("once-laplace", 2, 1e-3, 0)
	m, err := mechanisms.NewMechanism(c, mechtest.Plan(t, c))
	if err != nil {
		t.Fatal(err)
	}
	var want []string
	for cutAt := range 61 {
		s, parts := m.Open([32]byte{7}), [][]byte(nil)
		save := func() {
			if part, some := s.NamesPart(1 << 19); some {
				parts = append(parts, bytes.Clone(part))
			}
		}
		for i := range 60 {
			if i%20 == 7 {
				save()
			}
			if i%20 == 11 && cutAt%2 == 1 {
				s.NamesAgain()
				parts = nil
				save()
			}
			if i == cutAt {
				save()
				state := s.AppendState(nil)
				if len(state) != s.StateLen() {
					t.Fatalf("a state of %d bytes, want %d", len(state), s.StateLen())
				}
				s = m.Open([32]byte{8})
				s.AddName(place(999), []byte("of before the restore"))
				if err := s.Restore(state); err != nil {
					t.Fatal(err)
				}
				for _, part := range parts {
					if err := s.TakeNames(part); err != nil {
						t.Fatal(err)
					}
				}
				missing, twice := parts[:max(1, len(parts))-1], slices.Concat(parts, parts)
				for title, wrong := range map[string][][]byte{"missing": missing, "twice": twice} {
					if len(parts) == 0 {
						continue
					}
					other := m.Open([32]byte{9})
					if err := other.Restore(state); err != nil {
						t.Fatal(err)
					}
					for _, part := range wrong {
						if err := other.TakeNames(part); err != nil {
							t.Fatal(err)
						}
					}
					func() {
						defer func() {
							if recover() == nil {
								t.Errorf("cut at %d: a part %s: no panic", cutAt, title)
							}
						}()
						other.Close()
					}()
				}
			}
			name := []byte(fmt.Sprintf("n%d", i*i%7))
			if i%5 == 4 {
				name = nil
			}
			s.AddName(place(i), name)
			if i%20 == 19 {
				s.Close()
				parts = nil
				if cutAt == 0 {
					want = append(want, listed(s))
				} else if got := listed(s); got != want[i/20] {
					t.Fatalf("cut at %d: step %d lists %q, want %q", cutAt, i/20, got, want[i/20])
				}
			}
		}
	}
	if len(want[0]) < 4 || want[0] == want[1] {
		t.Errorf("the steps list %q", want)
	}
}

// TestNamesHaveFreshNoise runs steps of equal counts. The draws of a name must differ between names of a step, between
// steps, and between streams that differ in another name, even in one that is not published. A null event changes none.
func TestNamesHaveFreshNoise(t *testing.T) {
	c := byName("once-laplace", 0.1, 1e-6, 0)
	play := func(other []byte) [][]int64 {
		s, at := openNames(t, c, 3), 0
		var steps [][]int64
		for range 3 {
			for range 1000 {
				for name := range 8 {
					s.AddName(place(at), []byte{'a' + byte(name)})
					at++
				}
			}
			s.AddName(place(at), other)
			at++
			s.Close()
			var draws []int64
			for _, l := range s.Listed() {
				draws = append(draws, l.Count-1000)
			}
			if len(draws) != 8 {
				t.Fatalf("%d names listed", len(draws))
			}
			steps = append(steps, draws)
		}
		return steps
	}
	without, with, again := play(nil), play([]byte("z")), play(nil)
	if !slices.EqualFunc(without, again, slices.Equal) {
		t.Error("equal logs list unequal counts")
	}
	for i, draws := range without {
		if slices.Equal(draws, with[i]) {
			t.Errorf("step %d: another name leaves the noise of all others", i)
		}
		if least, most := slices.Min(draws), slices.Max(draws); least == most {
			t.Errorf("step %d: all names have the draw %d", i, least)
		}
		if i > 0 && slices.Equal(draws, without[i-1]) {
			t.Errorf("step %d repeats the noise of the step before", i)
		}
	}
}

// TestNamesDrawTheirCalibration checks the law of the draws that a stream adds, over many names.
func TestNamesDrawTheirCalibration(t *testing.T) {
	for _, mechanism := range []string{"once-laplace", "once-gaussian"} {
		c := byName(mechanism, 1, 1e-6, 2)
		s := openNames(t, c, 5)
		const names, count = 400, 200
		for i := range names * count {
			s.AddName(place(i), fmt.Appendf(nil, "%d", i%names))
		}
		s.Close()
		square, most := 0.0, int64(0)
		for _, l := range s.Listed() {
			square += float64((l.Count - count) * (l.Count - count))
			most = max(most, l.Count-count, count-l.Count)
		}
		deviation, law := math.Sqrt(square/names), s.Names()
		if len(s.Listed()) != names || math.Abs(deviation/law.Deviation-1) > 0.2 || most > law.Max {
			t.Errorf("%s: %d names, deviation %g, want %g; up to %d of %d", mechanism, len(s.Listed()), deviation,
				law.Deviation, most, law.Max)
		}
	}
}

func BenchmarkAddName(b *testing.B) {
	for _, distinct := range []int{100_000, 1_000_000} {
		b.Run(fmt.Sprintf("names=%d", distinct), func(b *testing.B) {
			s, names := openNames(b, byName("once-laplace", 1, 1e-6, 0), 1), make([][]byte, distinct)
			for i := range names {
				names[i] = fmt.Appendf(nil, "name %011d", i)
				s.AddName(place(i), names[i])
			}
			b.ReportAllocs()
			i := 0
			for b.Loop() {
				i++
				s.AddName(place(i), names[i*2654435761%distinct])
			}
		})
	}
}
