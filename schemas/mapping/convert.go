package mapping

import (
	"math"

	"oriel/schemas"
)

// convert converts a value as its target requires. The result is valid until the next call.
func (d *Decoder) convert(t *target, v *Value) (*Value, schemas.Code) {
	if v.Kind == Other {
		return v, schemas.WrongType
	}
	var code schemas.Code
	switch as := t.as; {
	case as == AsIs:
	case as.isTime():
		f, ok := t.item.Clock.part(v, as)
		if !ok {
			return v, schemas.UnreadableValue
		}
		v = d.number(f)
	case as == AsText:
	case v.Kind == Time:
		return v, schemas.WrongType
	case as == AsBool:
		v, code = d.truth(v)
	case v.Kind == Text:
		f, ok := schemas.ParseDecimal(v.Text)
		if !ok {
			return v, schemas.UnreadableValue
		}
		v = d.number(f)
	case v.Kind == Bool && !t.class:
		v = d.number(v.Number)
	}
	if code != schemas.OK {
		return v, code
	}
	if t.item.scales() {
		if v.Kind != Number {
			return v, schemas.WrongType
		}
		f := float64(v.Number*t.item.Scale) + t.item.Offset
		if math.IsInf(f, 0) || math.IsNaN(f) {
			return v, schemas.NumberOverflow
		}
		v = d.number(f)
	}
	if t.choice || t.as == AsText {
		return d.text(v)
	}
	return v, schemas.OK
}

func (d *Decoder) number(f float64) *Value {
	d.read = Value{Kind: Number, Number: f}
	return &d.read
}

func (d *Decoder) truth(v *Value) (*Value, schemas.Code) {
	if v.Kind == Bool {
		return v, schemas.OK
	}
	if v.Kind != Text {
		return v, schemas.WrongType
	}
	switch string(v.Text) {
	case "true", "false":
		d.read = Truth(v.Text[0] == 't')
		return &d.read, schemas.OK
	}
	return v, schemas.UnreadableValue
}

func (d *Decoder) text(v *Value) (*Value, schemas.Code) {
	switch v.Kind {
	case Text:
		return v, schemas.OK
	case Number:
		d.digits = schemas.AppendFloat(d.digits[:0], v.Number)
	case Bool:
		d.digits = append(d.digits[:0], "false"...)
		if v.Number == 1 {
			d.digits = append(d.digits[:0], "true"...)
		}
	default:
		return v, schemas.WrongType
	}
	d.read = Value{Kind: Text, Text: d.digits}
	return &d.read, schemas.OK
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
