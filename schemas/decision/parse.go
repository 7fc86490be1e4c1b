package decision

import (
	"bytes"
	"encoding/hex"
	"errors"
	"unicode/utf8"

	"oriel/schemas/text"
)

// ErrFormat is the only error of Parse.
var ErrFormat = errors.New("schemas: not a decision: members, their order or their types differ")

// Parse parses the output of Encoder.Append, in either form and any encoding: every member, in the encoder's
// order. In JSON there must be no white space between members, and a line end may follow. After the common members may
// follow an operator's, and in JSON and Protobuf also members of a later version, with any name and value. The
// published schemas promise this. Names must be distinct; arrays and objects of JSON are nested at most 8 deep.
func Parse(b []byte) (Decision, error) {
	var d Decision
	ok := false
	switch {
	case len(b) == 0:
	case b[0] == startOfJSON:
		d, ok = parseJSON(b)
	case b[0] == startOfProtobuf:
		d, ok = parseProtobuf(b)
	case b[0] == startOfAvro:
		if b, ok = bytes.CutPrefix(b, []byte(avroHeader)); ok {
			d, ok = parseAvro(b)
		}
	case b[0] == startOfHeader:
		e, schemaID, rest := cutHeader(b)
		switch e {
		case JSON: // truncated JSON
		case Protobuf:
			d, ok = parseProtobuf(rest)
		case Avro:
			d, ok = parseAvro(rest)
		}
		d.SchemaID, ok = schemaID, ok && schemaID > 0
	}
	if !ok {
		return Decision{}, ErrFormat
	}
	return d, nil
}

func parseJSON(b []byte) (d Decision, ok bool) {
	p := decisionParser{b: bytes.TrimSuffix(b, []byte("\n")), ok: utf8.Valid(b)}
	p.literal(`{"stream":`)
	d.Stream = p.string()
	p.literal(`,"incarnation":`)
	p.incarnation(&d.Incarnation)
	p.literal(`,"index":`)
	d.Index = p.uint()
	p.literal(`,"step":`)
	d.Step = p.uint()
	p.literal(`,"decision":`)
	if p.ok && text.HasLiteral(p.b, p.i, `{`) {
		d.Form, d.Point = Sparse, p.sparse()
	} else {
		p.literal(`[`)
		d.Point = p.point()
		p.literal(`]`)
	}
	p.literal(`,"mechanism":`)
	d.Mechanism = p.string()
	p.literal(`,"window":`)
	d.Window = p.uint()
	p.literal(`,"batch":`)
	d.Batch = p.uint()
	p.literal(`,"epsilon":`)
	d.Epsilon = p.number()
	p.literal(`,"delta":`)
	d.Delta = p.number()
	p.literal(`,"adjacency":`)
	d.Adjacency = p.string()
	p.literal(`,"unit":`)
	d.Unit = p.string()
	d.Extras = p.extras()
	p.literal(`}`)
	return d, p.ok && p.i == len(p.b)
}

// decisionParser reads fields until one is invalid. From then on ok is false and results must not be used.
type decisionParser struct {
	b  []byte
	i  int
	ok bool
}

func (p *decisionParser) literal(s string) {
	if p.ok = p.ok && text.HasLiteral(p.b, p.i, s); p.ok {
		p.i += len(s)
	}
}

func (p *decisionParser) string() string {
	if !p.ok {
		return ""
	}
	s, next, _, code := text.ReadString(p.b, p.i, nil)
	p.i, p.ok = next, code == text.OK
	return string(s)
}

func (p *decisionParser) incarnation(dst *[16]byte) {
	s := p.string()
	if p.ok = p.ok && len(s) == 2*len(dst); p.ok {
		_, err := hex.Decode(dst[:], []byte(s))
		p.ok = err == nil
	}
}

func (p *decisionParser) uint() uint64 {
	first := p.i
	var n uint64
	for p.ok && p.i < len(p.b) && p.b[p.i]-'0' < 10 {
		digit := uint64(p.b[p.i] - '0')
		p.ok = n <= (1<<64-1-digit)/10
		n = n*10 + digit
		p.i++
	}
	p.ok = p.ok && p.i > first && (p.b[first] != '0' || p.i == first+1)
	return n
}

func (p *decisionParser) number() float64 {
	if !p.ok {
		return 0
	}
	f, next, code := text.ReadNumber(p.b, p.i, text.MaxDepth)
	p.i, p.ok = next, code == text.OK
	return f
}

// point reads the point. The result is never nil.
func (p *decisionParser) point() []float64 {
	if !p.ok {
		return nil
	}
	if p.i < len(p.b) && p.b[p.i] == ']' {
		return []float64{}
	}
	end := max(bytes.IndexByte(p.b[p.i:], ']'), 0)
	point := make([]float64, 0, 1+bytes.Count(p.b[p.i:p.i+end], []byte{','}))
	for p.ok {
		point = append(point, p.number())
		if p.i == len(p.b) || p.b[p.i] != ',' {
			break
		}
		p.i++
	}
	return point
}

// extras reads the members after the common ones; it returns nil if there are none.
func (p *decisionParser) extras() []ExtraMember {
	var found []ExtraMember
	var names memberNames
	for p.ok && p.i < len(p.b) && p.b[p.i] == ',' {
		p.i++
		name := p.string()
		p.ok = p.ok && names.add(name)
		p.literal(`:`)
		start := p.i
		if p.ok {
			var code text.Code
			p.i, _, code = text.SkipValue(p.b, start, text.MaxDepth-1, nil)
			p.ok = code == text.OK
		}
		found = append(found, ExtraMember{Name: name, JSON: string(p.b[start:p.i])})
	}
	return found
}
