package setup

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"oriel/cmd/internal/traps"
	"oriel/schemas/mapping"
	"oriel/schemas/mapping/calendar"
	"oriel/schemas/text"
)

// Proposal is a proposed mapping of columns, with findings that the user should know.
type Proposal struct {
	Items   []Item   // features, or members of a row
	Left    []string // omitted columns, each with the reason
	Mixed   []string // columns with values of several kinds, or with single extremes
	Ranges  []Range  // proposed ranges of numbers, which the user must confirm
	Classes []string // columns that look like a label of two classes
}

// Item is a column that is used as a feature or as a member of a row, and how its values are read.
type Item struct {
	Name  string
	Path  mapping.Path
	As    string // conversion, see mapping.As; empty: none
	Epoch string // unit of a time that is a number
}

// Range is the range of the number with this name. A sample suggests a range, but only the user can know whether it is
// public.
type Range struct {
	Name      string
	Low, High float64
	Cyclic    bool // the number is a component of a time, for example an hour, with a range independent of the sample
}

// String returns the range in the format of ORIEL_FEATURES_RANGE.
func (r Range) String() string {
	text := string(text.AppendFloat(append(text.AppendFloat([]byte(r.Name+":"), r.Low), ':'), r.High))
	if r.Cyclic {
		text += ":cyclic"
	}
	return text
}

// Ranges returns the ranges in the format of ORIEL_FEATURES_RANGE.
func Ranges(all []Range) string {
	var texts []string
	for _, r := range all {
		texts = append(texts, r.String())
	}
	return strings.Join(texts, ",")
}

// Numbers of values from which the kind of a column can be recognised.
const (
	fewestValues = 20  // fewest values from which the number of different values is meaningful
	mostTexts    = 500 // largest number of different values of a feature
)

// Propose returns a mapping that fits the columns. used lists the paths of label, filter and values, which must not
// become features.
func Propose(columns []Column, used []mapping.Path) Proposal {
	var p Proposal
	timed := false
	for i := range columns {
		c := &columns[i]
		if slices.ContainsFunc(used, func(u mapping.Path) bool { return slices.Equal(u, c.Path) }) {
			continue
		}
		if c.most(c.bools) {
			p.Classes = append(p.Classes, c.Path.String())
		}
		epoch, isTime := c.time()
		p.mix(c, isTime)
		switch reason := c.reason(); {
		case reason != "":
			p.leave(c, reason)
		case isTime && timed:
			p.leave(c, "a time; the first one gives hour and weekday")
		case isTime:
			timed = true
			parts := []Range{{"hour", 0, 24, true}, {"weekday", 1, 8, true}}
			if c.isDate(epoch) {
				parts = []Range{{"weekday", 1, 8, true}, {"month", 1, 13, true}}
			}
			for _, part := range parts {
				part.Name = p.add(Item{Name: part.Name, Path: c.Path, As: part.Name, Epoch: epoch})
				p.Ranges = append(p.Ranges, part)
			}
		case c.isNumber():
			name := p.add(Item{Name: c.name(), Path: c.Path, As: "number"})
			low, high := c.around()
			p.Ranges = append(p.Ranges, Range{name, low, high, false})
		default:
			p.add(Item{Name: c.name(), Path: c.Path})
		}
	}
	return p
}

// mix notes that a column has values of several kinds. A record with a value that cannot be read as the proposed item
// asks is a null event.
func (p *Proposal) mix(c *Column, isTime bool) {
	switch mixed := c.mixed(); {
	case mixed == "" || c.isContainer():
	case isTime || c.isNumber():
		kind := "numbers"
		if isTime {
			kind = "times"
		}
		p.Mixed = append(p.Mixed, fmt.Sprintf("%s: %s: read as %s, so a record with another value is a null event; --where leaves "+
			"such records out, and a producer can send null in their place", c.Path, mixed, kind))
	case c.containers > 0:
		p.Mixed = append(p.Mixed, fmt.Sprintf("%s: %s: a record with a list or an object in this place is a null event", c.Path, mixed))
	default:
		p.Mixed = append(p.Mixed, fmt.Sprintf("%s: %s: each kind is a category of its own; write %s:text to read all as texts",
			c.Path, mixed, c.Path))
	}
	if c.isNumber() && !isTime {
		if _, _, n := c.bounds(); n > 0 {
			p.Mixed = append(p.Mixed, fmt.Sprintf("%s: %d of %d numbers are ten times as far out as the others, or more: the proposed "+
				"range leaves them out, so they are clamped to it", c.Path, n, len(c.values)))
		}
	}
}

func (p *Proposal) leave(c *Column, reason string) {
	p.Left = append(p.Left, fmt.Sprintf("%s: %s", c.Path, reason))
}

