package optest

import (
	"bytes"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"oriel/mechanisms"
	"oriel/mechanisms/mechtest"
	"oriel/operators"
	"oriel/operators/neighbours"
	"oriel/schemas/decision"
	"oriel/schemas/event"
)

// decisionsArePostProcessing checks that machines with equal private sums publish equal bytes and keep equal state
// outside their streams, for all contents of events. Privacy is proved for the sums, and it holds for decisions only
// because of this property.
func (s suite) decisionsArePostProcessing(t *testing.T) {
	for name, change := range otherEvents() {
		t.Run(name, func(t *testing.T) {
			if fault := s.differsOverScriptedSums(t, change); fault != "" {
				t.Error(fault)
			}
		})
	}
}

// otherEvents returns changes that alter only the contents of records.
func otherEvents() map[string]func(r *operators.Record) {
	changes := map[string]func(r *operators.Record){
		"null":              func(r *operators.Record) { r.Null, r.Event = true, event.Event{} },
		"not null":          func(r *operators.Record) { r.Null, r.Event.Weight = false, 1 },
		"zero contribution": func(r *operators.Record) { r.Event.Weight = 0 },
		"heavy":             func(r *operators.Record) { r.Event.Weight = 1e300 },
		"huge":              func(r *operators.Record) { scale(&r.Event, 1e150) },
		"tiny":              func(r *operators.Record) { scale(&r.Event, 1e-12) },
		"one ulp":           func(r *operators.Record) { scale(&r.Event, 1+0x1p-52) },
		"opposite":          func(r *operators.Record) { scale(&r.Event, -1) },
		"label":             func(r *operators.Record) { r.Event.Label *= -1 },

		"numbers opposite": numbers(func(x float64) float64 { return -x }),
		"numbers zero":     numbers(func(float64) float64 { return 0 }),
		"numbers huge":     numbers(func(x float64) float64 { return 1e150 * x }),
		"numbers one ulp":  numbers(func(x float64) float64 { return math.Nextafter(x, math.Inf(1)) }),
	}
	for name, spoil := range useless {
		changes[name] = func(r *operators.Record) { _ = spoil(&r.Event) }
	}
	return changes
}

// numbers returns a change that alters only the numbers of events.
func numbers(change func(x float64) float64) func(r *operators.Record) {
	return func(r *operators.Record) {
		r.Event.Numbers = slices.Clone(r.Event.Numbers)
		for i, x := range r.Event.Numbers {
			r.Event.Numbers[i] = change(x)
		}
	}
}

func scale(e *event.Event, by float64) {
	e.Vector.Values = slices.Clone(e.Vector.Values)
	for i := range e.Vector.Values {
		e.Vector.Values[i] *= by
	}
}

// differsOverScriptedSums plays the records on one machine and changed ones on another, and returns a description of
// the first difference, or "". Several records in a row are changed, so that data that a machine keeps from one event
// to the next is detected, too.
func (s suite) differsOverScriptedSums(tb testing.TB, change func(r *operators.Record)) string {
	tb.Helper()
	plain, changed := s.overScriptedSums(tb), s.overScriptedSums(tb)
	plain.draws, changed.draws = &published{}, &published{}
	changed.draws.script = plain.draws
	plain.open()
	changed.open()
	var others []bool // whether each record of the open step was changed
	var extras []decision.Extra
	if s.serves {
		extras = s.extras(tb)
	}
	for i, r := range s.records {
		plain.add(r)
		other := i/5%2 == 0
		if other {
			r.Event.Vector.Values = slices.Clone(r.Event.Vector.Values)
			change(&r)
		}
		changed.add(r)
		others = append(others, other)
		if len(plain.last.decisions) > 0 {
			if s.serves {
				if fault := sameActions(plain.last.decisions, changed.last.decisions, others, extras); fault != "" {
					return fmt.Sprintf("record %d: %s", i, fault)
				}
			}
			others = nil
		}
		switch {
		case !slices.EqualFunc(plain.last.decisions, changed.last.decisions, sameDecision):
			return fmt.Sprintf("record %d: decisions %v of other events over the same sums, want %v",
				i, changed.last.decisions, plain.last.decisions)
		case !bytes.Equal(s.public(plain.last.state), s.public(changed.last.state)):
			return fmt.Sprintf("record %d: the state outside the stream depends on the event", i)
		case plain.fault != "" || changed.fault != "":
			return fmt.Sprintf("record %d: %s%s", i, plain.fault, changed.fault)
		}
		if fault := changed.draws.differs(plain.releasesNoSum()); fault != "" {
			return fmt.Sprintf("record %d: %s", i, fault)
		}
	}
	return ""
}

