package papers

import (
	"context"
	"strconv"

	"oriel/operators"
	"oriel/schemas/event"
)

// player is a row of an experiment whose operator learns from the feedback to its own actions. settings returns the
// complete settings for a column.
type player struct {
	Row
	settings func(column int, steps uint64) []string
}

// rowsOf returns the rows of methods or players, which embed them.
func rowsOf[P interface{ row() Row }](all []P) []Row {
	rows := make([]Row, len(all))
	for i, p := range all {
		rows[i] = p.row()
	}
	return rows
}

// lasting returns the settings of sums that decay with a memory or, if memory is "", of sums of the whole run.
func lasting(memory string, steps uint64) []string {
	if memory != "" {
		return []string{"ORIEL_WINDOW=lifetime", "ORIEL_MEMORY=" + memory}
	}
	return []string{whole, "ORIEL_HORIZON=" + strconv.FormatUint(steps, 10)}
}

// staysAndTurns returns two groups of columns, each with one column per budget: first for a stream that never changes,
// then for one that changes after each quarter of the run.
func staysAndTurns(budgets []float64) (columns []Column) {
	for _, law := range []string{"stays", "turns"} {
		for _, epsilon := range budgets {
			name := law + ", ε = " + number(epsilon)
			columns = append(columns, Column{Name: name, Text: name})
		}
	}
	return columns
}

// turnsAt reports whether the stream changes after a step. The column must be one of staysAndTurns.
func (c Cell) turnsAt(step uint64) bool { return c.Column >= 2 && step > 0 && step%(c.Steps/4) == 0 }

// world simulates the feedback to actions.
type world interface {
	cost(play []float64) float64 // feedback to one action: its cost, or the value of a set
	regret() float64             // regret of all actions so far against the best fixed action
}

// answer carries out each action in a world as soon as the operator offers it, and returns the curve of the regret.
func answer(ctx context.Context, list []string, key [32]byte, w world, steps uint64) ([]Point, error) {
	machine, _, err := open(list, key)
	if err != nil {
		return nil, err
	}
	offered := machine.Open(nil)
	next, name, loss := 0, []byte(nil), []float64{0}
	var r operators.Record
	return measure(ctx, steps, func() {
		d := offered[next]
		loss[0] = w.cost(d.Point)
		name = strconv.AppendUint(name[:0], d.Index, 10)
		r.Identity.Offset++
		r.Key, r.Event = name, event.Event{Numbers: loss}
		// The operator offers a round only if all feedback of the previous round has arrived, so no earlier offer is open.
		if next++; next < len(offered) {
			machine.Add(nil, r)
			return
		}
		offered, next = machine.Add(offered[:0], r), 0
	}, w.regret)
}
