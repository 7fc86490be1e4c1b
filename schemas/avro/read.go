package avro

import (
	"bytes"
	"encoding/binary"
	"math"
	"slices"
	"unicode/utf8"

	"oriel/schemas/mapping"
	"oriel/schemas/text"
)

const (
	// maxDepth bounds the nesting of types in a record.
	maxDepth = 128

	// maxEmpty bounds the items of an array that take no bytes, because a record could claim any number of them.
	maxEmpty = 4096
)

// read reads a value at b[i], nested in depth others.
func (s *Source) read(n *node, b []byte, i, depth int) (next int, code text.Code) {
	switch {
	case depth == maxDepth:
		return 0, text.TooDeep
	case n.foreign:
		return 0, text.Unresolved
	}
	switch n.kind {
	case recordKind:
		for k := range n.initial {
			s.values[n.initial[k].place] = n.initial[k].value
		}
		for _, f := range n.fields {
			if i, code = s.read(f, b, i, depth+1); code != text.OK {
				return 0, code
			}
		}
		s.other(n)
		return i, text.OK
	case arrayKind:
		return s.array(n, b, i, depth)
	case mapKind:
		return s.entries(n, b, i, depth)
	case unionKind:
		branch, next := varint(b, i, 32)
		if next < 0 || branch < 0 || branch >= int64(len(n.branches)) {
			return 0, text.Malformed
		}
		return s.read(n.branches[branch], b, next, depth+1)
	default:
		return s.scalar(n, b, i)
	}
}

// other records that the path has a value, but of a type that events cannot have.
func (s *Source) other(n *node) {
	if n.place >= 0 {
		s.values[n.place] = mapping.Value{Kind: mapping.Other}
	}
}

// array reads an array: blocks of items, each after its count, until a count of 0. A block that states its size must
// have this size, even if no path leads into it, because the validity of a record must not depend on the paths.
func (s *Source) array(n *node, b []byte, i, depth int) (next int, code text.Code) {
	s.other(n)
	index := int64(0)
	for {
		count, sized, end, at := block(b, i)
		switch {
		case at < 0:
			return 0, text.Malformed
		case count == 0:
			return at, text.OK
		case n.items.least > 0 && count > int64(end-at)/int64(n.items.least), n.items.least == 0 && count > maxEmpty-index:
			return 0, text.Malformed
		}
		next := index + count
		if i = at; n.items.least == 0 { // empty items need no reading, so time stays proportional to bytes
			count = min(count, max(n.picked()-index, 0))
		}
		for range count {
			if i, code = s.read(n.item(index), b[:end], i, depth+1); code != text.OK {
				return 0, code
			}
			index++
		}
		index = next
		if sized && i != end {
			return 0, text.Malformed
		}
	}
}

// picked returns the number of items up to the last pick.
func (n *node) picked() int64 {
	if len(n.picks) == 0 {
		return 0
	}
	return n.picks[len(n.picks)-1].index + 1
}

// item returns the node of the item with an index. Picks are ascending, and mostly 0, 1, 2, ….
func (n *node) item(index int64) *node {
	if index < int64(len(n.picks)) && n.picks[index].index == index {
		return n.picks[index].node
	}
	if len(n.picks) == 0 || index > n.picks[len(n.picks)-1].index {
		return n.items
	}
	k, found := slices.BinarySearchFunc(n.picks, index, func(p pick, index int64) int { return int(p.index - index) })
	if !found {
		return n.items
	}
	return n.picks[k].node
}

// entries reads a map: blocks of keys and values. If two entries have the same key, the last one counts.
func (s *Source) entries(n *node, b []byte, i, depth int) (next int, code text.Code) {
	s.other(n)
	for {
		count, sized, end, at := block(b, i)
		switch {
		case at < 0 || count > int64(end-at)/int64(1+n.items.least):
			return 0, text.Malformed
		case count == 0:
			return at, text.OK
		}
		i = at
		for range count {
			from, to := bytesAt(b[:end], i)
			if to < 0 {
				return 0, text.Malformed
			}
			if i, code = s.read(s.entry(n, b[from:to]), b[:end], to, depth+1); code != text.OK {
				return 0, code
			}
		}
		if sized && i != end {
			return 0, text.Malformed
		}
	}
}

