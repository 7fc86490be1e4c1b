package mechanisms

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"

	"oriel/mechanisms/blt"
	"oriel/mechanisms/lattice"
	"oriel/mechanisms/noise"
)

// appendComponents appends a plan of version 3, little-endian: version u8; name; levels u8; the filter as in version 2,
// m = 0 for none; components u16; and of each component
//
//	name, size u32, entries u32, grid exponent i32, Λ i64, replace² u64, zero-out² u64, share u32,
//	scale mantissa u64 and exponent i32, error bound f64, scales u32 (n or 0), as many u32
//
// A name is its length u8 and its bytes.
func (p Calibration) appendComponents(dst []byte) []byte {
	dst = appendName(append(dst, componentsCalibrationVersion), p.Name)
	dst = appendFilter(append(dst, p.Levels), p.Filter)
	return p.appendPartList(dst)
}

func (p Calibration) appendPartList(dst []byte) []byte {
	square := func(dst []byte, x lattice.Int128) []byte { return binary.LittleEndian.AppendUint64(dst, x.Lo) }
	if p.fine() {
		square = func(dst []byte, x lattice.Int128) []byte { return x.AppendBinary(dst) }
	}
	dst = binary.LittleEndian.AppendUint16(dst, uint16(len(p.Components)))
	for _, x := range p.Components {
		dst = appendName(dst, x.Name)
		dst = binary.LittleEndian.AppendUint32(dst, uint32(x.Size))
		dst = binary.LittleEndian.AppendUint32(dst, uint32(x.Entries))
		dst = binary.LittleEndian.AppendUint32(dst, uint32(int32(x.Grid.Exp)))
		dst = binary.LittleEndian.AppendUint64(dst, uint64(x.Grid.Lambda))
		dst = square(square(dst, x.Replace), x.ZeroOut)
		dst = binary.LittleEndian.AppendUint32(dst, x.Share)
		dst = binary.LittleEndian.AppendUint64(dst, x.Scale.Mant)
		dst = binary.LittleEndian.AppendUint32(dst, uint32(int32(x.Scale.Exp)))
		dst = binary.LittleEndian.AppendUint64(dst, math.Float64bits(x.ErrorBound))
		dst = binary.LittleEndian.AppendUint32(dst, uint32(len(x.Scales)))
		for _, k := range x.Scales {
			dst = binary.LittleEndian.AppendUint32(dst, k)
		}
	}
	return dst
}

func appendName(dst []byte, name string) []byte { return append(append(dst, byte(len(name))), name...) }

// parseComponents reads what appendComponents has written behind the version, and nothing else.
func parseComponents(b []byte) (Calibration, error) {
	r := reader{rest: b}
	p := Calibration{Name: r.name(), Levels: r.u8()}
	p.Filter.Count, p.Filter.Shift = r.u8(), r.u8()
	for k := range min(p.Filter.Count, blt.MaxPoles) {
		p.Filter.Poles[k], p.Filter.Residues[k] = r.u32(), int32(r.u32())
	}
	p.Components = r.componentList()
	if r.short || len(r.rest) > 0 || len(p.Components) == 0 {
		return Calibration{}, errors.New("mechanisms: plan: not of its length")
	}
	p.Grid, p.Scale, p.ErrorBound = p.Components[0].Grid, p.Components[0].Scale, p.Components[0].ErrorBound
	return p, p.validate()
}

// checkComponents checks what plans of version 3 alone have.
func (p Calibration) checkComponents() error {
	if len(p.Components) == 0 || len(p.Components) > maxComponents {
		return fmt.Errorf("mechanisms: plan: %d parts: not in [1, %d]", len(p.Components), maxComponents)
	}
	first := p.Components[0]
	if first.Grid != p.Grid || first.Scale != p.Scale || first.ErrorBound != p.ErrorBound {
		return errors.New("mechanisms: plan: its first part is another than it says")
	}
	for i, x := range p.Components {
		if x.Size < 1 || x.Size > maxDimension || x.Entries < 1 || x.Entries > maxDimension || len(x.Name) > maxName ||
			len(x.Scales) != 0 && len(x.Scales) != x.Size {
			return fmt.Errorf("mechanisms: plan: part %d: shape out of range", i)
		}
		if err := checkDistances(x.Replace, x.ZeroOut)(x.Grid); err != nil {
			return fmt.Errorf("mechanisms: plan: part %d: %w", i, err)
		}
	}
	return nil
}

// reader takes fields off the front of bytes that may be too short, of which it says so once and then reads zeros.
type reader struct {
	rest  []byte
	short bool
	fine  bool // squares have two words
}

var noBytes [maxName]byte

func (r *reader) take(n int) []byte {
	if r.short || len(r.rest) < n {
		r.short = true
		return noBytes[:min(n, maxName)]
	}
	b := r.rest[:n]
	r.rest = r.rest[n:]
	return b
}

func (r *reader) u8() uint8    { return r.take(1)[0] }
func (r *reader) u16() uint16  { return binary.LittleEndian.Uint16(r.take(2)) }
func (r *reader) u32() uint32  { return binary.LittleEndian.Uint32(r.take(4)) }
func (r *reader) u64() uint64  { return binary.LittleEndian.Uint64(r.take(8)) }
func (r *reader) name() string { return string(r.take(int(r.u8()))) }

func (r *reader) square() lattice.Int128 {
	if r.fine {
		return lattice.ParseInt128(r.take(lattice.Int128Len))
	}
	return lattice.Int128{Lo: r.u64()}
}

func (r *reader) componentList() []ComponentCalibration {
	list := make([]ComponentCalibration, 0, 1)
	for range r.u16() {
		if r.short {
			break
		}
		list = append(list, r.component())
	}
	return list
}

func (r *reader) component() ComponentCalibration {
	x := ComponentCalibration{Name: r.name(), Size: int(r.u32()), Entries: int(r.u32())}
	x.Grid = lattice.Grid{Exp: int(int32(r.u32())), Lambda: int64(r.u64())}
	x.Replace, x.ZeroOut, x.Share = r.square(), r.square(), r.u32()
	x.Scale = noise.Scale{Mant: r.u64(), Exp: int(int32(r.u32()))}
	x.ErrorBound = math.Float64frombits(r.u64())
	count := int(r.u32())
	if r.short || count > len(r.rest)/4 {
		r.short = true
		return x
	}
	for range count {
		x.Scales = append(x.Scales, r.u32())
	}
	return x
}
