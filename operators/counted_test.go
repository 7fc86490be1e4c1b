package operators_test

import (
	"bytes"
	"slices"
	"testing"

	"oriel/mechanisms/noise"
	"oriel/mechanisms/protection"
	"oriel/operators"
)

// scripted is a machine that keeps the offsets of its records; its decision of a step is their number.
type scripted struct {
	operators.Machine
	added  []int64
	closed uint64
}

func (m *scripted) Add(r operators.Record) { m.added = append(m.added, r.Identity.Offset) }

func (m *scripted) Close(dst []operators.Decision) []operators.Decision {
	m.closed++
	return append(dst, operators.Decision{Index: m.closed, Point: []float64{float64(len(m.added))}})
}

func (m *scripted) Guarantee() protection.Guarantee { return protection.Guarantee{Batch: 3} }
func (m *scripted) StateLen() int                   { return 0 }
func (m *scripted) AppendState(dst []byte) []byte   { return dst }
func (m *scripted) AppendPublic(dst []byte) []byte  { return dst }
func (m *scripted) Restore([]byte) error            { return nil }

// TestPlacesOfAStep plays null records at some places of steps. By count the machine gets them; by places it does not,
// and steps close all the same, also without any record and after a restart.
func TestPlacesOfAStep(t *testing.T) {
	play := func(wrap func(operators.Machine) *operators.Counted) (added []int64, decisions int) {
		m := &scripted{}
		c := wrap(m)
		for offset := range int64(9) {
			state := c.AppendState(nil)
			c = wrap(m)
			if err := c.Restore(state); err != nil || !bytes.Equal(c.AppendPublic(nil), state) {
				t.Fatal(err)
			}
			record := operators.Record{Identity: noise.Identity{Offset: offset}, Null: offset%2 == 1 || offset >= 6}
			decisions += len(c.Add(nil, record))
		}
		return m.added, decisions
	}
	if added, decisions := play(operators.ByCount); decisions != 3 || len(added) != 9 {
		t.Errorf("by count: %v, %d decisions", added, decisions)
	}
	byPlaces := func(m operators.Machine) *operators.Counted { return operators.ByPlaces(m, 3) }
	if added, decisions := play(byPlaces); decisions != 3 || !slices.Equal(added, []int64{0, 2, 4}) {
		t.Errorf("by places: %v, %d decisions", added, decisions)
	}
}
