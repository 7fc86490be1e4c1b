package coco

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"oriel/mechanisms"
	"oriel/mechanisms/dp"
	"oriel/mechanisms/mechtest"
	"oriel/mechanisms/protection"
	"oriel/operators"
	"oriel/operators/coco/band"
	"oriel/operators/optest"
	"oriel/operators/setting"
	"oriel/schemas/event"
)

// banded returns a configuration with a band around numbers from −1 to 1, whose level and step are dyadic, and a
// mechanism for it. The mechanism has a memory or, if memory is 0, a window.
func banded(t testing.TB, memory, batch uint64) (Config, mechanisms.Config) {
	t.Helper()
	c := sample(t, "l2-ball", 2)
	c.Loss, c.FeaturesMax, c.StartRegularizer = mustLoss(t, "squared"), 1, 50
	c.Band = band.Settings{Level: 0.75, Labels: setting.Range{Low: -1, High: 1}, Weight: 1, Step: 1.0 / 256}
	m := mechanism(c, 64, batch)
	if memory > 0 {
		m = remembering(c, memory, batch)
	}
	return c, required(t, c, m)
}

// required returns the mechanism with the contribution of a new deployment.
func required(t testing.TB, c Config, m mechanisms.Config) mechanisms.Config {
	t.Helper()
	if err := (operator{Config: c}).Require(&m, nil); err != nil {
		t.Fatal(err)
	}
	return m
}

// setsOf returns the configuration of banded with sets of labels in place of a band.
func setsOf(t testing.TB, memory, batch uint64) (Config, mechanisms.Config) {
	t.Helper()
	c, m := banded(t, memory, batch)
	c.Loss, c.Band.Labels = mustLoss(t, "logistic"), setting.Range{}
	return c, required(t, c, m)
}

// TestSensitivityOfABandByEnumeration checks PROOF.md, claim 6, over all pairs of gradients on a coarse lattice and all
// misses. With w in units of the gradients' radius, the largest distance of gradient and marks together is √(Δ² + 2w²)
// for two columns, √(Δ² + w²) for one, and √(L² + w²) from the null event. The noise of the two components must equal
// noise of one size for the vector of gradient and w·marks.
func TestSensitivityOfABandByEnumeration(t *testing.T) {
	for _, columns := range []int{1, 2} {
		for _, exchange := range []dp.Adjacency{dp.Replace, dp.ZeroOut} {
			for _, weight := range []float64{0.01, 0.3, 1, 2.5} {
				c, m := banded(t, 0, 1)
				if columns == 1 {
					c, m = setsOf(t, 0, 1)
				}
				c.Band.Weight, c.FeaturesMax = weight, 1e9 // features so large that the clip bounds gradients
				m.Unit = protection.Event{Exchange: exchange}
				m = required(t, c, m)
				plan := mechtest.Plan(t, m)
				gradient, marks := plan.Component(0), plan.Component(band.Component)
				var contributions [][]float64 // gradient and w·marks, so that noise has one size in all coordinates
				w := weight * c.Clip
				for _, mark := range [][]float64{{0, 0}, {w, 0}, {0, w}}[:1+columns] {
					for x := -4.0; x <= 4; x++ {
						for y := -4.0; y <= 4; y++ {
							if x*x+y*y <= 16 {
								contributions = append(contributions, append([]float64{x / 4 * c.Clip, y / 4 * c.Clip}, mark...))
							}
						}
					}
				}
				most := 0.0
				for i, a := range contributions {
					for _, b := range contributions[:i] {
						if exchange == dp.ZeroOut {
							b = make([]float64, 4)
						}
						square := 0.0
						for k := range a {
							square += (a[k] - b[k]) * (a[k] - b[k])
						}
						most = max(most, math.Sqrt(square))
					}
				}
				distance := 2 * c.Clip
				if exchange == dp.ZeroOut {
					distance = c.Clip
				}
				sum := distance * distance
				switch {
				case exchange == dp.Replace && columns == 2:
					sum += 2 * w * w
				default:
					sum += w * w
				}
				if math.Abs(most-math.Sqrt(sum)) > 1e-12 {
					t.Errorf("%d columns, %v, w = %g: %g apart, claimed %g", columns, exchange, weight, most, math.Sqrt(sum))
				}
				// Noise has one size for (gradient, w·marks): the noise of marks is 1/w times the noise of gradients.
				sigma, per := gradient.Scale.Float64()*gradient.Grid.Unit(), marks.Scale.Float64()*marks.Grid.Unit()
				if ratio := per * w / sigma; math.Abs(ratio-1) > 0.002 {
					t.Errorf("%d columns, %v, w = %g: noise of marks is %g of what it is to be", columns, exchange, weight, ratio)
				}
				plain := m
				plain.Contribution = Params{}.contribution(c)
				alone := mechtest.Plan(t, plain)
				factor := sigma / (alone.Scale.Float64() * alone.Grid.Unit())
				want, stated := most/distance, c.Band.Columns(c.Loss, m.Unit).NoiseFactor()
				if math.Abs(factor/want-1) > 1e-3 || math.Abs(stated/want-1) > 1e-3 {
					t.Errorf("%d columns, %v, w = %g: noise is %g times as large, want %g", columns, exchange, weight, factor, want)
				}
			}
		}
	}
}

