package kafka

import (
	"fmt"
	"io"
)

// frame takes pieces off an answer that is still arriving. After the first that does not come or does not fit, err is
// set and every further piece is zeros.
type frame struct {
	r         io.Reader
	remaining int
	err       error
	piece     [32]byte
}

// newFrame reads an answer of which so many bytes are still to come.
func newFrame(r io.Reader, remaining int) frame { return frame{r: r, remaining: remaining} }

// read fills b.
func (f *frame) read(b []byte) bool {
	if f.err == nil && len(b) > f.remaining {
		f.err = errShort
	}
	if f.err != nil {
		return false
	}
	if _, err := io.ReadFull(f.r, b); err != nil {
		f.err = fmt.Errorf("kafka: receive: %w", err)
		return false
	}
	f.remaining -= len(b)
	return true
}

// next takes n bytes, at most len(piece). They are valid until the next call.
func (f *frame) next(n int) wireReader {
	b := f.piece[:n]
	if !f.read(b) {
		clear(b)
	}
	return wireReader{b: b}
}

// uvarint takes an unsigned varint of 32 bits.
func (f *frame) uvarint() int {
	v := 0
	for shift := 0; shift < 35; shift += 7 {
		b := f.next(1).b[0]
		v |= int(b&0x7f) << shift
		if b < 0x80 {
			return v
		}
	}
	if f.err == nil {
		f.err = errShort
	}
	return 0
}

// array takes the length of a flexible array or of flexible bytes; null counts as empty.
func (f *frame) array() int { return max(f.uvarint()-1, 0) }

// tags skips the tagged fields of a flexible structure and tells whether number 0 was among them.
func (f *frame) tags() (zero bool) {
	for n := f.uvarint(); n > 0 && f.err == nil; n-- {
		zero = f.uvarint() == 0 || zero
		for size := f.uvarint(); size > 0 && f.err == nil; size -= len(f.piece) {
			f.next(min(size, len(f.piece)))
		}
	}
	return zero && f.err == nil
}
