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
	"oriel/operators/convex"
)

// Params holds the values of a plan that a machine needs. Some of them depend on the platform's math library, so they
// are computed once, when a stream is opened, and stored with the mechanism's plan. A later start must read them back,
// because computing them on another platform could change a bit. Params also holds the start of a stream that continues
// an earlier one.
type Params struct {
	CW            float64       // C_W of printed constants; 0 if they are not used
	Contributions Contributions // zero: the rule ruleClip
	Past          Inherited     // zero: the stream does not continue an earlier one

	// FullTangent says that contributions are projected to the complete tangent space of the set before they are
	// clipped. Otherwise they are projected to convex.CoarseTangent.
	FullTangent bool

	// Means says that searched steps follow means of released sums (SPEC.md §6.1). The other updates follow the newest
	// sums.
	Means bool

	Band Columns // columns that count misses of a band; zero: there is no band
}

// Inherited is the start of a stream that continues an earlier, published stream. It is public like that stream
// (SPEC.md §5.3).
type Inherited struct {
	Point  []float64 // last decision of the earlier stream, moved into the set
	Weight float64   // N of the earlier stream, the weight of its steps
}

const (
	paramsVersion = 1 // stores C_W
	planLen       = 1 + 8

	contributionsVersion = 2 // also stores the rule for contributions
	contributionsLen     = planLen + 1 + 4*8

	pastVersion = 3 // also stores the earlier stream's weight and point
	// As version 2, with contributions projected to the complete tangent space; weight and point of an earlier stream
	// may follow.
	fullTangentVersion = 4

	meansVersion = 5 // adds a byte with fullTangentBit; searched steps follow means
	meansLen     = contributionsLen + 1

	bandVersion = 7 // as version 5, with meansBit in the byte; adds the band's columns and their share
	bandLen     = meansLen + 1 + 4
)

