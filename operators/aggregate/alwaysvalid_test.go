package aggregate

import (
	"math"
	"slices"
	"strings"
	"testing"

	"oriel/mechanisms"
	"oriel/mechanisms/dp"
	"oriel/mechanisms/mechtest"
	"oriel/mechanisms/mechtest/goldentest"
	"oriel/mechanisms/mechtest/tiertest"
	"oriel/mechanisms/protection"
	"oriel/operators"
	"oriel/operators/optest"
	"oriel/operators/setting"
	"oriel/schemas/decision"
	"oriel/schemas/event"
)

// ending returns a mechanism for a stream of the given number of steps.
func ending(steps, batch uint64) mechanisms.Config {
	return under("blt", protection.Lifetime{Steps: steps, Within: steps}, dp.Replace, batch)
}

// experimental returns settings of an experiment with two arms; changed replaces some of their values.
func experimental(changed ...string) []string {
	lines := []string{
		"CELLS=variant=A|B", "VALUE=converted=0:1", "STATISTICS=count,mean", "ARMS=variant", "PROPENSITIES=0.5|0.5",
		"ALWAYS_VALID=0.05", "NEAR=0.1", "TARGET=5000", "UNITS=single", "LIFT=true",
	}
	for _, line := range changed {
		name, _, _ := strings.Cut(line, "=")
		lines = slices.DeleteFunc(lines, func(s string) bool { return strings.HasPrefix(s, name+"=") })
		lines = append(lines, line)
	}
	return lines
}

// membersOf returns the members of a decision by name.
func membersOf(c operator, d operators.Decision) map[string]decision.ExtraValue {
	all := map[string]decision.ExtraValue{}
	for i, x := range c.Extras() {
		all[x.Name] = d.Extras[i]
	}
	return all
}

// converted returns the i-th event. Arms alternate, and the conversion rate of arm B is 1.5 times arm A's.
func converted(i int) event.Event {
	arm, y := float64(i%2), 0.0
	if i%20 < 2 || i%40 == 3 {
		y = 1
	}
	return event.Event{Numbers: []float64{arm, y}}
}

// TestExperimentsAreThoseOfTheEvents checks that without noise the effect, the lift and the means equal the ones
// computed directly from the events since the experiment's first step. It reads totals in one case and increments in
// another.
func TestExperimentsAreThoseOfTheEvents(t *testing.T) {
	for name, m := range map[string]mechanisms.Config{"horizon": ending(100, 100), "life": life(64, 100)} {
		for _, start := range []int{1, 4} {
			c, m := config(t, m, experimental("EXPERIMENT_STEP="+setting.Decimal(float64(start)))...)
			machine := quiet(t, c, m)
			counted := operators.ByCount(machine)
			var last operators.Decision
			for i := range 6000 {
				e := converted(i)
				if i < 100*(start-1) {
					e.Numbers[1] = 1 // this event is from before the experiment
				}
				for _, d := range counted.Add(nil, operators.Record{Event: e}) {
					last = d
				}
			}
			all := membersOf(c, last)
			near := func(member string, want float64) {
				t.Helper()
				if got := all[member].Numbers[0]; math.Abs(got-want) > 0.01*math.Abs(want) {
					t.Errorf("%s from %d: %s is %g, want %g", name, start, member, got, want)
				}
			}
			near("effect", 0.05)
			near("lift", 1.5)
			near("arm_mean", 0.1)
			if all["looks"].Number != float64(60-start+1) || all["stop_allowed"].Number != 1 ||
				all["verdict"].Text != "B better" {
				t.Errorf("%s from %d: %v", name, start, all)
			}
			low, high := all["effect_low"].Numbers[0], all["effect_high"].Numbers[0]
			if low <= 0 || low >= 0.05 || high <= 0.05 {
				t.Errorf("%s from %d: from %g to %g", name, start, low, high)
			}
		}
	}
}

// TestGoldenExperiments checks that the bytes of an experiment's members never change, and that a restored machine
// continues with the same bytes.
func TestGoldenExperiments(t *testing.T) {
	for _, kind := range []struct {
		name  string
		m     mechanisms.Config
		steps string
		want  string
	}{
		{"totals in turn", ending(100, 50), "4,31", "919217b914dadb07ce1dbe1a08537e94"},
		{"life in turn", life(64, 50), "4,31", "b7c7018325723996c8ae9b150488dc26"},
	} {
		c, m := config(t, kind.m, experimental("EXPERIMENT_STEP="+kind.steps)...)
		counted, digest := operators.ByCount(quiet(t, c, m)), goldentest.NewDigest()
		for i := range 3000 {
			if i%777 == 5 {
				next := operators.ByCount(quiet(t, c, m))
				if err := next.Restore(counted.AppendState(nil)); err != nil {
					t.Fatal(err)
				}
				counted = next
			}
			for _, d := range counted.Add(nil, operators.Record{Event: converted(i)}) {
				for k, x := range c.Extras() {
					if x.Kind == decision.ExtraNumber {
						digest.Numbers(d.Extras[k].Number)
					}
					digest.Numbers(d.Extras[k].Numbers...)
				}
			}
		}
		if got := digest.String(); got != kind.want {
			t.Errorf("%s: %s, stored %s", kind.name, got, kind.want)
		}
	}
}

