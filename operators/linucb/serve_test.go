package linucb

import (
	"errors"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"

	"oriel/mechanisms/mechtest"
	"oriel/mechanisms/noise"
	"oriel/operators"
	"oriel/operators/neighbours"
	"oriel/operators/optest"
	"oriel/schemas/decision"
	"oriel/schemas/event"
)

// world is a served machine with its latest publications.
type world struct {
	t       *testing.T
	machine *Machine
	counted *operators.Counted
	offset  int64
}

func (w *world) add(key string, e event.Event) []operators.Decision {
	w.t.Helper()
	r := operators.Record{Key: []byte(key), Event: e, Identity: noise.Identity{Offset: w.offset}}
	w.offset++
	return w.counted.Add(nil, r)
}

func context(z ...float64) event.Event {
	return event.Event{Vector: event.Vector{Values: z}, Numbers: []float64{-1, noReward}}
}

func rewarded(r float64) event.Event { return event.Event{Numbers: []float64{-1, r}} }

func serving(t *testing.T, lines ...string) *world {
	c, m := config(t, optest.Life(64), append([]string{
		"PLAYED=served", "ARMS=no,yes", "DIMENSION=2", "EMIT_EVERY=1024", "WAIT=8", "CAPACITY=3",
	}, lines...)...)
	machine, err := newMachine(c, mechtest.ZeroStream(t, m))
	if err != nil {
		t.Fatal(err)
	}
	return &world{t: t, machine: machine, counted: operators.ByCount(machine)}
}

// TestActionsHaveOneLength checks that all actions for a key have one length in each encoding, for every choice and
// answer kind. The names of arms have all lengths, up to the longest.
func TestActionsHaveOneLength(t *testing.T) {
	name := func(bytes int) string { return strings.Repeat("é<&", maxArm)[:bytes&^3] + "abc"[:bytes&3] }
	arms := func(lengths ...int) string {
		all := make([]string, len(lengths))
		for i, bytes := range lengths {
			all[i] = name(bytes)
		}
		return "ARMS=" + strings.Join(all, ",")
	}
	every, many := make([]int, maxArm), make([]string, maxArms)
	for i := range every {
		every[i] = i + 1
	}
	for i := range many {
		many[i] = strconv.Itoa(i)
	}
	for _, choices := range []string{
		"ARMS=a,no,perhaps", "ARMS=0123456789,b", arms(every...), arms(1, 55), arms(1, 57, 58), arms(1, maxArm),
		"ARMS=" + strings.Join(many, ","), "CANDIDATES=11", "CANDIDATES=2", "CANDIDATES=1024", sizes,
	} {
		c, m := config(t, optest.Life(64), "PLAYED=served", choices, "DIMENSION=2", "WAIT=1")
		machine, err := newMachine(c, mechtest.ZeroStream(t, m))
		if err != nil {
			t.Fatal(err)
		}
		machine.answer([]byte("key"), none, toNothing)
		var want [len(decision.Encodings)]int
		for choice := none; choice < c.choices(); choice++ {
			for to := range answerTexts {
				machine.answers[0] = answerKind(to)
				got := neighbours.Lengths(machine.action(0, 1, 1, choice), c.Extras())
				if choice == none && to == 0 {
					want = got
				}
				if got != want {
					t.Fatalf("%.40s: action %d to %s has %d bytes in %v, the first has %d", choices, choice, answerTexts[to], got,
						decision.Encodings, want)
				}
			}
		}
	}
}

// TestLongNamesOfArmsAreRefused checks the bound on names without which actions would have several lengths in Avro.
func TestLongNamesOfArmsAreRefused(t *testing.T) {
	for bytes, want := range map[int]bool{1: true, maxArm: true, maxArm + 1: false} {
		name := strings.Repeat("x", bytes)
		if _, ok := armEntry(name); ok != want {
			t.Errorf("an arm of %d bytes is accepted: %t", bytes, ok)
		}
		if _, ok := productEntry(name + ":1"); ok != want {
			t.Errorf("an arm of %d bytes with a feature is accepted: %t", bytes, ok)
		}
	}
}

