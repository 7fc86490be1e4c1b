package pending

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"math"
	"testing"

	"oriel/mechanisms/mechtest/goldentest"
)

var fuzzed = Config{Capacity: 3, Width: 1, Name: 2, Timeout: 2}

// usedTable returns a table with a row of each mark.
func usedTable(tb testing.TB) *Table {
	table := newTable(tb, fuzzed)
	table.Put([]byte("a"), 1, []float64{1})
	table.Put([]byte("b"), 1, []float64{2})
	table.Expired(3)
	table.Put([]byte("c"), 3, []float64{3})
	table.Take([]byte("c"), 3)
	table.Expired(3)
	table.Put([]byte("dd"), 3, []float64{4})
	return table
}

func TestStateHasFixedLengthAndNoReleasedValues(t *testing.T) {
	table := newTable(t, fuzzed)
	if n := len(table.AppendState(nil)); n != fuzzed.StateLen() {
		t.Errorf("empty: %d bytes", n)
	}
	secret := binary.LittleEndian.AppendUint64(nil, math.Float64bits(math.Pi))
	for _, end := range []func(){
		func() { table.Take([]byte("a"), 1) },
		func() { table.Expired(5) },
	} {
		table = newTable(t, fuzzed)
		table.Put([]byte("a"), 1, []float64{math.Pi})
		if !bytes.Contains(table.AppendState(nil), secret) {
			t.Fatal("a waiting row has no content")
		}
		if end(); bytes.Contains(table.AppendState(nil), secret) || len(table.AppendState(nil)) != fuzzed.StateLen() {
			t.Error("another length, or the content of a row that is gone")
		}
	}
}

// TestGoldenStates checks that the format of stored states does not change.
func TestGoldenStates(t *testing.T) {
	goldentest.Check(t, []string{
		hex.EncodeToString(newTable(t, fuzzed).AppendState(nil)),
		hex.EncodeToString(usedTable(t).AppendState(nil)),
	})
}

func TestRestoreRefuses(t *testing.T) {
	table := usedTable(t)
	state := table.AppendState(nil)
	f := func(what string, change func(s stateView)) {
		t.Helper()
		broken := stateView{fuzzed, bytes.Clone(state)}
		change(broken)
		if bytes.Equal(broken.b, state) {
			t.Fatalf("%s: nothing was changed", what)
		}
		if table.Restore(broken.b) == nil {
			t.Errorf("%s is taken", what)
		}
		if !bytes.Equal(table.AppendState(nil), state) {
			t.Fatalf("%s: the table has changed", what)
		}
	}
	put, gone := func(s stateView, n uint64) { binary.LittleEndian.PutUint64(s.b, n) },
		func(s stateView, n uint64) { binary.LittleEndian.PutUint64(s.b[8:], n) }
	f("more gone than put", func(s stateView) { gone(s, 5) })
	f("more than fit", func(s stateView) { gone(s, 0) })
	f("a waiting row gone", func(s stateView) { gone(s, 4) })
	f("an expired row that is not gone", func(s stateView) { gone(s, 1) })
	f("rows beyond those put", func(s stateView) { put(s, 2) })
	f("an endless count", func(s stateView) { put(s, 1<<64-1); gone(s, 1<<64-1) })
	f("steps that go back", func(s stateView) { s.row(0)[0] = 0 })
	f("no mark", func(s stateView) { s.row(0)[8] = 0 })
	f("another mark", func(s stateView) { s.row(0)[8] = 4 })
	f("no name", func(s stateView) { s.row(0)[9] = 0 })
	f("a long name", func(s stateView) { s.row(0)[9] = 3 })
	f("something behind a name", func(s stateView) { s.row(0)[9] = 1 })
	f("a name twice", func(s stateView) { s.row(0)[9] = 1; s.row(0)[10] = 'c'; s.row(0)[11] = 0 })
	f("values of a taken row", func(s stateView) { s.row(2)[metaLen+2] = 1 })
	f("values of an expired row", func(s stateView) { s.row(1)[metaLen+2] = 1 })
	if table.Restore(state[1:]) == nil || table.Restore(append(bytes.Clone(state), 0)) == nil ||
		table.Restore(nil) == nil {
		t.Error("a state of another length is taken")
	}
	if err := table.Restore(state); err != nil {
		t.Error(err)
	}
}

// TestRestoreRefusesInconsistentCounts checks that wrong counts are refused. All rows of the state wait, so that no
// mark contradicts the counts.
func TestRestoreRefusesInconsistentCounts(t *testing.T) {
	table := newTable(t, fuzzed)
	table.Put([]byte("a"), 1, []float64{1})
	view := stateView{fuzzed, table.AppendState(nil)}
	view.row(2)[0] = 1
	if table.Restore(view.b) == nil {
		t.Error("a place that was never used holds something")
	}
	table.Put([]byte("b"), 1, []float64{1})
	table.Put([]byte("c"), 1, []float64{1})
	table.Expired(3)
	table.Put([]byte("d"), 3, []float64{1})
	view = stateView{fuzzed, table.AppendState(nil)}
	if view.put() != 4 || view.gone() != 1 {
		t.Fatalf("%d put, %d gone", view.put(), view.gone())
	}
	binary.LittleEndian.PutUint64(view.b[8:], 0)
	if table.Restore(view.b) == nil {
		t.Error("four rows in three places are taken")
	}
}

func FuzzRestore(f *testing.F) {
	f.Add(newTable(f, fuzzed).AppendState(nil))
	f.Add(usedTable(f).AppendState(nil))
	f.Add([]byte{})
	f.Fuzz(func(t *testing.T, state []byte) {
		table := usedTable(t)
		before := table.AppendState(nil)
		if table.Restore(state) != nil {
			state = before
		}
		if !bytes.Equal(table.AppendState(nil), state) {
			t.Fatal("not the state that was restored, or the one before")
		}
		step := table.steps[0] | table.steps[1] | table.steps[2] | 1<<63 // a step that is not lower than the newest one
		for n := 0; ; n++ {
			if _, some := table.Expired(step); !some {
				break
			} else if n == fuzzed.Capacity {
				t.Fatal("more rows than places")
			}
		}
		table.Put([]byte("e"), step, []float64{5})
		if after := newTable(t, fuzzed); table.put <= maxPut && after.Restore(table.AppendState(nil)) != nil {
			t.Fatal("own state refused")
		}
	})
}
