package records

import (
	"bytes"
	"encoding/binary"
	"iter"

	"oriel/pipeline/kafka/wire"
)

// Header is a record header.
type Header struct {
	Key   string
	Value []byte // nil: a null value
}

// Headers are the headers of one record, encoded as in a record batch. They refer to the memory of the record and stay
// valid as long as it does.
//
// A Reader checks headers and leaves them encoded. A decoded Header takes 40 bytes of memory but may take only two in
// the batch, so the memory of decoded headers would depend on contents. Callers must decode headers of only one record
// at a time.
type Headers struct {
	wire []byte // count, then names and values, as sent; nil without headers
}

// HeadersOf encodes headers for a Record that does not come from a Reader.
func HeadersOf(list ...Header) Headers {
	if len(list) == 0 {
		return Headers{}
	}
	return Headers{appendHeaders(nil, list)}
}

// appendHeaders appends the last part of a record.
func appendHeaders(dst []byte, list []Header) []byte {
	dst = wire.AppendVarint(dst, int64(len(list)))
	for i := range list {
		dst = wire.AppendVarint(dst, int64(len(list[i].Key)))
		dst = append(dst, list[i].Key...)
		dst = wire.AppendNullable(dst, list[i].Value)
	}
	return dst
}

// Len returns the number of headers.
func (h Headers) Len() int {
	n, _ := binary.Varint(h.wire)
	return int(n)
}

// All yields name and value of each header, in order. A null value is nil. It does not allocate.
func (h Headers) All() iter.Seq2[[]byte, []byte] {
	return func(yield func(name, value []byte) bool) {
		r := wire.Reader{B: h.wire}
		for n := r.Varint(); n > 0; n-- {
			name := r.Nullable()
			if value := r.Nullable(); !yield(name, value) {
				return
			}
		}
	}
}

// List decodes all headers; it returns nil if there are none. Values alias the record.
func (h Headers) List() []Header {
	var list []Header
	for name, value := range h.All() {
		list = append(list, Header{Key: string(name), Value: value})
	}
	return list
}

// Clone returns a copy that outlives the record.
func (h Headers) Clone() Headers { return Headers{bytes.Clone(h.wire)} }

// takeHeaders checks and takes the last part of a record.
func takeHeaders(r *wire.Reader) (h Headers, ok bool) {
	h.wire = r.B
	n := r.Varint()
	if n > MaxHeaders {
		return Headers{}, false
	}
	if n == 0 {
		h.wire = nil
	}
	for n := r.Count(n, 2); n > 0 && r.Err == nil; n-- {
		r.Nullable()
		r.Nullable()
	}
	return h, r.Err == nil && len(r.B) == 0
}
