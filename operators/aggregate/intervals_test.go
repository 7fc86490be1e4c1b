package aggregate

import (
	"math"
	"slices"
	"testing"

	"oriel/mechanisms/mechtest"
	"oriel/operators"
)

// extra returns the numbers of a decision's member with the given name.
func extra(t *testing.T, c operator, d operators.Decision, name string) []float64 {
	t.Helper()
	for k, x := range c.Extras() {
		if x.Name == name {
			return d.Extras[k].Numbers
		}
	}
	t.Fatalf("no member %s", name)
	return nil
}

// TestIntervalsCoverTheTruth checks that 95 % of 3000 intervals of a mean, each with its own noise, contain the
// mean of the events' clamped values. The tolerance is 6.11 standard errors of a share, exceeded once in 10⁹. Intervals
// of a variance cover at least as often, by their construction.
func TestIntervalsCoverTheTruth(t *testing.T) {
	const steps, batch = 1500, 300
	c, m := config(t, tumbling(batch), "CELLS=carrier=UA|AA", "VALUE=delay=-60:180", "STATISTICS=mean,variance")
	machine, err := newMachine(c, mechtest.Open(t, m, [32]byte{7}))
	if err != nil {
		t.Fatal(err)
	}
	counted := operators.ByCount(machine)
	covered, total := map[string]int{}, 0
	truth := plain{spec: &c.spec, cells: make([][4]float64, 2)} // its sums start again at each step
	for i, e := range drawn(&c.spec, steps*batch, 5) {
		if i%batch == 0 {
			truth.step()
		}
		truth.add(e)
		for _, d := range counted.Add(nil, operators.Record{Event: e}) {
			for cell, x := range truth.cells {
				mu := x[1] / x[0]
				for name, want := range map[string]float64{mean: mu, variance: x[2]/x[0] - mu*mu} {
					low, high := extra(t, c, d, name+"_low")[cell], extra(t, c, d, name+"_high")[cell]
					if low <= want && want <= high {
						covered[name]++
					}
					if shown := d.Point[slices.Index(c.spec.statistics, name)*2+cell]; !(low <= shown && shown <= high) {
						t.Fatalf("step %d: %s %g is not in its interval [%g, %g]", d.Step, name, shown, low, high)
					}
				}
				total++
			}
		}
	}
	slack := 6.11 * math.Sqrt(0.95*0.05/float64(total))
	if share := float64(covered[mean]) / float64(total); math.Abs(share-0.95) > slack {
		t.Errorf("%.4f of the intervals of means have them, want 0.95 within %.4f", share, slack)
	}
	if share := float64(covered[variance]) / float64(total); share < 0.95-slack {
		t.Errorf("%.4f of the intervals of variances have them, want 0.95 at least", share)
	}
}

// TestIntervalsOfEmptyCellsAreWide checks that the interval of a mean is wide, and within the public range, in a cell
// without events.
func TestIntervalsOfEmptyCellsAreWide(t *testing.T) {
	c, m := config(t, life(8, 1), "CELLS=carrier=UA|AA", "VALUE=delay=-60:180", "STATISTICS=variance,mean", "MEMORIES=4,8")
	machine, err := newMachine(c, mechtest.ZeroStream(t, m))
	if err != nil {
		t.Fatal(err)
	}
	counted := operators.ByCount(machine)
	d := counted.Add(nil, operators.Record{Null: true})[0]
	for _, name := range []string{mean, variance} {
		low, high := extra(t, c, d, name+"_low"), extra(t, c, d, name+"_high")
		if len(low) != 4 || len(high) != 4 {
			t.Fatalf("%d and %d ends of %s, want two views of two cells", len(low), len(high), name)
		}
		least, most := -60.0, 180.0
		if name == variance {
			least, most = 0, 120*120
		}
		for i := range low {
			if low[i] != least || high[i] != most {
				t.Errorf("%s %d: [%g, %g], want all of [%g, %g]", name, i, low[i], high[i], least, most)
			}
		}
	}
}
