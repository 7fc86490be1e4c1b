package mechanisms_test

import (
	"math"
	"testing"

	"oriel/mechanisms"
	"oriel/mechanisms/mechtest"
	"oriel/mechanisms/protection"
)

// TestDeviationSettles compares the steady and the largest deviation with the certified variances. For a stream with a
// horizon both are the deviation at its last step.
func TestDeviationSettles(t *testing.T) {
	near := func(what string, got, want, tolerance float64) {
		t.Helper()
		if !(math.Abs(got/want-1) <= tolerance) {
			t.Errorf("%s: %g, want %g", what, got, want)
		}
	}
	deviation := func(c mechanisms.Config, memory uint64) (mechanisms.Deviation, mechanisms.Calibration, float64) {
		stream, calibration := mechtest.ByCount(mechtest.Open(t, c, [32]byte{})), mechtest.Plan(t, c)
		d, err := stream.Deviation(0, memory)
		if err != nil {
			t.Fatal(err)
		}
		return d, calibration, calibration.Scale.Float64() * calibration.Grid.Unit()
	}
	for _, memory := range []uint64{2, 64, 1000, 65536} {
		d, calibration, one := deviation(forgetful(memory), 0)
		near("settled", d.SteadyState(), one*math.Sqrt(calibration.Decay.Variance()), 1e-6)
		if worst, bound := d.Worst(), one*math.Sqrt(calibration.Decay.Peak()); !(worst <= bound && worst > 0.96*bound) {
			t.Errorf("memory %d: worst %g, bound %g", memory, worst, bound)
		}
		other, _, _ := deviation(forgetful(memory), 5000)
		variance, err := calibration.Decay.ReadingVariance(5000, 1<<40)
		if err != nil {
			t.Fatal(err)
		}
		near("settled reading", other.SteadyState(), one*math.Sqrt(variance), 1e-6)
		most, from := 0.0, uint64(settledPeriods*calibration.Decay.Period())
		for age := uint64(1); age < min(calibration.Decay.Period(), 100_000); age++ {
			most = max(most, other.At(from+age))
		}
		near("worst reading", other.Worst(), most, 1e-3)
	}
	c := forgetful(0)
	c.Scope = protection.Window{Steps: 256}
	d, calibration, one := deviation(c, 0)
	near("window", d.SteadyState(), one*math.Sqrt(calibration.Filter.VarianceAt(1<<40)), 1e-6)
	near("window, worst", d.Worst(), d.SteadyState(), 0)
	c.Scope = protection.Lifetime{Steps: 100, Within: 256}
	d, calibration, one = deviation(c, 0)
	near("horizon", d.SteadyState(), one*math.Sqrt(calibration.Filter.VarianceAt(100)), 1e-6)
	c = forgetful(0)
	c.Name, c.Scope = "once-gaussian", protection.PerStep{}
	d, _, one = deviation(c, 0)
	near("once", d.SteadyState(), one, 0)
	near("once, worst", d.Worst(), one, 0)
	c = mechtest.Config(1) // a tree over a window of 8 steps
	d, _, one = deviation(c, 0)
	near("tree", d.At(7), one*math.Sqrt(3), 0)
	near("tree, a later block", d.At(8+5), one*math.Sqrt(4), 0)
	near("tree, worst", d.Worst(), one*math.Sqrt(4), 0)
	near("tree, settled", d.SteadyState(), d.Worst(), 0)
	c.Name = "tree-gamma"
	if _, err := mechtest.ByCount(mechtest.Open(t, c, [32]byte{})).Deviation(0, 0); err == nil {
		t.Error("noise that is not Gaussian has a deviation")
	}
}

// settledPeriods is the period in which the test looks for the largest deviation.
const settledPeriods = 1 << 16
