package event

import (
	"oriel/schemas/text"
)

// readVector reads the vector of the body at b[i].
func (d *JSONDecoder) readVector(dst *Event, b []byte, i int) (next int, code text.Code) {
	switch {
	case i < len(b) && b[i] == '[':
		d.values, next, code = d.numbers(d.values[:0], b, i, 2)
		if code != text.OK {
			return next, code
		}
		dst.Vector.Values = d.values
		if len(d.values) != d.dimension {
			return next, text.WrongDimension
		}
		if d.vector == KindRelatives {
			return next, checkRelatives(d.values)
		}
		return next, text.OK
	case i < len(b) && b[i] == '{' && d.vector != KindRelatives:
		d.hasher.reset()
		next, code = d.object(b, i)
		dst.Vector = Vector{d.hasher.indices, d.hasher.values}
		return next, code
	default:
		return i, text.Unexpected(b, i, 2, text.WrongType)
	}
}

func checkRelatives(relatives []float64) text.Code {
	positive := false
	for _, r := range relatives {
		if r < 0 {
			return text.RelativeRange
		}
		positive = positive || r > 0
	}
	if !positive {
		return text.RelativeRange
	}
	return text.OK
}

// numbers appends the array of numbers that opens at b[i], the depth-th from outside. It stops at the first number
// beyond the dimension.
func (d *JSONDecoder) numbers(dst []float64, b []byte, i, depth int) (values []float64, next int, code text.Code) {
	i = text.SkipSpace(b, i+1)
	if i < len(b) && b[i] == ']' {
		return dst, i + 1, text.OK
	}
	for done := false; !done; {
		var f float64
		if f, i, code = text.ReadNumber(b, i, depth+1); code != text.OK {
			return dst, i, code
		}
		if len(dst) == d.dimension {
			return dst, i, text.WrongDimension
		}
		dst = append(dst, f)
		if i, done, code = text.NextMember(b, i, ']'); code != text.OK {
			return dst, i, code
		}
	}
	return dst, i, text.OK
}

// object reads the object that opens at b[i]: named features, or the sparse form if one of its two names has an array.
func (d *JSONDecoder) object(b []byte, i int) (next int, code text.Code) {
	d.names.Reset()
	i = text.SkipSpace(b, i+1)
	if i < len(b) && b[i] == '}' {
		if d.vector == KindVector {
			return i, text.MissingMember
		}
		return i + 1, d.hasher.finish()
	}
	var parts sparsePart
	for done := false; !done; {
		var name []byte
		if name, i, d.arena, code = text.ReadString(b, i, d.arena); code != text.OK {
			return i, code
		}
		if code = d.names.Add(name); code != text.OK {
			return i, code
		}
		if i, code = text.SkipTo(b, i, ':'); code != text.OK {
			return i, code
		}
		part := sparsePartOf(name)
		opens := part != 0 && d.names.Len() == 1 && i < len(b) && b[i] == '['
		if opens || parts != 0 || d.vector == KindVector {
			parts |= part
			i, code = d.sparsePart(part, b, i)
		} else {
			i, code = d.feature(name, b, i)
		}
		if code != text.OK {
			return i, code
		}
		if i, done, code = text.NextMember(b, i, '}'); code != text.OK {
			return i, code
		}
	}
	if parts == 0 {
		return i, d.hasher.finish()
	}
	return i, d.finishSparse(parts)
}

// feature reads the value of a named feature and hashes it.
func (d *JSONDecoder) feature(name, b []byte, i int) (next int, code text.Code) {
	switch {
	case i < len(b) && b[i] == '"':
		var s []byte
		if s, i, d.arena, code = text.ReadString(b, i, d.arena); code == text.OK {
			d.hasher.text(name, s)
		}
		return i, code
	case text.HasLiteral(b, i, "true"):
		d.hasher.truth(name)
		return i + len("true"), text.OK
	case text.HasLiteral(b, i, "false"):
		return i + len("false"), text.OK
	default:
		f, next, code := text.ReadNumber(b, i, 3)
		if code == text.OK {
			d.hasher.number(name, f)
		}
		return next, code
	}
}

// sparsePart is a set of the two members of a sparse vector.
type sparsePart uint8

const (
	partIndices sparsePart = 1 << iota
	partValues
)

func sparsePartOf(name []byte) sparsePart {
	switch string(name) {
	case "indices":
		return partIndices
	case "values":
		return partValues
	default:
		return 0
	}
}

func (d *JSONDecoder) sparsePart(part sparsePart, b []byte, i int) (next int, code text.Code) {
	switch {
	case part == 0:
		return i, text.UnknownName
	case i == len(b) || b[i] != '[':
		return i, text.Unexpected(b, i, 3, text.WrongType)
	case part == partIndices:
		return d.indices(b, i)
	default:
		d.hasher.values, next, code = d.numbers(d.hasher.values[:0], b, i, 3)
		return next, code
	}
}

// indices reads the array that opens at b[i]. Distinct indices below the dimension bound its length.
func (d *JSONDecoder) indices(b []byte, i int) (next int, code text.Code) {
	i = text.SkipSpace(b, i+1)
	if i < len(b) && b[i] == ']' {
		return i + 1, text.OK
	}
	for done := false; !done; {
		first := i
		index := 0
		for ; i < len(b) && b[i]-'0' < 10; i++ {
			index = min(index*10+int(b[i]-'0'), MaxDimension)
		}
		switch {
		case i == first && i < len(b) && b[i] == '-':
			return i, text.IndexRange
		case i == first:
			return i, text.Unexpected(b, i, 4, text.WrongType)
		case i-first > 1 && b[first] == '0':
			return i, text.JSONSyntax
		case index >= d.dimension || i < len(b) && (b[i] == '.' || b[i]|0x20 == 'e'):
			return i, text.IndexRange
		case d.hasher.slot[index] != 0:
			return i, text.DuplicateIndex
		}
		d.hasher.indices = append(d.hasher.indices, int32(index))
		d.hasher.slot[index] = int32(len(d.hasher.indices))
		if i, done, code = text.NextMember(b, i, ']'); code != text.OK {
			return i, code
		}
	}
	return i, text.OK
}

func (d *JSONDecoder) finishSparse(parts sparsePart) text.Code {
	if parts != partIndices|partValues {
		return text.MissingMember
	}
	if len(d.hasher.indices) != len(d.hasher.values) {
		return text.WrongDimension
	}
	return text.OK
}
