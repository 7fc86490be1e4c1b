package mechanisms_test

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"testing"

	"oriel/mechanisms"
	"oriel/mechanisms/contribution"
	"oriel/mechanisms/dp"
	"oriel/mechanisms/lattice"
	"oriel/mechanisms/mechtest"
	"oriel/mechanisms/noise"
	"oriel/mechanisms/protection"
)

// pairs is a Local quantiser of four cells of pair. Its third number is the cell, and the fourth moves it by a
// coordinate, so that a number may have the other one's step.
type pairs struct{ pair }

func (pairs) Entries() int { return 4 }

func (pairs) Range(v []float64) (from, to int) {
	if v[2] < 0 {
		return 0, 0
	}
	from = 2*int(v[2]) + int(v[3])
	return from, from + 2
}

func (p pairs) Quantise(g lattice.Grid, dst []int64, v []float64) {
	from, to := p.Range(v)
	p.QuantiseRange(g, dst[from:to], v)
}

func (pairs) QuantiseRange(_ lattice.Grid, dst []int64, v []float64) {
	if len(dst) > 0 {
		dst[0], dst[1] = int64(v[0]), int64(v[1])
	}
}

// TestLocalContributionsAreWhole compares streams over a Local quantiser with streams over the same quantiser whose
// ranges are hidden, so that all coordinates are taken and checked. After each record the states must be equal, with
// records that are too long, in no cell, moved, null, or of another stream of the same mechanism between them.
func TestLocalContributionsAreWhole(t *testing.T) {
	for _, nonzero := range []int{0, 2} {
		for _, components := range []int{1, 3} {
			c := ofPairs(protection.Event{Exchange: dp.AddRemove}, 1)
			c.Contribution = contribution.Contribution{Nonzero: nonzero}
			hidden := c
			for range components {
				part := contribution.Component{Size: 10, Clip: 1, Quantiser: pairs{}, Share: 1}
				c.Contribution.Components = append(c.Contribution.Components, part)
				part.Quantiser = struct{ contribution.Absolute }{pairs{}}
				hidden.Contribution.Components = append(hidden.Contribution.Components, part)
			}
			p := mechtest.Plan(t, c)
			local, whole := twoOf(t, c, p), twoOf(t, hidden, p)
			draw := rand.New(rand.NewPCG(uint64(nonzero), uint64(components)))
			taken := map[string]int{}
			for i := range int64(4000) {
				var v []float64
				for range components {
					a, b, cell := 5*draw.IntN(4)-5, draw.IntN(16)-3, draw.IntN(5)-1
					moved := 0
					if draw.IntN(6) == 0 {
						moved = 1
					}
					v = append(v, float64(a), float64(b), float64(cell), float64(moved))
				}
				if draw.IntN(20) == 0 {
					v = nil
				}
				other := draw.IntN(2)
				before := local[other].AppendState(nil)
				id := noise.Identity{Topic: [16]byte{1}, Offset: i}
				local[other].Add(id, v)
				whole[other].Add(id, v)
				got, want := local[other].AppendState(nil), whole[other].AppendState(nil)
				if !bytes.Equal(got, want) {
					t.Fatalf("%d components, record %v: the states differ", components, v)
				}
				taken[fmt.Sprint("changes the state: ", !bytes.Equal(before, got))]++
				if draw.IntN(100) == 0 {
					local[other].Close()
					whole[other].Close()
				}
			}
			if len(taken) != 2 {
				t.Errorf("%v: not both kinds of records", taken)
			}
		}
	}
}

// twoOf returns two streams of one mechanism.
func twoOf(t *testing.T, c mechanisms.Config, p mechanisms.Calibration) (two [2]*mechanisms.Stream) {
	t.Helper()
	m, err := mechanisms.NewMechanism(c, p)
	if err != nil {
		t.Fatal(err)
	}
	for i := range two {
		two[i] = m.Open([32]byte{byte(i)})
	}
	return two
}
