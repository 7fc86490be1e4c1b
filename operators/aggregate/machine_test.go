package aggregate

import (
	"math"
	"slices"
	"strings"
	"testing"

	"oriel/mechanisms"
	"oriel/mechanisms/decay"
	"oriel/mechanisms/mechtest"
	"oriel/mechanisms/mechtest/tiertest"
	"oriel/mechanisms/protection"
	"oriel/operators"
	"oriel/operators/description"
	"oriel/operators/optest"
	"oriel/schemas/event"
)

// quiet returns a machine without noise.
func quiet(t *testing.T, c operator, m mechanisms.Config) *Machine {
	t.Helper()
	machine, err := newMachine(c, mechtest.ZeroStream(t, m))
	if err != nil {
		t.Fatal(err)
	}
	return machine
}

// plain is a reference model. It computes decisions directly from events, with the weight γ^{t−s} for step s at step t,
// and without a lattice.
type plain struct {
	spec  *specification
	gamma float64
	cells [][4]float64 // Σw, Σwv and Σwv² of clamped values v, by cell
}

func (p *plain) step() {
	for i := range p.cells {
		for k := range p.cells[i] {
			p.cells[i][k] *= p.gamma
		}
	}
}

func (p *plain) add(e event.Event) {
	cell := 0
	for i, d := range p.spec.dimensions {
		place := -1
		for j := range d.Size() {
			if d.Choices != nil && e.Numbers[i] == float64(j) || d.Choices == nil && e.Numbers[i] >= d.Edge(j) &&
				e.Numbers[i] < d.Edge(j+1) {
				place = j
			}
		}
		if place < 0 || cell < 0 {
			cell = -1
			continue
		}
		cell = cell*d.Size() + place
	}
	if cell < 0 {
		if !p.spec.other {
			return
		}
		cell = len(p.cells) - 1
	}
	w, v := 1.0, 0.0
	if p.spec.weightMax > 0 {
		w = min(e.Weight, p.spec.weightMax)
	}
	if p.spec.value != "" {
		v = max(p.spec.low, min(p.spec.high, e.Numbers[len(e.Numbers)-1]))
	}
	for k, x := range []float64{1, v, v * v} {
		p.cells[cell][k] += w * x
	}
}

// TestNumbersAreThoseOfTheEvents checks every number of every decision without noise against the definition, at every
// memory, batch size and publishing interval, in all modes.
func TestNumbersAreThoseOfTheEvents(t *testing.T) {
	batches := []uint64{1, 4}
	for i, kind := range kinds {
		for _, batch := range tiertest.Runs(batches[i%2:i%2+1], batches) {
			c, m := config(t, kind.m(batch), kind.lines...)
			machine := quiet(t, c, m)
			counted := operators.ByCount(machine)
			plains := make([]*plain, len(c.memories))
			for i, memory := range c.memories {
				gamma := 1.0
				if memory > 0 {
					gamma = float64(decay.Decay(memory)) / (1 << 30)
				}
				if c.perStep {
					gamma = 0
				}
				plains[i] = &plain{spec: &c.spec, gamma: gamma, cells: make([][4]float64, c.spec.cells())}
			}
			decided := 0
			for i, e := range drawn(&c.spec, 600, 9) {
				if i%int(batch) == 0 {
					for _, p := range plains {
						p.step()
					}
				}
				for _, p := range plains {
					p.add(e)
				}
				made := counted.Add(nil, operators.Record{Event: e})
				for _, d := range made {
					decided++
					compare(t, kind.name, c, plains, d)
				}
			}
			if want := 600 / int(batch*c.every); decided != want {
				t.Errorf("%s: %d decisions, want %d", kind.name, decided, want)
			}
		}
	}
}

