package mechanisms

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"

	"oriel/mechanisms/blt"
	"oriel/mechanisms/contribution"
	"oriel/mechanisms/decay"
	"oriel/mechanisms/lattice"
	"oriel/mechanisms/noise"
)

// calibrationVersion is the first byte of a stored calibration.
const calibrationVersion = 1

// stateVersion is the first byte of a stream's state.
const stateVersion = 1

// AppendBinary appends the canonical encoding, little-endian. Two calibrations are equal exactly when their encodings
// are.
//
//	version u8 ‖ name ‖ levels u8 (255: names, and threshold u32 follows) ‖ filter ‖ decay ‖ components u16 ‖ each component
//	‖ for the default contribution, which has 0 components: grid ‖ scale ‖ error bound f64
//
// with these elements:
//
//	name         length u8, bytes
//	filter       m u8 (0: none), f u8, m pairs of pole u32 and residue i32
//	decay        length u16 (0: none) and bytes of the decay.Filter
//	component    name, size u32, entries u32, grid, replace² i128, zero-out² i128, share u32, scale, error bound f64,
//	             scales u32 (n or 0), as many u32
//	grid         exponent i32, Λ i64
//	scale        mantissa u64, exponent i32
func (p Calibration) AppendBinary(dst []byte) ([]byte, error) {
	if err := p.validate(); err != nil {
		return dst, err
	}
	dst = append(appendName(append(dst, calibrationVersion), p.Name), p.Levels)
	if p.Levels == nameLevels {
		dst = binary.LittleEndian.AppendUint32(dst, uint32(p.Threshold))
	}
	dst = appendFilter(dst, p.Filter)
	var decays []byte
	if p.Decays() {
		decays = p.Decay.AppendBinary(nil)
	}
	dst = append(binary.LittleEndian.AppendUint16(dst, uint16(len(decays))), decays...)
	dst = binary.LittleEndian.AppendUint16(dst, uint16(len(p.Components)))
	for _, x := range p.Components {
		dst = appendComponent(dst, x)
	}
	if len(p.Components) == 0 {
		dst = appendFloat(appendScale(appendGrid(dst, p.Grid), p.Scale), p.ErrorBound)
	}
	return dst, nil
}

func appendName(dst []byte, name string) []byte { return append(append(dst, byte(len(name))), name...) }

func appendGrid(dst []byte, g lattice.Grid) []byte {
	return binary.LittleEndian.AppendUint64(binary.LittleEndian.AppendUint32(dst, uint32(int32(g.Exp))), uint64(g.Lambda))
}

func appendScale(dst []byte, s noise.Scale) []byte {
	return binary.LittleEndian.AppendUint32(binary.LittleEndian.AppendUint64(dst, s.Mant), uint32(int32(s.Exp)))
}

func appendFloat(dst []byte, x float64) []byte {
	return binary.LittleEndian.AppendUint64(dst, math.Float64bits(x))
}

func appendFilter(dst []byte, f blt.Filter) []byte {
	dst = append(dst, f.Count, f.Shift)
	for k := range f.Count {
		dst = binary.LittleEndian.AppendUint32(dst, f.Poles[k])
		dst = binary.LittleEndian.AppendUint32(dst, uint32(f.Residues[k]))
	}
	return dst
}

func appendComponent(dst []byte, x ComponentCalibration) []byte {
	dst = appendName(dst, x.Name)
	dst = binary.LittleEndian.AppendUint32(dst, uint32(x.Size))
	dst = binary.LittleEndian.AppendUint32(dst, uint32(x.Entries))
	dst = x.ZeroOut.AppendBinary(x.Replace.AppendBinary(appendGrid(dst, x.Grid)))
	dst = binary.LittleEndian.AppendUint32(dst, x.Share)
	dst = appendFloat(appendScale(dst, x.Scale), x.ErrorBound)
	dst = binary.LittleEndian.AppendUint32(dst, uint32(len(x.Scales)))
	for _, k := range x.Scales {
		dst = binary.LittleEndian.AppendUint32(dst, k)
	}
	return dst
}

// ParseCalibration is the inverse of AppendBinary and refuses any other bytes.
func ParseCalibration(b []byte) (Calibration, error) {
	r := reader{rest: b}
	if version := r.u8(); version != calibrationVersion {
		return Calibration{}, fmt.Errorf("mechanisms: calibration: version %d, this software reads version %d", version,
			calibrationVersion)
	}
	p := Calibration{Name: r.name(), Levels: r.u8()}
	if p.Levels == nameLevels {
		p.Threshold = int64(r.u32())
	}
	p.Filter = r.filter()
	if decays := r.take(int(r.u16())); len(decays) > 0 && !r.short {
		var err error
		if p.Decay, err = decay.ParseFilter(decays); err != nil {
			return Calibration{}, fmt.Errorf("mechanisms: calibration: %w", err)
		}
	}
	for range r.u16() {
		if r.short {
			break
		}
		p.Components = append(p.Components, r.component())
	}
	if len(p.Components) > 0 {
		p.Grid, p.Scale, p.ErrorBound = p.Components[0].Grid, p.Components[0].Scale, p.Components[0].ErrorBound
	} else {
		p.Grid, p.Scale, p.ErrorBound = r.grid(), r.scale(), r.float()
	}
	if r.short || len(r.rest) > 0 {
		return Calibration{}, errors.New("mechanisms: calibration: not of its length")
	}
	return p, p.validate()
}

