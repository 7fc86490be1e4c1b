package pending

import (
	"bytes"
	"encoding/binary"
	"errors"
	"math"
	"slices"
)

// A state is, little-endian:
//
//	put u64, gone u64, then for each place: step u64, mark u8, length of the name u8, the name, padding of zeros, values f64
//
// A place that has never held a row is zero. The values of a row that was taken or has expired are zero, too.

// maxPut is the largest accepted number of rows put, so that the count cannot overflow.
const maxPut = 1 << 62

// errState is the only error that Restore returns.
var errState = errors.New("pending: state: malformed")

// StateLen returns the length in bytes of every state.
func (t *Table) StateLen() int { return t.config.StateLen() }

// AppendState appends the state, always StateLen bytes. The state is private.
func (t *Table) AppendState(dst []byte) []byte {
	dst = slices.Grow(dst, t.StateLen())
	dst = binary.LittleEndian.AppendUint64(dst, t.put)
	dst = binary.LittleEndian.AppendUint64(dst, t.gone)
	for at := range t.marks {
		dst = binary.LittleEndian.AppendUint64(dst, t.steps[at])
		dst = append(dst, byte(t.marks[at]), t.lengths[at])
		dst = append(dst, t.names[at*t.config.Name:(at+1)*t.config.Name]...)
		for _, v := range t.valuesAt(at) {
			dst = binary.LittleEndian.AppendUint64(dst, math.Float64bits(v))
		}
	}
	return dst
}

// AppendShared appends the state without the values of waiting rows.
func (t *Table) AppendShared(dst []byte) []byte {
	start := len(dst)
	dst = t.AppendState(dst)
	t.config.hide(dst[start:])
	return dst
}

// Restore sets a table of the same configuration to a state that AppendState saved. After an error it is unchanged.
func (t *Table) Restore(state []byte) error {
	s := stateView{config: t.config, b: state}
	if len(state) != t.StateLen() || !s.countsHold() {
		return errState
	}
	t.spare.reset()
	if !s.rowsHold(&t.spare) {
		return errState
	}
	t.put, t.gone = s.put(), s.gone()
	for at := range t.marks {
		row := s.row(at)
		t.steps[at], t.marks[at], t.lengths[at] = row.step(), row.mark(), row[9]
		copy(t.names[at*t.config.Name:(at+1)*t.config.Name], row[metaLen:])
		values := t.valuesAt(at)
		for k := range values {
			values[k] = math.Float64frombits(binary.LittleEndian.Uint64(row[metaLen+t.config.Name+8*k:]))
		}
	}
	t.index, t.spare = t.spare, t.index
	return nil
}

// Public returns a copy of a state without the values of waiting rows, which neighbours share.
func (c Config) Public(state []byte) []byte {
	public := bytes.Clone(state)
	c.hide(public)
	return public
}

// hide clears the values of waiting rows in a state.
func (c Config) hide(state []byte) {
	for at := range c.Capacity {
		clear(stateView{c, state}.row(at)[metaLen+c.Name:])
	}
}

// stateView reads a state of the right length without copying it.
type stateView struct {
	config Config
	b      []byte
}

// rowView is the bytes of one place.
type rowView []byte

func (s stateView) put() uint64  { return binary.LittleEndian.Uint64(s.b) }
func (s stateView) gone() uint64 { return binary.LittleEndian.Uint64(s.b[8:]) }

func (s stateView) row(at int) rowView {
	n := s.config.rowLen()
	return rowView(s.b[headLen+at*n : headLen+(at+1)*n])
}

func (r rowView) step() uint64 { return binary.LittleEndian.Uint64(r) }
func (r rowView) mark() mark   { return mark(r[8]) }
func (r rowView) name() []byte { return r[metaLen : metaLen+int(r[9])] }

// countsHold checks that no more rows are gone than were put, that the remaining rows fit, and that the count cannot
// overflow.
func (s stateView) countsHold() bool {
	put, gone := s.put(), s.gone()
	return put <= maxPut && gone <= put && put-gone <= uint64(s.config.Capacity)
}

// rowsHold checks each place against the order of putting, and fills the index.
func (s stateView) rowsHold(names *index) bool {
	put, capacity := s.put(), uint64(s.config.Capacity)
	kept := min(put, capacity)
	for at := kept; at < capacity; at++ { // these places were never used
		if !zero(s.row(int(at))) {
			return false
		}
	}
	before := uint64(0)
	for n := put - kept; n < put; n++ {
		at := int(n % capacity)
		row := s.row(at)
		if row.step() < before || !s.rowHolds(row, n < s.gone()) || !s.fresh(names, row) {
			return false
		}
		before = row.step()
		names.add(row.name(), at)
	}
	return true
}

// rowHolds checks one place. A row that is gone must not wait, and only a waiting row may have values.
func (s stateView) rowHolds(r rowView, gone bool) bool {
	length, name := int(r[9]), s.config.Name
	switch r.mark() {
	case waiting:
		if gone {
			return false
		}
	case taken, expired:
		if !gone && r.mark() == expired || !zero(r[metaLen+name:]) {
			return false
		}
	default:
		return false
	}
	return length >= 1 && length <= name && zero(r[metaLen+length:metaLen+name])
}

// fresh reports whether earlier rows of the same name had timed out when this row was put.
func (s stateView) fresh(names *index, r rowView) bool {
	for at := names.first(r.name()); at != none; at = names.after(at) {
		if other := s.row(at); string(other.name()) == string(r.name()) && r.step()-other.step() < s.config.Timeout {
			return false
		}
	}
	return true
}

func zero(b []byte) bool { return len(bytes.Trim(b, "\x00")) == 0 }