func compare(t *testing.T, name string, c operator, plains []*plain, d operators.Decision) {
	t.Helper()
	at := 0
	half := (c.spec.high - c.spec.low) / 2
	for view, p := range plains {
		least := 12 * d.Extras[0].Numbers[view]
		for _, statistic := range c.spec.statistics {
			for cell, x := range p.cells {
				n, mu := x[0], x[1]/x[0]
				want := n
				switch statistic {
				case sum:
					want = x[1]
				case "p10", "p50", "p90", "p99.9": // TestQuantilesAreThoseOfTheEvents checks these
					want = d.Point[at]
				case mean, variance:
					i := view*len(p.cells) + cell
					low, high := extra(t, c, d, statistic+"_low")[i], extra(t, c, d, statistic+"_high")[i]
					want = (low + high) / 2
					switch {
					case n > least && statistic == mean:
						want = mu
					case n > least:
						want = x[2]/n - mu*mu
					}
				}
				if got := d.Point[at]; math.Abs(got-want) > 1e-3*(1+half*half/60) {
					t.Fatalf("%s: step %d, view %d, %s of cell %d is %g, want %g", name, d.Step, view, statistic, cell, got, want)
				}
				at++
			}
		}
	}
	if at != len(d.Point) {
		t.Fatalf("%s: %d numbers, want %d", name, len(d.Point), at)
	}
}

// TestDeviationsAreThoseOfTheNoise checks that the noise of every count and sum has the published standard deviation,
// at every view and in every mode, over 900 runs. The sample variance of 900 normal deviates differs from 1 by more
// than 6.11·√(2/900) = 0.289 once in 10⁹ for each number.
func TestDeviationsAreThoseOfTheNoise(t *testing.T) {
	const runs, records = 900, 96
	for _, kind := range []struct {
		m     mechanisms.Config
		lines []string
	}{
		{life(8, 2), []string{"STATISTICS=count,sum*2", "VALUE=delay=-60:180", "CELLS=carrier=UA|AA", "MEMORIES=3,8,100"}},
		{total(2), []string{"STATISTICS=sum,count", "VALUE=delay=-60:180", "CELLS=carrier=UA|AA"}},
		{tumbling(8), []string{"STATISTICS=count,sum*0.5", "VALUE=delay=0:1", "CELLS=carrier=UA|AA"}},
	} {
		c, m := config(t, kind.m, kind.lines...)
		plan := mechtest.Plan(t, m)
		opened, err := mechanisms.NewMechanism(m, plan)
		if err != nil {
			t.Fatal(err)
		}
		var squared [][]float64
		var last operators.Decision
		for run := range runs {
			machine, err := newMachine(c, opened.Open([32]byte{byte(run), byte(run >> 8), 5}))
			if err != nil {
				t.Fatal(err)
			}
			counted := operators.ByCount(machine)
			step := 0
			for range records {
				for _, d := range counted.Add(nil, operators.Record{Null: true}) {
					if run == 0 {
						squared = append(squared, make([]float64, len(d.Point)))
					}
					for i, x := range d.Point {
						squared[step][i] += x * x / runs
					}
					step, last = step+1, d
				}
			}
		}
		// These are the deviations of the last step. TestSpreads compares the earlier ones with the exact deviations.
		for view := range c.memories {
			for k, statistic := range c.spec.statistics {
				sd := last.Extras[0].Numbers[view]
				if statistic == sum {
					sd = last.Extras[1].Numbers[view]
				}
				for cell := range c.spec.cells() {
					got := squared[len(squared)-1][view*c.spec.numbers()+k*c.spec.cells()+cell]
					if math.Abs(got/(sd*sd)-1) > 0.289 {
						t.Errorf("%v: view %d, %s of cell %d: deviation %g, said %g", kind.lines, view, statistic, cell, math.Sqrt(got),
							sd)
					}
				}
			}
		}
	}
}

// TestParamsAreOfTheSpecification checks that params of another specification are refused.
func TestParamsAreOfTheSpecification(t *testing.T) {
	one, m := config(t, life(8, 1), "CELLS=carrier=UA|AA")
	other, _ := config(t, life(8, 1), "CELLS=carrier=UA|DL")
	params, err := other.Params(m)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := one.Open(params, mechtest.ZeroStream(t, m)); err == nil {
		t.Error("Open takes the params of other cells")
	}
	if err := one.Require(&m, params); err == nil {
		t.Error("Mechanism takes the params of other cells")
	}
	if _, err := one.ReferenceModel(nil); err == nil {
		t.Error("Twin takes empty params")
	}
}

