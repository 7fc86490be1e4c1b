package coco

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"reflect"
	"slices"

	"oriel/mechanisms"
	"oriel/mechanisms/contribution"
	"oriel/operators/coco/band"
	"oriel/operators/convex/oracle"
)

// Params holds the frozen values that a machine needs. Some of them depend on the platform's math library, so they
// are computed once, when a stream is opened, and stored with the mechanism's calibration. A later start must read them
// back, because computing them on another platform could change a bit. Params also holds the start of a stream that
// continues an earlier one.
type Params struct {
	Contributions Contributions // zero: the rule ruleClip
	Past          Inherited     // zero: the stream does not continue an earlier one
	Band          band.Columns  // columns that count misses of a band; zero: there is no band
}

// Inherited is the start of a stream that continues an earlier, published stream. It is public like that stream
// (SPEC.md §5.3).
type Inherited struct {
	Point  []float64 // last decision of the earlier stream, moved into the set
	Weight float64   // N of the earlier stream, the weight of its steps
}

// The stored form of params, little-endian, is
//
//	version u8 ‖ rule u8 ‖ pull ‖ offset ‖ radius ‖ reach ‖ columns u8 ‖ their share u32 [‖ weight ‖ point]
//
// with f64 for each number without a type. The past, a weight and n coordinates, is of a stream that continues one.
const (
	paramsVersion = 1
	bandAt        = 1 + 1 + 4*8    // place of the columns
	paramsLen     = bandAt + 1 + 4 // length without a past
)

// NewParams returns the params of c for the mechanism m. It takes the rule for contributions from m's contribution.
func (c Config) NewParams(m mechanisms.Config) (Params, error) {
	if err := c.Validate(); err != nil {
		return Params{}, err
	}
	p := Params{Band: c.Band.Columns(c.Loss, m.Unit)}
	sharp := Params{Contributions: c.contributions(m), Band: p.Band}
	if reflect.DeepEqual(m.Contribution, sharp.contribution(c)) {
		p.Contributions = sharp.Contributions
	}
	var err error
	if p.Past, err = c.past(m); err != nil {
		return Params{}, err
	}
	return p, p.validate()
}

// past returns the start of a stream that continues after StartPoint: the point of the set nearest to that decision,
// and the weight that the memory keeps of its steps. It is zero without StartPoint.
func (c Config) past(m mechanisms.Config) (Inherited, error) {
	last := c.StartPoint
	if last == nil {
		return Inherited{}, nil
	}
	near, err := oracle.Nearest(c.Set, last.Point)
	return Inherited{Point: near, Weight: mechanisms.Weight(m.Scope, last.Step)}, err
}

func (p Params) validate() error {
	finite := func(x float64) bool { return math.Abs(x) <= math.MaxFloat64 }
	if !(p.Past.Weight >= 0 && finite(p.Past.Weight)) || (p.Past.Weight > 0) != (len(p.Past.Point) > 0) ||
		!all(p.Past.Point, finite) {
		return errors.New("coco: params: a past whose weight is not above 0, or whose numbers are not finite")
	}
	if err := p.Band.Validate(); err != nil {
		return err
	}
	return p.Contributions.validate()
}

func all(v []float64, is func(float64) bool) bool {
	return !slices.ContainsFunc(v, func(x float64) bool { return !is(x) })
}

// validate accepts only rules that Config.contributions can have chosen.
func (l Contributions) validate() error {
	if l == (Contributions{}) {
		return nil
	}
	centred := l.Rule == ruleCentre && l.Reach > 0 && l.Pull >= 0 && math.Abs(l.Pull)+math.Abs(l.Offset) <= math.MaxFloat64
	around := l.Rule == ruleNorm && l.Reach == 0 && l.Pull == 0 && l.Offset == 0
	if !centred && !around {
		return fmt.Errorf("coco: params: rule %d of contributions with other numbers than it has", l.Rule)
	}
	return contribution.Ball{Radius: l.Radius, Reach: l.Reach}.Validate()
}

// AppendBinary appends the stored form.
func (p Params) AppendBinary(dst []byte) ([]byte, error) {
	if err := p.validate(); err != nil {
		return dst, err
	}
	l := p.Contributions
	dst = appendFloats(append(dst, paramsVersion, l.Rule), []float64{l.Pull, l.Offset, l.Radius, l.Reach})
	dst = binary.LittleEndian.AppendUint32(append(dst, byte(p.Band.Number)), p.Band.Share)
	if p.Past.Point != nil {
		dst = appendFloats(appendFloats(dst, []float64{p.Past.Weight}), p.Past.Point)
	}
	return dst, nil
}

// ParseParams reads the stored form that AppendBinary writes, and refuses any other bytes.
func ParseParams(b []byte) (Params, error) {
	if len(b) < paramsLen || b[0] != paramsVersion {
		return Params{}, fmt.Errorf("coco: params: not of version %d", paramsVersion)
	}
	past := b[paramsLen:]
	if len(past)%8 != 0 || len(past) == 8 { // a past has a weight and at least one coordinate
		return Params{}, fmt.Errorf("coco: params: %d bytes: not of a length that they have", len(b))
	}
	var f [4]float64
	readFloats(f[:], b[2:bandAt])
	p := Params{
		Contributions: Contributions{Rule: b[1], Pull: f[0], Offset: f[1], Radius: f[2], Reach: f[3]},
		Band:          band.Columns{Number: int(b[bandAt]), Share: binary.LittleEndian.Uint32(b[bandAt+1:])},
	}
	if len(past) > 0 {
		numbers := make([]float64, len(past)/8)
		readFloats(numbers, past)
		p.Past = Inherited{Weight: numbers[0], Point: numbers[1:]}
	}
	if slices.ContainsFunc(f[:], func(x float64) bool { return x == 0 && math.Signbit(x) }) {
		return Params{}, errors.New("coco: params: a zero with a sign")
	}
	return p, p.validate()
}
