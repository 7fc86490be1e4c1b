package blt

import (
	"math"
	"testing"

	"oriel/mechanisms/dp"
)

// figures are what people read of a filter: variance over the optimum at equal guarantee, and µ at 2, 10 and
// 100 windows over µ of one; all rounded up.
func figures(t *testing.T, f Filter, window uint64) (variance, two, ten, hundred float64) {
	t.Helper()
	r, err := NewResponse(f)
	if err != nil {
		t.Fatal(err)
	}
	one := r.energy(r.weights, window)
	variance = dp.RoundUp(r.noise().mul(one).hi)
	growth := func(k uint64) float64 { return dp.RoundUp(r.energy(r.weights, k*window).mul(one.inverse()).root().hi) }
	return variance, growth(2), growth(10), growth(100)
}

// The table of variances, units (Δ/µ)², of m = 2, 3, 4 at age weight 0, beside S_W². The certificate of m = 4 is in directed rounding.
func TestVarianceTable(t *testing.T) {
	for _, row := range []struct {
		window  uint64
		optimum float64
		want    [3]float64
		within  float64 // of the optimum, certified at m = 4
	}{
		{64, 5.71, [3]float64{5.84, 5.834, 5.834}, 1.023},
		{1024, 10.71, [3]float64{11.15, 10.90, 10.885}, 1.02},
		{16384, 17.27, [3]float64{19.63, 17.774, 17.52}, 1.02},
		{1 << 20, 30.02, [3]float64{44.53, 33.50, 31.08}, 1.036},
	} {
		optimum := Optimum(row.window)
		if math.Abs(optimum-row.optimum) > 0.006 {
			t.Errorf("W=%d: optimum %g, want %g", row.window, optimum, row.optimum)
		}
		for i, want := range row.want {
			variance, _, _, _ := figures(t, fitFilter(t, row.window, 0, i+2), row.window)
			t.Logf("W=%d m=%d: variance %.4f, %.4f of the optimum", row.window, i+2, variance, variance/optimum)
			if variance > want+0.006 || variance < want-0.01 || variance < optimum {
				t.Errorf("W=%d m=%d: variance %.4f, want %g", row.window, i+2, variance, want)
			}
			if i == 2 && variance > row.within*optimum {
				t.Errorf("W=%d: variance %g is above %g times the optimum %g", row.window, variance, row.within, optimum)
			}
		}
	}
}

// The frontier of variance against ageing at W = 1 024, m = 4, and the promise of the default weight 0.3.
func TestAgeingFrontier(t *testing.T) {
	for _, row := range []struct{ weight, variance, two, ten, hundred float64 }{
		{0, 1.016, 1.09, 1.65, 4.48},
		{0.3, 1.084, 1.055, 1.238, 2.236},
		{0.6, 1.153, 1.042, 1.157, 1.873},
		{1, 1.237, 1.033, 1.109, 1.661},
	} {
		variance, two, ten, hundred := figures(t, fitFilter(t, 1024, row.weight, 4), 1024)
		variance /= Optimum(1024)
		t.Logf("w=%g: variance %.4f of the optimum, µ at 2W %.3f, 10W %.3f, 100W %.3f", row.weight, variance, two, ten, hundred)
		for i, x := range [][2]float64{{variance, row.variance}, {two, row.two}, {ten, row.ten}, {hundred, row.hundred}} {
			if math.Abs(x[0]-x[1]) > 0.006 {
				t.Errorf("w=%g: figure %d is %.4f, want %g", row.weight, i, x[0], x[1])
			}
		}
		if row.weight == 0.3 && (variance > 1.10 || hundred > 2.3) {
			t.Errorf("default weight: variance %g of the optimum, µ(100W) %g", variance, hundred)
		}
	}
}

func TestFitChoosesPoles(t *testing.T) {
	for _, window := range []uint64{1, 3, 100, 1024, 1 << 20, MaxWindow} {
		for _, weight := range []float64{0, 0.3, 1} {
			f := fitFilter(t, window, weight, 0)
			variance, _, _, _ := figures(t, f, window)
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
			t.Logf("W=%d w=%g: m=%d, variance %.4f of the optimum", window, weight, f.Count, variance/Optimum(window))
		}
	}
	for _, bad := range []func() (Filter, error){
		func() (Filter, error) { return Fit(0, 0, 2) },
		func() (Filter, error) { return Fit(MaxWindow+1, 0, 2) },
		func() (Filter, error) { return Fit(8, -0.1, 2) },
		func() (Filter, error) { return Fit(8, math.NaN(), 2) },
		func() (Filter, error) { return Fit(8, 0, 1) },
		func() (Filter, error) { return Fit(8, 0, 5) },
	} {
		if _, err := bad(); err == nil {
			t.Error("a bad argument is accepted")
		}
	}
}
