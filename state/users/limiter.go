package users

import (
	"fmt"
	"iter"
	"math/bits"
)

// MaxRemembered bounds B·s, so that a state has at most 3 MiB, below the largest record of changelogs.
const MaxRemembered = 1 << 17

// entry is the last accepted event of a user.
type entry struct {
	id   ID
	step uint64
}

// Limiter decides which events of users are accepted. It is not safe for concurrent use.
//
// Invariant: remembered has one entry for each user accepted in the last s steps, in order of acceptance, and last has
// the step of each.
type Limiter struct {
	Hasher

	separation uint64
	remembered []entry // ring buffer of capacity B·s
	first, len int
	last       map[ID]uint64
}

// Validate checks a separation and a batch size before anything is opened.
func Validate(separation, batch uint64) error {
	if separation < 1 || batch < 1 {
		return fmt.Errorf("separation %d, batch %d: not at least 1", separation, batch)
	}
	if high, low := bits.Mul64(separation, batch); high != 0 || low > MaxRemembered {
		return fmt.Errorf("separation %d times batch %d: above %d, the most users that are remembered", separation, batch,
			MaxRemembered)
	}
	return nil
}

// New returns a limiter that remembers no user. Limiters with the same key give a user the same ID.
func New(separation, batch uint64, key [32]byte) (*Limiter, error) {
	if err := Validate(separation, batch); err != nil {
		return nil, fmt.Errorf("users: %w", err)
	}
	l := &Limiter{separation: separation, remembered: make([]entry, separation*batch), last: map[ID]uint64{}}
	l.rekey(key)
	return l, nil
}

// Forget drops the users whose last accepted event is s or more steps before step, and calls dropped for each.
func (l *Limiter) Forget(step uint64, dropped func(ID)) {
	for l.len > 0 {
		e := l.remembered[l.first]
		if step-e.step < l.separation {
			return
		}
		delete(l.last, e.id)
		l.first = (l.first + 1) % len(l.remembered)
		l.len--
		dropped(e.id)
	}
}

// Admit reports whether an event of a user in a step is accepted, and remembers it if so. Steps must not go back, and a
// step has at most B calls. Forget must have been called with the step BEFORE.
func (l *Limiter) Admit(step uint64, id ID) bool {
	if _, near := l.last[id]; near {
		return false
	}
	if l.len == len(l.remembered) {
		panic("BUG: users: more accepted events than steps hold")
	}
	l.remembered[(l.first+l.len)%len(l.remembered)] = entry{id, step}
	l.last[id] = step
	l.len++
	return true
}

// Remembered iterates over the users of the last s steps.
func (l *Limiter) Remembered() iter.Seq[ID] {
	return func(yield func(ID) bool) {
		for i := range l.len {
			if !yield(l.remembered[(l.first+i)%len(l.remembered)].id) {
				return
			}
		}
	}
}
