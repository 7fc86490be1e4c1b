package sets

import (
	"bytes"
	"math"
	"slices"
	"strconv"
	"testing"

	"oriel/mechanisms"
	"oriel/mechanisms/contribution"
	"oriel/mechanisms/lattice"
	"oriel/mechanisms/mechtest"
	"oriel/mechanisms/mechtest/goldentest"
	"oriel/mechanisms/protection"
	"oriel/operators"
	"oriel/operators/actions"
	"oriel/operators/optest"
	"oriel/operators/setting"
	"oriel/schemas/event"
)

// kinds returns configurations that together cover the settings.
func kinds() []Config {
	late, epochs, sealed, often := halvingOf(5, 2, 2), halvingOf(4, 2, 3), drawsOf(5, 2, 2, 40), drawsOf(3, 1, 3, 40)
	late.Actions, late.Value = actions.Config{Records: 2, Actions: 5, Delay: 2}, setting.Range{Low: -3, High: 5}
	epochs.Epoch, epochs.Tries = 40, 2
	sealed.Actions.Delay, sealed.Actions.Actions, sealed.Share = 1, 4, 0.7
	often.Share, often.Capped = 0.4, true
	return []Config{halvingOf(3, 1, 1), late, epochs, sealed, often}
}

func TestConformance(t *testing.T) {
	for i, c := range kinds() {
		t.Run(strconv.Itoa(i), func(t *testing.T) {
			m := mechanismOf(t, c, 3)
			optest.RunActions(t, func(tb testing.TB, open optest.Open) operators.Machine {
				return opened(tb, c, m, open(m))
			}, c.Actions, optest.Feedback(60, -1, 2))
		})
	}
}

// TestReferenceModelMatchesMachine compares the sums of a machine's stream with the contributions of its reference
// model, for records with all kinds of keys: each release of halving, and each score of the rule draws.
func TestReferenceModelMatchesMachine(t *testing.T) {
	for i, c := range kinds() {
		m := mechanismOf(t, c, 1)
		stream := mechtest.Open(t, m, [32]byte{5})
		if !c.Draws {
			stream = mechtest.ZeroStream(t, m)
		}
		sums := make([]float64, max(1, c.cells()))
		unit := mechtest.Plan(t, m).Grid.Unit()
		looked := 0
		stream.DrawBy(func(d mechanisms.Draw, index int) int {
			if d.Law == operators.ByProbabilities {
				return index
			}
			looked++
			for element, q := range d.Scores {
				if want := sums[int(d.Instance)*len(c.Elements)+element]; math.Abs(float64(q)*unit-want) > 1e-5 {
					t.Fatalf("%d: expert %d draws by %g of element %d, want %g", i, d.Instance, float64(q)*unit, element, want)
				}
			}
			return index
		})
		machine, other := opened(t, c, m, stream), &reference{Config: c}
		counted := operators.ByCount(machine)
		other.Begin()
		other.Observe(machine.Open(nil))
		added := make([]float64, 2)
		for at, e := range optest.Feedback(40*c.Actions.Records, -1, 2) {
			r := operators.Record{Key: optest.ActionKey(c.Actions, at), Event: e, Null: at%11 == 2}
			if some := other.Contribution(added, r); some && c.Draws {
				sums[int(added[0])] += added[1]
			} else if some {
				sums[0] += added[0]
			}
			made := counted.Add(nil, r)
			if len(made) == 0 {
				continue
			}
			if !c.Draws {
				if got := stream.Sum(0)[0]; math.Abs(got-sums[0]) > 1e-5 {
					t.Fatalf("%d, record %d: %g was released, want %g", i, at, got, sums[0])
				}
				looked, sums[0] = looked+1, 0
			}
			other.Observe(made)
		}
		if looked < 10 {
			t.Errorf("%d: %d releases and draws were looked at", i, looked)
		}
	}
}

// TestDistances checks that contributions have one number of absolute value at most ½, at the given cell, and that
// their distances are those that the Quantiser declares.
func TestDistances(t *testing.T) {
	g, err := lattice.NewGrid(half)
	if err != nil {
		t.Fatal(err)
	}
	mechtest.DistancesAreReached(t, cellQuantiser{Cells: 3}, g, 3,
		[]float64{1, 0.5}, []float64{1, -0.5}, []float64{0, 9}, []float64{2, -9},
		[]float64{1, math.NaN()}, []float64{1.5, 0.1}, []float64{-1, 1}, []float64{3, 1}, []float64{math.NaN(), 1})
	added := make([]int64, 3)
	if (cellQuantiser{Cells: 3}).Quantise(g, added, []float64{2, 0.25}); added[0] != 0 || added[1] != 0 ||
		added[2] != g.Lambda/2+1 &&
			added[2] != g.Lambda/2 {
		t.Errorf("contribution %v", added)
	}
	clear(added)
	if (cellQuantiser{Cells: 3}).Quantise(g, added, []float64{2, math.NaN()}); added[2] != 0 {
		t.Errorf("a NaN is the contribution %v", added)
	}
}

