package calendar

import (
	"errors"
	"fmt"
	"time"

	"oriel/schemas/text"
)

// Zone is an offset from UTC, and with summer time the days on which it begins and ends. It is a function of its text.
// Zones by name (Europe/Berlin) are not supported: laws change, and with a newer table of names a replay would compute
// other hours. The zero Zone is UTC.
type Zone struct {
	standard, summer int64 // UTC offsets, seconds east
	changes          bool  // whether the zone has summer time
	begins, ends     change
}

// change is a yearly change of the offset: the week-th weekday of a month (5: the last), at some seconds after its
// midnight.
type change struct {
	month, week, weekday int64 // a weekday of the month: weekday 0 is Sunday
	at                   int64
}

var errZone = errors.New(`not UTC, an offset such as +01:00, or a rule such as "CET-1CEST,M3.5.0,M10.5.0/3", which is the ` +
	"last line of the zone's file in /usr/share/zoneinfo. Names of zones are not taken: their rules change with the software")

// ParseZone reads UTC, an offset ±hh:mm, or a rule of POSIX TZ (IEEE 1003.1, 8.3) whose changes have the form Mm.w.d.
func ParseZone(s string) (z Zone, err error) {
	if s == "UTC" {
		return z, nil
	}
	if at, ok := ParseInstant([]byte("2000-01-01T00:00" + s)); ok && !at.Local {
		return Zone{standard: at.Offset}, nil
	}
	r := reader{b: []byte(s), ok: true}
	r.abbreviation()
	z.standard = -r.span()
	if !r.end() {
		r.abbreviation()
		z.changes, z.summer = true, z.standard+hour
		if !r.end() && r.b[0] != ',' {
			z.summer = -r.span()
		}
		z.begins, z.ends = r.change(), r.change()
	}
	if !r.ok || !r.end() {
		return Zone{}, fmt.Errorf("%s: %w", text.Shown([]byte(s)), errZone)
	}
	return z, nil
}

// abbreviation skips three or more letters, or any text in <>.
func (r *reader) abbreviation() {
	n := 0
	if r.skip('<') {
		for ; !r.end() && r.b[0] != '>'; r.b = r.b[1:] {
			n++
		}
		r.byte('>')
	} else {
		for ; !r.end() && (r.b[0]|0x20)-'a' < 26; r.b = r.b[1:] {
			n++
		}
	}
	r.ok = r.ok && n >= 3
}

// span reads [±]h[h][:mm[:ss]].
func (r *reader) span() int64 {
	sign := int64(1)
	if r.skip('-') {
		sign = -1
	} else {
		r.skip('+')
	}
	seconds := r.count(167) * hour
	if r.skip(':') {
		seconds += r.count(59) * minute
		if r.skip(':') {
			seconds += r.count(59)
		}
	}
	return sign * seconds
}

// count reads a number of one to three digits, at most most.
func (r *reader) count(most int64) (v int64) {
	n := 0
	for ; n < 3 && !r.end() && r.b[0]-'0' < 10; r.b = r.b[1:] {
		v = 10*v + int64(r.b[0]-'0')
		n++
	}
	r.ok = r.ok && n > 0 && v <= most
	return v
}

// change reads ,Mm.w.d[/time].
func (r *reader) change() (c change) {
	r.byte(',')
	r.byte('M')
	c.month = r.count(12)
	r.byte('.')
	c.week = r.count(5)
	r.byte('.')
	c.weekday = r.count(6)
	r.ok = r.ok && c.month >= 1 && c.week >= 1
	c.at = 2 * hour
	if r.skip('/') {
		c.at = r.span()
	}
	return c
}

// Standard returns the offset from UTC without summer time, in seconds east.
func (z *Zone) Standard() int64 { return z.standard }

// Offset returns the offset of the zone's clocks from UTC at an instant, in seconds east.
func (z *Zone) Offset(utc int64) int64 {
	if !z.changes {
		return z.standard
	}
	year := int64(time.Unix(utc+z.standard, 0).UTC().Year())
	begins, ends := z.begins.in(year)-z.standard, z.ends.in(year)-z.summer
	summer := begins <= utc && utc < ends
	if ends < begins { // in the south, summer time spans the new year
		summer = utc < ends || begins <= utc
	}
	if summer {
		return z.summer
	}
	return z.standard
}

// in returns the instant of a change in a year, by the clock before the change.
func (c *change) in(year int64) int64 {
	first := dateOf(year, c.month, 1)
	date := (c.weekday-int64(first.Weekday())+7)%7 + 7*(c.week-1)
	for last := int64(dateOf(year, c.month+1, 0).Day()); date >= last; {
		date -= 7
	}
	return first.Unix() + date*Day + c.at
}
