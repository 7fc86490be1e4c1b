package schemas

import (
	"bytes"
	"unicode/utf8"
)

// Event is what a valid record says: the one form in which decoder, operators and losses see it. Its slices belong to the
// Decoder, which overwrites them in its next Decode.
type Event struct {
	Vector  Vector    // features; gradient or cost; price relatives
	Label   float64   // −1 or 1 for two classes; any finite number for a real label; 0 without one
	Weight  float64   // ≥ 0, finite; 1 where the record has none
	Numbers []float64 // the body's further members, in its order; nil where it has none
}

// Vector is dense, with the values at their own positions, or sparse: then it names the position of each value, in
// [0, dimension), and everything that it leaves out is zero. A Decoder gives distinct positions, in order of appearance.
type Vector struct {
	Indices []int32 // nil: dense. Else as long as Values.
	Values  []float64
}

// Decoder decodes events of one configuration. It is not safe for concurrent use.
type Decoder struct {
	body      body
	dimension int
	maxBytes  int
	hasher    *hasher // also holds the entries of sparse vectors
	values    []float64
	names     nameSet
	arena     []byte // strings that hold escapes

	need member // a valid event has all of these
	seen member // of the event decoded last
	last member // the one being read last
}

// NewDecoder returns a decoder, or every problem of the configuration.
func NewDecoder(c EventConfig) (*Decoder, error) {
	if err := c.Validate(); err != nil {
		return nil, err
	}
	d := &Decoder{
		body: bodyOf(c.Loss), dimension: c.Dimension, maxBytes: c.MaxBytes,
		hasher: newHasher(c.Dimension, c.Features), values: make([]float64, 0, c.Dimension),
	}
	d.need = d.required()
	if c.Unlabelled {
		d.need &^= memberLabel
	}
	return d, nil
}

// Labelled says whether the event decoded last had a label.
func (d *Decoder) Labelled() bool { return d.seen&memberLabel != 0 }

// Member names the top-level member that broke the rule of the last Decode, or that is missing; empty where no single one did.
func (d *Decoder) Member(code Code) string {
	broken := d.last
	switch {
	case code == OK, code == JSONSyntax, code == TrailingData:
		return ""
	case code == MissingMember && broken == 0:
		broken = d.need &^ d.seen
	}
	switch {
	case broken&memberVector != 0:
		return d.body.vector()
	case broken&memberLabel != 0:
		return "label"
	case broken&memberWeight != 0:
		return "weight"
	}
	return ""
}

// member is a set of top-level members.
type member uint8

const (
	memberVector member = 1 << iota
	memberCost          // the other name of the gradient; memberVector is then set too
	memberLabel
	memberWeight
)

// Decode turns the value of a record into dst. With any code but OK, dst is unspecified and the record is a null event.
func (d *Decoder) Decode(dst *Event, value []byte) Code {
	d.seen, d.last = 0, 0
	switch {
	case len(value) == 0:
		return Empty
	case len(value) > d.maxBytes:
		return TooLarge
	case !utf8.Valid(value):
		return InvalidUTF8
	case bytes.HasPrefix(value, []byte("\uFEFF")):
		return ByteOrderMark
	}
	i := skipSpace(value, 0)
	if i == len(value) || value[i] != '{' {
		return unexpected(value, i, 1, NotObject)
	}
	d.arena = d.arena[:0]
	*dst = Event{Weight: 1}
	i, code := d.members(dst, value, skipSpace(value, i+1))
	if code != OK {
		return code
	}
	if skipSpace(value, i) != len(value) {
		return TrailingData
	}
	return OK
}

// members reads the top-level members; b[i] is the first byte after the brace and white space.
func (d *Decoder) members(dst *Event, b []byte, i int) (next int, code Code) {
	if i < len(b) && b[i] == '}' {
		return i, MissingMember
	}
	for done := false; !done; {
		if i == len(b) || b[i] != '"' {
			return i, JSONSyntax
		}
		var name []byte
		if name, i, d.arena, code = readString(b, i, d.arena); code != OK {
			return i, code
		}
		m := d.member(name)
		d.last = m
		switch {
		case m == 0:
			return i, UnknownName
		case m&d.seen == memberVector && (m^d.seen)&memberCost != 0:
			return i, ConflictingMembers
		case m&d.seen != 0:
			return i, DuplicateName
		}
		d.seen |= m
		if i, code = skipTo(b, i, ':'); code != OK {
			return i, code
		}
		if m&memberVector != 0 {
			i, code = d.vector(dst, b, i)
		} else if m == memberLabel {
			dst.Label, i, code = d.label(b, i)
		} else if dst.Weight, i, code = parseNumber(b, i, 2); code == OK && dst.Weight < 0 {
			code = WeightRange
		}
		if code != OK {
			return i, code
		}
		if i, done, code = nextMember(b, i, '}'); code != OK {
			return i, code
		}
	}
	if d.seen&d.need != d.need {
		d.last = 0 // what is missing stands nowhere
		return i, MissingMember
	}
	return i, OK
}

// member is 0 for a name that the body does not have.
func (d *Decoder) member(name []byte) member {
	switch string(name) {
	case "weight":
		return memberWeight
	case "features":
		if d.body == bodyClass || d.body == bodyReal {
			return memberVector
		}
	case "label":
		if d.body == bodyClass || d.body == bodyReal {
			return memberLabel
		}
	case "gradient":
		if d.body == bodyLinear {
			return memberVector
		}
	case "cost":
		if d.body == bodyLinear {
			return memberVector | memberCost
		}
	case "relatives":
		if d.body == bodyPortfolio {
			return memberVector
		}
	}
	return 0
}

func (d *Decoder) required() member {
	if d.body == bodyClass || d.body == bodyReal {
		return memberVector | memberLabel
	}
	return memberVector
}

func (d *Decoder) label(b []byte, i int) (f float64, next int, code Code) {
	if d.body == bodyClass && i < len(b) {
		if hasLiteral(b, i, "true") {
			return 1, i + len("true"), OK
		}
		if hasLiteral(b, i, "false") {
			return -1, i + len("false"), OK
		}
	}
	f, next, code = parseNumber(b, i, 2)
	if code != OK || d.body != bodyClass {
		return f, next, code
	}
	switch f {
	case 0, -1:
		return -1, next, OK
	case 1:
		return 1, next, OK
	default:
		return 0, next, LabelRange
	}
}
