package calendar

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
	if year < 1 || year > 9999 || month < 1 || month > 12 || date < 1 || date > daysIn(year, month) {
		return 0, false
	}
	return daysOf(year, month, date) * Day, true
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
// date algorithms", days_from_civil. Its years begin in March, so that a leap day is the last day of a year.
func daysOf(year, month, date int64) int64 {
	if month <= 2 {
		year--
	}
	era := floorDiv(year, 400)
	inEra := year - era*400
	ofYear := (153*floorMod(month-3, 12)+2)/5 + date - 1
	return era*146097 + inEra*365 + inEra/4 - inEra/100 + ofYear - 719468
}

// civil returns the date of a day number; it inverts daysOf by the algorithm civil_from_days.
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

// Clock is the date and time shown by a clock.
type Clock struct {
	Hour    int64 // 0 to 23
	Weekday int64 // 1, Monday, to 7
	Day     int64 // of the month, from 1
	Month   int64 // 1 to 12
}

// ClockAt returns the date and time of a clock, wall seconds after it showed 1970-01-01T00:00:00.
func ClockAt(wall int64) Clock {
	days := floorDiv(wall, Day)
	_, month, date := civil(days)
	return Clock{
		Hour: (wall - days*Day) / hour, Weekday: floorMod(days+3, 7) + 1, // 1970-01-01 was a Thursday
		Day: date, Month: month,
	}
}
