package mapping

import (
	"math"
	"slices"
	"strconv"

	"oriel/schemas/mapping/calendar"
	"oriel/schemas/text"
)

// Clock defines how times are read: the unit of an epoch, and the zone for hours and days.
type Clock struct {
	unit float64 // units per second of numbers that are times; days: each number is a date; 0: numbers are not times
	zone calendar.Zone
	set  bool // whether the document sets the clock
}

// days is the unit of numbers that count the days of a calendar, in every zone.
const days = -1

var (
	unitNames = []string{"s", "ms", "us", "ns", "d"}
	units     = []float64{1, 1e3, 1e6, 1e9, days}
)

// setUnit sets the unit of an epoch: s, ms, us or ns since 1970-01-01T00:00:00Z, or d, the days since 1970-01-01.
func (c *Clock) setUnit(name string) (ok bool) {
	c.set = true
	k := slices.Index(unitNames, name)
	if k >= 0 {
		c.unit = units[k]
	}
	return k >= 0
}

// setZone sets the zone from a text, by calendar.ParseZone.
func (c *Clock) setZone(text string) (err error) {
	c.set = true
	c.zone, err = calendar.ParseZone(text)
	return err
}

// part returns a part, such as the hour, of a value that is a time: a Time, a number that counts from the epoch, or a
// text of ISO 8601. A date, and a time without an offset from UTC, are of the zone's clock.
func (c *Clock) part(v *Value, as As) (f float64, ok bool) {
	at, ok := c.moment(v)
	if !ok {
		return 0, false
	}
	if as == AsSeconds {
		if number, counts := c.epoch(v); counts && !at.Local {
			return number / c.unit, true // correctly rounded, also for a number that is not whole
		}
		if at.Local {
			at.Seconds -= c.zone.Offset(at.Seconds - c.zone.Standard())
		}
		return at.since1970(), true
	}
	if !at.Local {
		at.Seconds += c.zone.Offset(at.Seconds)
	}
	shown := calendar.ClockAt(at.Seconds)
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

// moment returns the Time that a value says, so that equal times of all encodings are the same Value.
func (c *Clock) moment(v *Value) (at Value, ok bool) {
	at.Kind = Time
	switch number, counts := c.epoch(v); {
	case v.Kind == Time:
		at.Local, at.Seconds, at.Nanos = v.Local, v.Seconds, v.Nanos
	case counts && c.unit == days:
		if number != math.Trunc(number) || !inCalendar(float64(number*calendar.Day)) {
			return at, false
		}
		at.Local, at.Seconds = true, int64(number)*calendar.Day
	case counts:
		// A number below a whole minute is at least one part in 2⁵³ below it. Division rounds by less than that, so the
		// quotient stays below the minute.
		seconds := number / c.unit
		if !inCalendar(seconds) {
			return at, false
		}
		at.Seconds = int64(math.Floor(seconds)) // part takes the fraction from the number
	case v.Kind == Text:
		text, valid := calendar.ParseInstant(v.Text)
		if !valid {
			return at, false
		}
		at.Local, at.Seconds, at.Nanos = text.Local, text.Seconds-text.Offset, text.Nanos
	default:
		return at, false
	}
	return at, at.Seconds >= calendar.Earliest && at.Seconds < calendar.Latest
}

func inCalendar(seconds float64) bool {
	return seconds >= calendar.Earliest && seconds < calendar.Latest
}

// since1970 returns the float64 nearest to the seconds and nanoseconds of a Time.
func (v *Value) since1970() float64 {
	if v.Nanos == 0 {
		return float64(v.Seconds)
	}
	var content [32]byte
	digits, whole, nanos := content[:0], uint64(v.Seconds), uint64(v.Nanos)
	if v.Seconds < 0 {
		digits, whole, nanos = append(digits, '-'), uint64(-v.Seconds)-1, 1e9-nanos
	}
	digits = strconv.AppendUint(digits, whole, 10)
	point := len(digits)
	digits = strconv.AppendUint(digits, 1e9+nanos, 10)
	digits[point] = '.' // in place of the 1, behind which all nine digits of the nanoseconds come
	f, _ := text.ParseDecimal(digits)
	return f
}

// epoch returns the number that counts from the epoch, if the value is one.
func (c *Clock) epoch(v *Value) (f float64, ok bool) {
	switch {
	case c.unit == 0:
		return 0, false
	case v.Kind == Text:
		return text.ParseDecimal(v.Text)
	}
	return v.Number, v.Kind == Number
}
