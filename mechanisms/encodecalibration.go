package mechanisms

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"

	"oriel/mechanisms/blt"
	"oriel/mechanisms/decay"
	"oriel/mechanisms/lattice"
	"oriel/mechanisms/noise"
)

// Versions of stored formats. A change adds a version, and old golden bytes stay.
const (
	planVersion                  = 1 // of nodes: the tree- and once- names
	filterPlanVersion            = 2 // of blt
	componentsCalibrationVersion = 3 // of leaves other than the default one, of any name without memory
	memoryPlanVersion            = 4 // of blt with memory, of all leaves
	finePlanVersion              = 5 // of blt with memory, where a square of a distance has more than 64 bits

	stateVersion           = 1 // of one part
	componentsStateVersion = 2 // of several
	drawnStateVersion      = 3 // of ExponentialMechanism
)

// planTail is the length of a plan after its name: grid exponent i32, Λ i64, scale mantissa u64 and exponent i32,
// levels u8, error bound f64, little-endian.
const planTail = 4 + 8 + 8 + 4 + 1 + 8

// filterTail is the fixed length after the name of a plan of version 2: as planTail with m u8, f u8 in the place of
// levels, at the end; m poles and residues follow, u32 each, in pairs.
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

// appendFilter appends m u8, f u8, and m poles and residues, u32 each, in pairs.
func appendFilter(dst []byte, f blt.Filter) []byte {
	dst = append(dst, f.Count, f.Shift)
	for k := range f.Count {
		dst = binary.LittleEndian.AppendUint32(dst, f.Poles[k])
		dst = binary.LittleEndian.AppendUint32(dst, uint32(f.Residues[k]))
	}
	return dst
}

// ParseCalibration is the inverse of AppendBinary and accepts nothing else.
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

// validate checks each field for itself. A scale has one representation, with an odd mantissa.
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

// Decays reports whether the plan is of sums that decay.
func (p Calibration) Decays() bool { return p.Decay != (decay.Filter{}) }

// validate checks what every component has. The lattice may be a fine one where sums decay.
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
