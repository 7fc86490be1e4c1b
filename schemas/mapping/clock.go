package mapping

import (
	"math"

	"oriel/schemas"
)

const (
	minute = 60
	hour   = 60 * minute
	day    = 24 * hour
)

// The instants that a clock reads lie in the years 1 to 9999.
const (
	earliest = -62135596800 // 0001-01-01T00:00:00Z
	latest   = 253402300800 // 10000-01-01T00:00:00Z
)

// Clock says how times are read: what an epoch counts, and in which zone its hours and days are.
type Clock struct {
	unit  float64 // of a number that is a time, how many make a second; 0: a number is no time
	zone  zone
	given bool // the document says something of it
}

// setUnit takes the unit of an epoch: s, ms, us or ns since 1970-01-01T00:00:00Z.
func (c *Clock) setUnit(name string) bool {
	c.given = true
	c.unit = map[string]float64{"s": 1, "ms": 1e3, "us": 1e6, "ns": 1e9}[name]
	return c.unit != 0
}

// part returns a part of the time that a value is: a Time, a number that counts from the epoch, or a text of ISO 8601.
// A text without an offset from UTC is the time of the zone's own clocks.
func (c *Clock) part(v *Value, as As) (f float64, ok bool) {
	var utc, wall int64 // seconds since 1970-01-01, on the clocks of UTC and of the zone
	fraction := 0.0     // of a second, behind them
	local := false
	switch number, isNumber := c.epoch(v); {
	case v.Kind == Time:
		utc, fraction, ok = v.Seconds, float64(v.Nanos)/1e9, true
	case isNumber:
		seconds := number / c.unit
		if !(seconds >= earliest && seconds < latest) {
			return 0, false
		}
		whole := math.Floor(seconds)
		utc, fraction, ok = int64(whole), seconds-whole, true
	case v.Kind == Text:
		var at instant
		at, ok = parseInstant(v.Text)
		utc, wall, fraction, local = at.seconds-at.offset, at.seconds, at.fraction, at.local
	}
	if !ok || utc < earliest || utc >= latest {
		return 0, false
	}
	switch {
	case local && as == AsSeconds:
		utc = wall - c.zone.offset(wall-c.zone.standard)
	case !local:
		wall = utc + c.zone.offset(utc)
	}
	days := floorDiv(wall, day)
	_, month, date := civil(days)
	switch as {
	case AsHour:
		return float64((wall - days*day) / hour), true
	case AsWeekday:
		return float64(floorMod(days+3, 7) + 1), true // 1970-01-01 was a Thursday
	case AsDay:
		return float64(date), true
	case AsMonth:
		return float64(month), true
	default: // AsSeconds
		return float64(utc) + fraction, true
	}
}

// epoch is the number that counts from the epoch, where the value is one.
func (c *Clock) epoch(v *Value) (f float64, ok bool) {
	switch {
	case c.unit == 0:
		return 0, false
	case v.Kind == Text:
		return schemas.ParseDecimal(v.Text)
	}
	return v.Number, v.Kind == Number
}

// instant is a time as a text of ISO 8601 has it.
type instant struct {
	seconds  int64   // since 1970-01-01 on the clock that the text shows
	fraction float64 // of a second
	offset   int64   // of that clock from UTC, seconds
	local    bool    // the text says no offset
}