// add adds an item under a unique name, and returns the name.
func (p *Proposal) add(item Item) string {
	taken := func(name string) bool {
		return slices.ContainsFunc(p.Items, func(o Item) bool { return o.Name == name })
	}
	for k := len(item.Path) - 2; k >= 0 && taken(item.Name); k-- {
		item.Name = item.Path[k] + "_" + item.Name
	}
	for n, name := 2, item.Name; taken(item.Name); n++ {
		item.Name = fmt.Sprintf("%s_%d", name, n)
	}
	p.Items = append(p.Items, item)
	return item.Name
}

// name returns the last name of the path, without the characters that have a meaning in settings.
func (c *Column) name() string {
	return strings.Map(func(r rune) rune {
		if strings.ContainsRune(":,=|<>!\"' ", r) {
			return '_'
		}
		return r
	}, c.Path[len(c.Path)-1])
}

// reason returns why a column must not be a feature, or "" if it may be one.
func (c *Column) reason() string {
	_, isTime := c.time()
	many := c.Present >= fewestValues && 2*c.Distinct > c.Present
	switch {
	case c.IsList:
		return "a list; name one of its elements by its place, from 0"
	case c.IsOther:
		return "a map, or bytes; name one of the map's keys"
	case c.isContainer():
		return fmt.Sprintf("a list or an object in %d of %d records; name one of its members or elements", c.containers, c.Present)
	case c.Present == 0:
		return "no value in the sample"
	case isTime:
		return ""
	case traps.IsIdentifier(c.Path[len(c.Path)-1]):
		return "an identifier, by its name; it teaches nothing about others"
	case c.isNumber():
		return ""
	case c.Present >= fewestValues && c.Distinct == 1:
		return "the same in the whole sample; --where may ask for it"
	case c.texts > 0 && many:
		return "most values come once, as identifiers and free text do"
	case c.Distinct > mostTexts:
		return "too many different values, as free text has"
	}
	return ""
}

// timeWords are endings of names that are usual for times in the form of numbers.
var timeWords = []string{
	"at", "time", "timestamp", "ts", "date", "datetime", "created", "updated", "epoch", "ms", "millis", "when",
}

// dateWords are endings of names that are usual for dates in the form of days since 1970.
var dateWords = []string{"date", "day", "created", "updated", "birthday", "birthdate"}

// epochs are the units of times that are numbers, with the number of units per second.
var epochs = []struct {
	name string
	size float64
}{{"s", 1}, {"ms", 1e3}, {"us", 1e6}, {"ns", 1e9}, {"d", 1. / calendar.Day}}

// time reports whether nearly all values are times. If the times are numbers, epoch is their unit.
func (c *Column) time() (epoch string, is bool) {
	if c.most(c.instants + c.times) {
		return "", true
	}
	word := ""
	if len(c.Path) > 0 {
		word = traps.LastWord(c.Path[len(c.Path)-1])
	}
	for _, unit := range epochs {
		words := timeWords
		if unit.name == "d" {
			words = dateWords
		}
		if slices.Contains(words, word) && c.most(c.count(func(f float64) bool {
			return f == math.Trunc(f) && f >= 1e8*unit.size && f < 1e10*unit.size // the years 1973 to 2286
		})) {
			return unit.name, true
		}
	}
	return "", false
}

// isDate reports whether nearly all times of the column are at midnight, so that their hour says nothing.
func (c *Column) isDate(epoch string) bool {
	dates := c.dates
	for _, unit := range epochs {
		if unit.name == epoch {
			dates = c.count(func(f float64) bool { return math.Mod(f, max(1, calendar.Day*unit.size)) == 0 })
		}
	}
	return c.most(dates)
}

func (c *Column) count(is func(f float64) bool) (n int) {
	for _, f := range c.values {
		if is(f) {
			n++
		}
	}
	return n
}

// around returns a range with round ends that contains the values of a sample. It starts at 0 if no value is negative.
func around(low, high float64) (float64, float64) {
	top := roundUp(max(high, 0))
	switch {
	case low < 0 && high > 0:
		top = max(top, roundUp(-low))
		return -top, top
	case low < 0:
		return -roundUp(-low), 0
	case top == 0:
		return 0, 1
	}
	return 0, top
}

// roundUp returns the smallest number above x that is 1, 2 or 5 times a power of ten.
func roundUp(x float64) float64 {
	if !(x > 0) {
		return 0
	}
	power := math.Pow(10, math.Floor(math.Log10(x)))
	for _, k := range []float64{1, 2, 5, 10} {
		if k*power > x {
			return k * power
		}
	}
	return 10 * power
}