// TestConformanceWithABand runs the conformance suite on machines with a band: restarts, null events, causality, and
// decisions that depend only on releases.
func TestConformanceWithABand(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 31))
	for _, memory := range []uint64{0, 8} {
		for _, sets := range []bool{false, true} {
			c, m := banded(t, memory, 2)
			if sets {
				c, m = setsOf(t, memory, 2)
			}
			c.EmitEvery = 2
			events := make([]event.Event, 40)
			for i := range events {
				events[i] = event.Event{
					Vector: event.Vector{Values: direction(rng, 2, rng.Float64())}, Label: float64(1 - i%2*2), Weight: 1,
				}
			}
			t.Run(fmt.Sprintf("memory=%d/sets=%v", memory, sets), func(t *testing.T) {
				optest.Run(t, func(tb testing.TB, open optest.Open) operators.Machine {
					return newMachine(tb, c, m, open(m))
				}, events)
				optest.AllocatesNoMore(t, "band", newMachine(t, c, m, mechtest.Open(t, m, [32]byte{1})), m, events)
			})
		}
	}
}

// TestReferenceOfABandAgrees checks that machines add what the reference model adds. The reference model compares
// events with published bands, so a machine must not compare an event with the band of its own step.
func TestReferenceOfABandAgrees(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 32))
	for _, sets := range []bool{false, true} {
		c, m := banded(t, 64, 1)
		if sets {
			c, m = setsOf(t, 64, 1)
		}
		c.Band.Step = 0.02 // another η gives another band
		machine := newMachine(t, c, m, mechtest.Open(t, m, [32]byte{2}))
		stored, err := mustParams(t, c, m).AppendBinary(nil)
		if err != nil {
			t.Fatal(err)
		}
		model, err := operator{Config: c, terms: m.Terms}.ReferenceModel(stored)
		if err != nil {
			t.Fatal(err)
		}
		misses := 0
		var events []event.Event
		for range 600 {
			label := 2*rng.Float64() - 1
			if sets {
				label = math.Copysign(1, label)
			}
			events = append(events, event.Event{Vector: event.Vector{Values: direction(rng, 2, 1)}, Label: label, Weight: 1})
		}
		other := newMachine(t, c, m, mechtest.Open(t, m, [32]byte{2})) // this stream has the same noise
		countedOther := operators.ByCount(other)
		optest.ReferenceAgrees(t, "band", machine, func(r operators.Record) []float64 {
			countedOther.Add(nil, r)
			added := slices.Clone(other.Stream.Scratch())
			for _, x := range added[len(added)-c.marks():] {
				misses += int(x)
			}
			return added
		}, model, m.Contribution.Entries(), events)
		if misses < 60 || misses > 400 {
			t.Errorf("sets %v: %d misses", sets, misses)
		}
	}
}

// TestNewRefusesABandOfOtherParams checks that settings with a band are accepted only with params that have the band's
// columns.
func TestNewRefusesABandOfOtherParams(t *testing.T) {
	c, m := banded(t, 64, 1)
	params := mustParams(t, c, m)
	without, fewer := c, params
	without.Band, fewer.Band.Number = band.Settings{}, 1
	stream := func() *mechanisms.Stream { return mechtest.Open(t, m, [32]byte{1}) }
	for name, open := range map[string]func() (*Machine, error){
		"no band":          func() (*Machine, error) { return New(without, params, stream()) },
		"no columns":       func() (*Machine, error) { return New(c, Params{}, stream()) },
		"a column too few": func() (*Machine, error) { return New(c, fewer, stream()) },
		"of another stream": func() (*Machine, error) {
			return New(c, params, mechtest.Open(t, remembering(c, 64, 1), [32]byte{1}))
		},
	} {
		if _, err := open(); err == nil {
			t.Errorf("%s: opened", name)
		}
	}
}

