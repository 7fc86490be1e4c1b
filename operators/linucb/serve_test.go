package linucb

import (
	"math"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"

	"oriel/mechanisms/mechtest"
	"oriel/mechanisms/noise"
	"oriel/operators"
	"oriel/schemas"
)

// world is a served machine and what it has published last.
type world struct {
	t       *testing.T
	machine *Machine
	offset  int64
}

func (w *world) add(key string, e schemas.Event) []operators.Decision {
	w.t.Helper()
	r := operators.Record{Key: []byte(key), Event: e, Identity: noise.Identity{Offset: w.offset}}
	w.offset++
	return w.machine.Add(nil, r)
}

func context(z ...float64) schemas.Event {
	return schemas.Event{Vector: schemas.Vector{Values: z}, Numbers: []float64{-1, absent}}
}

func rewarded(r float64) schemas.Event { return schemas.Event{Numbers: []float64{-1, r}} }

func serving(t *testing.T, lines ...string) *world {
	c, m := config(t, life(64), append([]string{
		"PLAYED=served", "ARMS=no,yes", "DIMENSION=2", "EMIT_EVERY=1024", "WAIT=8", "CAPACITY=3",
	}, lines...)...)
	machine, err := newMachine(c, mechtest.ZeroStream(t, m))
	if err != nil {
		t.Fatal(err)
	}
	return &world{t: t, machine: machine}
}

// The first record of a key is a context and the second its reward, whatever they say; what comes third, late, or from
// nobody adds nothing; and each record has one action.
func TestServedProtocol(t *testing.T) {
	w := serving(t)
	squares := func() (sum float64) { // of all that was added: Σ|z|², undecayed but for a little
		release := w.machine.stream.Sum(0)
		for block := range 2 {
			for i := range 2 {
				sum += w.machine.rows.Moments(release, block).Gram(i, i)
			}
		}
		return sum
	}
	expect := func(what, key string, e schemas.Event, arm, added float64, text string) {
		t.Helper()
		before := squares()
		made := w.add(key, e)
		if len(made) != 1 || made[0].Output != 1 {
			t.Fatalf("%s: decisions %v, want one action", what, made)
		}
		d := made[0]
		if d.Point[0] != arm || d.Extras[atArm].Text != text || d.Index != 2*d.Step-1 {
			t.Errorf("%s: action %v", what, d)
		}
		want := ""
		if arm >= 0 || what == "a context that says nothing" || what == "a late reward" || what == "a forged reward" {
			want = key
		}
		if d.Extras[atKey].Text != want {
			t.Errorf("%s: key %q, want %q", what, d.Extras[atKey].Text, want)
		}
		if got := squares() - before*(1-1.0/64); math.Abs(got-added) > 1e-3 {
			t.Errorf("%s: %g was added, want %g", what, got, added)
		}
	}
	expect("a context", "one", context(1, 0), 0, 0, "no")
	expect("its reward", "one", rewarded(1), none, 1, "")
	expect("the reward again", "one", rewarded(1), none, 0, "")
	expect("another context", "two", context(0, 0.5), 0, 0, "no")
	expect("a context that says nothing", "three", schemas.Event{Numbers: []float64{-1, absent}}, none, 0, "")
	expect("a reward of nothing", "three", rewarded(1), none, 0, "")
	expect("no room", "four", context(1, 0), none, 0, "") // one, two and three have their places for 8 steps
	expect("no key", "", context(1, 0), none, 0, "")
	expect("a long key", strings.Repeat("x", 65), context(1, 0), none, 0, "")
	expect("a forged reward", "five", rewarded(1), none, 0, "")
	expect("the second context's reward", "two", rewarded(0), none, 0.25, "")
	expect("a context for the end", "six", context(1, 0), 0, 0, "no")
	for range 8 {
		w.add("", rewarded(0))
	}
	expect("a late reward", "six", rewarded(1), none, 0, "")
}

// Every action for a key is a line of one length, whatever is played.
func TestActionsHaveOneLength(t *testing.T) {
	for _, lines := range [][]string{
		{"ARMS=a,no,perhaps", "DIMENSION=2"}, {"CANDIDATES=11", "DIMENSION=2"}, {"ARMS=0123456789,b", "DIMENSION=2"},
	} {
		c, m := config(t, life(64), append([]string{"PLAYED=served"}, lines...)...)
		machine, err := newMachine(c, mechtest.ZeroStream(t, m))
		if err != nil {
			t.Fatal(err)
		}
		encoder := schemas.NewEncoder(schemas.DecisionConfig{Stream: "0"}, c.Extras())
		machine.answer([]byte("key"), none)
		length := 0
		for choice := none; choice < c.choices(); choice++ {
			d := machine.action(0, 1, 1, choice)
			line := encoder.Append(nil, d.Index, d.Step, d.Point, d.Extras)
			if length == 0 {
				length = len(line)
			}
			if len(line) != length {
				t.Errorf("%v: action %d has %d bytes, none has %d", lines, choice, len(line), length)
			}
		}
	}
}

// Served plays with rewards at once teach what the same plays teach when they are logged.
func TestServedIsLogged(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 8))
	w := serving(t, "EMIT_EVERY=2", "CAPACITY=64")
	lc, lm := config(t, life(64), "PLAYED=logged", "ARMS=no,yes", "DIMENSION=2", "EMIT_EVERY=1")
	log, err := newMachine(lc, mechtest.ZeroStream(t, lm))
	if err != nil {
		t.Fatal(err)
	}
	played := [2]int{}
	for i := range 200 {
		e := context(rng.Float64()-0.5, rng.Float64()-0.5)
		key := strconv.Itoa(i)
		action := w.add(key, e)[0]
		log.Add(nil, operators.Record{Null: true})
		arm := action.Point[0]
		played[int(arm)]++
		reward := 0.5 + e.Vector.Values[int(arm)]
		made := w.add(key, rewarded(reward))
		e.Numbers = []float64{arm, reward}
		want := log.Add(nil, operators.Record{Event: e})[0]
		for k, x := range made[len(made)-1].Point {
			if x != want.Point[k] {
				t.Fatalf("play %d: weights %v, logged %v", i, made[len(made)-1].Point, want.Point)
			}
		}
	}
	if played[0] < 40 || played[1] < 40 {
		t.Errorf("arms were played %v times", played)
	}
}

// With the defaults every context is answered, however many come.
func TestEveryContextIsAnswered(t *testing.T) {
	c, m := config(t, life(64), "PLAYED=served", "ARMS=no,yes", "DIMENSION=2", "EMIT_EVERY=1024")
	machine, err := newMachine(c, mechtest.ZeroStream(t, m))
	if err != nil {
		t.Fatal(err)
	}
	w := &world{t: t, machine: machine}
	for i := range 3000 {
		if d := w.add(strconv.Itoa(i), context(1, 0))[0]; d.Point[0] == none {
			t.Fatalf("context %d has no action", i)
		}
	}
}
