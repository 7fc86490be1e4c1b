package mechanisms_test

import (
	"fmt"
	"testing"

	"oriel/mechanisms"
	"oriel/mechanisms/contribution"
	"oriel/mechanisms/lattice"
	"oriel/mechanisms/mechtest"
	"oriel/mechanisms/noise"
	"oriel/mechanisms/protection"
)

// TestSumsOfAStepCross64Bits continues an open step whose sums are just below 2⁶⁴ and just above −2⁶⁴ units, as after
// more than 2³⁹ events, over these bounds, and saves it there. The released sums must be exact. Dense and sparse
// contributions are added in different ways.
func TestSumsOfAStepCross64Bits(t *testing.T) {
	const events = 40
	for _, nonzero := range []int{0, 1} {
		t.Run(fmt.Sprint(nonzero, " nonzero"), func(t *testing.T) {
			c := config("once-laplace", 2)
			c.Scope, c.Budget.Delta = protection.PerStep{}, 0
			c.Contribution.Components = []contribution.Component{{Name: "cells", Size: 2, Clip: 1, Quantiser: mechtest.OneHot{}}}
			if c.Contribution.Nonzero = nonzero; nonzero == 0 {
				c.Contribution = contribution.OneComponent(2, 1)
			}
			s, grid := mechtest.ZeroStream(t, c), mechtest.Plan(t, c).Grid
			near := [2]lattice.Int128{{Lo: -uint64(grid.Lambda)}, {Hi: -1, Lo: uint64(grid.Lambda)}}
			want := []float64{0x1p64 + (events/2-1)*float64(grid.Lambda), -0x1p64 - (events/2-1)*float64(grid.Lambda)}
			if nonzero > 0 { // its contributions are positive
				near[1], want[1] = near[0], want[0]
			}
			state := s.AppendState(nil)
			sums := len(state) - 8 - 2*8 - 2*lattice.Int128Len // before the releases and the number of steps
			for i, x := range near {
				copy(state[sums+i*lattice.Int128Len:], x.AppendBinary(nil))
			}
			restore(t, s, state)
			for i := range int64(events) {
				s.Add(noise.Identity{Offset: i}, ofOne(i%2, nonzero > 0))
				if i == events/4 {
					restore(t, s, s.AppendState(nil))
				}
			}
			s.Close()
			for i, x := range s.Sum(0) {
				if x != want[i]*grid.Unit() {
					t.Errorf("sum %d is %.20g units, want %.20g", i, x/grid.Unit(), want[i])
				}
			}
		})
	}
}

func restore(t *testing.T, s *mechanisms.Stream, state []byte) {
	t.Helper()
	if err := s.Restore(state); err != nil {
		t.Fatal(err)
	}
}

// ofOne returns the largest contribution to one of two coordinates: to the second one negative, unless it is sparse.
func ofOne(coordinate int64, sparse bool) []float64 {
	switch {
	case sparse:
		return []float64{float64(coordinate)}
	case coordinate == 0:
		return []float64{1, 0}
	}
	return []float64{0, -1}
}
