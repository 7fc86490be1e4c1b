package actions

import (
	"bytes"
	"math"
	"math/rand/v2"
	"strconv"
	"testing"
)

var kinds = []Config{
	{Records: 1, Actions: 1},
	{Records: 3, Actions: 5},
	{Records: 1, Actions: 70, Delay: 1},
	{Records: 4, Actions: 8, Delay: 3},
}

func newTable(tb testing.TB, c Config) *Table {
	tb.Helper()
	t, err := New(c)
	if err != nil {
		tb.Fatal(err)
	}
	return t
}

// slow implements the protocol in the package comment with maps that hold the complete history.
type slow struct {
	Config
	records uint64
	used    map[uint64]bool
	answers map[uint64][]Feedback
}

func (s *slow) add(key string, value float64) (answers bool, feedback Feedback, adds bool) {
	step, place := s.records/uint64(s.Records)+1, int(s.records%uint64(s.Records))
	s.records++
	play, err := strconv.ParseUint(key, 10, 63)
	if err == nil && strconv.FormatUint(play, 10) == key && play > 0 {
		round := (play + uint64(s.Actions) - 1) / uint64(s.Actions)
		open := round == step || round < step && step < round+s.Delay
		if answers = open && !s.used[play] && len(s.answers[round]) < s.Records; answers {
			s.used[play] = true
			s.answers[round] = append(s.answers[round], Feedback{play, value})
		}
	}
	if s.Delay == 0 {
		return answers, Feedback{play, value}, answers
	}
	if step > s.Delay && place < len(s.answers[step-s.Delay]) {
		return answers, s.answers[step-s.Delay][place], true
	}
	return answers, Feedback{}, false
}

// key returns mostly the key of an action that may be open, and sometimes another key.
func key(rng *rand.Rand, c Config, step uint64) string {
	switch rng.IntN(10) {
	case 0:
		return [...]string{
			"", "0", "-1", "01", "1.0", " 1", "one", "18446744073709551615", "99999999999999999999",
		}[rng.IntN(9)]
	case 1:
		return strconv.FormatUint(rng.Uint64(), 10)
	}
	first := c.First(max(step, c.Delay+2) - c.Delay - 1)
	return strconv.FormatUint(first+rng.Uint64N(uint64(c.Actions)*(c.Delay+3)), 10)
}

func TestTableMatchesTheHistory(t *testing.T) {
	for _, c := range kinds {
		table, model := newTable(t, c), &slow{Config: c, used: map[uint64]bool{}, answers: map[uint64][]Feedback{}}
		rng := rand.New(rand.NewPCG(1, uint64(c.Actions)))
		taken := 0
		for i := range 4000 {
			name, value := key(rng, c, table.Step()), rng.Float64()
			want, feedback, adds := model.add(name, value)
			if got := table.Observe([]byte(name), value); got != want {
				t.Fatalf("%+v, record %d, key %q: answers %v, want %v", c, i, name, got, want)
			}
			if want {
				taken++
			}
			if got, some := table.Next(); some != adds || some && got != feedback {
				t.Fatalf("%+v, record %d: adds %v %v, want %v %v", c, i, got, some, feedback, adds)
			}
			if i%50 == 17 { // imitates a restart
				state := table.AppendState(nil)
				again := newTable(t, c)
				if i%c.Records != c.Records-1 {
					if err := again.Restore(state); err != nil || !bytes.Equal(again.AppendState(nil), state) {
						t.Fatalf("%+v, record %d: %v", c, i, err)
					}
					table = again
				}
			}
			if (i+1)%c.Records > 0 {
				continue
			}
			step := model.records / uint64(c.Records)
			round, answers := table.Settled()
			if round != step-min(step, c.Delay) || answers != len(model.answers[round]) {
				t.Fatalf("%+v, step %d: settled %d with %d answers, want %d", c, step, round, answers, len(model.answers[round]))
			}
			table.Settle()
		}
		if taken < 500 {
			t.Errorf("%+v: %d records of 4000 answer a play", c, taken)
		}
	}
}

