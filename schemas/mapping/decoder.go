package mapping

import (
	"math"

	"oriel/schemas/event"
	"oriel/schemas/text"
)

// Decoder turns records into events by a plan. It implements event.Decoder, and is not safe for concurrent use.
type Decoder struct {
	plan     *Plan
	source   Source
	placed   PlacedSource // source as a PlacedSource; nil if it is none
	events   *event.Assembler
	features []event.Feature
	values   []Value
	read     Value  // converted value of the current target
	digits   []byte // scratch for the text of a number
	failed   int    // target that broke a rule, or test that filtered the record; −1: none
	unread   bool   // the source could not read the record
}

// NewDecoder returns a decoder for a plan and a source of its paths.
func NewDecoder(p *Plan, source Source) (*Decoder, error) {
	events, err := event.NewAssembler(p.config)
	if err != nil {
		return nil, err
	}
	d := &Decoder{plan: p, source: source, events: events, values: make([]Value, len(p.paths)), failed: -1}
	d.placed, _ = source.(PlacedSource)
	for i := range p.targets {
		if t := &p.targets[i]; t.feature >= 0 {
			d.features = append(d.features, events.Feature(t.item.Name))
		}
	}
	return d, nil
}

// Opener returns the function for event.Config.Foreign that reads records by a mapping and a kind of source.
func (m *Mapping) Opener(open OpenSource) func(event.Config) (event.Decoder, error) {
	return func(c event.Config) (event.Decoder, error) {
		plan, err := m.Compile(c)
		if err != nil {
			return nil, err
		}
		source, err := open(plan.paths)
		if err != nil {
			return nil, err
		}
		return NewDecoder(plan, source)
	}
}

// At implements event.PlacedDecoder, for a PlacedSource.
func (d *Decoder) At(partition int32, offset int64) {
	if d.placed != nil {
		d.placed.At(partition, offset)
	}
}

// Decode turns the value of a record into dst. With any code except OK, dst is unspecified and the record is a null
// event.
func (d *Decoder) Decode(dst *event.Event, record []byte) text.Code {
	d.failed, d.unread = -1, false
	switch {
	case len(record) == 0:
		return text.Empty
	case len(record) > d.plan.config.MaxBytes:
		return text.TooLarge
	}
	if code := d.source.Fill(d.values, record); code != text.OK {
		d.unread = true
		return code
	}
	for i := range d.plan.where {
		if where := &d.plan.where[i]; !where.Holds(&d.values[where.at]) {
			d.failed = i
			return text.Filtered
		}
	}
	d.events.Begin(dst)
	if d.plan.named {
		d.events.Features()
	}
	for i := range d.plan.targets {
		if code := d.add(&d.plan.targets[i]); code != text.OK {
			d.failed = i
			return code
		}
	}
	return d.events.End()
}

// value returns the value of a target, converted as it requires. Its Kind is Absent or Null if the record has none.
func (d *Decoder) value(t *target) (v *Value, code text.Code) {
	v = &t.item.Constant
	if t.at >= 0 {
		v = &d.values[t.at]
	}
	c := t.item.Compare
	if c != nil && v.Kind >= Time && c.Constant != "" { // without a constant the test asks whether there is a value
		return v, text.WrongType
	}
	if c != nil && !c.Compares(v) {
		return v, text.UnreadableValue
	}
	if c != nil && (v.Kind > Null || c.Constant == "") {
		d.read = Truth(c.Holds(v))
		v = &d.read
	}
	if v.Kind <= Null {
		return v, text.OK
	}
	return d.convert(t, v)
}

// add passes the value of a target to the assembler.
func (d *Decoder) add(t *target) text.Code {
	if t.beyond {
		if d.values[t.at].Kind != Absent {
			return text.WrongDimension
		}
		return text.OK
	}
	v, code := d.value(t)
	switch {
	case code != text.OK:
		return code
	case v.Kind <= Null && t.optional:
		return text.OK
	case v.Kind <= Null:
		return text.MissingMember
	case t.feature >= 0:
		return d.addFeature(&d.features[t.feature], v)
	case t.vector:
		return d.events.Coordinate(v.Number)
	}
	switch v.Kind {
	case Number:
		return d.events.Number(t.member, v.Number)
	case Bool:
		return d.events.Truth(t.member, v.Number == 1)
	case Text:
		return d.events.Text(t.member, v.Text)
	default:
		return text.WrongType
	}
}

func (d *Decoder) addFeature(f *event.Feature, v *Value) text.Code {
	switch v.Kind {
	case Number:
		d.events.FeatureNumber(f, v.Number)
	case Text:
		d.events.FeatureText(f, v.Text)
	case Bool:
		if v.Number == 1 {
			d.events.FeatureTruth(f)
		}
	default:
		return text.WrongType
	}
	return text.OK
}

