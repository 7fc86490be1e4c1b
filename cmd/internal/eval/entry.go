package eval

import (
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