// sameActions compares the actions of a step, where the k-th action is for the k-th record. It ignores the contents of
// actions for changed records, which must have equal lengths in each encoding, by making them equal.
func sameActions(want, got []operators.Decision, others []bool, extras []decision.Extra) string {
	k := 0
	for i := range min(len(want), len(got)) {
		if want[i].Output == 0 {
			continue
		}
		if k == len(others) {
			return "a step has more actions than records"
		}
		if others[k] && got[i].Output == want[i].Output && got[i].Index == want[i].Index && got[i].Step == want[i].Step {
			if neighbours.Lengths(got[i], extras) != neighbours.Lengths(want[i], extras) {
				return fmt.Sprintf("the length of action %d depends on its record's contents", got[i].Index)
			}
			got[i] = want[i]
		}
		k++
	}
	return ""
}

// published holds the draws of a machine: draws from its stream or, with a script, the recorded draws of another run.
type published struct {
	draws  []mechanisms.Draw
	drawn  []int
	script *published
}

// draw records a call of Stream.Choose, and returns the index that the call must return.
func (d *published) draw(x mechanisms.Draw, drawn int) int {
	x.Scores = slices.Clone(x.Scores)
	if at := len(d.draws); d.script != nil {
		if drawn = 0; at < len(d.script.drawn) && d.script.drawn[at] < len(x.Scores) {
			drawn = d.script.drawn[at]
		}
	}
	d.draws, d.drawn = append(d.draws, x), append(d.drawn, drawn)
	return drawn
}

// releasesNoSum reports whether the mechanism releases only draws, so that the guarantee covers draws and no sums.
func (g *scriptedRun) releasesNoSum() bool {
	return g.streams[0].Guarantee().Mechanism == mechanisms.ExponentialMechanism
}

// differs describes how the draws so far differ from the script. Scores may depend on events only if the guarantee
// covers draws. The number of draws, their laws and their numbers of candidates must never depend on events.
func (d *published) differs(withoutSums bool) string {
	if len(d.draws) != len(d.script.draws) {
		return fmt.Sprintf("%d draws of other events over the same sums, want %d", len(d.draws), len(d.script.draws))
	}
	for i, x := range d.draws {
		want := d.script.draws[i]
		if x.Step != want.Step || x.Instance != want.Instance || x.Law != want.Law ||
			len(x.Scores) != len(want.Scores) {
			return fmt.Sprintf("draw %d is another one: its place, its law or its number of scores depends on events", i)
		}
		if !withoutSums && !slices.Equal(x.Scores, want.Scores) {
			return fmt.Sprintf("draw %d: scores depend on events, and no guarantee has the price", i)
		}
	}
	return ""
}

// scriptedRun is a machine over scripted sums. It holds the decisions of the last record, and the state without the
// states of the machine's streams.
type scriptedRun struct {
	machine *operators.Counted
	streams []*mechanisms.Stream
	draws   *published
	last    history
	fault   string
}

// open makes the decisions that are due before the first record, and the draws for them.
func (g *scriptedRun) open() {
	for _, stream := range g.streams {
		stream.DrawBy(g.draws.draw)
	}
	g.last.decisions = operators.AppendCopies(nil, g.machine.Open(nil))
}

// overScriptedSums returns a machine over random sums. The sums grow like real sums, and are sometimes zero or far
// beyond the range of a real sum.
func (s suite) overScriptedSums(tb testing.TB) *scriptedRun {
	tb.Helper()
	g := &scriptedRun{}
	g.machine = operators.ByCount(s.make(tb, func(c mechanisms.Config) *mechanisms.Stream {
		tb.Helper()
		rng := rand.New(rand.NewPCG(uint64(len(g.streams)), 17))
		release := func(dst []float64, step uint64) {
			size := c.Clip() * math.Sqrt(float64(step*c.Batch))
			switch step % 11 {
			case 5:
				size = 0
			case 7:
				size *= 1e6
			}
			for i := range dst {
				dst[i] = float64(size * rng.NormFloat64())
			}
		}
		var sums []mechanisms.Sum
		for range c.Contribution.Components {
			sums = append(sums, mechtest.NewScripted(release))
		}
		stream, err := s.plans.of(tb, c).mechanism.OpenOver([32]byte{2}, sums...)
		if err != nil {
			tb.Fatal(err)
		}
		g.streams = append(g.streams, stream)
		return stream
	}))
	if len(g.streams) == 0 {
		tb.Fatal("the machine opens no stream: its decisions see events by another way than a private sum")
	}
	return g
}

func (g *scriptedRun) add(r operators.Record) {
	g.last = history{decisions: operators.AppendCopies(nil, g.machine.Add(nil, r)), state: g.machine.AppendState(nil)}
	for _, stream := range g.streams {
		inner := stream.AppendState(nil)
		at := bytes.Index(g.last.state, inner)
		if at < 0 {
			g.fault = "the state does not hold its stream's state"
			return
		}
		g.last.state = slices.Delete(g.last.state, at, at+len(inner))
	}
}
