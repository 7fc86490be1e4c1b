package users_test

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"testing"

	"oriel/state/users"
)

func open(t testing.TB, separation, batch uint64) *users.Limiter {
	t.Helper()
	l, err := users.New(separation, batch, [32]byte{7})
	if err != nil {
		t.Fatal(err)
	}
	return l
}

// history runs random events of a few users, and checks every decision against the definition.
func history(t *testing.T, separation, batch, steps uint64, people int, restart func(*users.Limiter) *users.Limiter) {
	t.Helper()
	rng := rand.New(rand.NewPCG(separation, batch))
	l := open(t, separation, batch)
	last, seen := map[int]uint64{}, map[users.ID]bool{}
	for step := uint64(1); step <= steps; step++ {
		for range batch {
			user := rng.IntN(people)
			want := last[user] == 0 || step-last[user] >= separation
			if want {
				last[user] = step
			}
			l = restart(l)
			l.Forget(step, func(id users.ID) {
				if !seen[id] {
					t.Fatalf("step %d: forgot a user that was not remembered", step)
				}
				delete(seen, id)
			})
			id := l.ID(fmt.Append(nil, "user", user))
			if got := l.Admit(step, id); got != want {
				t.Fatalf("s=%d B=%d step %d: accepted %t, want %t", separation, batch, step, got, want)
			}
			seen[id] = true
			remembered := 0
			for id := range l.Remembered() {
				remembered++
				if !seen[id] {
					t.Fatalf("step %d: remembers a user that was forgotten", step)
				}
			}
			if remembered != len(seen) {
				t.Fatalf("step %d: remembers %d users, want %d", step, remembered, len(seen))
			}
		}
	}
}

func TestAcceptanceIsThatOfTheDefinition(t *testing.T) {
	same := func(l *users.Limiter) *users.Limiter { return l }
	for separation := uint64(1); separation <= 9; separation++ {
		for batch := uint64(1); batch <= 4; batch++ {
			history(t, separation, batch, 60, 7, same)
			history(t, separation, batch, 60, 1, same)
			history(t, separation, batch, 60, 1000, same)
		}
	}
}

// TestRestoreAtEveryEventDecidesAlike checks that the state is complete: a limiter with another key, restored before
// every event, makes the same decisions, and its states always have the same length.
func TestRestoreAtEveryEventDecidesAlike(t *testing.T) {
	for _, separation := range []uint64{1, 2, 5} {
		history(t, separation, 3, 40, 9, func(l *users.Limiter) *users.Limiter {
			other, err := users.New(separation, 3, [32]byte{1})
			if err != nil {
				t.Fatal(err)
			}
			state := l.AppendState([]byte{9})
			if len(state) != 1+l.StateLen() {
				t.Fatalf("state of %d bytes, want %d", len(state)-1, l.StateLen())
			}
			if err := other.Restore(state[1:]); err != nil {
				t.Fatal(err)
			}
			if !bytes.Equal(other.AppendState(nil), state[1:]) {
				t.Fatal("the state changes when it is restored")
			}
			return other
		})
	}
}

// TestRestoreRefusesWhatItDidNotWrite checks that an impossible state is refused, and changes nothing.
func TestRestoreRefusesWhatItDidNotWrite(t *testing.T) {
	l := open(t, 3, 1)
	l.Admit(1, users.ID{1})
	l.Admit(3, users.ID{2})
	state := l.AppendState(nil)
	if err := l.Restore(state); err != nil {
		t.Fatal(err)
	}
	const count, entries, length = 33, 37, 24 // positions of the count and the first entry; length of an entry
	for what, at := range map[string]struct {
		place int
		value byte
	}{
		"another version":         {0, 2},
		"more users than it has":  {count, 4},
		"fewer users than it has": {count, 1},
		"a user of no step":       {entries + 16, 0},
		"one who is forgotten":    {entries + length + 16, 4},
		"one who came before":     {entries + 16, 9},
		"a user twice":            {entries + length, 1},
	} {
		bad := bytes.Clone(state)
		if bad[at.place] = at.value; l.Restore(bad) == nil {
			t.Errorf("%s: accepted", what)
		}
		if !bytes.Equal(l.AppendState(nil), state) {
			t.Errorf("%s: a refused state changes the limiter", what)
		}
	}
}

// TestIDDependsOnTheKey checks that ids depend on the key, so that states of two deployments cannot be compared without
// it.
func TestIDDependsOnTheKey(t *testing.T) {
	a, b := open(t, 1, 1), open(t, 1, 1)
	if c, _ := users.New(1, 1, [32]byte{8}); a.ID([]byte("u")) == c.ID([]byte("u")) {
		t.Error("two keys give one ID")
	}
	if a.ID([]byte("u")) != b.ID([]byte("u")) || a.ID([]byte("u")) == a.ID([]byte("v")) {
		t.Error("one key gives a user two IDs, or two users one")
	}
	if got := fmt.Sprintf("%x", a.ID([]byte("u"))); got != golden {
		t.Errorf("ID %s, want %s", got, golden)
	}
}

func TestLimitsAreNamed(t *testing.T) {
	for _, c := range []struct{ separation, batch uint64 }{
		{0, 1}, {1, 0}, {users.MaxRemembered + 1, 1}, {1 << 40, 1 << 40}, {users.MaxRemembered/2 + 1, 2},
	} {
		if _, err := users.New(c.separation, c.batch, [32]byte{}); err == nil {
			t.Errorf("separation %d, batch %d: accepted", c.separation, c.batch)
		}
	}
	if err := users.Validate(users.MaxRemembered, 1); err != nil {
		t.Error(err)
	}
}

// FuzzRestore checks that an accepted state is written back byte for byte, and that a refused one changes nothing.
func FuzzRestore(f *testing.F) {
	l := open(f, 3, 2)
	f.Add(l.AppendState(nil))
	for step := uint64(4); step < 7; step++ {
		l.Forget(step, func(users.ID) {})
		l.Admit(step, users.ID{byte(step)})
		f.Add(l.AppendState(nil))
	}
	before := l.AppendState(nil)
	f.Fuzz(func(t *testing.T, state []byte) {
		other := open(t, 3, 2)
		if err := other.Restore(before); err != nil {
			t.Fatal(err)
		}
		want := before
		if other.Restore(state) == nil {
			want = state
		}
		if !bytes.Equal(other.AppendState(nil), want) {
			t.Error("another state than was restored")
		}
	})
}

func BenchmarkAdmit(b *testing.B) {
	for _, separation := range []uint64{1 << 10, 1 << 17} {
		b.Run(fmt.Sprintf("s=%d", separation), func(b *testing.B) {
			l := open(b, separation, 1)
			name := make([]byte, 16)
			step := uint64(0)
			for step < separation {
				step++
				name[0], name[1], name[2] = byte(step), byte(step>>8), byte(step>>16)
				l.Admit(step, l.ID(name))
			}
			b.ReportAllocs()
			for b.Loop() {
				step++
				name[0], name[1], name[2] = byte(step), byte(step>>8), byte(step>>16)
				l.Forget(step, func(users.ID) {})
				l.Admit(step, l.ID(name))
			}
		})
	}
}

// golden pins the hash of a user, because stored states contain such hashes.
const golden = "f4e995125c6e3f3090b504fcb32a5504"
