package mechanisms

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"slices"

	"oriel/mechanisms/blt"
	"oriel/mechanisms/contribution"
	"oriel/mechanisms/decay"
	"oriel/mechanisms/lattice"
	"oriel/mechanisms/noise"
)

// Versions of stored formats. A change of format adds a version, and golden bytes of old versions stay.
const (
	planVersion                  = 1 // for nodes: the tree- and once- names
	filterPlanVersion            = 2 // for blt
	componentsCalibrationVersion = 3 // for other contributions than the default one, of any name without memory
	memoryPlanVersion            = 4 // for blt with memory, with any contribution
	finePlanVersion              = 5 // for blt with memory, if a square of a distance has more than 64 bits

	stateVersion           = 1 // for one component
	componentsStateVersion = 2 // for several components
	drawnStateVersion      = 3 // for ExponentialMechanism
)

// planTail is the length of a plan after its name: grid exponent i32, Λ i64, scale mantissa u64 and exponent i32,
// levels u8, error bound f64, little-endian.
const planTail = 4 + 8 + 8 + 4 + 1 + 8

// filterTail is the fixed length after the name of a plan of version 2. It is as planTail, except that m u8 and f u8 at
// the end replace levels; m pairs of pole and residue follow, u32 each.
const (
	filterTail = 4 + 8 + 8 + 4 + 8 + 1 + 1
	pairLen    = 4 + 4
)

// AppendBinary appends the canonical encoding: version u8, length of the name u8, name, planTail or filterTail. Two
// plans are equal exactly when their encodings are.
func (p Calibration) AppendBinary(dst []byte) ([]byte, error) {
	if err := p.validate(); err != nil {
		return dst, err
	}
	if p.Decays() {
		return p.appendMemory(dst), nil
	}
	if p.Components != nil {
		return p.appendComponents(dst), nil
	}
	version := byte(planVersion)
	if p.Filter.Count > 0 {
		version = filterPlanVersion
	}
	dst = append(dst, version, byte(len(p.Name)))
	dst = append(dst, p.Name...)
	dst = binary.LittleEndian.AppendUint32(dst, uint32(int32(p.Grid.Exp)))
	dst = binary.LittleEndian.AppendUint64(dst, uint64(p.Grid.Lambda))
	dst = binary.LittleEndian.AppendUint64(dst, p.Scale.Mant)
	dst = binary.LittleEndian.AppendUint32(dst, uint32(int32(p.Scale.Exp)))
	if version == planVersion {
		dst = append(dst, p.Levels)
		return binary.LittleEndian.AppendUint64(dst, math.Float64bits(p.ErrorBound)), nil
	}
	dst = binary.LittleEndian.AppendUint64(dst, math.Float64bits(p.ErrorBound))
	return appendFilter(dst, p.Filter), nil
}

// appendFilter appends m u8, f u8, and m pairs of pole and residue, u32 each.
func appendFilter(dst []byte, f blt.Filter) []byte {
	dst = append(dst, f.Count, f.Shift)
	for k := range f.Count {
		dst = binary.LittleEndian.AppendUint32(dst, f.Poles[k])
		dst = binary.LittleEndian.AppendUint32(dst, uint32(f.Residues[k]))
	}
	return dst
}