// TestActionsStateTheirAnswerKind checks that an action states whether it answers a context or a reward, so that
// clients do not carry out an answer to a reward. The statement depends on the record's key and on the contexts that
// wait, and not on the contents of the record.
func TestActionsStateTheirAnswerKind(t *testing.T) {
	long := strings.Repeat("x", maxName+1)
	for what, says := range map[string]func(i int) operators.Record{
		"contexts": func(int) operators.Record { return operators.Record{Event: context(1, 0)} },
		"rewards":  func(int) operators.Record { return operators.Record{Event: rewarded(1)} },
		"nothing":  func(int) operators.Record { return operators.Record{Null: true} },
		"either": func(i int) operators.Record {
			return operators.Record{Event: []event.Event{context(0, 1), rewarded(0)}[i%2]}
		},
	} {
		w := serving(t)
		for i, step := range []struct{ key, answers, text string }{
			{"a", "context", "a"},
			{"b", "context", "b"},
			{"a", "reward", ""},  // the context under a waited
			{"a", "nothing", ""}, // the row of a is kept until its time is over
			{"", "nothing", ""},
			{long, "nothing", ""},
			{"c", "context", "c"},
			{"d", "nothing", ""}, // there is room for three waiting contexts
			{"c", "reward", ""},
			{"c", "nothing", ""},
			{"a", "context", "a"}, // the first context under a has timed out
			{"a", "reward", ""},
		} {
			r := says(i)
			r.Key, r.Identity = []byte(step.key), noise.Identity{Offset: int64(i)}
			d := w.counted.Add(nil, r)
			if len(d) != 1 || d[0].Index != uint64(2*i+1) || d[0].Output != 1 {
				t.Fatalf("%s: record %d is answered by %+v", what, i, d)
			}
			members, extras := w.machine.members, d[0].Extras
			answers, key := members.answers.Of(extras), members.key.Of(extras)
			if answers != step.answers || key != step.text {
				t.Errorf("%s: record %d, key %.5q: answers %q under %q, want %q under %q", what, i, step.key,
					answers, key, step.answers, step.text)
			}
			if step.answers != "context" && (d[0].Point[0] != none || members.arm.Of(extras) != "") {
				t.Errorf("%s: record %d, %s: %v %q is to be played", what, i, step.answers, d[0].Point, members.arm.Of(extras))
			}
		}
	}
}

// TestServedIsLogged checks that served actions with immediate rewards lead to the same model as logged ones, for arms
// and for candidates.
func TestServedIsLogged(t *testing.T) {
	for _, what := range []string{"ARMS=no,yes", "CANDIDATES=2"} {
		rng := rand.New(rand.NewPCG(3, 8))
		open := func(lines ...string) *world {
			c, m := config(t, optest.Life(64), append(lines, what, "DIMENSION=2")...)
			machine, err := newMachine(c, mechtest.ZeroStream(t, m))
			if err != nil {
				t.Fatal(err)
			}
			return &world{t: t, machine: machine, counted: operators.ByCount(machine)}
		}
		w, log := open("PLAYED=served", "EMIT_EVERY=2"), open("PLAYED=logged", "EMIT_EVERY=1")
		played := [2]int{}
		for i := range 200 {
			z := make([]float64, 2*max(1, w.machine.candidates))
			for k := range z {
				z[k] = rng.Float64() - 0.5
			}
			e, key := context(z...), strconv.Itoa(i)
			action := w.add(key, e)[0]
			log.counted.Add(nil, operators.Record{Null: true})
			arm := action.Point[0]
			played[int(arm)]++
			reward := 0.5 + e.Vector.Values[int(arm)]
			made := w.add(key, rewarded(reward))
			e.Numbers = []float64{arm, reward}
			want := log.add("", e)[0]
			for k, x := range made[len(made)-1].Point {
				if x != want.Point[k] {
					t.Fatalf("%s, play %d: weights %v, logged %v", what, i, made[len(made)-1].Point, want.Point)
				}
			}
		}
		if played[0] < 40 || played[1] < 40 {
			t.Errorf("%s: arms were played %v times", what, played)
		}
	}
}

