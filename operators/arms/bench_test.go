package arms

import (
	"strconv"
	"testing"

	"oriel/operators"
	"oriel/operators/optest"
	"oriel/schemas/event"
)

// BenchmarkAdd measures adding losses of actions to a machine that publishes two actions for each loss.
func BenchmarkAdd(b *testing.B) {
	for _, rule := range []string{ucb, exp3, exp3Uniform} {
		for _, arms := range []int{10, 1000} {
			c := config(rule, 64, 4)
			c.Arms, c.Actions.Actions = named(arms), 128
			m := open(b, c, released(c, 1), 1, false)
			counted := operators.ByCount(m)
			b.Run(rule+"/arms="+strconv.Itoa(arms), func(b *testing.B) {
				made, key := m.Open(nil), []byte(nil)
				event := event.Event{Numbers: []float64{0.5}}
				b.ReportAllocs()
				for i := int64(0); b.Loop(); i++ {
					key = strconv.AppendUint(key[:0], c.Actions.First(m.table.Step())+uint64(i)%64, 10)
					r := operators.Record{Key: key, Event: event}
					r.Identity.Offset = i
					made = counted.Add(made[:0], r)
				}
			})
		}
	}
}

// TestFeedbackAllocatesNothing checks that adding answers and publishing actions allocate nothing. Two allocations are
// allowed in a step: the cipher for the noise of its release, which has a key of its own, and the integers of an exact
// draw of an arm.
func TestFeedbackAllocatesNothing(t *testing.T) {
	for rule, most := range map[string]float64{ucb: 2, exp3: 40, exp3Uniform: 40} {
		c := config(rule, 64, 4)
		m := open(t, c, released(c, 1), 1, false)
		if got := optest.FeedbackAllocates(m, c.Actions, m.table.Step, 10); got > most {
			t.Errorf("%s: %g allocations a step of 64 answers", rule, got)
		}
	}
}