// ParseCalibration is the inverse of AppendBinary and refuses any other bytes.
func ParseCalibration(b []byte) (Calibration, error) {
	if len(b) < 2 {
		return Calibration{}, errors.New("mechanisms: plan: too short")
	}
	version, head := b[0], 2+int(b[1])
	switch version {
	case componentsCalibrationVersion:
		return parseComponents(b[1:])
	case memoryPlanVersion:
		return parseMemory(b[1:], false)
	case finePlanVersion:
		return parseMemory(b[1:], true)
	case planVersion, filterPlanVersion:
	default:
		return Calibration{}, fmt.Errorf("mechanisms: plan: version %d, this software reads %d to %d",
			version, planVersion, finePlanVersion)
	}
	want := head + planTail
	if version == filterPlanVersion {
		want = head + filterTail
		if len(b) >= want {
			want += pairLen * int(min(b[want-2], blt.MaxPoles))
		}
	}
	if len(b) != want {
		return Calibration{}, fmt.Errorf("mechanisms: plan: %d bytes, want %d", len(b), want)
	}
	name, b := b[2:head], b[head:]
	p := Calibration{
		Name: string(name),
		Grid: lattice.Grid{
			Exp:    int(int32(binary.LittleEndian.Uint32(b))),
			Lambda: int64(binary.LittleEndian.Uint64(b[4:])),
		},
		Scale: noise.Scale{
			Mant: binary.LittleEndian.Uint64(b[12:]),
			Exp:  int(int32(binary.LittleEndian.Uint32(b[20:]))),
		},
	}
	if version == planVersion {
		p.Levels = b[24]
		p.ErrorBound = math.Float64frombits(binary.LittleEndian.Uint64(b[25:]))
		return p, p.validate()
	}
	p.ErrorBound = math.Float64frombits(binary.LittleEndian.Uint64(b[24:]))
	p.Filter.Count, p.Filter.Shift = b[32], b[33]
	for k := range (len(b) - filterTail) / pairLen {
		p.Filter.Poles[k] = binary.LittleEndian.Uint32(b[filterTail+pairLen*k:])
		p.Filter.Residues[k] = int32(binary.LittleEndian.Uint32(b[filterTail+pairLen*k+4:]))
	}
	return p, p.validate()
}

// validate checks each field separately. A scale has only one representation, with an odd mantissa.
func (p Calibration) validate() error {
	kind, known := definitionOf(p.Name)
	if !known {
		return fmt.Errorf("mechanisms: plan: name is not one of %v", Names())
	}
	for i := range max(1, len(p.Components)) {
		if err := p.Component(i).validate(p.Decays()); err != nil {
			return fmt.Errorf("mechanisms: plan: %w", err)
		}
	}
	if p.Components != nil {
		if err := p.checkComponents(); err != nil {
			return err
		}
	}
	switch {
	case kind.Draws:
		return exponential{}.check(p)
	case kind.Tree:
		return tree{}.check(p)
	case kind.PerStep:
		return perStep{}.check(p)
	case p.Decays():
		return decaying{}.check(p)
	}
	return filter{}.check(p)
}

// Decays reports whether the plan is for sums that decay.
func (p Calibration) Decays() bool { return p.Decay != (decay.Filter{}) }

// validate checks the fields that every component has. fine allows a finer lattice, for sums that decay.
func (p ComponentCalibration) validate(fine bool) error {
	err := p.Grid.ValidateFine()
	if !fine {
		err = p.Grid.Validate()
	}
	if err != nil {
		return err
	}
	switch {
	case p.Scale.Mant&1 == 0 || p.Scale.Exp < -1100 || p.Scale.Exp > 1100:
		return errors.New("scale is not an odd integer times a power of two")
	case !(p.ErrorBound >= 0) || math.IsInf(p.ErrorBound, 1) || math.Float64bits(p.ErrorBound)>>63 != 0:
		return fmt.Errorf("error bound %g: not finite and at least 0", p.ErrorBound)
	}
	return nil
}

// appendComponents appends a plan of version 3, little-endian: version u8; name; levels u8; the filter as in version 2,
// m = 0 for none; components u16; and for each component
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

// parseComponents reads the output of appendComponents after the version, and refuses any other bytes.
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

// checkComponents checks the fields that only plans of version 3 have.
func (p Calibration) checkComponents() error {
	if len(p.Components) == 0 || len(p.Components) > contribution.MaxComponents {
		return fmt.Errorf("mechanisms: plan: %d parts: not in [1, %d]", len(p.Components), contribution.MaxComponents)
	}
	first := p.Components[0]
	if first.Grid != p.Grid || first.Scale != p.Scale || first.ErrorBound != p.ErrorBound {
		return errors.New("mechanisms: plan: its first part is another than it says")
	}
	for i, x := range p.Components {
		if x.Size < 1 || x.Size > contribution.MaxDimension || x.Entries < 1 || x.Entries > contribution.MaxDimension ||
			len(x.Name) > contribution.MaxName ||
			len(x.Scales) != 0 && len(x.Scales) != x.Size {
			return fmt.Errorf("mechanisms: plan: part %d: shape out of range", i)
		}
		if err := contribution.CheckDistances(x.Replace, x.ZeroOut)(x.Grid); err != nil {
			return fmt.Errorf("mechanisms: plan: part %d: %w", i, err)
		}
	}
	return nil
}

