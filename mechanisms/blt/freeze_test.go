package blt

import (
	"math"
	"testing"
)

func TestFitChoosesPoles(t *testing.T) {
	for _, window := range []uint64{1, 3, 100, 1024, 1 << 20, MaxWindow} {
		for _, weight := range []float64{0, 0.3, 1} {
			f := fitFilter(t, window, weight, 0)
			loss := func(f Filter) float64 {
				r, err := NewResponse(f)
				if err != nil {
					t.Fatal(err)
				}
				one, many := r.Sensitivity(window), r.Sensitivity(10*window)
				return math.Log(r.Noise()) + (1-weight)*math.Log(one) + weight*math.Log(many)
			}
			four, err := Fit(window, weight, MaxPoles)
			if err == nil && loss(f) > loss(four)+2*enough {
				t.Errorf("W=%d w=%g: %d poles cost %g more than four", window, weight, f.Count, loss(f)-loss(four))
			}
		}
	}
	for _, bad := range []func() (Filter, error){
		func() (Filter, error) { return Fit(0, 0, 2) },
		func() (Filter, error) { return Fit(MaxWindow+1, 0, 2) },
		func() (Filter, error) { return Fit(8, -0.1, 2) },
		func() (Filter, error) { return Fit(8, math.NaN(), 2) },
		func() (Filter, error) { return Fit(8, math.Copysign(0, -1), 2) },
		func() (Filter, error) { return Fit(8, 0, 1) },
		func() (Filter, error) { return Fit(8, 0, 5) },
	} {
		if _, err := bad(); err == nil {
			t.Error("a bad argument is accepted")
		}
	}
}

// TestFitOfShortWindows checks that every number of poles, and the automatic choice, gives a filter at every window,
// even where fewer poles suffice.
func TestFitOfShortWindows(t *testing.T) {
	for _, window := range []uint64{1, 2, 7} {
		for _, weight := range []float64{0, 0.3} {
			for _, poles := range []int{0, 2, 4} {
				f := fitFilter(t, window, weight, poles)
				if poles != 0 && int(f.Count) != poles {
					t.Errorf("W=%d w=%g: %d poles, want %d", window, weight, f.Count, poles)
				}
				if _, err := NewResponse(f); err != nil {
					t.Errorf("W=%d w=%g m=%d: %v", window, weight, poles, err)
				}
			}
		}
	}
}
