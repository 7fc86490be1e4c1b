package pending

import (
	"fmt"
	"math"
	"strings"
	"testing"
)

func newTable(tb testing.TB, c Config) *Table {
	tb.Helper()
	t, err := New(c)
	if err != nil {
		tb.Fatal(err)
	}
	return t
}

// story is a table whose calls are logged, each on one line.
type story struct {
	*testing.T
	table *Table
}

func described(r Row) string { return fmt.Sprintf("%s %d %v", r.Name, r.Step, r.Values) }

func (s story) put(name string, step uint64, value float64, want Status) {
	s.Helper()
	if got := s.table.Put([]byte(name), step, []float64{value, -value}); got != want {
		s.Errorf("put %s at %d: %d, want %d", name, step, got, want)
	}
}

func (s story) take(name string, step uint64, want Status) {
	s.Helper()
	if row, got := s.table.Take([]byte(name), step); got != want || got != Done && row.Values != nil {
		s.Errorf("take %s at %d: %d %v, want %d", name, step, got, row, want)
	}
}

func (s story) taken(name string, step, put uint64, value float64) {
	s.Helper()
	row, got := s.table.Take([]byte(name), step)
	if text := described(row); got != Done || text != described(Row{[]byte(name), put, []float64{value, -value}}) {
		s.Errorf("take %s at %d: %d %s", name, step, got, text)
	}
}

func (s story) expired(step uint64, want ...string) {
	s.Helper()
	var got []string
	for {
		row, some := s.table.Expired(step)
		if !some {
			break
		}
		got = append(got, described(row))
	}
	if strings.Join(got, " ") != strings.Join(want, " ") {
		s.Errorf("expired at %d: %q, want %q", step, got, want)
	}
}

func newStory(t *testing.T) story {
	return story{t, newTable(t, Config{Capacity: 4, Width: 2, Name: 5, Timeout: 3})}
}

// TestFaultyFeedback checks the table with actions of a bandit and feedback that is late, doubled, out of order,
// foreign or missing.
func TestFaultyFeedback(t *testing.T) {
	s := newStory(t)
	s.put("p1", 1, 10, Done)
	s.put("p2", 1, 20, Done)
	s.put("p3", 2, 30, Done)
	s.taken("p3", 2, 2, 30) // p3 is answered before p2
	s.taken("p1", 3, 1, 10)
	s.take("p1", 3, Again)
	s.take("p9", 3, Foreign)
	s.take("", 3, Foreign)
	s.take("p2xxxxxx", 3, Foreign)
	s.expired(3)
	s.take("p2", 4, Late) // its time is over, also if Expired has not returned it yet
	s.expired(4, "p2 1 [20 -20]")
	s.take("p2", 4, Late)
	s.expired(100)
	s.take("p3", 100, Again) // the table still stores that p3 was taken
}

// TestARowKeepsItsPlaceUntilItsTimeout checks that a row keeps its place until its time-out, whether it is taken or
// not: whether another row fits depends only on the steps of earlier Puts.
func TestARowKeepsItsPlaceUntilItsTimeout(t *testing.T) {
	s := newStory(t)
	for _, name := range []string{"a", "b", "c", "d"} {
		s.put(name, 1, 1, Done)
	}
	s.put("e", 1, 1, Full)
	s.taken("a", 2, 1, 1)
	s.taken("b", 2, 1, 1)
	s.put("e", 3, 1, Full)
	s.put("e", 4, 2, Done) // a and b were taken and have timed out, so that their places are free
	s.put("f", 4, 3, Done)
	s.put("g", 4, 4, Full) // c has timed out, too, but Expired has not returned it yet
	s.expired(4, "c 1 [1 -1]", "d 1 [1 -1]")
	s.put("g", 4, 4, Done)
	s.take("a", 4, Foreign) // the table no longer stores a, because e has its place
	s.take("c", 4, Foreign)
	s.take("d", 4, Late)
	s.put("h", 4, 5, Done)
	s.expired(7, "e 4 [2 -2]", "f 4 [3 -3]", "g 4 [4 -4]", "h 4 [5 -5]")
}