// entry returns the node of the value of a key.
func (s *Source) entry(n *node, name []byte) *node {
	k, found := slices.BinarySearchFunc(n.keys, name, func(k key, name []byte) int { return bytes.Compare(k.name, name) })
	if !found {
		return n.items
	}
	for _, place := range n.keys[k].places {
		s.values[place] = mapping.Value{}
	}
	return n.keys[k].node
}

// block reads how many items follow and where they must end: at the end of b, unless the block states its size. next is
// −1 if there is no valid block.
func block(b []byte, i int) (count int64, sized bool, end, next int) {
	count, next = varint(b, i, 64)
	if next < 0 || count == math.MinInt64 {
		return 0, false, 0, -1
	}
	if count >= 0 {
		return count, false, len(b), next
	}
	from, to := bytesAt(b, next)
	return -count, true, to, min(from, to)
}

// scalar reads a value that contains no other values.
func (s *Source) scalar(n *node, b []byte, i int) (next int, code text.Code) {
	var v mapping.Value
	switch n.kind {
	case nullKind:
		v.Kind, next = mapping.Null, i
	case booleanKind:
		if i == len(b) || b[i] > 1 {
			return 0, text.Malformed
		}
		v, next = mapping.Value{Kind: mapping.Bool, Number: float64(b[i])}, i+1
	case intKind, longKind:
		var x int64
		if x, next = varint(b, i, n.kind.bits()); next < 0 {
			return 0, text.Malformed
		}
		v = n.whole(x)
	case enumKind:
		var x int64
		if x, next = varint(b, i, 32); next < 0 || x < 0 || x >= int64(len(n.typ.symbols)) {
			return 0, text.Malformed
		}
		if n.place >= 0 {
			if v = (mapping.Value{Kind: mapping.Text, Text: n.symbols[x]}); v.Text == nil {
				return 0, text.Unresolved
			}
		}
	case floatKind:
		if next = i + 4; next > len(b) {
			return 0, text.Malformed
		}
		f := math.Float32frombits(binary.LittleEndian.Uint32(b[i:]))
		v = mapping.Value{Kind: mapping.Number, Number: float64(f)}
	case doubleKind:
		if next = i + 8; next > len(b) {
			return 0, text.Malformed
		}
		v = mapping.Value{Kind: mapping.Number, Number: math.Float64frombits(binary.LittleEndian.Uint64(b[i:]))}
	default:
		return s.bytes(n, b, i)
	}
	if n.place >= 0 {
		s.values[n.place] = v
	}
	return next, text.OK
}

// bytes reads a string, bytes or a fixed.
func (s *Source) bytes(n *node, b []byte, i int) (next int, code text.Code) {
	from, to := i, i+n.size
	if n.kind != fixedKind {
		from, to = bytesAt(b, i)
	}
	switch {
	case to < 0 || to > len(b):
		return 0, text.Malformed
	case n.place < 0:
	case n.kind == stringKind && !utf8.Valid(b[from:to]):
		return 0, text.InvalidUTF8
	case n.kind == stringKind:
		s.values[n.place] = mapping.Value{Kind: mapping.Text, Text: b[from:to]}
	case n.decimal:
		f, ok := s.decimal(b[from:to], n.scale)
		if !ok {
			return 0, text.Malformed
		}
		s.values[n.place] = mapping.Value{Kind: mapping.Number, Number: f}
	default:
		s.other(n)
	}
	return to, text.OK
}

// bits returns the size of a number.
func (k kind) bits() int {
	if k == intKind || k == floatKind {
		return 32
	}
	return 64
}

// varint reads a zigzag-encoded whole number of at most that many bits; next is −1 if there is none.
func varint(b []byte, i, bits int) (x int64, next int) {
	if i < len(b) && b[i] < 0x80 {
		return int64(b[i]>>1) ^ -int64(b[i]&1), i + 1
	}
	u := uint64(0)
	for shift := 0; i < len(b) && shift < bits; shift += 7 {
		c := b[i]
		i++
		if left := bits - shift; left < 7 && c>>left != 0 {
			return 0, -1
		}
		u |= uint64(c&0x7f) << shift
		if c < 0x80 {
			return int64(u>>1) ^ -int64(u&1), i
		}
	}
	return 0, -1
}

// bytesAt returns the bounds of the bytes after a length at b[i]; to is −1 if they exceed b.
func bytesAt(b []byte, i int) (from, to int) {
	n, from := varint(b, i, 64)
	if from < 0 || n < 0 || n > int64(len(b)-from) {
		return 0, -1
	}
	return from, from + int(n)
}
