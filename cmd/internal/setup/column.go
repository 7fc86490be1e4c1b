package setup

import (
	"fmt"
	"hash/maphash"
	"math"
	"slices"
	"strings"

	"oriel/cmd/internal/setup/sample"
	"oriel/schemas/mapping"
	"oriel/schemas/mapping/calendar"
	"oriel/schemas/text"
)

// mostDistinct is the largest number of different values that are counted for a column.
const mostDistinct = 2000

// Column is a place in records, with the properties of its values in a sample.
type Column struct {
	Path     mapping.Path
	IsList   bool
	IsOther  bool // a map, or bytes
	Present  int  // number of records that have a value in the column
	Distinct int  // number of different values, up to mostDistinct

	numbers, numerals, texts, bools int // number of values by type; numerals are texts that are numbers
	containers                      int // number of lists and objects in place of a value
	// times: number of ISO 8601 texts; instants: number of values whose type in the schema is a time
	times, instants int
	dates           int       // number of times at midnight
	values          []float64 // the numbers and numerals
	seen            map[uint64]bool
}

// Columns returns the columns of records from which the outer framing is removed, in the order of the records or of the
// schema. It also returns which records could be read.
func Columns(e sample.Encoding, records [][]byte) (columns []Column, read sample.Reading, err error) {
	p, err := e.Places(records)
	if err != nil {
		return nil, read, err
	}
	for _, path := range p.Paths {
		columns = append(columns, Column{Path: path, seen: map[uint64]bool{}})
	}
	seed := maphash.MakeSeed()
	read, err = p.Read(records, func(values []mapping.Value) {
		for i := range values {
			columns[i].see(&values[i], seed)
		}
	})
	if err != nil {
		return nil, read, err
	}
	for i := range columns {
		columns[i].Distinct = len(columns[i].seen)
	}
	columns = withoutMembers(columns)
	for _, path := range p.Lists {
		if !slices.ContainsFunc(columns, func(c Column) bool { return slices.Equal(c.Path, path) }) {
			columns = append(columns, Column{Path: path, IsList: true})
		}
	}
	for _, path := range p.Others {
		columns = append(columns, Column{Path: path, IsOther: true})
	}
	return columns, read, nil
}

// withoutMembers removes the members of the few objects that stand in place of a value.
func withoutMembers(columns []Column) []Column {
	return slices.DeleteFunc(columns, func(c Column) bool {
		return slices.ContainsFunc(columns, func(o Column) bool {
			return len(o.Path) < len(c.Path) && slices.Equal(o.Path, c.Path[:len(o.Path)]) && !o.isContainer()
		})
	})
}

// isContainer reports whether the column has lists or objects, and more than a few of them.
func (c *Column) isContainer() bool { return c.containers > 0 && !c.most(c.Present-c.containers) }

func (c *Column) see(v *mapping.Value, seed maphash.Seed) {
	switch v.Kind {
	case mapping.Number:
		c.numbers++
		c.number(v.Number)
		c.distinct(maphash.Comparable(seed, v.Number))
	case mapping.Bool:
		c.bools++
		c.distinct(uint64(v.Number))
	case mapping.Time:
		c.instants++
		if v.Seconds%calendar.Day == 0 && v.Nanos == 0 {
			c.dates++
		}
		c.distinct(maphash.Comparable(seed, v.Seconds))
	case mapping.Text:
		if len(v.Text) == 0 {
			return
		}
		c.texts++
		if f, ok := text.ParseDecimal(v.Text); ok {
			c.numerals++
			c.number(f)
		} else if at, is := calendar.ParseInstant(v.Text); is {
			c.times++
			if at.Seconds%calendar.Day == 0 && at.Nanos == 0 {
				c.dates++
			}
		}
		c.distinct(maphash.Bytes(seed, v.Text))
	case mapping.Other:
		c.containers++
	default:
		return
	}
	c.Present++
}

func (c *Column) number(f float64) { c.values = append(c.values, f) }

func (c *Column) distinct(hash uint64) {
	if len(c.seen) < mostDistinct {
		c.seen[hash] = true
	}
}

// most reports whether nearly all values are of a kind: in a sample that tells, up to one of twenty may be of another.
func (c *Column) most(count int) bool {
	others := c.Present - count
	return count > 0 && (others == 0 || c.Present >= fewestValues && 20*others <= c.Present)
}

func (c *Column) isNumber() bool { return c.most(c.numbers + c.numerals) }

// mixed says which kinds of values the column has, if it has several.
func (c *Column) mixed() string {
	var kinds []string
	for _, k := range []struct {
		count     int
		one, many string
	}{
		{c.numbers + c.numerals, "number", "numbers"},
		{c.times + c.instants, "time", "times"},
		{c.texts - c.numerals - c.times, "text", "texts"},
		{c.bools, "boolean", "booleans"},
		{c.containers, "list or object", "lists or objects"},
	} {
		switch {
		case k.count == 1:
			kinds = append(kinds, "1 "+k.one)
		case k.count > 1:
			kinds = append(kinds, fmt.Sprintf("%d %s", k.count, k.many))
		}
	}
	if len(kinds) < 2 {
		return ""
	}
	return strings.Join(kinds[:len(kinds)-1], ", ") + " and " + kinds[len(kinds)-1]
}

// bounds returns the least and greatest number, and how many numbers are beyond them: those ten times as far from 0 as
// all but one of a hundred, because a single odd number must not stretch a range.
func (c *Column) bounds() (low, high float64, beyond int) {
	sorted := slices.Sorted(slices.Values(c.values))
	last := len(sorted) - 1
	if cut := len(sorted) / 200; cut > 0 {
		if far := 10 * max(math.Abs(sorted[cut]), math.Abs(sorted[last-cut])); far > 0 {
			sorted = slices.DeleteFunc(sorted, func(f float64) bool { return math.Abs(f) > far })
		}
	}
	return sorted[0], sorted[len(sorted)-1], last + 1 - len(sorted)
}

// around returns the range that is proposed for the column's numbers.
func (c *Column) around() (low, high float64) {
	low, high, _ = c.bounds()
	return around(low, high)
}
