package decision

import (
	"encoding/binary"
	"math"
	"unicode/utf8"

	"oriel/schemas/text"
)

// binaryParser reads numbers and texts of Protobuf and Avro until one is invalid. From then on ok is false and results
// must not be used. It allocates no more than the bytes read can need.
type binaryParser struct {
	b  []byte // bytes not parsed yet
	ok bool
}

// uvarint reads a number in groups of 7 bits per byte, lowest bits first.
func (p *binaryParser) uvarint() uint64 {
	n, size := binary.Uvarint(p.b)
	if p.ok = p.ok && size > 0; !p.ok {
		return 0
	}
	p.b = p.b[size:]
	return n
}

// cut reads n bytes.
func (p *binaryParser) cut(n uint64) []byte {
	if p.ok = p.ok && n <= uint64(len(p.b)); !p.ok {
		return nil
	}
	cut := p.b[:n]
	p.b = p.b[n:]
	return cut
}

// text reads a text of n bytes.
func (p *binaryParser) text(n uint64) string {
	b := p.cut(n)
	p.ok = p.ok && utf8.Valid(b)
	return string(b)
}

// double reads a finite number.
func (p *binaryParser) double() float64 {
	b := p.cut(8)
	if !p.ok {
		return 0
	}
	x := math.Float64frombits(binary.LittleEndian.Uint64(b))
	if p.ok = !math.IsNaN(x) && !math.IsInf(x, 0); !p.ok {
		return 0
	}
	return x
}

// doubles reads n finite numbers. The result is never nil.
func (p *binaryParser) doubles(n uint64) []float64 {
	if p.ok = p.ok && n <= uint64(len(p.b)/8); !p.ok {
		return nil
	}
	numbers := make([]float64, n)
	for k := range numbers {
		numbers[k] = p.double()
	}
	return numbers
}

// memberNames is the set of member names met in a decision.
type memberNames struct{ text.NameSet }

// add adds the name of an extra member. It returns false if another member has the name.
func (s *memberNames) add(name string) bool {
	if s.Len() == 0 {
		for _, own := range decisionMembers {
			s.Add([]byte(own))
		}
	}
	return s.Add([]byte(name)) == text.OK
}
