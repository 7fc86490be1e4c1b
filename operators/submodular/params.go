package submodular

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
)

// params holds the frozen inputs of a deployment: the value of each element to each type, which is missing if events
// contain values, and constants.
type params struct {
	names []string // names of the types; places are elements, too
	table []float64

	copies      int  // number of copies, for shares and leaders; otherwise 0
	regulariser      // regulariser of shares and leaders; otherwise zero
	means       bool // decisions follow means

	length float64 // M, the length bound of a position's gains; 0: gains are centred on ½
}

// paramsVersion is the first byte of params.
const paramsVersion = 1

var errParams = errors.New("submodular: params: not of these settings")

// encode writes, little-endian:
//
//	version u8 ‖ copies u32 ‖ H f64 ‖ C f64 ‖ M f64 ‖ number of types u32 ‖ each name, after its length u8
//	‖ the value of each element to each type u32
func (c operator) encode(p params) []byte {
	b := binary.LittleEndian.AppendUint32([]byte{paramsVersion}, uint32(p.copies))
	for _, x := range []float64{p.strength, p.relief, p.length} {
		b = binary.LittleEndian.AppendUint64(b, math.Float64bits(x))
	}
	b = binary.LittleEndian.AppendUint32(b, uint32(len(c.types)))
	for _, p := range c.types {
		b = append(append(b, byte(len(p.name))), p.name...)
	}
	for _, v := range values(c.types, c.catchment) {
		b = binary.LittleEndian.AppendUint32(b, v)
	}
	return b
}

// read reads the form that encode writes. It refuses params of other settings.
func (c operator) read(b []byte) (params, error) {
	const head = 1 + 4 + 3*8
	if len(b) < head || b[0] != paramsVersion {
		return params{}, errParams
	}
	number := func(i int) float64 { return math.Float64frombits(binary.LittleEndian.Uint64(b[5+8*i:])) }
	p := params{copies: int(binary.LittleEndian.Uint32(b[1:])), means: c.averages(), length: number(2)}
	p.regulariser = regulariser{strength: number(0), relief: number(1), printed: c.tuned() && c.printed}
	if !p.fit(c) {
		return params{}, errParams
	}
	return p, p.readTypes(c, b[head:])
}

// fit reports whether the numbers are ones that the settings can have given.
func (p params) fit(c operator) bool {
	if !(p.length >= 0 && p.length <= maxElements) || !c.listed() && p.length != c.norm {
		return false
	}
	if !c.tuned() {
		return p.copies == 0 && p.strength == 0 && p.relief == 0
	}
	if p.copies < 1 || p.copies > maxCopies || c.copies > 0 && p.copies != c.copies {
		return false
	}
	return p.strength > 0 && p.strength <= math.MaxFloat64 && p.relief >= 0 && p.relief <= math.MaxFloat64 &&
		(!c.printed || p.relief == 0)
}

// readTypes reads the names and the values. It refuses a list with other types than the settings have.
func (p *params) readTypes(c operator, b []byte) error {
	if len(b) < 4 {
		return errParams
	}
	n := int(binary.LittleEndian.Uint32(b))
	b = b[4:]
	for range n {
		if len(b) < 1 || len(b) < 1+int(b[0]) || len(p.names) == maxPlaces {
			return errParams
		}
		p.names, b = append(p.names, string(b[1:1+int(b[0])])), b[1+int(b[0]):]
	}
	if len(b) != 4*n*c.elements {
		return errParams
	}
	if n != len(c.types) {
		return fmt.Errorf("%w: the file has %d places", errParams, n)
	}
	p.table = make([]float64, n*c.elements)
	for i := range p.table {
		v := binary.LittleEndian.Uint32(b[4*i:])
		if v > unit {
			return errParams
		}
		p.table[i] = float64(v) / unit
	}
	return nil
}