// reader reads fields from the front of bytes that may be too short. In that case it records one error and then reads
// zeros.
type reader struct {
	rest  []byte
	short bool
	fine  bool // squares have 16 bytes
}

var noBytes [contribution.MaxName]byte

func (r *reader) take(n int) []byte {
	if r.short || len(r.rest) < n {
		r.short = true
		return noBytes[:min(n, contribution.MaxName)]
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

// appendMemory appends a plan of version 4, little-endian: version u8; name; length u16 of the filter and the filter
// (decay.Filter); components u16 and each component as in version 3. For the default contribution it writes 0
// components and
//
//	grid exponent i32, Λ i64, scale mantissa u64 and exponent i32, error bound f64
//
// Version 5 has 16 bytes for each square of a distance, and is written exactly if one needs more than 8.
func (p Calibration) appendMemory(dst []byte) []byte {
	version := byte(memoryPlanVersion)
	if p.fine() {
		version = finePlanVersion
	}
	dst = appendName(append(dst, version), p.Name)
	filter := p.Decay.AppendBinary(nil)
	dst = append(binary.LittleEndian.AppendUint16(dst, uint16(len(filter))), filter...)
	dst = p.appendPartList(dst)
	if p.Components != nil {
		return dst
	}
	dst = binary.LittleEndian.AppendUint32(dst, uint32(int32(p.Grid.Exp)))
	dst = binary.LittleEndian.AppendUint64(dst, uint64(p.Grid.Lambda))
	dst = binary.LittleEndian.AppendUint64(dst, p.Scale.Mant)
	dst = binary.LittleEndian.AppendUint32(dst, uint32(int32(p.Scale.Exp)))
	return binary.LittleEndian.AppendUint64(dst, math.Float64bits(p.ErrorBound))
}

// fine reports whether a square of a distance needs more than 8 bytes.
func (p Calibration) fine() bool {
	return slices.ContainsFunc(
		p.Components, func(x ComponentCalibration) bool { return x.Replace.Hi != 0 || x.ZeroOut.Hi != 0 },
	)
}

// parseMemory reads the output of appendMemory after the version, and refuses any other bytes.
func parseMemory(b []byte, fine bool) (Calibration, error) {
	r := reader{rest: b, fine: fine}
	p := Calibration{Name: r.name()}
	length := int(r.u16())
	if r.short || length > len(r.rest) {
		return Calibration{}, errors.New("mechanisms: plan: not of its length")
	}
	var err error
	if p.Decay, err = decay.ParseFilter(r.rest[:length]); err != nil {
		return Calibration{}, fmt.Errorf("mechanisms: plan: %w", err)
	}
	r.rest = r.rest[length:]
	if parts := r.componentList(); len(parts) > 0 {
		first := parts[0]
		p.Components, p.Grid, p.Scale, p.ErrorBound = parts, first.Grid, first.Scale, first.ErrorBound
	} else {
		p.Grid = lattice.Grid{Exp: int(int32(r.u32())), Lambda: int64(r.u64())}
		p.Scale = noise.Scale{Mant: r.u64(), Exp: int(int32(r.u32()))}
		p.ErrorBound = math.Float64frombits(r.u64())
	}
	if r.short || len(r.rest) > 0 {
		return Calibration{}, errors.New("mechanisms: plan: not of its length")
	}
	if fine != p.fine() {
		return Calibration{}, fmt.Errorf("mechanisms: plan: version %d, but every distance fits version %d", finePlanVersion, memoryPlanVersion)
	}
	return p, p.validate()
}
