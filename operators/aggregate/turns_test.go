package aggregate

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"oriel/mechanisms"
	"oriel/mechanisms/mechtest"
	"oriel/operators"
	"oriel/operators/aggregate/trial"
	"oriel/schemas/event"
)

// noisy opens a machine by params, over a stream whose noise is determined by its key.
func noisy(t *testing.T, c operator, m mechanisms.Config, params []byte) operators.Machine {
	t.Helper()
	opened, err := mechanisms.NewMechanism(m, mechtest.Plan(t, m))
	if err != nil {
		t.Fatal(err)
	}
	machine, err := c.Open(params, opened.Open([32]byte{3}))
	if err != nil {
		t.Fatal(err)
	}
	return machine
}

// announced returns the number of steps before the announcement of an experiment that a test appends.
func announced(step uint64) uint64 { return step * 3 / 4 }

// paramsOf returns the params of a new deployment with lines appended.
func paramsOf(t *testing.T, c operator, m mechanisms.Config, steps ...uint64) []byte {
	t.Helper()
	frozen, err := c.Params(m)
	if err != nil {
		t.Fatal(err)
	}
	for _, step := range steps {
		line, err := c.Next(frozen, step, announced(step))
		if err != nil {
			t.Fatal(err)
		}
		frozen = append(frozen, line...)
	}
	return frozen
}

// since returns the operator with experiments announced after the given numbers of steps.
func (c operator) since(announced ...uint64) operator {
	test := *c.test
	test.Announced = announced
	c.test = &test
	return c
}

// TestExperimentsTakeTurns checks that several experiments in one stream give the same bits as streams that have one
// experiment each, with the same first step and the same announcement. It covers experiments that the settings list
// and experiments that were appended to the params while the stream ran. Machines are restored at random steps, also
// when an experiment starts.
func TestExperimentsTakeTurns(t *testing.T) {
	const batch, steps = 50, 150
	firsts := []uint64{4, 33, 90}
	for name, m := range map[string]mechanisms.Config{"totals": ending(steps, batch), "life": life(8, batch)} {
		c, m := config(t, m, experimental("EXPERIMENT_STEP=4")...)
		listed, _ := config(t, m, experimental("EXPERIMENT_STEP=4,33,90")...)
		listed = listed.since(0, announced(33), announced(90))
		rng := rand.New(rand.NewPCG(5, 5))
		known := 1 // number of experiments in the params
		inTurn, all := operators.ByCount(
			noisy(t, c, m, paramsOf(t, c, m)),
		), operators.ByCount(
			noisy(t, listed, m, paramsOf(t, listed, m)),
		)
		var alone []*operators.Counted
		for i, first := range firsts {
			c, _ := config(t, m, experimental("EXPERIMENT_STEP="+fmt.Sprint(first))...)
			c = c.since(listed.test.Announced[i])
			alone = append(alone, operators.ByCount(noisy(t, c, m, paramsOf(t, c, m))))
		}
		for i := range batch * steps {
			if step := inTurn.Steps(); rng.IntN(400) == 0 || known < len(firsts) && step+2 == firsts[known] {
				if known < len(firsts) && step+1 < firsts[known] { // before the next experiment's first event
					known++
				}
				next := operators.ByCount(noisy(t, c, m, paramsOf(t, c, m, firsts[1:known]...)))
				if err := next.Restore(inTurn.AppendState(nil)); err != nil {
					t.Fatal(err)
				}
				inTurn = next
			}
			r := operators.Record{Event: converted(i)}
			got, same := inTurn.Add(nil, r), all.Add(nil, r)
			for k, machine := range alone {
				want := machine.Add(nil, r)
				if len(want) == 0 {
					continue
				}
				step, turn := want[0].Step, 0
				for turn+1 < len(firsts) && step >= firsts[turn+1] {
					turn++
				}
				if fmt.Sprint(got[0]) != fmt.Sprint(same[0]) {
					t.Fatalf("%s, step %d: appended %v, listed %v", name, step, got[0], same[0])
				}
				if k != turn {
					continue
				}
				ours, theirs := membersOf(c, got[0]), membersOf(c, want[0])
				if ours["experiment"].Number != float64(turn+1) || ours["experiment_step"].Number != float64(firsts[turn]) {
					t.Fatalf("%s, step %d: experiment %v from step %v", name, step, ours["experiment"], ours["experiment_step"])
				}
				delete(ours, "experiment")
				delete(theirs, "experiment")
				if fmt.Sprint(ours) != fmt.Sprint(theirs) {
					t.Fatalf("%s, step %d, experiment %d: %v\nalone: %v", name, step, turn+1, ours, theirs)
				}
			}
		}
	}
}