// NewParams returns the plan of c for the mechanism m. It takes the rule for contributions from m's contribution.
func (c Config) NewParams(m mechanisms.Config) (Params, error) {
	if err := c.Validate(); err != nil {
		return Params{}, err
	}
	p := Params{FullTangent: c.knowsMore(), Means: c.searches()}
	p.Band = c.columns(m.Unit)
	sharp := Params{Contributions: c.contributions(m), Band: p.Band}
	if reflect.DeepEqual(m.Contribution, sharp.contribution(c)) {
		p.Contributions = sharp.Contributions
	}
	if c.Update == LLO && c.Constants == Paper {
		cw, err := c.Printed.NoiseTerm(c, m)
		if err != nil {
			return Params{}, err
		}
		p.CW = cw
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
	near, err := convex.Nearest(c.Set, last.Point)
	return Inherited{Point: near, Weight: mechanisms.Weight(m.Scope, last.Step)}, err
}

func (p Params) validate() error {
	if !(p.CW >= 0 && p.CW <= math.MaxFloat64) {
		return fmt.Errorf("coco: params: C_W %g: negative or not finite", p.CW)
	}
	finite := func(x float64) bool { return math.Abs(x) <= math.MaxFloat64 }
	if !(p.Past.Weight >= 0 && finite(p.Past.Weight)) || (p.Past.Weight > 0) != (len(p.Past.Point) > 0) ||
		!all(p.Past.Point, finite) {
		return errors.New("coco: params: a past whose weight is not above 0, or whose numbers are not finite")
	}
	if err := p.Band.validate(); err != nil {
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

// These are the bits of a byte in plans of the versions 5 and 7: contributions are projected to the complete tangent
// space and, in version 7, searched steps follow means.
const fullTangentBit, meansBit = 1, 2

// AppendBinary appends the plan's stored form.
func (p Params) AppendBinary(dst []byte) ([]byte, error) {
	if err := p.validate(); err != nil {
		return dst, err
	}
	if p.Contributions.Rule == ruleClip && p.Past.Point == nil && !p.FullTangent && !p.Means && p.Band == (Columns{}) {
		dst = append(dst, paramsVersion)
		return binary.LittleEndian.AppendUint64(dst, math.Float64bits(p.CW)), nil
	}
	l, version := p.Contributions, byte(contributionsVersion)
	switch {
	case p.Band != Columns{}:
		version = bandVersion
	case p.Means:
		version = meansVersion
	case p.FullTangent:
		version = fullTangentVersion
	case p.Past.Point != nil:
		version = pastVersion
	}
	dst = appendFloats(append(dst, version), []float64{p.CW})
	dst = appendFloats(append(dst, l.Rule), []float64{l.Pull, l.Offset, l.Radius, l.Reach})
	if version >= meansVersion {
		dst = append(dst, 0)
		if p.FullTangent {
			dst[len(dst)-1] = fullTangentBit
		}
	}
	if version >= bandVersion {
		if p.Means {
			dst[len(dst)-1] |= meansBit
		}
		dst = append(dst, byte(p.Band.Number))
		dst = binary.LittleEndian.AppendUint32(dst, p.Band.Share)
	}
	if p.Past.Point != nil {
		dst = appendFloats(appendFloats(dst, []float64{p.Past.Weight}), p.Past.Point)
	}
	return dst, nil
}

// ParseParams reads the stored form that AppendBinary writes.
func ParseParams(b []byte) (Params, error) {
	version, head := byte(paramsVersion), planLen
	if len(b) > 0 {
		version = b[0]
	}
	switch version {
	case paramsVersion:
	case contributionsVersion, pastVersion, fullTangentVersion:
		head = contributionsLen
	case meansVersion:
		head = meansLen
	case bandVersion:
		head = bandLen
	default:
		return Params{}, fmt.Errorf("coco: params: version %d, which this software does not know", version)
	}
	want, past := head, version == pastVersion || version >= fullTangentVersion && len(b) > head
	if past { // at least a weight and one coordinate follow
		want = max(head+2*8, len(b)-(len(b)-head)%8)
	}
	if len(b) != want {
		return Params{}, fmt.Errorf("coco: params: %d bytes, want %d", len(b), want)
	}
	p := Params{
		CW: math.Float64frombits(binary.LittleEndian.Uint64(b[1:])), FullTangent: version == fullTangentVersion,
		Means: version == meansVersion,
	}
	if version != paramsVersion {
		var f [4]float64
		readFloats(f[:], b[planLen+1:])
		p.Contributions = Contributions{Rule: b[planLen], Pull: f[0], Offset: f[1], Radius: f[2], Reach: f[3]}
		clip := p.Contributions.Rule == ruleClip && (version == contributionsVersion || p.Contributions != Contributions{})
		if clip || slices.ContainsFunc(f[:], func(x float64) bool { return x == 0 && math.Signbit(x) }) {
			return Params{}, errors.New("coco: params: not the form in which rules of contributions are written")
		}
	}
	if version >= meansVersion {
		bits, most := b[contributionsLen], byte(fullTangentBit)
		if version >= bandVersion {
			most |= meansBit
			p.Means = bits&meansBit != 0
			p.Band = Columns{Number: int(b[meansLen]), Share: binary.LittleEndian.Uint32(b[meansLen+1:])}
			if p.Band == (Columns{}) {
				return Params{}, errors.New("coco: params: no columns where there are some")
			}
		}
		if bits > most {
			return Params{}, fmt.Errorf("coco: params: %d says whether costs are projected, not 0 to %d", bits, most)
		}
		p.FullTangent = bits&fullTangentBit != 0
	}
	if past {
		numbers := make([]float64, (len(b)-head)/8)
		readFloats(numbers, b[head:])
		p.Past = Inherited{Weight: numbers[0], Point: numbers[1:]}
	}
	if math.Signbit(p.CW) {
		return Params{}, errors.New("coco: params: C_W negative")
	}
	return p, p.validate()
}