// TestGoldenDecisions checks that decisions keep their bytes, because existing deployments have published them.
func TestGoldenDecisions(t *testing.T) {
	for i, want := range []string{
		"58e440e084859ae13e3f2e894f9a3188", "d0a6cfe58d406564b385dc96c3e1afd6", "780906e72a25cf26b5d8c418b4c09606",
		"3cecc707a4a07206b84ca0d8a18f83e0", "1f8102b982aa77b4471c2ca0a3caff38",
	} {
		c := kinds()[i]
		machine := machineOf(t, c, 5, 1)
		counted := operators.ByCount(machine)
		digest, decisions := goldentest.NewDigest(), machine.Open(nil)
		for at, e := range optest.Feedback(40*c.Actions.Records, -1, 2) {
			for _, d := range decisions {
				digest.Numbers(d.Point...)
				digest.Text(d.Extras[0].Text)
				digest.Numbers(d.Extras[1].Number)
			}
			decisions = counted.Add(nil, operators.Record{Key: optest.ActionKey(c.Actions, at), Event: e})
		}
		if got := digest.String(); got != want {
			t.Errorf("%d: %s, stored %s", i, got, want)
		}
	}
}

// TestStatesAreRefused checks that states that no machine can have are refused, and that the machine is unchanged.
func TestStatesAreRefused(t *testing.T) {
	for i, c := range kinds() {
		machine := machineOf(t, c, 5, 1)
		counted := operators.ByCount(machine)
		machine.Open(nil)
		for at, e := range optest.Feedback(20, -1, 2) {
			counted.Add(nil, operators.Record{Key: optest.ActionKey(c.Actions, at), Event: e})
		}
		state := machine.AppendState(nil)
		again := machineOf(t, c, 5, 1)
		if err := again.Restore(state); err != nil || !bytes.Equal(again.AppendState(nil), state) {
			t.Fatalf("%d: %v", i, err)
		}
		size := machine.rule.StateLen()
		for what, spoil := range map[string]func(s []byte) []byte{
			"short":   func(s []byte) []byte { return s[:len(s)-1] },
			"version": func(s []byte) []byte { s[0] = 9; return s },
			"a set":   func(s []byte) []byte { s[1] = 0xff; return s },
			"a cell":  func(s []byte) []byte { s[1+size+3] = 0x7f; return s },
			"a table": func(s []byte) []byte { s[1+size+roundLen*len(machine.rounds)]++; return s },
		} {
			if err := again.Restore(spoil(slices.Clone(state))); err == nil {
				t.Errorf("%d: %s is taken", i, what)
			}
			if !bytes.Equal(again.AppendState(nil), state) {
				t.Fatalf("%d: %s is refused, and the machine has changed", i, what)
			}
		}
	}
}

// TestOtherStreamsAreRefused checks that a stream with another contribution, batch or kind is refused.
func TestOtherStreamsAreRefused(t *testing.T) {
	for _, c := range []Config{halvingOf(3, 1, 2), drawsOf(3, 1, 2, 40)} {
		for what, change := range map[string]func(m *mechanisms.Config){
			"batch": func(m *mechanisms.Config) { m.Batch = 7 },
			"tree": func(m *mechanisms.Config) {
				m.Name, m.Scope, m.Draws = "tree-gaussian", protection.Window{Steps: 8}, mechanisms.Draws{}
				m.Contribution, m.Budget.Delta = contribution.OneComponent(1, 1), 1e-6
			},
			"contribution": func(m *mechanisms.Config) { m.Contribution = contribution.OneComponent(2, 1) },
		} {
			m := mechanismOf(t, c, 1)
			params, err := (operator{Config: c}).Params(m)
			if err != nil {
				t.Fatal(err)
			}
			change(&m)
			if _, err := (operator{Config: c}).Open(params, mechtest.Open(t, m, [32]byte{1})); err == nil {
				t.Errorf("draws %v: another %s is taken", c.Draws, what)
			}
		}
	}
}

// BenchmarkAdd measures answering actions with one action published for each answer, with 100 elements and sets of 5.
func BenchmarkAdd(b *testing.B) {
	c := halvingOf(100, 5, 16)
	sealed := drawsOf(100, 5, 16, 1<<30)
	sealed.Share = 1e-3
	for name, c := range map[string]Config{"halving": c, "draws": sealed} {
		b.Run(name, func(b *testing.B) {
			m, i := machineOf(b, c, 1, 1), int64(0)
			counted := operators.ByCount(m)
			made, key := m.Open(nil), []byte(nil)
			event := event.Event{Numbers: []float64{0.5}}
			b.ReportAllocs()
			for b.Loop() {
				key = strconv.AppendUint(key[:0], c.Actions.First(m.table.Step())+uint64(i)%16, 10)
				r := operators.Record{Key: key, Event: event}
				r.Identity.Offset = i
				made = counted.Add(made[:0], r)
				i++
			}
		})
	}
}

// TestFeedbackAllocatesNothing checks that adding answers and publishing actions allocate nothing. Two allocations are
// allowed in a step: the cipher for the noise of its release, which has a key of its own, and the integers of a coin.
func TestFeedbackAllocatesNothing(t *testing.T) {
	for most, c := range map[float64]Config{2: halvingOf(50, 3, 64), 40: drawsOf(50, 3, 64, 1<<20)} {
		m := machineOf(t, c, 1, 1)
		if got := optest.FeedbackAllocates(m, c.Actions, m.table.Step, 200); got > most {
			t.Errorf("draws %v: %g allocations a step of 64 answers", c.Draws, got)
		}
	}
}
