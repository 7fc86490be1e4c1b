package pending

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"testing"
)

// referenceTable is a slow Table: a list of all rows ever put.
type referenceTable struct {
	config Config
	rows   []*referenceRow
}

type referenceRow struct {
	name           string
	step           uint64
	values         string
	taken, expired bool
}

func (w *referenceTable) timedOut(r *referenceRow, step uint64) bool {
	return r.step+w.config.Timeout <= step
}

// known returns the newest rows, at most one for each place of a table.
func (w *referenceTable) known() []*referenceRow {
	return w.rows[max(0, len(w.rows)-w.config.Capacity):]
}

func (w *referenceTable) find(name string) (found *referenceRow) {
	for _, r := range w.known() {
		if r.name == name {
			found = r
		}
	}
	return found
}

func (w *referenceTable) put(name string, step uint64, values string) Status {
	if name == "" || len(name) > w.config.Name {
		return Unnamed
	}
	if r := w.find(name); r != nil && !w.timedOut(r, step) {
		return Again
	}
	first := len(w.rows) // index of the oldest row that holds a place
	for i := len(w.rows) - 1; i >= 0; i-- {
		if r := w.rows[i]; !r.expired && !(r.taken && w.timedOut(r, step)) {
			first = i
		}
	}
	if len(w.rows)-first >= w.config.Capacity {
		return Full
	}
	w.rows = append(w.rows, &referenceRow{name: name, step: step, values: values})
	return Done
}

func (w *referenceTable) take(name string, step uint64) (string, Status) {
	switch r := w.find(name); {
	case r == nil:
		return "", Foreign
	case r.taken:
		return "", Again
	case r.expired || w.timedOut(r, step):
		return "", Late
	default:
		r.taken = true
		return r.values, Done
	}
}

func (w *referenceTable) expire(step uint64) (name string, some bool) {
	for _, r := range w.rows {
		if !r.taken && !r.expired && w.timedOut(r, step) {
			r.expired = true
			return r.name, true
		}
	}
	return "", false
}

// TestTableMatchesTheReference compares Table with referenceTable on random calls. It saves and restores the table
// between calls.
func TestTableMatchesTheReference(t *testing.T) {
	for seed := range uint64(300) {
		rng := rand.New(rand.NewPCG(seed, 1))
		c := Config{Capacity: 1 + rng.IntN(8), Width: rng.IntN(3), Name: 1 + rng.IntN(3), Timeout: 1 + rng.Uint64N(6)}
		table, slow := newTable(t, c), &referenceTable{config: c}
		step := uint64(0)
		for range 400 {
			step += rng.Uint64N(2)
			name := fmt.Sprint(rng.IntN(20))
			if rng.IntN(3) == 0 {
				name += fmt.Sprint(rng.IntN(9))
			}
			values := make([]float64, c.Width)
			for k := range values {
				values[k] = rng.NormFloat64()
			}
			switch rng.IntN(5) {
			case 0, 1:
				if got, want := table.Put([]byte(name), step, values), slow.put(name, step, fmt.Sprint(values)); got != want {
					t.Fatalf("seed %d: put %q at %d: %d, want %d", seed, name, step, got, want)
				}
			case 2:
				row, got := table.Take([]byte(name), step)
				values, want := slow.take(name, step)
				if got != want || got == Done && fmt.Sprint(row.Values) != values {
					t.Fatalf("seed %d: take %q at %d: %v %d, want %s %d", seed, name, step, row, got, values, want)
				}
			case 3:
				row, some := table.Expired(step)
				if name, want := slow.expire(step); some != want || some && string(row.Name) != name {
					t.Fatalf("seed %d: expired at %d: %v %v, want %s %v", seed, step, row, some, name, want)
				}
			case 4:
				state := table.AppendState(nil)
				other := newTable(t, c)
				if rng.IntN(2) == 0 {
					other = table
				}
				if err := other.Restore(state); err != nil || len(state) != c.StateLen() {
					t.Fatalf("seed %d: %v, %d bytes", seed, err, len(state))
				}
				if !bytes.Equal(other.AppendState(nil), state) {
					t.Fatalf("seed %d: another state", seed)
				}
				table = other
			}
		}
	}
}
