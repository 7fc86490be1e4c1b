package wire

import (
	"fmt"
	"io"
)

// Frame takes pieces off an answer that is still arriving. After the first that does not come or does not fit, Err is
// set and every further piece is zeros.
type Frame struct {
	r         io.Reader
	Remaining int // bytes that are still to come
	Err       error
	piece     [32]byte
}

// NewFrame reads an answer of which so many bytes are still to come.
func NewFrame(r io.Reader, remaining int) Frame { return Frame{r: r, Remaining: remaining} }

// Fill fills b.
func (f *Frame) Fill(b []byte) bool {
	if f.Err == nil && len(b) > f.Remaining {
		f.Err = ErrShort
	}
	if f.Err != nil {
		return false
	}
	if _, err := io.ReadFull(f.r, b); err != nil {
		f.Err = fmt.Errorf("kafka: receive: %w", err)
		return false
	}
	f.Remaining -= len(b)
	return true
}

// Next takes n bytes, at most 32. They are valid until the next call.
func (f *Frame) Next(n int) Reader {
	b := f.piece[:n]
	if !f.Fill(b) {
		clear(b)
	}
	return Reader{B: b}
}

// uvarint takes an unsigned varint of 32 bits.
func (f *Frame) uvarint() int {
	v := 0
	for shift := 0; shift < 35; shift += 7 {
		b := f.Next(1).B[0]
		v |= int(b&0x7f) << shift
		if b < 0x80 {
			return v
		}
	}
	if f.Err == nil {
		f.Err = ErrShort
	}
	return 0
}

// Array takes the length of a flexible array or of flexible bytes; null counts as empty.
func (f *Frame) Array() int { return max(f.uvarint()-1, 0) }

// Tags skips the tagged fields of a flexible structure, and reports whether tag 0 was among them.
func (f *Frame) Tags() (zero bool) {
	for n := f.uvarint(); n > 0 && f.Err == nil; n-- {
		zero = f.uvarint() == 0 || zero
		for size := f.uvarint(); size > 0 && f.Err == nil; size -= len(f.piece) {
			f.Next(min(size, len(f.piece)))
		}
	}
	return zero && f.Err == nil
}
