package decision

import (
	"oriel/schemas/text"
)

// avroParser reads the fields of decision.avsc in their order. A list has all its elements in one block.
type avroParser struct{ binaryParser }

// parseAvro parses the bytes after the header.
func parseAvro(b []byte) (d Decision, ok bool) {
	p := avroParser{binaryParser{b, true}}
	d.Encoding = Avro
	d.Stream = p.text()
	p.ok = p.ok && copy(d.Incarnation[:], p.cut(uint64(len(d.Incarnation)))) == len(d.Incarnation)
	d.Index = p.long()
	d.Step = p.long()
	switch p.long() {
	case branchDense:
		d.Point = p.numbers()
	case branchSparse:
		d.Form, d.Point = Sparse, p.sparse()
	default:
		p.ok = false
	}
	d.Mechanism = p.text()
	d.Window = p.long()
	d.Batch = p.long()
	d.Epsilon = p.double()
	d.Delta = p.double()
	d.Adjacency = p.code(adjacencyCodes)
	d.Unit = p.code(unitCodes)
	d.Extras = p.members()
	return d, p.ok && len(p.b) == 0 && d.Stream != ""
}

// long reads a long that is not negative. Its zigzag encoding is twice the number.
func (p *avroParser) long() uint64 {
	n := p.uvarint()
	p.ok = p.ok && n%2 == 0
	return n / 2
}

func (p *avroParser) text() string { return p.binaryParser.text(p.long()) }

// code reads an enumeration.
func (p *avroParser) code(names []string) string {
	n := p.long()
	if p.ok = p.ok && n < uint64(len(names)); !p.ok {
		return ""
	}
	return names[n]
}

// end reads the end of a list of n elements.
func (p *avroParser) end(n uint64) {
	if n > 0 {
		p.ok = p.long() == endOfList && p.ok
	}
}

// numbers reads a list of numbers. The result is never nil.
func (p *avroParser) numbers() []float64 {
	n := p.long()
	numbers := p.doubles(n)
	p.end(n)
	return numbers
}

// sparse reads a point in the form Sparse. The result is never nil.
func (p *avroParser) sparse() []float64 {
	n, values := p.long(), p.numbers()
	if p.ok = p.ok && isSparse(n, values) && p.long() == uint64(len(values)); !p.ok {
		return nil
	}
	point := make([]float64, n)
	for _, value := range values {
		indices := p.long()
		p.ok = p.ok && indices > 0
		for k, least := uint64(0), uint64(0); p.ok && k < indices; k++ {
			i := p.long()
			p.ok = p.ok && set(point, i, least, value)
			least = i + 1
		}
		p.end(indices)
	}
	p.end(uint64(len(values)))
	return point
}

// list reads the record List.
func (p *avroParser) list() (list []Entry) {
	n := p.long()
	for p.ok && uint64(len(list)) < n {
		list = append(list, Entry{Name: p.text(), Count: p.long(), Low: p.long(), High: p.long()})
	}
	p.end(n)
	return list
}

// members reads the extra members; it returns nil if there are none.
func (p *avroParser) members() (found []ExtraMember) {
	var names memberNames
	n := p.long()
	for p.ok && uint64(len(found)) < n {
		x := ExtraMember{Name: p.text()}
		switch p.long() {
		case branchNumber:
			x.JSON = string(text.AppendFloat(nil, p.double()))
		case branchNumbers:
			x.JSON = string(appendNumbers(nil, p.numbers()))
		case branchText:
			x.JSON = string(text.AppendString(nil, p.text()))
		case branchList:
			x.JSON = string(appendList(nil, p.list()))
		default:
			p.ok = false
		}
		p.ok = p.ok && names.add(x.Name)
		found = append(found, x)
	}
	p.end(n)
	return found
}
