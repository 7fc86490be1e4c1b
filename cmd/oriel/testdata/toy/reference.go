package toy

import (
	"slices"

	"oriel/operators"
	"oriel/schemas/event"
)

// reference is the reference model. It knows the pending actions from decisions, as any reader of decisions can.
type reference struct {
	operators.OneRecord
	operator
	records uint64
	waiting []waiting
}

type waiting struct {
	name string
	step uint64
	arm  int
}

func (t *reference) Begin() { t.records, t.waiting = 0, nil }

func (t *reference) Observe(decisions []operators.Decision) {
	for _, d := range decisions {
		if d.Extras != nil {
			m := t.members()
			t.waiting = append(t.waiting, waiting{m.play.Of(d.Extras), d.Step, slices.Index(t.arms, m.arm.Of(d.Extras))})
		}
	}
}

func (t *reference) Contribution(dst []float64, r operators.Record) bool {
	step := t.records / t.batch
	t.records++
	t.waiting = slices.DeleteFunc(t.waiting, func(w waiting) bool { return step-w.step >= t.timeout })
	i := slices.IndexFunc(t.waiting, func(w waiting) bool { return w.name == string(r.Key) })
	if i < 0 {
		return false
	}
	arm := t.waiting[i].arm
	if t.waiting = slices.Delete(t.waiting, i, i+1); r.Null {
		return false
	}
	fill(dst, r.Event, float64(arm), t.constant)
	return true
}

func (t *reference) Canary(u []float64, factor float64) (with, without operators.Record) {
	var key []byte
	if n := len(t.waiting); n > 0 {
		key = []byte(t.waiting[n-1].name)
	}
	record := func(sign float64) operators.Record {
		size := float64(sign * float64(operators.CanaryFactor*t.clip) * factor)
		values := make([]float64, len(u))
		for i, x := range u {
			values[i] = float64(x * size)
		}
		return operators.Record{Key: key, Event: event.Event{
			Vector: event.Vector{Values: values[1:]}, Numbers: values[:1],
		}}
	}
	return record(1), record(-1)
}

func (t *reference) Tangent([]float64) {}
