package users

import (
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
)

// A state is, little-endian: version u8, key 32 bytes, count u32, then B·s entries of user 16 bytes and step u64,
// unused ones zero.
const (
	stateVersion = 1
	stateHead    = 1 + 32 + 4
	entryLen     = 16 + 8
)

// StateLen returns the length of every state of this limiter.
func (l *Limiter) StateLen() int { return stateHead + entryLen*len(l.remembered) }

// AppendState appends the state. It is private, because it shows which users were active.
func (l *Limiter) AppendState(dst []byte) []byte {
	dst = append(append(dst, stateVersion), l.key[:]...)
	dst = binary.LittleEndian.AppendUint32(dst, uint32(l.len))
	for i := range l.len {
		e := &l.remembered[(l.first+i)%len(l.remembered)]
		dst = append(dst, e.id[:]...)
		dst = binary.LittleEndian.AppendUint64(dst, e.step)
	}
	unused := entryLen * (len(l.remembered) - l.len)
	dst = slices.Grow(dst, unused)[:len(dst)+unused]
	clear(dst[len(dst)-unused:])
	return dst
}

// Restore restores a state that AppendState wrote, including its key. After an error the limiter is unchanged.
func (l *Limiter) Restore(state []byte) error {
	if len(state) != l.StateLen() {
		return fmt.Errorf("users: state: %d bytes, want %d", len(state), l.StateLen())
	}
	if state[0] != stateVersion {
		return fmt.Errorf("users: state: version %d, this software knows %d", state[0], stateVersion)
	}
	count := binary.LittleEndian.Uint32(state[33:])
	if uint64(count) > uint64(len(l.remembered)) {
		return fmt.Errorf("users: state: %d users, at most %d", count, len(l.remembered))
	}
	read := func(i int) entry {
		b := state[stateHead+entryLen*i:]
		return entry{ID(b[:16]), binary.LittleEndian.Uint64(b[16:])}
	}
	last := make(map[ID]uint64, count)
	oldest, before := read(0).step, uint64(0)
	for i := range l.remembered {
		e := read(i)
		if i >= int(count) {
			if e != (entry{}) {
				return errors.New("users: state: unused entry is not zero")
			}
			continue
		}
		if _, twice := last[e.id]; twice || e.step == 0 || e.step < before || e.step-oldest >= l.separation {
			return errors.New("users: state: entries are not in order")
		}
		last[e.id], before = e.step, e.step
	}
	clear(l.remembered)
	for i := range int(count) {
		l.remembered[i] = read(i)
	}
	l.first, l.len, l.last = 0, int(count), last
	l.rekey([32]byte(state[1:]))
	return nil
}