// validate checks each field separately. A scale has only one representation, with an odd mantissa.
func (p Calibration) validate() error {
	kind, known := definitionOf(p.Name)
	if !known {
		return fmt.Errorf("mechanisms: calibration: name is not one of %v", Names())
	}
	for i := range max(1, len(p.Components)) {
		if err := p.Component(i).validate(p.Decays()); err != nil {
			return fmt.Errorf("mechanisms: calibration: %w", err)
		}
	}
	if p.Components != nil {
		if err := p.checkComponents(); err != nil {
			return err
		}
	}
	switch {
	case kind.Structure == Selection:
		return exponential{}.check(p)
	case kind.Structure == Tree:
		return tree{}.check(p)
	case p.Threshold != 0 || p.Levels == nameLevels:
		return byName{}.check(p)
	case kind.Structure == PerStep:
		return perStep{}.check(p)
	case p.Decays():
		return decaying{}.check(p)
	}
	return filter{}.check(p)
}

// Decays reports whether the calibration is for decaying sums.
func (p Calibration) Decays() bool { return p.Decay != (decay.Filter{}) }

// validate checks the fields that every component has. fine allows the finer lattice of decaying sums.
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

// checkComponents checks the fields that a default contribution does not have.
func (p Calibration) checkComponents() error {
	if len(p.Components) == 0 || len(p.Components) > contribution.MaxComponents {
		return fmt.Errorf("mechanisms: calibration: %d components: not in [1, %d]", len(p.Components),
			contribution.MaxComponents)
	}
	first := p.Components[0]
	if first.Grid != p.Grid || first.Scale != p.Scale || first.ErrorBound != p.ErrorBound {
		return errors.New("mechanisms: calibration: the grid, scale or error bound differs from the first component's")
	}
	for i, x := range p.Components {
		if x.Size < 1 || x.Size > contribution.MaxDimension || x.Entries < 1 || x.Entries > contribution.MaxDimension ||
			len(x.Name) > contribution.MaxName ||
			len(x.Scales) != 0 && len(x.Scales) != x.Size {
			return fmt.Errorf("mechanisms: calibration: component %d: shape out of range", i)
		}
		if err := contribution.CheckDistances(x.Grid, x.Replace, x.ZeroOut); err != nil {
			return fmt.Errorf("mechanisms: calibration: component %d: %w", i, err)
		}
	}
	return nil
}

// reader reads fields from the front of bytes that may be too short. Then it records one error, and returns zeros from
// there on.
type reader struct {
	rest  []byte
	short bool
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

func (r *reader) u8() uint8      { return r.take(1)[0] }
func (r *reader) u16() uint16    { return binary.LittleEndian.Uint16(r.take(2)) }
func (r *reader) u32() uint32    { return binary.LittleEndian.Uint32(r.take(4)) }
func (r *reader) u64() uint64    { return binary.LittleEndian.Uint64(r.take(8)) }
func (r *reader) float() float64 { return math.Float64frombits(r.u64()) }
func (r *reader) name() string   { return string(r.take(int(r.u8()))) }

func (r *reader) grid() lattice.Grid {
	return lattice.Grid{Exp: int(int32(r.u32())), Lambda: int64(r.u64())}
}
func (r *reader) scale() noise.Scale { return noise.Scale{Mant: r.u64(), Exp: int(int32(r.u32()))} }

func (r *reader) filter() blt.Filter {
	f := blt.Filter{Count: r.u8(), Shift: r.u8()}
	for k := range min(f.Count, blt.MaxPoles) {
		f.Poles[k], f.Residues[k] = r.u32(), int32(r.u32())
	}
	return f
}

func (r *reader) square() lattice.Int128 { return lattice.ParseInt128(r.take(lattice.Int128Len)) }

func (r *reader) component() ComponentCalibration {
	x := ComponentCalibration{Name: r.name(), Size: int(r.u32()), Entries: int(r.u32()), Grid: r.grid()}
	x.Replace, x.ZeroOut, x.Share, x.Scale, x.ErrorBound = r.square(), r.square(), r.u32(), r.scale(), r.float()
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