// TestAnActionHasOneKey checks that an action has one spelling: keys that parse as the same number, and keys that are
// no number, answer nothing.
func TestAnActionHasOneKey(t *testing.T) {
	for _, name := range []string{"", "0", "01", "+1", "-1", " 1", "1 ", "1.0", "1e0", "18446744073709551617"} {
		if newTable(t, Config{Records: 1, Actions: 8}).Observe([]byte(name), 1) {
			t.Errorf("key %q answers a play", name)
		}
	}
}

// TestPublicStateFollowsFromKeys checks that the public part of a table depends only on the keys and not on the values.
func TestPublicStateFollowsFromKeys(t *testing.T) {
	for _, c := range kinds {
		one, other := newTable(t, c), newTable(t, c)
		rng := rand.New(rand.NewPCG(2, uint64(c.Actions)))
		differed := false
		for i := range 400 {
			name, value := []byte(key(rng, c, one.Step())), math.NaN()
			if rng.IntN(2) == 0 {
				value = rng.Float64()
			}
			if one.Observe(name, 7) != other.Observe(name, value) {
				t.Fatalf("%+v, record %d: an answer depends on what it says", c, i)
			}
			_, first := one.Next()
			_, second := other.Next()
			a, b := one.AppendState(nil), other.AppendState(nil)
			if first != second || !bytes.Equal(c.Public(a), c.Public(b)) {
				t.Fatalf("%+v, record %d: what is public depends on what answers say", c, i)
			}
			differed = differed || !bytes.Equal(a, b)
			if (i+1)%c.Records == 0 {
				one.Settle()
				other.Settle()
			}
		}
		if !differed {
			t.Errorf("%+v: no state has held an answer", c)
		}
	}
}

func TestNothingIsAllocated(t *testing.T) {
	c := Config{Records: 8, Actions: 16, Delay: 2}
	table, name := newTable(t, c), []byte(nil)
	next := uint64(0)
	if n := testing.AllocsPerRun(100, func() {
		for range c.Records {
			next++
			name = strconv.AppendUint(name[:0], c.First(table.Step())+next%8, 10)
			table.Observe(name, 1)
			table.Next()
		}
		table.Settle()
	}); n > 0 {
		t.Errorf("%g allocations a step", n)
	}
}

func TestConfigIsChecked(t *testing.T) {
	for _, bad := range []Config{
		{},
		{Records: 1},
		{Records: 3, Actions: 2},
		{Records: 1, Actions: 1, Delay: 1 << 40},
		{Records: 1 << 20, Actions: 1 << 21, Delay: 1 << 20},
	} {
		if _, err := New(bad); err == nil {
			t.Errorf("%+v is taken", bad)
		}
	}
}

func FuzzRestore(f *testing.F) {
	c := Config{Records: 2, Actions: 3, Delay: 1}
	used := newTable(f, c)
	used.Observe([]byte("2"), 0.25)
	f.Add(newTable(f, c).AppendState(nil))
	f.Add(used.AppendState(nil))
	used.Observe([]byte("1"), math.NaN())
	used.Settle()
	used.Observe([]byte("6"), -1)
	f.Add(used.AppendState(nil))
	f.Fuzz(func(t *testing.T, state []byte) {
		table := newTable(t, c)
		table.Observe([]byte("3"), 1)
		before := table.AppendState(nil)
		if table.Restore(state) != nil {
			state = before
		}
		if !bytes.Equal(table.AppendState(nil), state) {
			t.Fatal("not the state that was restored, or the one before")
		}
		for range 3 { // the restored table goes on for three steps
			for range c.Records {
				table.Observe(strconv.AppendUint(nil, c.First(table.Step()), 10), 1)
				table.Next()
			}
			table.Settled()
			table.Settle()
		}
		if err := newTable(t, c).Restore(table.AppendState(nil)); err != nil {
			t.Fatal("own state refused")
		}
	})
}

func BenchmarkStep(b *testing.B) {
	c := Config{Records: 64, Actions: 128, Delay: 4}
	table, name := newTable(b, c), []byte(nil)
	b.ReportAllocs()
	for b.Loop() {
		for k := range uint64(c.Records) {
			name = strconv.AppendUint(name[:0], c.First(table.Step())+k, 10)
			table.Observe(name, 1)
			table.Next()
		}
		table.Settle()
	}
}