// parseInstant reads YYYY-MM-DD, then, behind T or a space, hh:mm, :ss and a fraction, then Z, ±hh, ±hhmm or ±hh:mm.
// What stands behind the date may be left out from the right, but for the minutes of an hour.
func parseInstant(b []byte) (at instant, ok bool) {
	r := reader{b: b, ok: true}
	year := r.digits(4, 1, 9999)
	r.byte('-')
	month := r.digits(2, 1, 12)
	r.byte('-')
	date := r.digits(2, 1, 31)
	if !r.ok || date > daysIn(year, month) {
		return at, false
	}
	at.seconds, at.local = daysOf(year, month, date)*day, true
	if r.end() {
		return at, true
	}
	if !r.skip('T') && !r.skip('t') {
		r.byte(' ')
	}
	at.seconds += r.digits(2, 0, 23) * hour
	r.byte(':')
	at.seconds += r.digits(2, 0, 59) * minute
	if r.skip(':') {
		at.seconds += r.digits(2, 0, 60) // a leap second is the first of the next minute
		if r.skip('.') || r.skip(',') {
			at.fraction = r.fraction()
		}
	}
	if r.end() {
		return at, r.ok
	}
	at.local = false
	if r.skip('Z') || r.skip('z') {
		return at, r.ok && r.end()
	}
	sign := int64(1)
	if r.skip('-') {
		sign = -1
	} else {
		r.byte('+')
	}
	at.offset = r.digits(2, 0, 23) * hour
	if !r.end() {
		r.skip(':')
		at.offset += r.digits(2, 0, 59) * minute
	}
	at.offset *= sign
	return at, r.ok && r.end()
}

// reader takes a text apart from the left.
type reader struct {
	b  []byte
	ok bool // so far
}

func (r *reader) end() bool { return len(r.b) == 0 }

func (r *reader) skip(c byte) bool {
	if r.end() || r.b[0] != c {
		return false
	}
	r.b = r.b[1:]
	return true
}

func (r *reader) byte(c byte) { r.ok = r.skip(c) && r.ok }

// digits reads a number of exactly n digits within bounds.
func (r *reader) digits(n int, least, most int64) (v int64) {
	if len(r.b) < n {
		r.ok = false
		return 0
	}
	for _, c := range r.b[:n] {
		r.ok = r.ok && c-'0' < 10
		v = 10*v + int64(c-'0')
	}
	r.b = r.b[n:]
	r.ok = r.ok && least <= v && v <= most
	return v
}

// fraction reads digits behind a point, to the nanosecond.
func (r *reader) fraction() float64 {
	n, unit, some := 0, 100_000_000, false
	for ; !r.end() && r.b[0]-'0' < 10; r.b = r.b[1:] {
		n += int(r.b[0]-'0') * unit
		unit /= 10
		some = true
	}
	r.ok = r.ok && some
	return float64(n) / 1e9
}

func floorDiv(a, b int64) int64 {
	q := a / b
	if a%b < 0 {
		q--
	}
	return q
}

func floorMod(a, b int64) int64 { return a - floorDiv(a, b)*b }

func daysIn(year, month int64) int64 {
	if month == 2 && (year%4 != 0 || year%100 == 0 && year%400 != 0) {
		return 28
	}
	return [...]int64{31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31}[month-1]
}

// daysOf counts the days from 1970-01-01 to a date of the Gregorian calendar: Hinnant, "chrono-compatible low-level
// date algorithms", days_from_civil. Years begin in March there, so that a leap day is the last.
func daysOf(year, month, date int64) int64 {
	if month <= 2 {
		year--
	}
	era := floorDiv(year, 400)
	inEra := year - era*400
	ofYear := (153*floorMod(month-3, 12)+2)/5 + date - 1
	return era*146097 + inEra*365 + inEra/4 - inEra/100 + ofYear - 719468
}

// civil is the date of a day, the inverse of daysOf: civil_from_days, there.
func civil(days int64) (year, month, date int64) {
	days += 719468
	era := floorDiv(days, 146097)
	ofEra := days - era*146097
	inEra := (ofEra - ofEra/1460 + ofEra/36524 - ofEra/146096) / 365
	ofYear := ofEra - (365*inEra + inEra/4 - inEra/100)
	shifted := (5*ofYear + 2) / 153
	date = ofYear - (153*shifted+2)/5 + 1
	month = floorMod(shifted+2, 12) + 1
	year = inEra + era*400
	if month <= 2 {
		year++
	}
	return year, month, date
}
