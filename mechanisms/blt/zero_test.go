package blt

import "testing"

// TestAZeroOnABisectionPoint: a filter whose zero is a dyadic that bisection meets exactly is enclosed like any other.
func TestAZeroOnABisectionPoint(t *testing.T) {
	for _, f := range []Filter{
		{Poles: [MaxPoles]uint32{1 << 29}, Residues: [MaxPoles]uint32{1 << 28}, Count: 1, Shift: 20},
		{Poles: [MaxPoles]uint32{3 << 28, 1 << 28}, Residues: [MaxPoles]uint32{1<<28 + 1000, 1000}, Count: 2, Shift: 20},
	} {
		r, err := NewResponse(f)
		if err != nil {
			continue // refused, not a panic
		}
		if noise := r.Noise(); !(noise >= 1 && noise < 100) {
			t.Errorf("%v: Σb² = %g", f, noise)
		}
	}
}
