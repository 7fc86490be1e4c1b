package event

import (
	"bytes"
	"math"
	"math/bits"
	"unicode/utf8"

	"oriel/schemas/text"
)

// Event is the content of a valid record, in the one form that decoder, operators and losses use. Its slices belong to
// the JSONDecoder, which overwrites them in its next Decode.
type Event struct {
	Vector  Vector    // features, gradient, cost, or price relatives, by the body
	Label   float64   // −1 or 1 for two classes; any finite number for a real label; 0 if the event has no label
	Weight  float64   // ≥ 0, finite; 1 if the record has none
	Numbers []float64 // the body's numbers, counts and choices, in the body's order; nil if it has none
	Name    []byte    // clean, not empty; nil if the event has none
}

// Vector is dense, with a value for each position, or sparse: then Indices holds the position of each value, in [0,
// dimension), and all other positions are zero. A JSONDecoder gives distinct positions, in order of appearance.
type Vector struct {
	Indices []int32 // nil: Values is dense; otherwise as long as Values
	Values  []float64
}

// JSONDecoder decodes events of one configuration. It is not safe for concurrent use.
type JSONDecoder struct {
	body      Body   // only Explain uses it
	operator  string // only Explain uses it
	fields    []field
	called    []fieldName // accepted names in the body's order; both names of a member are adjacent
	vector    Kind        // kind of the vector member; 0: the body has none
	dimension int
	maxBytes  int
	passes    bool    // whether unknown members are skipped
	hasher    *hasher // hashes named features; also holds the entries of sparse vectors
	values    []float64
	further   []float64 // memory of Event.Numbers
	named     []byte    // memory of Event.Name
	names     text.NameSet
	arena     []byte // unescaped text of strings

	defaults      []float64 // defaults of the members that become Event.Numbers
	defaultLabel  float64
	defaultWeight float64

	need  memberSet // members that a valid event must have
	label memberSet

	present memberSet // members of the last decoded event
	also    memberSet // members of the last event that used their other name
	last    int       // index of the last member read, or noMember
	guess   int       // index in called of the likely next name
}

// memberSet has a bit for each member of a body.
type memberSet uint32

const noMember = -1

// field is a member in the form that the decoder uses.
type field struct {
	name        string
	kind        Kind
	place       int // index in Event.Numbers
	least, most float64
	choices     map[string]int
	open        bool // texts outside the list give −1, not an error
}

type fieldName struct {
	name   string
	quoted string // the name in quotes, as events without escapes have it
	member int
	also   bool
}

func newFieldName(name string, member int, also bool) fieldName {
	return fieldName{name: name, quoted: `"` + name + `"`, member: member, also: also}
}

// NewJSONDecoder returns a decoder, or every problem of the configuration.
func NewJSONDecoder(c Config) (*JSONDecoder, error) {
	if err := c.Validate(); err != nil {
		return nil, err
	}
	d := &JSONDecoder{
		body: c.Body, operator: c.Operator, maxBytes: c.MaxBytes, defaultWeight: 1, last: noMember,
		passes: c.Unknown == UnknownIsFree,
	}
	if vector, some := c.Body.Vector(); some {
		d.vector, d.dimension = vector.Kind, c.Dimension
		d.hasher, d.values = newHasher(c.Dimension, c.Features), make([]float64, 0, c.Dimension)
	}
	for i, m := range c.Body.Members {
		d.add(i, m)
	}
	if c.Unlabelled {
		d.need &^= d.label
	}
	if len(d.defaults) > 0 {
		d.further = make([]float64, len(d.defaults))
	}
	return d, nil
}

// add registers a member, the i-th of the body.
func (d *JSONDecoder) add(i int, m Member) {
	f := field{name: m.Name, kind: m.Kind, place: len(d.defaults), least: -math.MaxFloat64, most: math.MaxFloat64}
	if least, most, bounded := m.Bounds(); bounded {
		f.least, f.most = least, most
	}
	switch {
	case m.Kind.Further():
		d.defaults = append(d.defaults, m.Default)
	case m.Kind.isLabel():
		d.label, d.defaultLabel = 1<<i, m.Default
	case m.Kind == KindWeight && m.Optional:
		d.defaultWeight = m.Default
	}
	if m.Kind == KindChoice {
		f.choices, f.open = make(map[string]int, len(m.Choices)), m.Open
		for place, text := range m.Choices {
			f.choices[text] = place
		}
	}
	d.fields = append(d.fields, f)
	d.called = append(d.called, newFieldName(m.Name, i, false))
	if m.Also != "" {
		d.called = append(d.called, newFieldName(m.Also, i, true))
	}
	if !m.Optional {
		d.need |= 1 << i
	}
}

// Member returns the name of the top-level member that broke the rule of the last Decode, or that is missing. It is ""
// if no single member is at fault.
func (d *JSONDecoder) Member(code text.Code) string {
	switch {
	case code == text.OK, code == text.JSONSyntax, code == text.TrailingData:
		return ""
	case d.last != noMember:
		return d.fields[d.last].name
	case code == text.MissingMember:
		return d.fields[d.missing()].name
	}
	return ""
}

// missing returns the index of the first required member that the event lacks.
func (d *JSONDecoder) missing() int { return bits.TrailingZeros32(uint32(d.need &^ d.present)) }

