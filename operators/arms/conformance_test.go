package arms

import (
	"math"
	"strconv"
	"testing"

	"oriel/mechanisms"
	"oriel/mechanisms/contribution"
	"oriel/mechanisms/mechtest"
	"oriel/mechanisms/protection"
	"oriel/operators"
	"oriel/operators/actions"
	"oriel/operators/optest"
	"oriel/operators/setting"
	"oriel/schemas/event"
)

// kinds are configurations that together cover the settings.
var kinds = []Config{
	{
		Arms: named(3), Rule: ucb, Losses: setting.Range{High: 1}, Width: 1,
		Actions: actions.Config{Records: 1, Actions: 2},
	},
	{
		Arms: named(2), Rule: ucb, Losses: setting.Range{Low: -5, High: 5}, Width: 3,
		Actions: actions.Config{Records: 3, Actions: 3, Delay: 2},
	},
	{
		Arms: named(4), Rule: exp3, Losses: setting.Range{High: 2},
		Actions: actions.Config{Records: 2, Actions: 5, Delay: 1},
	},
	{Arms: named(3), Rule: exp3, Losses: setting.Range{High: 1}, Actions: actions.Config{Records: 4, Actions: 4}},
	{
		Arms: named(4), Rule: exp3Uniform, Losses: setting.Range{High: 1},
		Actions: actions.Config{Records: 2, Actions: 3, Delay: 1},
	},
}

func TestConformance(t *testing.T) {
	for i, c := range kinds {
		for _, mechanism := range []string{"once-gamma", "once-gaussian"} {
			if c.Rule == exp3Uniform && mechanism == "once-gaussian" {
				continue // exp3-uniform has no proof for Gaussian noise
			}
			t.Run(strconv.Itoa(i)+" "+mechanism, func(t *testing.T) {
				m := released(c, 1)
				m.Name, m.Budget.Delta = mechanism, 1e-6
				optest.RunActions(t, func(tb testing.TB, open optest.Open) operators.Machine {
					machine, err := New(c, open(m))
					if err != nil {
						tb.Fatal(err)
					}
					return machine
				}, c.Actions, optest.Feedback(60, -1, 2))
			})
		}
	}
}

// TestReferenceModelMatchesMachine checks that releases without noise are the sums of the reference model's
// contributions in each step, for all kinds of record keys.
func TestReferenceModelMatchesMachine(t *testing.T) {
	for _, c := range kinds {
		m := released(c, 1)
		machine, other := open(t, c, m, 1, true), &reference{Config: c}
		counted := operators.ByCount(machine)
		other.Begin()
		other.Observe(machine.Open(nil))
		sum, added, some := 0.0, make([]float64, 1), false
		for i, e := range optest.Feedback(400, -1, 2) {
			r := operators.Record{Key: optest.ActionKey(c.Actions, i), Event: e, Null: i%11 == 2}
			if other.Contribution(added, r) {
				sum += added[0]
				some = true
			}
			if made := counted.Add(nil, r); len(made) > 0 {
				if got := machine.Stream.Sum(0)[0]; math.Abs(got-sum) > 1e-6 {
					t.Fatalf("%+v, record %d: %g was released, want %g", c, i, got, sum)
				}
				other.Observe(made)
				sum = 0
			}
		}
		if !some {
			t.Errorf("%+v: nothing was added", c)
		}
	}
}

// TestALossMovesOneRelease checks that a loss is in one release, ORIEL_DELAY steps after its round, and in no other.
// The sums of two histories that differ in one loss differ in one step, by the difference of the losses, at most 1.
func TestALossMovesOneRelease(t *testing.T) {
	c := Config{
		Arms: named(2), Rule: ucb, Losses: setting.Range{High: 1}, Width: 1,
		Actions: actions.Config{Records: 2, Actions: 4, Delay: 3},
	}
	m := released(c, 1)
	run := func(loss float64) (sums []float64) {
		machine := open(t, c, m, 1, true)
		counted := operators.ByCount(machine)
		machine.Open(nil)
		for i := range 40 {
			x := 0.5
			if i == 4 { // the action is of step 3 and is answered in that step
				x = loss
			}
			r := operators.Record{
				Key:   strconv.AppendUint(nil, c.Actions.First(uint64(i/2)+1)+uint64(i%2), 10),
				Event: event.Event{Numbers: []float64{x}},
			}
			if made := counted.Add(nil, r); len(made) > 0 {
				sums = append(sums, machine.Stream.Sum(0)[0])
			}
		}
		return sums
	}
	low, high := run(-100), run(100)
	for i := range low {
		want := 0.0
		if i == 2+3 {
			want = 1
		}
		if got := high[i] - low[i]; math.Abs(got-want) > 1e-9 {
			t.Errorf("step %d: moved by %g, want %g", i+1, got, want)
		}
	}
}

// TestGoldenActions checks that decisions without noise keep their bytes, because existing deployments have published
// them.
func TestGoldenActions(t *testing.T) {
	for i, want := range []string{
		"0120011210221120100221201122102112210211", "0101111110000011111000000011111110000011",
		"0321231223131201211122100010212332022231", "2020012102102200112110110110222100120000",
		"3212032232123300123231022213313303303103",
	} {
		c := kinds[i]
		machine := open(t, c, released(c, 1), 1, true)
		counted := operators.ByCount(machine)
		got := ""
		decisions := machine.Open(nil)
		for k := 0; len(got) < 40; k++ {
			if len(decisions) > 0 {
				got += decisions[0].Extras[0].Text
			}
			loss := float64(k%5) / 5
			event := event.Event{Numbers: []float64{loss}}
			decisions = counted.Add(nil, operators.Record{Key: optest.ActionKey(c.Actions, k), Event: event})
		}
		if got != want {
			t.Errorf("%d: %s, want %s", i, got, want)
		}
	}
}

func TestOtherStreamsAreRefused(t *testing.T) {
	c := kinds[0]
	for _, change := range []func(m *mechanisms.Config){
		func(m *mechanisms.Config) { m.Contribution = contribution.OneComponent(2, 1) },
		func(m *mechanisms.Config) { m.Batch = 7 },
		func(m *mechanisms.Config) { m.Name, m.Scope = "tree-gamma", protection.Window{Steps: 8} },
	} {
		m := released(c, 1)
		change(&m)
		if _, err := New(c, mechtest.Open(t, m, [32]byte{1})); err == nil {
			t.Errorf("%+v is taken", m)
		}
	}
}

// TestUselessFeedbackIsNull checks that an answer without a loss contributes as the null event does. So does a record
// that answers no action.
func TestUselessFeedbackIsNull(t *testing.T) {
	c := config(ucb, 1, 0)
	tags := map[[32]byte]bool{}
	for _, r := range []operators.Record{
		{Null: true}, {Null: true, Key: []byte("1")}, {Event: event.Event{Numbers: []float64{math.NaN()}}, Key: []byte("1")},
	} {
		m := open(t, c, released(c, 1), 1, false)
		counted := operators.ByCount(m)
		m.Open(nil)
		counted.Add(nil, r)
		tags[m.Stream.Tag("history")] = true
	}
	if len(tags) != 1 {
		t.Errorf("%d histories of records that say nothing", len(tags))
	}
}
