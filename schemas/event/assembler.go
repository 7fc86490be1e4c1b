package event

import (
	"github.com/cespare/xxhash/v2"

	"oriel/schemas/text"
)

// Assembler makes events from separate values of any encoding. It checks the values by the rules of their members and
// hashes features, as a JSONDecoder does for records in the body's own form. It is not safe for concurrent use.
//
// For each event call Begin, then one method call for each value, then End. Members are given by their position in the
// body. After any code except OK, only Begin may follow.
type Assembler struct {
	d      *JSONDecoder
	dst    *Event
	vector memberSet // bit of the vector member; 0: the body has none
}

// NewAssembler returns an assembler, or every problem of the configuration.
func NewAssembler(c Config) (*Assembler, error) {
	d, err := NewJSONDecoder(c)
	if err != nil {
		return nil, err
	}
	a := &Assembler{d: d}
	for i, m := range c.Body.Members {
		if m.Kind.isVector() {
			a.vector = 1 << i
		}
	}
	return a, nil
}

// Begin starts an event. Its slices are valid until the next Begin.
func (a *Assembler) Begin(dst *Event) {
	a.dst = dst
	a.d.present = 0
	a.d.event(dst)
	if a.d.hasher != nil {
		a.d.hasher.reset()
	}
	a.d.values = a.d.values[:0]
}

// Number sets a member to a finite number. A class accepts −1, 0 and 1.
func (a *Assembler) Number(member int, f float64) (code text.Code) {
	m := &a.d.fields[member]
	a.d.present |= 1 << member
	switch m.kind {
	case KindClass:
		a.dst.Label, code = class(f)
	case KindTarget:
		a.dst.Label = f
	case KindWeight:
		if a.dst.Weight = f; f < 0 {
			return text.WeightRange
		}
	case KindNumber:
		a.d.further[m.place] = f
		if !(m.least <= f && f <= m.most) {
			return text.NumberRange
		}
	case KindCount:
		a.d.further[m.place] = f
		if !isCount(f) || f < m.least || f > m.most {
			return text.CountRange
		}
	default:
		return text.WrongType
	}
	return code
}

// Truth sets a member to true or false, which are 1 and −1 for a class, and 1 and 0 for all others.
func (a *Assembler) Truth(member int, is bool) text.Code {
	f := 0.0
	if is {
		f = 1
	}
	return a.Number(member, f)
}

// Text sets a choice or a name by its text.
func (a *Assembler) Text(member int, s []byte) (code text.Code) {
	m := &a.d.fields[member]
	a.d.present |= 1 << member
	switch m.kind {
	case KindChoice:
		a.d.further[m.place], code = m.chosen(s)
	case KindName:
		a.dst.Name, code = a.d.clean(s)
	default:
		return text.WrongType
	}
	return code
}

// Coordinate appends the next coordinate of the dense vector.
func (a *Assembler) Coordinate(f float64) text.Code {
	if len(a.d.values) == a.d.dimension {
		return text.WrongDimension
	}
	a.d.present |= a.vector
	a.d.values = append(a.d.values, f)
	return text.OK
}

// Feature is a named feature whose name is known before any event.
type Feature struct {
	name   []byte
	hash   uint64       // hash of the feature's name
	prefix []byte       // prefix of the token that a text value is hashed under
	ranged *hashedRange // nil: the feature has no range
}

// Feature prepares the feature with this name.
func (a *Assembler) Feature(name string) Feature {
	f := Feature{name: []byte(name), hash: xxhash.Sum64String(name), prefix: []byte(name + "\x00")}
	if r, found := a.d.hasher.ranges[name]; found {
		f.ranged = &r
	}
	return f
}

// Features marks the event as having named features, even if it has none.
func (a *Assembler) Features() { a.d.present |= a.vector }

// FeatureNumber adds a feature whose value is a finite number.
func (a *Assembler) FeatureNumber(f *Feature, v float64) {
	if f.ranged != nil {
		a.d.hasher.ranged(f.hash, v, f.ranged)
		return
	}
	a.d.hasher.add(f.hash, v)
}

// FeatureText adds a feature whose value is a text.
func (a *Assembler) FeatureText(f *Feature, text []byte) {
	h := a.d.hasher
	h.token = append(append(h.token[:0], f.prefix...), text...)
	h.add(xxhash.Sum64(h.token), 1)
}

// FeatureTruth adds a feature whose value is true. A caller must not call it for false, because false adds nothing.
func (a *Assembler) FeatureTruth(f *Feature) { a.d.hasher.add(f.hash, 1) }

// End finishes the event.
func (a *Assembler) End() text.Code {
	d := a.d
	if d.present&d.need != d.need {
		return text.MissingMember
	}
	if d.present&a.vector == 0 {
		return text.OK
	}
	if len(d.values) > 0 {
		a.dst.Vector = Vector{Values: d.values}
		switch {
		case len(d.values) != d.dimension:
			return text.WrongDimension
		case d.vector == KindRelatives:
			return checkRelatives(d.values)
		}
		return text.OK
	}
	code := d.hasher.finish()
	a.dst.Vector = Vector{d.hasher.indices, d.hasher.values}
	return code
}

// Lacks returns the name of a required member that the event lacks, or "" if it has all.
func (a *Assembler) Lacks() string {
	if a.d.present&a.d.need == a.d.need {
		return ""
	}
	return a.d.fields[a.d.missing()].name
}
