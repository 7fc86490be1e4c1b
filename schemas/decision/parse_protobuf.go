package decision

import (
	"oriel/schemas/text"
)

// protobufParser reads fields in the order of their numbers.
type protobufParser struct{ binaryParser }

func parseProtobuf(b []byte) (d Decision, ok bool) {
	p := protobufParser{binaryParser{b, true}}
	d.Encoding = Protobuf
	d.Stream = p.text(tagStream)
	p.ok = p.ok && copy(d.Incarnation[:], p.delimited(tagIncarnation)) == len(d.Incarnation)
	d.Index = p.count(tagIndex)
	d.Step = p.count(tagStep)
	d.Point = p.packed(tagDecision)
	if p.next() == tagSparse {
		p.ok = p.ok && len(d.Point) == 0
		d.Form, d.Point = Sparse, p.sparse()
	}
	d.Mechanism = p.text(tagMechanism)
	d.Window = p.count(tagWindow)
	d.Batch = p.count(tagBatch)
	d.Epsilon = p.number(tagEpsilon)
	d.Delta = p.number(tagDelta)
	d.Adjacency = p.code(tagAdjacency, adjacencyCodes)
	d.Unit = p.code(tagUnit, unitCodes)
	d.Extras = p.members()
	p.later()
	return d, p.ok && d.Stream != ""
}

// next returns the next tag, or 0, which is not a tag, at the end.
func (p *protobufParser) next() byte {
	if !p.ok || len(p.b) == 0 {
		return 0
	}
	return p.b[0]
}

// is reads a tag, if it is the next one, and reports whether it was.
func (p *protobufParser) is(tag byte) bool {
	if p.next() != tag {
		return false
	}
	p.b = p.b[1:]
	return true
}

// count reads a field with a number. Like the methods after it, it returns the zero value for a missing field.
func (p *protobufParser) count(tag byte) uint64 {
	if !p.is(tag) {
		return 0
	}
	return p.uvarint()
}

func (p *protobufParser) number(tag byte) float64 {
	if !p.is(tag) {
		return 0
	}
	return p.double()
}

func (p *protobufParser) delimited(tag byte) []byte {
	if !p.is(tag) {
		return nil
	}
	return p.cut(p.uvarint())
}

func (p *protobufParser) text(tag byte) string {
	if !p.is(tag) {
		return ""
	}
	return p.binaryParser.text(p.uvarint())
}

// packed reads a list of numbers. The result is never nil.
func (p *protobufParser) packed(tag byte) []float64 {
	size := uint64(0)
	if p.is(tag) {
		size = p.uvarint()
		p.ok = p.ok && size%8 == 0
	}
	return p.doubles(size / 8)
}

// code reads an enumeration, which must be present.
func (p *protobufParser) code(tag byte, names []string) string {
	n := p.count(tag)
	if p.ok = p.ok && n >= 1 && n <= uint64(len(names)); !p.ok {
		return ""
	}
	return names[n-1]
}

// message reads a field that is a message, which must be present, and returns a parser of its contents.
func (p *protobufParser) message(tag byte) protobufParser {
	p.ok = p.is(tag)
	b := p.cut(p.uvarint())
	return protobufParser{binaryParser{b, p.ok}}
}

// sparse reads a point in the form Sparse. The result is never nil.
func (p *protobufParser) sparse() []float64 {
	s := p.message(tagSparse)
	n, values := s.count(tagDimension), s.packed(tagValues)
	if p.ok = s.ok && isSparse(n, values); !p.ok {
		return nil
	}
	point := make([]float64, n)
	for _, value := range values {
		of := s.message(tagIndices)
		indices := of.message(tagCoordinates)
		p.ok = p.ok && indices.ok && len(indices.b) > 0 && len(of.b) == 0
		for least := uint64(0); p.ok && len(indices.b) > 0; {
			i := indices.uvarint()
			p.ok = indices.ok && set(point, i, least, value)
			least = i + 1
		}
	}
	p.ok = p.ok && len(s.b) == 0
	return point
}

// members reads the extra members; it returns nil if there are none.
func (p *protobufParser) members() (found []ExtraMember) {
	var names memberNames
	for p.next() == tagMembers {
		m := p.message(tagMembers)
		x := ExtraMember{Name: m.text(tagName)}
		switch m.next() {
		case tagNumber:
			x.JSON = string(text.AppendFloat(nil, m.number(tagNumber)))
		case tagNumbers:
			list := m.message(tagNumbers)
			x.JSON = string(appendNumbers(nil, list.packed(tagNumberList)))
			m.ok = list.ok && len(list.b) == 0
		case tagText:
			x.JSON = string(text.AppendString(nil, m.text(tagText)))
		case tagList:
			list := m.message(tagList)
			x.JSON = string(appendList(nil, list.entries()))
			m.ok = list.ok
		default:
			m.ok = false
		}
		p.ok = m.ok && len(m.b) == 0 && names.add(x.Name)
		found = append(found, x)
	}
	return found
}

// entries reads the message List.
func (p *protobufParser) entries() (list []Entry) {
	for p.ok && len(p.b) > 0 {
		m := p.message(tagEntries)
		x := Entry{Name: m.text(tagEntryName), Count: m.count(tagCount), Low: m.count(tagLow), High: m.count(tagHigh)}
		p.ok = m.ok && len(m.b) == 0
		list = append(list, x)
	}
	return list
}

// later skips fields of later versions.
func (p *protobufParser) later() {
	for p.ok && len(p.b) > 0 {
		tag := p.uvarint()
		p.ok = p.ok && tag>>3 > fields && tag>>3 < 1<<29
		switch tag & 7 {
		case varint:
			p.uvarint()
		case fixed64:
			p.cut(8)
		case delimited:
			p.cut(p.uvarint())
		case fixed32:
			p.cut(4)
		default:
			p.ok = false
		}
	}
}
