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
	nodesVersion      = 1 // nodes: for the names tree-* and once-*
	filterVersion     = 2 // for blt
	componentsVersion = 3 // contributions other than the default one, with any name without memory
	decayVersion      = 4 // for blt with memory, with any contribution
	fineVersion       = 5 // blt with memory, if a squared sensitivity exceeds 64 bits

	stateVersion           = 1 // for one component
	componentsStateVersion = 2 // for several components
	drawnStateVersion      = 3 // for ExponentialMechanism
)

// AppendBinary appends the canonical encoding, little-endian. Two calibrations are equal exactly when their encodings
// are. It starts with the version u8 and the name. Then follow, by version:
//
//	1    grid, scale, levels u8, error bound f64
//	2    grid, scale, error bound f64, filter
//	3    levels u8, filter, components u16, each component
//	4    length u16 and bytes of the decay.Filter, components u16, each component; for the default contribution 0
//	     components, then grid, scale, error bound f64
//	5    as 4, with squares of 16 bytes; written exactly if one needs more than 8
//
// with these elements:
//
//	name         length u8, bytes
//	grid         exponent i32, Λ i64
//	scale        mantissa u64, exponent i32
//	filter       m u8 (0: none), f u8, m pairs of pole u32 and residue i32
//	component    name, size u32, entries u32, grid, replace² u64, zero-out² u64, share u32, scale, error bound f64,
//	             scales u32 (n or 0), as many u32
func (p Calibration) AppendBinary(dst []byte) ([]byte, error) {
	if err := p.validate(); err != nil {
		return dst, err
	}
	switch dst = appendName(append(dst, p.version()), p.Name); p.version() {
	case nodesVersion:
		dst = append(appendScale(appendGrid(dst, p.Grid), p.Scale), p.Levels)
		return appendFloat(dst, p.ErrorBound), nil
	case filterVersion:
		return appendFilter(p.appendFirst(dst), p.Filter), nil
	case componentsVersion:
		return p.appendComponents(appendFilter(append(dst, p.Levels), p.Filter)), nil
	}
	filter := p.Decay.AppendBinary(nil)
	dst = append(binary.LittleEndian.AppendUint16(dst, uint16(len(filter))), filter...)
	if dst = p.appendComponents(dst); p.Components == nil {
		dst = p.appendFirst(dst)
	}
	return dst, nil
}

func (p Calibration) version() byte {
	fine := func(x ComponentCalibration) bool { return x.Replace.Hi != 0 || x.ZeroOut.Hi != 0 }
	switch {
	case p.Decays() && slices.ContainsFunc(p.Components, fine):
		return fineVersion
	case p.Decays():
		return decayVersion
	case p.Components != nil:
		return componentsVersion
	case p.Filter.Count > 0:
		return filterVersion
	}
	return nodesVersion
}

// appendFirst appends grid, scale and error bound of the first component.
func (p Calibration) appendFirst(dst []byte) []byte {
	return appendFloat(appendScale(appendGrid(dst, p.Grid), p.Scale), p.ErrorBound)
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

func (p Calibration) appendComponents(dst []byte) []byte {
	square := func(dst []byte, x lattice.Int128) []byte { return binary.LittleEndian.AppendUint64(dst, x.Lo) }
	if p.version() == fineVersion {
		square = func(dst []byte, x lattice.Int128) []byte { return x.AppendBinary(dst) }
	}
	dst = binary.LittleEndian.AppendUint16(dst, uint16(len(p.Components)))
	for _, x := range p.Components {
		dst = appendName(dst, x.Name)
		dst = binary.LittleEndian.AppendUint32(dst, uint32(x.Size))
		dst = binary.LittleEndian.AppendUint32(dst, uint32(x.Entries))
		dst = square(square(appendGrid(dst, x.Grid), x.Replace), x.ZeroOut)
		dst = binary.LittleEndian.AppendUint32(dst, x.Share)
		dst = appendFloat(appendScale(dst, x.Scale), x.ErrorBound)
		dst = binary.LittleEndian.AppendUint32(dst, uint32(len(x.Scales)))
		for _, k := range x.Scales {
			dst = binary.LittleEndian.AppendUint32(dst, k)
		}
	}
	return dst
}

// ParseCalibration is the inverse of AppendBinary and refuses any other bytes.
func ParseCalibration(b []byte) (Calibration, error) {
	r := reader{rest: b}
	version := r.u8()
	p := Calibration{Name: r.name()}
	switch version {
	case nodesVersion:
		p.Grid, p.Scale, p.Levels, p.ErrorBound = r.grid(), r.scale(), r.u8(), r.float()
	case filterVersion:
		p.Grid, p.Scale, p.ErrorBound, p.Filter = r.grid(), r.scale(), r.float(), r.filter()
	case componentsVersion:
		p.Levels, p.Filter = r.u8(), r.filter()
		p.Components = r.componentList()
	case decayVersion, fineVersion:
		r.fine = version == fineVersion
		filter := r.take(int(r.u16()))
		if r.short {
			break
		}
		var err error
		if p.Decay, err = decay.ParseFilter(filter); err != nil {
			return Calibration{}, fmt.Errorf("mechanisms: calibration: %w", err)
		}
		if p.Components = r.componentList(); len(p.Components) == 0 {
			p.Components, p.Grid, p.Scale, p.ErrorBound = nil, r.grid(), r.scale(), r.float()
		}
	default:
		return Calibration{}, fmt.Errorf("mechanisms: calibration: version %d, this software reads %d to %d",
			version, nodesVersion, fineVersion)
	}
	if r.short || len(r.rest) > 0 || version == componentsVersion && len(p.Components) == 0 {
		return Calibration{}, errors.New("mechanisms: calibration: not of its length")
	}
	if len(p.Components) > 0 {
		p.Grid, p.Scale, p.ErrorBound = p.Components[0].Grid, p.Components[0].Scale, p.Components[0].ErrorBound
	}
	if version == fineVersion && p.version() != version {
		return Calibration{}, fmt.Errorf("mechanisms: calibration: version %d, but every distance fits version %d",
			fineVersion, decayVersion)
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
	fine  bool // squares have 16 bytes, not 8
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
