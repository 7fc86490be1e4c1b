package mapping

import (
	"math"

	"oriel/schemas/text"
)

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
