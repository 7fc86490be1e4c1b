package bandit

import (
	"strconv"
	"testing"

	"oriel/operators"
	"oriel/operators/actions"
	"oriel/operators/setting"
	"oriel/schemas/event"
)

// answering returns a function that answers the next action, and reads the next round when a step closes.
func answering(tb testing.TB, n int) func() {
	tb.Helper()
	c := Config{
		Set: set(tb, "l2-ball", n, 1), Losses: setting.Range{High: 1}, Lipschitz: 1, Rounds: 1 << 20, Shrink: true,
		Actions: actions.Config{Records: 64, Actions: 64, Delay: 4},
	}
	m := open(tb, c, mechanism(c, "blt", 1), 1, false)
	counted := operators.ByCount(m)
	made, key, i := m.Open(nil), []byte(nil), int64(0)
	event := event.Event{Numbers: []float64{0.5}}
	return func() {
		key = strconv.AppendUint(key[:0], c.Actions.First(m.table.Step())+uint64(i)%64, 10)
		r := operators.Record{Key: key, Event: event}
		r.Identity.Offset = i
		made = counted.Add(made[:0], r)
		i++
	}
}

// BenchmarkAdd measures adding losses of actions to a machine that publishes one action for each loss.
func BenchmarkAdd(b *testing.B) {
	for _, n := range []int{2, 16, 128} {
		b.Run("n="+strconv.Itoa(n), func(b *testing.B) {
			answer := answering(b, n)
			b.ReportAllocs()
			for b.Loop() {
				answer()
			}
		})
	}
}

// TestAddAllocatesOnlyTheStreamsCiphers checks that answers and actions allocate nothing. A step draws noise under its
// own key, whose cipher is allocated.
func TestAddAllocatesOnlyTheStreamsCiphers(t *testing.T) {
	answer := answering(t, 16)
	for range 640 {
		answer()
	}
	if got := testing.AllocsPerRun(100, func() {
		for range 64 {
			answer()
		}
	}); got > 2 {
		t.Errorf("%g allocations a step of 64 answers", got)
	}
}
