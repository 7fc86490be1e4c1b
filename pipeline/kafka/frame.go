package kafka

import (
	"encoding/binary"
	"fmt"
	"hash/crc32"
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

// records reads size bytes of batches. A first batch beyond limit is checked and let go while it arrives; other batches
// beyond limit are left for the next request, which starts with them. So are all when there is no room for them.
func (f *frame) records(a *fetchResponse, size, limit int, room func(bytes int) *buffer) {
	var head []byte
	beyond := false
	if size > limit {
		head = make([]byte, batchHeaderLen)
		if !f.read(head) {
			return
		}
		length := int64(int32(binary.BigEndian.Uint32(head[batchLengthAt:]))) + batchPrefixLen
		if beyond = length > int64(limit); beyond && length > int64(size) {
			f.err = errShort
			return
		}
		if size = limit; beyond {
			size = batchHeaderLen
			f.check(head, int(length)-batchHeaderLen)
		}
	}
	buf := room(size)
	if buf == nil {
		a.refused = size
		return
	}
	buf.b = append(buf.b, head...)
	f.fill(buf, size)
	a.records, a.headerOnly = buf, beyond && f.err == nil
}

// check reads the rest of the batch that head begins and keeps nothing but its checksum.
func (f *frame) check(head []byte, rest int) {
	sum := crc32.Checksum(head[attributesAt:], castagnoli)
	chunk := make([]byte, 64<<10)
	for rest > 0 {
		piece := chunk[:min(rest, len(chunk))]
		if !f.read(piece) {
			return
		}
		sum = crc32.Update(sum, castagnoli, piece)
		rest -= len(piece)
	}
	if sum != binary.BigEndian.Uint32(head[crcAt:]) {
		f.err = ErrCorrupt
	}
}

// fill reads until buf holds size bytes, growing with what arrives.
func (f *frame) fill(buf *buffer, size int) {
	for len(buf.b) < size {
		if len(buf.b) == cap(buf.b) {
			grown := make([]byte, len(buf.b), min(size, 2*cap(buf.b)))
			copy(grown, buf.b)
			buf.b = grown
		}
		end := len(buf.b)
		if !f.read(buf.b[end:min(cap(buf.b), size)]) {
			return
		}
		buf.b = buf.b[:min(cap(buf.b), size)]
	}
}
