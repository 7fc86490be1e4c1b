package optest

import (
	"math/rand/v2"
	"slices"
	"strconv"
	"testing"

	"oriel/operators"
	"oriel/operators/actions"
	"oriel/schemas/event"
)

// RunActions is RunHolding for machines that publish actions ahead of their feedback. Records have keys of actions. The
// last field of a state, after the states of its streams, must be the table of waiting actions.
func RunActions(t *testing.T, newMachine Make, c actions.Config, events []event.Event) {
	t.Helper()
	RunHolding(t, newMachine, func(place int) []byte { return ActionKey(c, place) }, func(state []byte) []byte {
		at := len(state) - c.StateLen()
		return slices.Concat(state[:at], c.Public(state[at:]))
	}, events)
}

// FeedbackAllocates returns the number of allocations of a step all of whose records answer actions, after some steps
// without measurement. step returns the number of the machine's open step.
func FeedbackAllocates(m operators.Machine, c actions.Config, step func() uint64, before int) float64 {
	counted := operators.ByCount(m)
	made, key, i := counted.Open(nil), []byte(nil), int64(0)
	event := event.Event{Numbers: []float64{0.5}}
	answer := func() {
		for range c.Records {
			key = strconv.AppendUint(key[:0], c.First(step())+uint64(i)%uint64(c.Records), 10)
			r := operators.Record{Key: key, Event: event}
			r.Identity.Offset = i
			made = counted.Add(made[:0], r)
			i++
		}
	}
	for range before {
		answer()
	}
	return testing.AllocsPerRun(100, answer)
}

// ActionKey returns the key of the record at a place: the key of an open action, the key of another action, or no key.
func ActionKey(c actions.Config, place int) []byte {
	switch place % 7 {
	case 3:
		return []byte("unknown")
	case 5:
		place++ // another action's key, because some answers come under a wrong key
	}
	step := uint64(place/c.Records) + 1
	return strconv.AppendUint(nil, c.First(step)+uint64(place%c.Actions), 10)
}

// Feedback returns n events of one number each, uniformly distributed between low and high.
func Feedback(n int, low, high float64) []event.Event {
	rng := rand.New(rand.NewPCG(4, 4))
	events := make([]event.Event, n)
	for i := range events {
		events[i] = event.Event{Numbers: []float64{(high-low)*rng.Float64() + low}}
	}
	return events
}
