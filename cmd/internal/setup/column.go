package setup

import (
	"hash/maphash"
	"math"
	"time"

	"oriel/schemas"
	"oriel/schemas/mapping"
)

// mostDistinct is the largest number of different values that are counted for a column.
const mostDistinct = 2000

// Column is a place in records, with the properties of its values in a sample.
type Column struct {
	Path     mapping.Path
	IsList   bool
	Present  int // number of records that have a value in the column
	Distinct int // number of different values, up to mostDistinct

	numbers, numerals, texts, bools int // number of values by type; numerals are texts that are numbers
	// times: number of ISO 8601 texts; instants: number of values whose type in the schema is a time
	times, instants int
	whole           bool
	low, high       float64
	seen            map[uint64]bool
}

// Columns returns the columns of records from which the outer framing is removed, in the order of the records or of the
// schema. It also returns the number of records that could be read.
func (e Encoding) Columns(records [][]byte) (columns []Column, readable int, err error) {
	p, err := e.places(records)
	if err != nil {
		return nil, 0, err
	}
	for _, path := range p.paths {
		columns = append(columns, Column{
			Path: path, whole: true, low: math.Inf(1), high: math.Inf(-1), seen: map[uint64]bool{},
		})
	}
	source, err := p.open(p.paths)
	if err != nil {
		return nil, 0, err
	}
	values, seed := make([]mapping.Value, len(p.paths)), maphash.MakeSeed()
	for _, record := range records {
		if source.Fill(values, record) != schemas.OK {
			continue
		}
		readable++
		for i := range values {
			columns[i].see(&values[i], seed)
		}
	}
	for i := range columns {
		columns[i].Distinct = len(columns[i].seen)
	}
	for _, path := range p.lists {
		columns = append(columns, Column{Path: path, IsList: true})
	}
	return columns, readable, nil
}

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
		c.distinct(maphash.Comparable(seed, v.Seconds))
	case mapping.Text:
		if len(v.Text) == 0 {
			return
		}
		c.texts++
		if f, ok := schemas.ParseDecimal(v.Text); ok {
			c.numerals++
			c.number(f)
		} else if isTime(string(v.Text)) {
			c.times++
		}
		c.distinct(maphash.Bytes(seed, v.Text))
	default:
		return
	}
	c.Present++
}

func (c *Column) number(f float64) {
	c.low, c.high = min(c.low, f), max(c.high, f)
	c.whole = c.whole && f == math.Trunc(f)
}

func (c *Column) distinct(hash uint64) {
	if len(c.seen) < mostDistinct {
		c.seen[hash] = true
	}
}

// isTime reports whether a text is a time in ISO 8601.
func isTime(text string) bool {
	for _, layout := range []string{time.RFC3339Nano, "2006-01-02T15:04:05", "2006-01-02 15:04:05", time.DateOnly} {
		if _, err := time.Parse(layout, text); err == nil {
			return true
		}
	}
	return false
}