// Decode turns the value of a record into dst. With any code except OK, dst is unspecified and the record is a null
// event.
func (d *JSONDecoder) Decode(dst *Event, value []byte) text.Code {
	d.present, d.also, d.last, d.guess = 0, 0, noMember, 0
	switch {
	case len(value) == 0:
		return text.Empty
	case len(value) > d.maxBytes:
		return text.TooLarge
	case !utf8.Valid(value):
		return text.InvalidUTF8
	case bytes.HasPrefix(value, []byte("\uFEFF")):
		return text.ByteOrderMark
	}
	i := text.SkipSpace(value, 0)
	if i == len(value) || value[i] != '{' {
		return text.Unexpected(value, i, 1, text.NotObject)
	}
	d.arena = d.arena[:0]
	d.event(dst)
	i, code := d.members(dst, value, text.SkipSpace(value, i+1))
	if code != text.OK {
		return code
	}
	if text.SkipSpace(value, i) != len(value) {
		return text.TrailingData
	}
	return text.OK
}

// event resets dst to an event without content.
func (d *JSONDecoder) event(dst *Event) {
	*dst = Event{Label: d.defaultLabel, Weight: d.defaultWeight, Numbers: d.further}
	copy(d.further, d.defaults)
}

// members reads the top-level members; b[i] is the first byte after the brace and white space.
func (d *JSONDecoder) members(dst *Event, b []byte, i int) (next int, code text.Code) {
	done := i < len(b) && b[i] == '}'
	if done {
		i++
	}
	for !done {
		i, code = d.name(b, i)
		if code == text.OK {
			if i, code = text.SkipTo(b, i, ':'); code == text.OK {
				i, code = d.member(dst, b, i)
			}
		} else if code == text.UnknownName && d.passes {
			i, code = d.pass(b, i)
		}
		if code != text.OK {
			return i, code
		}
		if i, done, code = text.NextMember(b, i, '}'); code != text.OK {
			return i, code
		}
	}
	if d.present&d.need != d.need {
		d.last = noMember // a missing member has no position
		return i, text.MissingMember
	}
	return i, text.OK
}

// pass skips a member that the body does not have; b[i] comes after its name.
func (d *JSONDecoder) pass(b []byte, i int) (next int, code text.Code) {
	if i, code = text.SkipTo(b, i, ':'); code == text.OK {
		i, d.arena, code = text.SkipValue(b, i, text.MaxDepth-1, d.arena)
	}
	return i, code
}

// name reads a member's name at b[i] and finds the member. Most events have their members in the order of the body, so
// it first compares the name with the next member's name.
func (d *JSONDecoder) name(b []byte, i int) (next int, code text.Code) {
	at := d.guess
	if text.HasLiteral(b, i, d.called[at].quoted) {
		i += len(d.called[at].quoted)
	} else {
		var name []byte
		if name, i, d.arena, code = text.ReadString(b, i, d.arena); code != text.OK {
			d.last = noMember // the fault is in a name, and not in the member before it
			return i, code
		}
		if at = d.find(name); at < 0 {
			d.last = noMember
			return i, text.UnknownName
		}
	}
	if d.guess = at + 1; d.guess == len(d.called) {
		d.guess = 0
	}
	return i, d.open(&d.called[at])
}

func (d *JSONDecoder) find(name []byte) int {
	for at := range d.called {
		if d.called[at].name == string(name) {
			return at
		}
	}
	return -1
}

// open records that a member is present.
func (d *JSONDecoder) open(called *fieldName) text.Code {
	d.last = called.member
	bit := memberSet(1) << called.member
	switch {
	case d.present&bit == 0:
	case (d.also&bit != 0) != called.also:
		return text.ConflictingMembers
	default:
		return text.DuplicateName
	}
	if d.present |= bit; called.also {
		d.also |= bit
	}
	return text.OK
}

// member reads, at b[i], the value of the member whose name was read last.
func (d *JSONDecoder) member(dst *Event, b []byte, i int) (next int, code text.Code) {
	m := &d.fields[d.last]
	switch m.kind {
	case KindVector, KindFeatures, KindRelatives:
		return d.readVector(dst, b, i)
	case KindClass:
		dst.Label, next, code = readClass(b, i)
	case KindTarget:
		dst.Label, next, code = text.ReadNumber(b, i, 2)
	case KindWeight:
		if dst.Weight, next, code = text.ReadNumber(b, i, 2); code == text.OK && dst.Weight < 0 {
			code = text.WeightRange
		}
	case KindNumber:
		d.further[m.place], next, code = m.number(b, i)
	case KindCount:
		d.further[m.place], next, code = m.count(b, i)
	case KindChoice:
		d.further[m.place], next, code = d.choice(m, b, i)
	case KindName:
		var s []byte
		if s, next, code = d.string(b, i); code == text.OK {
			dst.Name, code = d.clean(s)
		}
	}
	return next, code
}

func readClass(b []byte, i int) (f float64, next int, code text.Code) {
	if text.HasLiteral(b, i, "true") {
		return 1, i + len("true"), text.OK
	}
	if text.HasLiteral(b, i, "false") {
		return -1, i + len("false"), text.OK
	}
	if f, next, code = text.ReadNumber(b, i, 2); code == text.OK {
		f, code = class(f)
	}
	return f, next, code
}

// class converts a number to one of the two classes.
func class(f float64) (label float64, code text.Code) {
	switch f {
	case 0, -1:
		return -1, text.OK
	case 1:
		return 1, text.OK
	default:
		return 0, text.LabelRange
	}
}