// TestEveryContextIsAnswered checks that, with default settings, every context is answered, for any number of contexts.
func TestEveryContextIsAnswered(t *testing.T) {
	c, m := config(t, optest.Life(64), "PLAYED=served", "ARMS=no,yes", "DIMENSION=2", "EMIT_EVERY=1024")
	machine, err := newMachine(c, mechtest.ZeroStream(t, m))
	if err != nil {
		t.Fatal(err)
	}
	w := &world{t: t, machine: machine, counted: operators.ByCount(machine)}
	for i := range 3000 {
		if d := w.add(strconv.Itoa(i), context(1, 0))[0]; d.Point[0] == none {
			t.Fatalf("context %d has no action", i)
		}
	}
}

// TestKeysThatAreNotUTF8 checks that a key that is not UTF-8 counts as no key, so that its record does not wait. It
// could otherwise become another key when a decision is read back.
func TestKeysThatAreNotUTF8(t *testing.T) {
	w := serving(t)
	for _, key := range []string{"", "a\xff", "\xc3("} {
		for range 2 { // the first record is a context; the second would be its reward
			d := w.add(key, context(1, 0))
			if len(d) != 1 || d[0].Point[0] != none || w.machine.members.key.Of(d[0].Extras) != "" {
				t.Errorf("%q is answered: %v", key, d)
			}
		}
	}
	if d := w.add("é", context(1, 0)); d[0].Point[0] == none || w.machine.members.key.Of(d[0].Extras) != "é" {
		t.Errorf("a text is not answered: %v", d)
	}
}

// TestServedReferenceModelMatchesMachine compares the contributions of served pairs in the reference model with the
// machine's. From published actions, the reference model computes the contribution of each reward that comes in a later
// step than its context. No other record may contribute, for any order of keys.
func TestServedReferenceModelMatchesMachine(t *testing.T) {
	for _, kind := range kinds {
		for _, batch := range []uint64{1, 3} {
			kind.m.Batch = batch
			c, m := config(t, kind.m, kind.lines...)
			if !c.served {
				continue
			}
			plan, rng := mechtest.Plan(t, m), rand.New(rand.NewPCG(batch, 19))
			records := make([]operators.Record, 150)
			for i, e := range drawn(c, len(records), 6) {
				records[i] = operators.Record{
					Event: e, Key: strconv.AppendInt(nil, int64(rng.IntN(9)), 10), Null: rng.IntN(9) == 0,
					Identity: noise.Identity{Offset: int64(i)},
				}
			}
			sum := &recorder{}
			machine := overReleases(t, c, mechanismOf(t, m, plan), sum)
			counted := operators.ByCount(machine)
			frozen, errParams := c.Params(m)
			made, err := c.ReferenceModel(frozen)
			if err := errors.Join(errParams, err); err != nil {
				t.Fatal(err)
			}
			made.Begin()
			want, some := make([][]int64, uint64(len(records))/batch), 0
			numbers, contribution := make([]float64, c.rows.Entries()), make([]int64, c.rows.Size())
			for i, r := range records {
				step := uint64(i) / batch
				if want[step] == nil {
					want[step] = make([]int64, c.rows.Size())
				}
				if made.Contribution(numbers, r) {
					some++
					clear(contribution)
					c.rows.Quantise(plan.Component(0).Grid, contribution, numbers)
					for k, x := range contribution {
						want[step][k] += x
					}
				}
				made.Observe(counted.Add(nil, r))
			}
			for _, pair := range waits(c, records) {
				if first, last := uint64(pair[0])/batch, uint64(pair[1])/batch; first == last {
					want[last] = nil // the reference model cannot know this contribution
				}
			}
			for step, v := range want {
				for k, x := range v {
					if off := sum.steps[step][k] - x; off > 8 || off < -8 {
						t.Fatalf("%s, B = %d: step %d adds %v, want %v", kind.name, batch, step+1, sum.steps[step], v)
					}
				}
			}
			if some < 10 {
				t.Errorf("%s, B = %d: %d rewards add something", kind.name, batch, some)
			}
		}
	}
}
