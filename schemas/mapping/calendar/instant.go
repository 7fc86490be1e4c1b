package calendar

import "time"

const (
	minute = 60
	hour   = 60 * minute
)

// Day is the length of a day, seconds.
const Day = 24 * hour

// Instants lie in the years 1 to 9999: from Earliest to before Latest, seconds since 1970-01-01T00:00:00Z.
const (
	Earliest = -62135596800 // 0001-01-01T00:00:00Z
	Latest   = 253402300800 // 10000-01-01T00:00:00Z
)

// Instant is a time parsed from a text of ISO 8601.
type Instant struct {
	Seconds int64 // seconds from 1970-01-01T00:00:00 to the text's local time
	Nanos   int32 // nanoseconds after Seconds; further digits of the text do not count
	Offset  int64 // UTC offset of the text, seconds east
	Local   bool  // the text has no UTC offset
}

// ParseInstant reads YYYY-MM-DD, then, after T or a space, hh:mm, :ss and a fraction, then Z, ±hh, ±hhmm or ±hh:mm. The
// zone, the fraction, the seconds and the time may be left out, but an hour must have minutes.
func ParseInstant(b []byte) (at Instant, ok bool) {
	r := reader{b: b, ok: true}
	year := r.digits(4, 1, 9999)
	r.byte('-')
	month := r.digits(2, 1, 12)
	r.byte('-')
	if at.Seconds, ok = Date(year, month, r.digits(2, 1, 31)); !ok || !r.ok {
		return at, false
	}
	at.Local = true
	if r.end() {
		return at, true
	}
	if !r.skip('T') && !r.skip('t') {
		r.byte(' ')
	}
	at.Seconds += r.digits(2, 0, 23) * hour
	r.byte(':')
	at.Seconds += r.digits(2, 0, 59) * minute
	if r.skip(':') {
		at.Seconds += r.digits(2, 0, 60) // a leap second counts as the first second of the next minute
		if r.skip('.') || r.skip(',') {
			at.Nanos = r.nanos()
		}
	}
	if r.end() {
		return at, r.ok
	}
	at.Local = false
	if r.skip('Z') || r.skip('z') {
		return at, r.ok && r.end()
	}
	sign := int64(1)
	if r.skip('-') {
		sign = -1
	} else {
		r.byte('+')
	}
	at.Offset = r.digits(2, 0, 23) * hour
	if !r.end() {
		r.skip(':')
		at.Offset += r.digits(2, 0, 59) * minute
	}
	at.Offset *= sign
	return at, r.ok && r.end()
}

// Date returns the seconds from 1970-01-01 to a date of the Gregorian calendar; ok is false if there is no such date.
func Date(year, month, date int64) (seconds int64, ok bool) {
	if year < 1 || year > 9999 || month < 1 || month > 12 || date < 1 || date > 31 {
		return 0, false
	}
	at := dateOf(year, month, date)
	return at.Unix(), at.Day() == int(date)
}

// dateOf returns the midnight of a date. A date beyond the end of its month is in the next one.
func dateOf(year, month, date int64) time.Time {
	return time.Date(int(year), time.Month(month), int(date), 0, 0, 0, 0, time.UTC)
}

// reader reads the parts of a text from the left.
type reader struct {
	b  []byte
	ok bool // false after the first fault
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

// nanos reads the digits after a point.
func (r *reader) nanos() (n int32) {
	unit, some := int32(100_000_000), false
	for ; !r.end() && r.b[0]-'0' < 10; r.b = r.b[1:] {
		n += int32(r.b[0]-'0') * unit
		unit /= 10
		some = true
	}
	r.ok = r.ok && some
	return n
}

// Clock is the date and time shown by a clock.
type Clock struct {
	Hour    int64 // 0 to 23
	Weekday int64 // 1, Monday, to 7
	Day     int64 // of the month, from 1
	Month   int64 // 1 to 12
}

// ClockAt returns the date and time of a clock, wall seconds after it showed 1970-01-01T00:00:00.
func ClockAt(wall int64) Clock {
	at := time.Unix(wall, 0).UTC()
	return Clock{
		Hour: int64(at.Hour()), Weekday: int64(at.Weekday()+6)%7 + 1, Day: int64(at.Day()), Month: int64(at.Month()),
	}
}