// TestOtherTermsAreRefused checks that a stream with another contribution is refused, regardless of the sums that the
// stream keeps.
func TestOtherTermsAreRefused(t *testing.T) {
	for _, x := range []struct {
		kind    mechanisms.Config
		another protection.Scope
	}{
		{life(8, 1), protection.Decay{Steps: 16}},
		{life(8, 1), protection.Window{Steps: 8}},
		{total(1), protection.Window{Steps: 128}},
	} {
		c, m := config(t, x.kind, "CELLS=carrier=UA|AA")
		optest.RunTerms(t, m, x.another, func(stream *mechanisms.Stream) error {
			_, err := newMachine(c, stream)
			return err
		})
	}
}

// TestViewsAreThoseOfTheMechanism checks that descriptions of the numbers name the right views: the views of the
// settings or, when mechanisms are compared, the views of another mechanism.
func TestViewsAreThoseOfTheMechanism(t *testing.T) {
	two, _ := config(t, life(8, 1), "CELLS=carrier=UA|AA", "MEMORIES=4,8")
	one, _ := config(t, total(1), "CELLS=carrier=UA|AA")
	for _, x := range []struct {
		c    operator
		m    mechanisms.Config
		want []description.View
	}{
		{two, life(8, 1), []description.View{{Name: "memory 4", Memory: 4}, {Name: "memory 8", Memory: 8}}},
		{two, total(1), []description.View{{Name: "total since the start"}}},
		{two, tumbling(1), []description.View{{Name: "each step alone"}}},
		{one, life(16, 1), []description.View{{Name: "memory 16", Memory: 16}}},
		{one, total(1), []description.View{{Name: "total since the start"}}},
	} {
		if got := x.c.Describe(x.m).Precision.Views; !slices.Equal(got, x.want) {
			t.Errorf("%v of settings under %v: %+v, want %+v", x.m.Terms, x.c.terms, got, x.want)
		}
	}
}

// TestAbsorbedNumbers checks that the noise chain absorbs only places and values if there are more than two cells, and
// that params of another version are refused.
func TestAbsorbedNumbers(t *testing.T) {
	c, m := config(t, life(8, 1), "CELLS=carrier=UA|AA|DL", "VALUE=delay=-60:180", "STATISTICS=mean")
	params, err := c.Params(m)
	if err != nil {
		t.Fatal(err)
	}
	f := func(params []byte, want int) {
		t.Helper()
		if err := c.Require(&m, params); err != nil || m.Contribution.Nonzero != want {
			t.Errorf("%d, want %d: %v", m.Contribution.Nonzero, want, err)
		}
	}
	f(nil, 2)
	f(params, 2)
	params[0]++
	if err := c.Require(&m, params); err == nil {
		t.Error("params of another kind are taken")
	}
	two, m := config(t, life(8, 1), "CELLS=carrier=UA|AA")
	if err := two.Require(&m, nil); err != nil || m.Contribution.Nonzero != 0 {
		t.Errorf("places and values of two cells: %d integers for two, %v", m.Contribution.Absorbed(), err)
	}
}

