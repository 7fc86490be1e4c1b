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
	"oriel/schemas"
)

// decisionsArePostProcessing wants machines whose private sums are equal to publish equal bytes and to keep equal state
// outside their streams, whatever their events say. All privacy is proved of the sums, so it holds of decisions for
// just this reason.
func (s suite) decisionsArePostProcessing(t *testing.T) {
	for name, change := range otherEvents() {
		t.Run(name, func(t *testing.T) {
			if fault := s.differsOverGivenSums(t, change); fault != "" {
				t.Error(fault)
			}
		})
	}
}

// otherEvents change what records say and nothing else of them.
func otherEvents() map[string]func(r *operators.Record) {
	changes := map[string]func(r *operators.Record){
		"null":      func(r *operators.Record) { r.Null, r.Event = true, schemas.Event{} },
		"not null":  func(r *operators.Record) { r.Null, r.Event.Weight = false, 1 },
		"zero leaf": func(r *operators.Record) { r.Event.Weight = 0 },
		"heavy":     func(r *operators.Record) { r.Event.Weight = 1e300 },
		"huge":      func(r *operators.Record) { scale(&r.Event, 1e150) },
		"tiny":      func(r *operators.Record) { scale(&r.Event, 1e-12) },
		"one ulp":   func(r *operators.Record) { scale(&r.Event, 1+0x1p-52) },
		"opposite":  func(r *operators.Record) { scale(&r.Event, -1) },
		"label":     func(r *operators.Record) { r.Event.Label *= -1 },
	}
	for name, spoil := range useless {
		changes[name] = func(r *operators.Record) { spoil(&r.Event) }
	}
	return changes
}

func scale(e *schemas.Event, by float64) {
	e.Vector.Values = slices.Clone(e.Vector.Values)
	for i := range e.Vector.Values {
		e.Vector.Values[i] *= by
	}
}

// differsOverGivenSums plays the records on one machine and changed ones on another, and says what differs: nothing, or
// the first difference. Records are changed in stretches, so that what a machine keeps of one event shows at the next
// as well.
func (s suite) differsOverGivenSums(tb testing.TB, change func(r *operators.Record)) string {
	tb.Helper()
	plain, changed := s.overGivenSums(tb), s.overGivenSums(tb)
	for i, r := range s.records {
		plain.add(tb, r)
		if i/5%2 == 0 {
			r.Event.Vector.Values = slices.Clone(r.Event.Vector.Values)
			change(&r)
		}
		changed.add(tb, r)
		switch {
		case !slices.EqualFunc(plain.last.decisions, changed.last.decisions, sameDecision):
			return fmt.Sprintf("record %d: decisions %v of other events over the same sums, want %v",
				i, changed.last.decisions, plain.last.decisions)
		case !bytes.Equal(plain.last.state, changed.last.state):
			return fmt.Sprintf("record %d: the state outside the stream depends on the event", i)
		case plain.fault != "" || changed.fault != "":
			return fmt.Sprintf("record %d: %s%s", i, plain.fault, changed.fault)
		}
	}
	return ""
}

// overGiven is a machine over given sums: its last record's decisions, and its state without that of its streams.
type overGiven struct {
	machine operators.Machine
	streams []*mechanisms.Stream
	last    history
	fault   string
}

// overGivenSums returns a machine whose sums are random, ever larger as sums are, at times zero or far beyond what a
// sum can be.
func (s suite) overGivenSums(tb testing.TB) *overGiven {
	tb.Helper()
	g := &overGiven{}
	g.machine = s.make(tb, func(c mechanisms.Config) *mechanisms.Stream {
		tb.Helper()
		rng := rand.New(rand.NewPCG(uint64(len(g.streams)), 17))
		stream := mechtest.GivenStream(tb, c, s.plans.of(tb, c), func(dst []float64, step uint64) {
			size := c.Clip * math.Sqrt(float64(step*c.Batch))
			switch step % 11 {
			case 5:
				size = 0
			case 7:
				size *= 1e6
			}
			for i := range dst {
				dst[i] = float64(size * rng.NormFloat64())
			}
		})
		g.streams = append(g.streams, stream)
		return stream
	})
	if len(g.streams) == 0 {
		tb.Fatal("the machine opens no stream: its decisions see events by another way than a private sum")
	}
	return g
}

func (g *overGiven) add(tb testing.TB, r operators.Record) {
	tb.Helper()
	g.last = history{decisions: appendCopies(nil, g.machine.Add(nil, r)), state: g.machine.AppendState(nil)}
	for _, stream := range g.streams {
		inner := stream.AppendState(nil)
		at := bytes.Index(g.last.state, inner)
		if at < 0 {
			g.fault = "the state does not hold that of its stream"
			return
		}
		g.last.state = slices.Delete(g.last.state, at, at+len(inner))
	}
}
