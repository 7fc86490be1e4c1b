package eval

import (
	"math"
	"slices"
	"strings"

	"oriel/cmd/internal/settings"
	"oriel/mechanisms/protection"
	"oriel/operators"
	"oriel/pipeline/streams"
)

// Entry is a setting with the machines that run it.
type Entry[M any] struct {
	Head      RowHead
	Settings  settings.Settings
	Operator  operators.Operator
	Guarantee protection.Guarantee
	Learner   string // canonical settings without those that affect only the noise of decisions
	Private   []M    // by seed
	Exact     M      // without noise; all entries with the same learner share it
}

// Enter opens the machines of all settings, and returns the machines besides. open opens a machine for the i-th setting
// with the noise of a seed, from 1; seed 0 is for the model without noise.
func Enter[M any](in Input, open func(i int, e *Entry[M], m streams.Model, seed int) (M, error)) (
	entries []*Entry[M], all []M, err error,
) {
	exact := map[string]M{} // by learner
	for i, s := range in.Settings {
		model := s.Model()
		e := &Entry[M]{Settings: s, Operator: model.Learner.Operator(), Learner: learnerOf(s)}
		if e.Guarantee, err = s.Guarantee(model); err != nil {
			return nil, nil, err
		}
		e.Head = rowHead(s, e.Guarantee)
		for seed := range in.Seeds {
			m, err := open(i, e, model, seed+1)
			if err != nil {
				return nil, nil, err
			}
			e.Private = append(e.Private, m)
		}
		all = append(all, e.Private...)
		shared, opened := exact[e.Learner]
		if !opened {
			if model, err = withoutNoise(s); err != nil {
				return nil, nil, err
			}
			if shared, err = open(i, e, model, 0); err != nil {
				return nil, nil, err
			}
			exact[e.Learner], all = shared, append(all, shared)
		}
		e.Exact, entries = shared, append(entries, e)
	}
	return entries, all, nil
}

// RowHead begins a row of a report.
type RowHead struct {
	Name      string  `json:"name"`
	Mechanism string  `json:"mechanism"`
	Epsilon   float64 `json:"epsilon"` // ε that the mechanism proves
	Delta     float64 `json:"delta"`
	Window    uint64  `json:"window_steps"` // W: length of the window; 0: no window
	Memory    uint64  `json:"memory_steps"` // H: length of the memory; 0: sums do not decay
}

func rowHead(s settings.Settings, g protection.Guarantee) RowHead {
	scope := g.Scope.Figures()
	h := RowHead{s.Mechanism, s.Mechanism, g.Epsilon, g.Delta, scope.Window, scope.Memory}
	if h.Memory > 0 {
		h.Name += ", for life"
	}
	return h
}

// learnerOf returns the canonical configuration without the settings that affect only noise.
func learnerOf(s settings.Settings) string {
	var lines []string
	for line := range strings.Lines(s.Canonical()) {
		name, _, _ := strings.Cut(line, "=")
		switch name {
		case "ADJACENCY", "AGE_WEIGHT", "DELTA", "EPSILON", "HORIZON", "MECHANISM", "POLES", "WINDOW":
		default:
			lines = append(lines, line)
		}
	}
	return strings.Join(lines, "")
}

// nearby is the number of records on each side that a timestamp is compared with: few odd ones are not the median of
// five, and a stream that pauses has five records after the pause at once.
const nearby = 5

// Arrival gives the records of a stream the times at which they came. Producers write timestamps, so one record may be
// of 1970 or of next year, or have none. A time is the timestamp, unless it is before the median of the five before, or
// after the median of the five behind. So a time of records in order is the timestamp itself.
type Arrival[T any] struct {
	items []T
	times []int64 // timestamps of up to five records that were taken, then those of items; negative: none
	taken int     // number of the former
}

// Add adds the next record, with its timestamp.
func (a *Arrival[T]) Add(item T, timestamp int64) {
	a.items, a.times = append(a.items, item), append(a.times, timestamp)
}

// Full reports whether Take knows enough records behind the next one.
func (a *Arrival[T]) Full() bool { return len(a.items) > nearby }

// Len returns the number of records that were added and not taken.
func (a *Arrival[T]) Len() int { return len(a.items) }

// Take removes the next record. Its time is negative if no record around it has a timestamp. Before the end of the
// stream, Arrival must be Full.
func (a *Arrival[T]) Take() (item T, timestamp, ms int64) {
	timestamp = a.times[a.taken]
	before, earliest := middle(a.times[:a.taken])
	behind, latest := middle(a.times[a.taken+1:])
	if latest == 0 {
		behind = math.MaxInt64
	}
	switch ms = timestamp; { // at an end of the stream, the side with more records decides
	case earliest+latest == 0:
	case ms < 0 && earliest >= latest:
		ms = before
	case ms < 0:
		ms = behind
	case earliest >= latest:
		ms = max(min(ms, behind), before)
	default:
		ms = min(max(ms, before), behind)
	}
	item = a.items[0]
	a.items = a.items[1:]
	if a.taken++; a.taken > nearby {
		a.times, a.taken = a.times[1:], nearby
	}
	return item, timestamp, ms
}

// middle returns the median of the timestamps that are not negative, and their number. Without any the median is 0.
func middle(timestamps []int64) (ms int64, count int) {
	var all [nearby]int64
	some := all[:0]
	for _, ms := range timestamps[:min(len(timestamps), nearby)] {
		if ms >= 0 {
			some = append(some, ms)
		}
	}
	if len(some) == 0 {
		return 0, 0
	}
	slices.Sort(some)
	return some[len(some)/2], len(some)
}