// TestRefusals checks that impossible settings are refused with advice.
func TestRefusals(t *testing.T) {
	f := func(m mechanisms.Config, want string, lines ...string) {
		t.Helper()
		if _, err := optest.Configure(Definition, m, lines...); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v: %v, want %q", lines, err, want)
		}
	}
	f(life(8, 1), "ORIEL_CELLS: not set, and neither is ORIEL_VALUE")
	f(life(8, 1), "100000 coordinates are drawn at each step, above 4096 an event; take ORIEL_BATCH=25 or more", "CELLS=user=0:100000:100000")
	f(life(8, 1), "mean: needs ORIEL_VALUE", "CELLS=a=x|y", "STATISTICS=mean")
	f(life(8, 1), "count: given twice", "CELLS=a=x|y", "STATISTICS=count,count*2")
	f(life(8, 1), "sum and mean have one weight", "VALUE=v=0:1", "STATISTICS=sum*2,mean*3")
	f(life(8, 1), `ORIEL_CELLS: entry 2: "b": not column=text`, "CELLS=a=x|y,b")
	f(life(8, 1), "a: given twice, or the name of weights", "CELLS=a=x|y,a=0:1:2")
	f(life(8, 1), "a: among ORIEL_CELLS too", "CELLS=a=x|y", "VALUE=a=0:1", "STATISTICS=sum")
	f(life(8, 1), "not column=low:high", "VALUE=v=1:0", "STATISTICS=sum")
	f(life(8, 1), "set, but ORIEL_STATISTICS has count alone", "VALUE=v=0:1")
	f(life(8, 1), "p50: needs ORIEL_VALUE", "CELLS=a=x|y", "STATISTICS=p50")
	f(life(8, 1), "p50: given twice", "VALUE=v=0:1", "STATISTICS=p50,p50.0*2")
	f(life(8, 1), "so have all quantiles", "VALUE=v=0:1", "STATISTICS=p50*2,p90*3")
	f(life(8, 1), `ORIEL_STATISTICS: entry 1: "p100": not count`, "VALUE=v=0:1", "STATISTICS=p100")
	f(life(8, 1), "ORIEL_BINS: set, but ORIEL_STATISTICS has no quantile", "VALUE=v=0:1", "STATISTICS=mean", "BINS=10")
	f(life(8, 1), "ORIEL_BINS: 1025: out of range (2 to 1024)", "VALUE=v=0:1", "STATISTICS=p50", "BINS=1025")
	f(life(8, 1), "take a decision each 3 events or more", "CELLS=a=0:1:160", "VALUE=v=0:1", "STATISTICS=p50")
	f(life(8, 1), "\"b\": not a column of ORIEL_CELLS", "CELLS=a=x|y", "VALUE=v=0:1", "STATISTICS=mean", "ARMS=b")
	f(life(8, 1), "a: has one place alone", "CELLS=a=x", "VALUE=v=0:1", "STATISTICS=mean", "ARMS=a")
	f(life(8, 1), "a: nothing of ORIEL_STATISTICS is compared", "CELLS=a=x|y", "VALUE=v=0:1", "STATISTICS=p50", "ARMS=a")
	f(life(8, 1), "a: nothing of ORIEL_STATISTICS is compared", "CELLS=a=x|y", "ARMS=a")
	f(life(8, 1), "4: given twice", "CELLS=a=x|y", "MEMORIES=4,4")
	f(life(8, 1), "above 1048576", "CELLS=a=0:1:2000,b=0:1:2000")
	f(total(1), "sums decay with ORIEL_WINDOW=lifetime", "CELLS=a=x|y", "MEMORIES=4")
	f(total(1), "sums decay with ORIEL_WINDOW=lifetime", "CELLS=a=x|y", "INCREMENTS=true")
	f(tumbling(10), "ORIEL_BATCH=30 makes one", "CELLS=a=x|y", "EMIT_EVERY=3")
	tree := total(1)
	tree.Name = "tree-gaussian"
	f(tree, "standard errors are known of blt, once-gaussian and once-laplace", "CELLS=a=x|y")
}

// TestStepsDoNotAllocate checks that no step allocates.
func TestStepsDoNotAllocate(t *testing.T) {
	for _, kind := range kinds {
		c, m := config(t, kind.m(2), kind.lines...)
		machine, err := newMachine(c, mechtest.Open(t, m, [32]byte{3}))
		if err != nil {
			t.Fatal(err)
		}
		counted := operators.ByCount(machine)
		events, i := drawn(&c.spec, 64, 2), 0
		dst := make([]operators.Decision, 0, 4)
		if n := testing.AllocsPerRun(100, func() {
			dst = counted.Add(dst[:0], operators.Record{Event: events[i%64]})
			i++
		}); n != 0 {
			t.Errorf("%s: %g allocations an event", kind.name, n)
		}
	}
}