// convert converts a value as its target requires. The result is valid until the next call.
func (d *Decoder) convert(t *target, v *Value) (*Value, text.Code) {
	if v.Kind == Other {
		return v, text.WrongType
	}
	var code text.Code
	switch as := t.as; {
	case as == AsIs:
	case as.isTime():
		f, ok := t.item.Clock.part(v, as)
		if !ok {
			return v, text.UnreadableValue
		}
		v = d.number(f)
	case as == AsText:
	case v.Kind == Time:
		return v, text.WrongType
	case as == AsBool:
		v, code = d.truth(v)
	case v.Kind == Text:
		f, ok := text.ParseDecimal(v.Text)
		if !ok {
			return v, text.UnreadableValue
		}
		v = d.number(f)
	case v.Kind == Bool && !t.class:
		v = d.number(v.Number)
	}
	if code != text.OK {
		return v, code
	}
	if t.item.scales() {
		if v.Kind != Number {
			return v, text.WrongType
		}
		f := float64(v.Number*t.item.Scale) + t.item.Offset
		if math.IsInf(f, 0) || math.IsNaN(f) {
			return v, text.NumberOverflow
		}
		v = d.number(f)
	}
	if t.choice || t.as == AsText {
		return d.text(v)
	}
	return v, text.OK
}

func (d *Decoder) number(f float64) *Value {
	d.read = Value{Kind: Number, Number: f}
	return &d.read
}

func (d *Decoder) truth(v *Value) (*Value, text.Code) {
	if v.Kind == Bool {
		return v, text.OK
	}
	if v.Kind != Text {
		return v, text.WrongType
	}
	switch string(v.Text) {
	case "true", "false":
		d.read = Truth(v.Text[0] == 't')
		return &d.read, text.OK
	}
	return v, text.UnreadableValue
}

func (d *Decoder) text(v *Value) (*Value, text.Code) {
	switch v.Kind {
	case Text:
		return v, text.OK
	case Number:
		d.digits = text.AppendFloat(d.digits[:0], v.Number)
	case Bool:
		d.digits = append(d.digits[:0], "false"...)
		if v.Number == 1 {
			d.digits = append(d.digits[:0], "true"...)
		}
	default:
		return v, text.WrongType
	}
	d.read = Value{Kind: Text, Text: d.digits}
	return &d.read, text.OK
}

// Reads reports whether an item can be read from some value of a kind. For example, a text may contain a number or a
// time.
func (i *Item) Reads(k Kind) bool {
	switch {
	case k <= Null:
		return true
	case k == Other, k == Time && i.Compare != nil && i.Compare.Constant != "":
		return false
	case i.Compare != nil:
		return k != Bool || i.Compare.Compares(&Value{Kind: Bool})
	case i.As.isTime():
		return k != Bool && (k != Number || i.Clock.unit != 0)
	case i.As == AsBool:
		return k == Bool || k == Text
	}
	return k != Time
}

// AppendOwn appends, in the body's own form, the event of the last decoded record, whose code must be text.OK. The
// result is one line of JSON that the body's own decoder turns into the same event. It holds contents of the record.
func (d *Decoder) AppendOwn(dst []byte) []byte {
	dst = append(dst, '{')
	if d.plan.named {
		vector, _ := d.plan.config.Body.Vector()
		dst = append(appendName(dst, vector.Name), '{')
		for i := range d.plan.targets {
			if t := &d.plan.targets[i]; t.feature >= 0 {
				dst = d.appendTarget(dst, t)
			}
		}
		dst = append(dst, '}')
	}
	for i := range d.plan.targets {
		if t := &d.plan.targets[i]; t.feature < 0 && !t.beyond {
			dst = d.appendTarget(dst, t)
		}
	}
	return append(dst, '}')
}

// appendTarget appends a feature or a member, if the record has it, or a coordinate, with the brackets at the first and
// the last one.
func (d *Decoder) appendTarget(dst []byte, t *target) []byte {
	v, code := d.value(t)
	if code != text.OK || v.Kind <= Null {
		return dst
	}
	name := t.item.Name
	if t.feature < 0 {
		name = d.plan.config.Body.Members[t.member].Name
	}
	switch {
	case !t.vector:
		return appendValue(appendName(dst, name), v)
	case t.coordinate == 0:
		dst = append(appendName(dst, name), '[')
	default:
		dst = append(dst, ',')
	}
	dst = appendValue(dst, v)
	if t.coordinate == d.plan.config.Dimension-1 {
		dst = append(dst, ']')
	}
	return dst
}

// appendName appends the name of a member to an object that is open.
func appendName(dst []byte, name string) []byte {
	if dst[len(dst)-1] != '{' {
		dst = append(dst, ',')
	}
	return append(text.AppendString(dst, name), ':')
}

func appendValue(dst []byte, v *Value) []byte {
	switch {
	case v.Kind == Number:
		return text.AppendFloat(dst, v.Number)
	case v.Kind == Text:
		return text.AppendString(dst, string(v.Text))
	case v.Number == 1:
		return append(dst, "true"...)
	default:
		return append(dst, "false"...)
	}
}