// TestAChosenStartWidensBands checks that the band of an experiment that was appended to params is as many times as
// wide as that of a listed one as Wider says, and that it is wider the later it was announced. Wider is computed for a
// rate of ORIEL_NEAR, and the rate of these events is another one.
func TestAChosenStartWidensBands(t *testing.T) {
	const first, looks, batch = 400, 100, 100
	m := life(1024, batch)
	widths := func(c operator, frozen []byte) (width float64) {
		machine := noisy(t, c, m, frozen)
		counted := operators.ByCount(machine)
		for i := range (first - 1 + looks) * batch {
			for _, d := range counted.Add(nil, operators.Record{Event: converted(i)}) {
				all := membersOf(c, d)
				width = all["effect_high"].Numbers[0] - all["effect_low"].Numbers[0]
			}
		}
		return width
	}
	c, m := config(t, m, experimental("TARGET=10000")...)
	listed, _ := config(t, m, experimental("TARGET=10000", "EXPERIMENT_STEP=1,400")...)
	fixed, before := widths(listed, paramsOf(t, listed, m)), 1.0
	opened, err := mechanisms.NewMechanism(m, mechtest.Plan(t, m))
	if err != nil {
		t.Fatal(err)
	}
	law, err := opened.NoiseLaw(0)
	if err != nil {
		t.Fatal(err)
	}
	for _, announced := range []uint64{0, 100, 379, 398} {
		frozen := paramsOf(t, c, m)
		line, err := c.Next(frozen, first, announced)
		if err != nil {
			t.Fatal(err)
		}
		wider, want := widths(c, append(frozen, line...))/fixed, c.Wider(law, batch, first, announced)
		if math.Abs(wider-want) > 0.05 || wider < before || announced == 0 && wider != 1 || announced == 379 && wider < 1.05 {
			t.Errorf("announced after %d steps: %g times as wide, want %g and at least %g", announced, wider, want, before)
		}
		before = wider
	}
	// The horizon has 400 steps: an experiment from step 392 on has 900 events, fewer than its first look.
	short, ends := config(t, ending(400, 100), experimental("TARGET=10000")...)
	if opened, err = mechanisms.NewMechanism(ends, mechtest.Plan(t, ends)); err != nil {
		t.Fatal(err)
	}
	if law, err = opened.NoiseLaw(0); err != nil {
		t.Fatal(err)
	}
	if last, none := short.Wider(law, 100, 391, 0), short.Wider(law, 100, 392, 0); last < 1 || none != 0 {
		t.Errorf("before the end of the horizon: %g and %g times as wide", last, none)
	}
}

// TestANewExperimentHasNoVerdict checks that verdict, e-values and looks start again, even if the previous experiment
// found that an arm is better.
func TestANewExperimentHasNoVerdict(t *testing.T) {
	c, m := config(t, ending(100, 100), experimental("EXPERIMENT_STEP=1,41")...)
	machine := quiet(t, c, m)
	counted := operators.ByCount(machine)
	for i := range 8000 {
		e := converted(i)
		if i >= 4000 {
			e.Numbers[1] = float64(i / 2 % 10 / 9) // values have the same distribution in both arms
		}
		for _, d := range counted.Add(nil, operators.Record{Event: e}) {
			all := membersOf(c, d)
			verdict, looks, p := all["verdict"].Text, all["looks"].Number, all["effect_p"].Numbers[0]
			switch {
			case d.Step == 40 && (verdict != "B better" || looks != 40 || p > 0.05),
				d.Step == 41 && (verdict != trial.NotShown || looks != 1 || p != 1 || all["stop_allowed"].Number != 0),
				d.Step > 41 && (verdict != trial.NotShown || p < 0.05):
				t.Errorf("step %d: %s at look %g, p = %g", d.Step, verdict, looks, p)
			}
		}
	}
}