// TestNoiseOfEffects checks that the confidence sequence accounts for the noise that the mechanism draws. Over many
// streams without events, the effect must have the standard deviation that its information implies, at every look and
// with the shipped filters.
func TestNoiseOfEffects(t *testing.T) {
	for name, m := range map[string]mechanisms.Config{"horizon": ending(30, 50), "life": life(64, 50)} {
		c, m := config(t, m, experimental()...)
		plan := mechtest.Plan(t, m)
		lives := tiertest.Runs(60, 3000)
		outside, squares := 0, 0.0
		opened, err := mechanisms.NewMechanism(m, plan)
		if err != nil {
			t.Fatal(err)
		}
		for k := range lives {
			machine, err := newMachine(c, opened.Open([32]byte{byte(k), byte(k >> 8), 9}))
			if err != nil {
				t.Fatal(err)
			}
			counted := operators.ByCount(machine)
			var all map[string]decision.ExtraValue
			for range 1500 {
				for _, d := range counted.Add(nil, operators.Record{Null: true}) {
					all = membersOf(c, d)
				}
			}
			low, high, e := all["effect_low"].Numbers[0], all["effect_high"].Numbers[0], all["effect"].Numbers[0]
			if low > 0 || high < 0 {
				outside++
			}
			squares += e * e / ((high - low) * (high - low) / 4)
		}
		// At its target a confidence sequence is about 3 deviations of an estimate wide. Without sampling error, as
		// here, the deviation is smaller.
		if mean := squares / float64(lives); outside > lives/20 || mean > 0.2 || mean < 0.01 {
			t.Errorf("%s: %d of %d outside; squares over those of half widths %g", name, outside, lives, mean)
		}
	}
}

// TestExperimentsThatAreRefused checks that each wrong setting of an experiment is refused with its name and rule.
func TestExperimentsThatAreRefused(t *testing.T) {
	f := func(m mechanisms.Config, want string, lines ...string) {
		t.Helper()
		_, err := optest.Configure(Definition, m, experimental(lines...)...)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v: %v, want %q", lines, err, want)
		}
	}
	m := ending(100, 100)
	f(m, "ALWAYS_VALID", "ALWAYS_VALID=0.7")
	f(m, "there is no experiment", "ALWAYS_VALID=0")
	f(m, "sum to 0.9", "PROPENSITIES=0.5|0.4")
	f(m, "3 probabilities for 2 arms", "PROPENSITIES=0.5|0.3|0.2")
	f(m, "one number from 0.001 to 0.999", "PROPENSITIES=half|half")
	f(m, "PROPENSITIES: not set: an experiment draws its arms", "PROPENSITIES=")
	f(m, "not inside of", "NEAR=1")
	f(m, "TARGET", "TARGET=10")
	f(m, "EXPERIMENT_STEP", "EXPERIMENT_STEP=0")
	f(m, "ascending", "EXPERIMENT_STEP=9,9")
	f(m, "ascending", "EXPERIMENT_STEP=01")
	f(m, "several events of one unit", "UNITS=unknown")
	f(m, "outcomes that start at 0", "VALUE=converted=-1:1", "NEAR=0.1")
	f(m, "counts each event once", "WEIGHT_MAX=2")
	f(m, "needs mean", "STATISTICS=count", "VALUE=", "CELLS=variant=A|B,x=a|b")
	f(tumbling(100), "wants blt")
}

// TestExperimentsWantFiltersThatFall checks that no experiment opens, or is planned, with a filter under which the
// effect would give some steps a negative weight.
func TestExperimentsWantFiltersThatFall(t *testing.T) {
	m := ending(30, 50)
	m.Poles = 4
	c, m := config(t, m, experimental()...)
	opened, err := mechanisms.NewMechanism(m, mechtest.Plan(t, m))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := newMachine(c, opened.Open([32]byte{1})); err == nil || !strings.Contains(err.Error(), "ORIEL_POLES") {
		t.Errorf("opened: %v", err)
	}
	law, err := opened.NoiseLaw(0)
	if err != nil {
		t.Fatal(err)
	}
	aim := operators.Aim{Effect: 0.01, Probability: 0.8}
	if _, err := c.Power(law, m.Batch, aim); err == nil || !strings.Contains(err.Error(), "ORIEL_POLES") {
		t.Errorf("planned: %v", err)
	}
}
