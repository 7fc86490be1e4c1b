package wire

import (
	"fmt"
	"io"
)

// Frame reads values from an answer that is still arriving. After a read error or an invalid value Err is set, and all
// further values are zero.
type Frame struct {
	r         io.Reader
	Remaining int // bytes of the frame not read yet
	Err       error
	piece     [32]byte
}

// NewFrame returns the frame of an answer of which remaining bytes are still to come.
func NewFrame(r io.Reader, remaining int) Frame { return Frame{r: r, Remaining: remaining} }

// Fill reads len(b) bytes into b.
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

// Next returns a Reader of the next n bytes, at most 32, valid until the next call.
func (f *Frame) Next(n int) Reader {
	b := f.piece[:n]
	if !f.Fill(b) {
		clear(b)
	}
	return Reader{B: b}
}

// uvarint reads an unsigned varint of 32 bits.
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

// Array reads the length of a flexible array or of flexible bytes; null counts as empty.
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