// TestParamsThatAreExtended checks which first steps Next appends to params, and that params with any other bytes
// appended does not open.
func TestParamsThatAreExtended(t *testing.T) {
	forever, lifetime := config(t, life(8, 100), experimental()...)
	c, m := config(t, ending(100, 100), experimental("EXPERIMENT_STEP=4,20")...)
	frozen := paramsOf(t, c, m, 50)
	if steps, err := c.Starts(frozen); err != nil || !slices.Equal(steps, []uint64{4, 20, 50}) {
		t.Errorf("%v, %v", steps, err)
	}
	refuse := func(c operator, frozen []byte, step uint64, want string) {
		t.Helper()
		if line, err := c.Next(frozen, step, 0); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("step %d: %q, %v; want %s", step, line, err, want)
		}
	}
	refuse(c, frozen, 50, "must start later")
	refuse(c, frozen, 101, "up to step 100") // 101 is beyond the horizon
	refuse(forever, paramsOf(t, forever, lifetime), 1<<40+1, "up to step 1099511627776")
	plain, _ := config(t, m, "CELLS=variant=A|B")
	refuse(plain, paramsOf(t, plain, m), 90, "ORIEL_ALWAYS_VALID")
	frozen = paramsOf(t, forever, lifetime)
	for step := uint64(51); ; step++ {
		line, err := forever.Next(frozen, step, step/2)
		if err != nil {
			if steps, _ := forever.Starts(frozen); len(steps) != trial.MaxTurns || !strings.Contains(err.Error(), "no room") {
				t.Errorf("%d experiments: %v", len(steps), err)
			}
			break
		}
		frozen = append(frozen, line...)
	}
	if line, err := c.Next(paramsOf(t, c, m), 50, 49); err == nil {
		t.Errorf("an experiment that starts with the step after the newest release: %q", line)
	}
	for _, behind := range []string{
		"x", "50\n", "experiment_step=50\n",
		"experiment_step=50 announced_after=8", "experiment_step=20 announced_after=8\n",
		"experiment_step=050 announced_after=8\n", "experiment_step=50 announced_after=08\n", "50 announced_after=8\n",
		"experiment_step=50 announced_after=\n", "experiment_step=50 announced_after=49\n",
		"experiment_step=50,60 announced_after=8\n",
	} {
		if _, err := c.read(append([]byte{paramsVersion}, c.canonical()+behind...)); err == nil {
			t.Errorf("params with %q behind them open", behind)
		}
	}
	c.test = nil
	other := append([]byte{paramsVersion}, c.canonical()+"experiment_step=50 announced_after=8\n"...)
	if _, err := c.read(other); err == nil {
		t.Error("params without an experiment open with a further experiment")
	}
}

// TestTurnsDoNotAllocate checks that the step at which the next experiment starts does not allocate.
func TestTurnsDoNotAllocate(t *testing.T) {
	steps := make([]string, trial.MaxTurns)
	for i := range steps {
		steps[i] = fmt.Sprint(i + 1)
	}
	c, m := config(t, ending(100, 1), experimental("EXPERIMENT_STEP="+strings.Join(steps, ","), "TARGET=1000")...)
	machine, dst := quiet(t, c, m), make([]operators.Decision, 0, 1)
	counted := operators.ByCount(machine)
	r := operators.Record{Event: event.Event{Numbers: []float64{1, 1}}}
	counted.Add(dst, r)
	if n := testing.AllocsPerRun(trial.MaxTurns-3, func() { counted.Add(dst, r) }); n > 0 {
		t.Errorf("%g allocations a step", n)
	}
}

// TestLongestExperiment checks the longest of the stretches between starts, and from the last start to the horizon.
// Each counts as most steps at most. A start after the horizon ends no experiment.
func TestLongestExperiment(t *testing.T) {
	for _, c := range []struct {
		starts              []uint64
		most, horizon, want uint64
	}{
		{[]uint64{0}, 100, 0, 100},
		{[]uint64{0}, 100, 30, 30},
		{[]uint64{0}, 100, 1 << 40, 100},
		{[]uint64{4, 10, 15}, 100, 40, 25},
		{[]uint64{4, 30, 35}, 100, 40, 26},
		{[]uint64{4, 10, 35}, 100, 40, 25},
		{[]uint64{4, 10, 35}, 20, 40, 20},
		{[]uint64{4, 10, 35, 200}, 1000, 210, 165},
		{[]uint64{4, 50}, 1000, 40, 36},
	} {
		x := trial.Trial{Starts: c.starts}
		if got := x.Longest(c.most, c.horizon); got != c.want {
			t.Errorf("%+v: %d steps", c, got)
		}
	}
}
