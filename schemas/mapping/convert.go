package mapping

import (
	"math"

	"oriel/schemas"
	"oriel/schemas/mapping/calendar"
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
	case k == Other, k == Time && i.Compare != nil && !Missing(i.Compare.Constant):
		return false
	case i.Compare != nil:
		return true
	case i.As.isTime():
		return k != Bool && (k != Number || i.Clock.unit != 0)
	case i.As == AsBool:
		return k == Bool || k == Text
	}
	return k != Time
}

// Clock defines how times are read: the unit of an epoch, and the zone for hours and days.
type Clock struct {
	unit float64 // units per second of numbers that are times; 0: numbers are not times
	zone calendar.Zone
	set  bool // whether the document sets the clock
}

// setUnit sets the unit of an epoch: s, ms, us or ns since 1970-01-01T00:00:00Z.
func (c *Clock) setUnit(name string) bool {
	c.set = true
	c.unit = map[string]float64{"s": 1, "ms": 1e3, "us": 1e6, "ns": 1e9}[name]
	return c.unit != 0
}

// setZone sets the zone from a text, by calendar.ParseZone.
func (c *Clock) setZone(text string) (err error) {
	c.set = true
	c.zone, err = calendar.ParseZone(text)
	return err
}

// part returns a part, such as the hour, of a value that is a time: a Time, a number that counts from the epoch, or a
// text of ISO 8601. A text without an offset from UTC is local time of the zone.
func (c *Clock) part(v *Value, as As) (f float64, ok bool) {
	var utc, wall int64 // seconds since 1970-01-01 by UTC and by the zone's clock
	fraction := 0.0     // fraction of a second to add to both
	local := false
	switch number, isNumber := c.epoch(v); {
	case v.Kind == Time:
		utc, fraction, ok = v.Seconds, float64(v.Nanos)/1e9, true
	case isNumber:
		seconds := number / c.unit
		if !(seconds >= calendar.Earliest && seconds < calendar.Latest) {
			return 0, false
		}
		whole := math.Floor(seconds)
		utc, fraction, ok = int64(whole), seconds-whole, true
	case v.Kind == Text:
		var at calendar.Instant
		at, ok = calendar.ParseInstant(v.Text)
		utc, wall, fraction, local = at.Seconds-at.Offset, at.Seconds, at.Fraction, at.Local
	}
	if !ok || utc < calendar.Earliest || utc >= calendar.Latest {
		return 0, false
	}
	switch {
	case local && as == AsSeconds:
		utc = wall - c.zone.Offset(wall-c.zone.Standard())
	case !local:
		wall = utc + c.zone.Offset(utc)
	}
	if as == AsSeconds {
		return float64(utc) + fraction, true
	}
	shown := calendar.ClockAt(wall)
	switch as {
	case AsHour:
		return float64(shown.Hour), true
	case AsWeekday:
		return float64(shown.Weekday), true
	case AsDay:
		return float64(shown.Day), true
	default: // AsMonth
		return float64(shown.Month), true
	}
}

// epoch returns the number that counts from the epoch, if the value is one.
func (c *Clock) epoch(v *Value) (f float64, ok bool) {
	switch {
	case c.unit == 0:
		return 0, false
	case v.Kind == Text:
		return schemas.ParseDecimal(v.Text)
	}
	return v.Number, v.Kind == Number
}