// TestSettingsOfABand checks the settings of bands, and the errors for wrong ones.
func TestSettingsOfABand(t *testing.T) {
	m := mechanisms.Config{
		Name: "blt", Batch: 1, Budget: dp.Budget{Epsilon: 1, Delta: 1e-6},
		Terms: protection.Terms{Scope: protection.Decay{Steps: 64}, Unit: protection.Event{Exchange: dp.Replace}},
	}
	base := []string{"UPDATE=projection", "SET=l2-ball", "RADIUS=1", "DIMENSION=3", "STRONG_CONVEXITY=0.001", "CLIP=1"}
	numbers := []string{"LOSS=squared", "FEATURES_MAX=1", "BAND=0.9", "BAND_RANGE=-60:180"}
	for _, x := range []struct {
		lines []string
		want  string
	}{
		{numbers, ""},
		{[]string{"LOSS=logistic", "FEATURES_MAX=1", "BAND=0.9"}, ""},
		{[]string{"LOSS=squared", "BAND=0.9", "BAND_RANGE=-60:180"}, "ORIEL_BAND: needs ORIEL_FEATURES_MAX"},
		{append(slices.Clone(numbers), "BAND=0.3"), "ORIEL_BAND: 0.3: out of range (0, or 0.5 to 0.999)"},
		{append(slices.Clone(numbers), "BAND_RANGE=9:1"), "ORIEL_BAND_RANGE: "},
		{append(slices.Clone(numbers), "BAND_WEIGHT=20"), "ORIEL_BAND_WEIGHT: 20: out of range"},
		{append(slices.Clone(numbers), "BAND_STEP=0"), "ORIEL_BAND_STEP: 0: out of range"},
		{append(slices.Clone(numbers), "LOSS=hinge"), "ORIEL_LOSS=hinge predicts no label"},
		{append(slices.Clone(numbers), "LOSS=logistic"), "ORIEL_BAND_RANGE: "},
		{append(slices.Clone(numbers), "BAND=0"), "there is no band"},
		{[]string{"LOSS=squared", "BAND_STEP=0.1"}, "ORIEL_BAND_STEP: set, but ORIEL_BAND is not"},
	} {
		o, err := optest.Configure(Definition, m, append(slices.Clone(base), x.lines...)...)
		if (x.want == "") != (err == nil) || err != nil && !strings.Contains(err.Error(), x.want) {
			t.Errorf("%v: %v, want %q", x.lines, err, x.want)
		}
		if err != nil {
			continue
		}
		names := ""
		for _, e := range o.Extras() {
			names += " " + e.Name
		}
		if !strings.HasSuffix(names, " band_low band_high band_level band_error_most") {
			t.Errorf("%v: members%s", x.lines, names)
		}
	}
	m.Name = "tree-gamma"
	m.Scope = protection.Window{Steps: 8}
	if _, err := optest.Configure(Definition, m, append(base, numbers...)...); err == nil ||
		!strings.Contains(err.Error(), "ORIEL_BAND: ORIEL_MECHANISM=tree-gamma") {
		t.Errorf("noise that is not Gaussian: %v", err)
	}
}

// bandedOrNot returns a learner of 32 coordinates with lifetime privacy, and its mechanism. If level is 0 the learner
// has no band.
func bandedOrNot(t testing.TB, name string, level float64) (Config, mechanisms.Config) {
	t.Helper()
	c := sample(t, "l2-ball", 32)
	c.Loss, c.FeaturesMax, c.StartRegularizer = mustLoss(t, name), 1, 50
	if level > 0 {
		c.Band = band.Settings{Level: level, Weight: 0.3, Step: 0.002}
		if name != "logistic" {
			c.Band.Labels = setting.Range{Low: -2, High: 2}
		}
	}
	return c, required(t, c, remembering(c, 65_536, 1))
}

func TestAddWithABandDoesNotAllocate(t *testing.T) {
	for _, name := range []string{"squared", "logistic"} {
		c, m := bandedOrNot(t, name, 0.9)
		machine := open(t, c, m, 1)
		counted := operators.ByCount(machine)
		e := event.Event{Vector: event.Vector{Values: direction(rand.New(rand.NewPCG(1, 1)), 32, 1)}, Label: 1, Weight: 1}
		dst, i := make([]operators.Decision, 0, 1), 0
		if n := testing.AllocsPerRun(512, func() { dst = counted.Add(dst[:0], record(i, e)); i++ }); n != 0 {
			t.Errorf("%s: %g allocations, want 0", name, n)
		}
	}
}