// TestNewest checks that Newest returns the step of the last Put, also after the row was taken and after a restart.
func TestNewest(t *testing.T) {
	s := newStory(t)
	f := func(want uint64, some bool) {
		t.Helper()
		other := newStory(t)
		if err := other.table.Restore(s.table.AppendState(nil)); err != nil {
			t.Fatal(err)
		}
		for _, table := range []*Table{s.table, other.table} {
			if step, got := table.Newest(); step != want || got != some {
				t.Errorf("newest %d %t, want %d %t", step, got, want, some)
			}
		}
	}
	f(0, false)
	for step := uint64(2); step < 12; step += 2 { // more rows than places
		s.expired(step, map[uint64][]string{6: {"a 2 [1 -1]"}, 8: {"b 4 [1 -1]"}, 10: {"c 6 [1 -1]"}}[step]...)
		s.put(string('a'+rune(step/2)-1), step, 1, Done)
		f(step, true)
	}
	s.taken("e", 10, 10, 1)
	f(10, true)
}

func TestANameMayReturnAfterItsTimeout(t *testing.T) {
	s := newStory(t)
	s.put("a", 1, 1, Done)
	s.put("a", 3, 2, Again)
	s.taken("a", 3, 1, 1)
	s.put("a", 3, 2, Again)
	s.put("a", 4, 2, Done)
	s.taken("a", 5, 4, 2)
	s.take("a", 5, Again)
	s.put("", 5, 3, Unnamed)
	s.put("sixxxx", 5, 3, Unnamed)
	s.put("five5", 5, 3, Done)
	s.taken("five5", 5, 5, 3)
}

func TestStepsNearTheEndOfTheirType(t *testing.T) {
	s := story{t, newTable(t, Config{Capacity: 2, Width: 2, Name: 1, Timeout: math.MaxUint64})}
	s.put("a", 0, 1, Done)
	s.put("b", 1, 2, Done)
	s.expired(math.MaxUint64 - 1)
	s.expired(math.MaxUint64, "a 0 [1 -1]")
	s.taken("b", math.MaxUint64, 1, 2)
}

func TestPutPanics(t *testing.T) {
	f := func(step uint64, values ...float64) {
		t.Helper()
		s := newStory(t)
		s.put("a", 5, 1, Done)
		defer func() {
			if recover() == nil {
				t.Errorf("step %d, values %v are taken", step, values)
			}
		}()
		s.table.Put([]byte("b"), step, values)
	}
	f(4, 1, 2)
	f(5, 1)
}

func TestConfigReportsEveryProblem(t *testing.T) {
	err := Config{Capacity: 0, Width: -1, Name: 256}.Validate()
	for _, word := range []string{"capacity", "width", "name", "timeout"} {
		if err == nil || !strings.Contains(err.Error(), word) {
			t.Errorf("%v: %s is not named", err, word)
		}
	}
	if err := (Config{Capacity: 1 << 20, Width: 100, Name: 8, Timeout: 1}).Validate(); err == nil {
		t.Error("a state of 800 MiB is taken")
	}
	if _, err := New(Config{}); err == nil {
		t.Error("nothing is a configuration")
	}
}

func TestNothingIsAllocatedAfterConstruction(t *testing.T) {
	table := newTable(t, Config{Capacity: 64, Width: 8, Name: 16, Timeout: 32})
	values, state, step := make([]float64, 8), table.AppendState(nil), uint64(0)
	name := []byte("play 0000")
	if n := testing.AllocsPerRun(1000, func() {
		step++
		name[5], name[8] = byte(step>>8), byte(step)
		table.Put(name, step, values)
		if step%3 == 0 {
			table.Take(name, step)
		}
		for _, some := table.Expired(step); some; _, some = table.Expired(step) {
		}
		state = table.AppendState(state[:0])
		if err := table.Restore(state); err != nil {
			t.Fatal(err)
		}
	}); n != 0 {
		t.Errorf("%v allocations a step", n)
	}
}
