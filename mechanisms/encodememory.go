package mechanisms

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"slices"

	"oriel/mechanisms/decay"
	"oriel/mechanisms/lattice"
	"oriel/mechanisms/noise"
)

// appendMemory appends a plan of version 4, little-endian: version u8; name; length u16 of the filter and the filter
// (decay.Filter); components u16 and each component as in version 3, or of the default contribution 0 components and
//
//	grid exponent i32, Λ i64, scale mantissa u64 and exponent i32, error bound f64
//
// Version 5 has 16 bytes for each square of a distance, and is written exactly when one needs more than 8.
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

// fine reports whether a square of a distance needs more than a word.
func (p Calibration) fine() bool {
	return slices.ContainsFunc(
		p.Components, func(x ComponentCalibration) bool { return x.Replace.Hi != 0 || x.ZeroOut.Hi != 0 },
	)
}

// parseMemory reads what appendMemory has written behind the version, and nothing else.
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
