package aggregate

import (
	"bytes"
	"math"
	"testing"

	"oriel/operators"
	"oriel/operators/aggregate/dimension"
	"oriel/schemas/event"
)

// TestValuesAreCells checks the value of an event, in which a person counts once: events of one cell have one value,
// events of two cells have two, and their contributions have no coordinate in common. An event of no cell has none,
// unless all such events have a cell of their own.
func TestValuesAreCells(t *testing.T) {
	var s specification
	for _, text := range []string{"a=x|y|z", "b=0:4:2"} {
		d, ok := dimension.Parse(text)
		if !ok {
			t.Fatal(text)
		}
		s.dimensions = append(s.dimensions, d)
	}
	s.weigh([]string{persons}, []float64{1}, 0)
	for _, other := range []bool{false, true} {
		s.other = other
		c := operator{spec: s}
		reference, values := newReference(s), map[string][]float64{}
		for _, a := range []float64{-1, 0, 1, 2} {
			for _, b := range []float64{-0.5, 0, 1.5, 2, 3.99, 4} {
				e := event.Event{Numbers: []float64{a, b}}
				value, has := c.Value([]byte("before"), e)
				numbers := make([]float64, 3)
				if counts := reference.Contribution(numbers, operators.Record{Event: e}); has != counts {
					t.Fatalf("%v: a value %t, a contribution %t", e.Numbers, has, counts)
				}
				value, is := bytes.CutPrefix(value, []byte("before"))
				if outside := a < 0 || b < 0 || b >= 4; !is || has == (outside && !other) {
					t.Errorf("%v, other %t: value %x, %t", e.Numbers, other, value, has)
				}
				if !has {
					continue
				}
				if earlier, known := values[string(value)]; known && earlier[0] != numbers[0] {
					t.Errorf("%v: the value of cell %g, want %g", e.Numbers, earlier[0], numbers[0])
				}
				values[string(value)] = numbers
			}
		}
		if len(values) != s.cells() {
			t.Errorf("%d values for %d cells", len(values), s.cells())
		}
		for value, x := range values {
			for another, y := range values {
				if value != another && x[0] == y[0] {
					t.Errorf("cell %g has the values %x and %x", x[0], value, another)
				}
			}
		}
		for _, numbers := range [][]float64{nil, {1}, {1, 2, 3}, {3, 1}, {math.NaN(), 1}} {
			if _, has := c.Value(nil, event.Event{Numbers: numbers}); has {
				t.Errorf("%v has a value", numbers)
			}
		}
	}
}
