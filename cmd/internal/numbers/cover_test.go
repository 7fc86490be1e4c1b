package numbers_test

import (
	"math"
	"slices"
	"testing"
	"time"

	"oriel/cmd/internal/numbers"
	"oriel/cmd/internal/numbers/clock"
	"oriel/mechanisms/mechtest/tiertest"
	"oriel/operators/aggregate/interval"
)

// TestIntervalsCover checks that intervals contain the true number in 95 % of cases, from the first step of a stream
// on. Cells, columns and streams have independent noise, and consecutive hours have nearly independent noise. So the
// share of n intervals is wrong by more than 4.9·√(0.95·0.05/n) with a probability of 10⁻⁶. For means and variances
// only intervals with a value count: a decision of 60 events has ten in each cell, which is hardly above 12 deviations.
// Noisy means bend the surfaces of equal variance. An end of a variance's interval may be the end of the range, beyond
// which there is no true number, so up to half of the misses are missing. Intervals without a value contain the true
// number at least as often, because they may be the whole range.
func TestIntervalsCover(t *testing.T) {
	names := []string{"count", "sum", "mean", "variance"}
	for statistics, most := range map[string]float64{
		"count,sum,mean,variance": 0.955, "count*5,mean*0.5,variance*3": 0.975,
	} {
		t.Run(statistics, func(t *testing.T) {
			hits, all := map[string]int{}, map[string]int{}
			for seed := range uint64(tiertest.Runs(1, 24)) {
				d := serve(t, seed, 3600, 5*time.Second, append([]string{
					"ORIEL_EPSILON=120", "ORIEL_BINS=", "ORIEL_STATISTICS=" + statistics,
				}, memory...)...)
				d.count(t, clock.Clock{Every: time.Duration(300+seed) * time.Second}, names, hits, all)
			}
			for name, n := range all {
				share, away := float64(hits[name])/float64(n), 4.9*math.Sqrt(0.95*0.05/float64(n))
				t.Logf("%s: %.4f of %d", name, share, n)
				top := map[string]float64{"count": 0.95, "sum": 0.95, "mean": 0.95, "variance": most}[name]
				if share < 0.95-away || top > 0 && share > top+away {
					t.Errorf("%s: %.4f of %d intervals cover, want 0.95 to %g within %.4f", name, share, n, top, away)
				}
			}
			for _, name := range names {
				if all[name] < tiertest.Runs(100, 2000) {
					t.Errorf("%s: %d intervals", name, all[name])
				}
			}
		})
	}
}

// TestDiscreteNoiseAddsUp checks hours of once-laplace: counts are whole numbers with whole ends, one step has the
// interval of its decision, and counts, sums and means of many steps cover as often as they say. The tolerance is that
// of TestIntervalsCover; a count's interval has up to the probability of one more whole number.
func TestDiscreteNoiseAddsUp(t *testing.T) {
	statistics := []string{"count", "sum", "mean"}
	hits, all, wide := map[string]int{}, map[string]int{}, 0.0
	for seed := range uint64(tiertest.Runs(6, 120)) {
		d := serve(t, seed, 3840, time.Minute, "ORIEL_MECHANISM=once-laplace", "ORIEL_DELTA=", "ORIEL_BATCH=16",
			"ORIEL_BINS=", "ORIEL_STATISTICS=count,sum,mean", "ORIEL_EPSILON=16")
		d.together = 16
		for _, by := range []clock.Clock{{Every: 160 * time.Minute}, {Every: 16 * time.Hour}} {
			d.count(t, by, statistics, hits, all)
		}
		steps := collect(t, d, clock.Clock{Every: 16 * time.Minute})
		for _, r := range rowsOf(t, steps, numbers.Query{Statistics: statistics[:1]}) {
			one := interval.Discrete(r.Value, r.Deviation)
			if r.Value != math.Trunc(r.Value) || r.Low != one.Low || r.High != one.High {
				t.Fatalf("a step: %+v, want %+v", r, one)
			}
			wide = 1 / r.Deviation / math.Sqrt(20*math.Pi) // of ten steps
		}
	}
	most := map[string]float64{"count": level + wide, "sum": level, "mean": 0.965}
	for _, name := range statistics {
		n := float64(all[name])
		share, away := float64(hits[name])/n, 4.9*math.Sqrt(0.95*0.05/n)
		t.Logf("%s: %.4f of %g", name, share, n)
		if share < level-away || share > most[name]+away || n < 100 {
			t.Errorf("%s: %.4f of %g intervals cover, want 0.95 to %.4f within %.4f", name, share, n, most[name], away)
		}
	}
}

// TestColumnsOfStepsAddUp checks variances and quantiles over one step and over many: with increments, steps that are
// released alone add up in all their columns. Counts must be those of the same decisions without increments.
func TestColumnsOfStepsAddUp(t *testing.T) {
	for _, env := range [][]string{
		{"ORIEL_MECHANISM=once-laplace", "ORIEL_DELTA="},
		{"ORIEL_MECHANISM=once-gaussian"},
		{"ORIEL_MECHANISM=once-laplace", "ORIEL_DELTA=", "ORIEL_STATISTICS=p50", "ORIEL_EPSILON=2"},
		{"ORIEL_MECHANISM=once-laplace", "ORIEL_DELTA=", "ORIEL_WEIGHT_MAX=1", "ORIEL_STATISTICS=p50,count"},
	} {
		hits, all := map[string]int{}, map[string]int{}
		statistics := []string{"count", "mean", "variance", "p50"}
		if len(env) > 2 {
			statistics = []string{"count", "p50"}
		}
		for seed := range uint64(tiertest.Runs(2, 60)) {
			d := serve(t, seed, 3840, time.Minute, append([]string{
				"ORIEL_BATCH=256", "ORIEL_EPSILON=24", "ORIEL_INCREMENTS=true",
			}, env...)...)
			d.together = 256
			for _, minutes := range []time.Duration{256, 1024, 3840} {
				d.count(t, clock.Clock{Every: minutes * time.Minute}, statistics, hits, all)
			}
		}
		for _, name := range statistics {
			n := float64(all[name])
			share, away := float64(hits[name])/n, 4.9*math.Sqrt(0.95*0.05/n)
			t.Logf("%s, %s: %.4f of %g", env, name, share, n)
			if share < 0.945-away || n < 100 {
				t.Errorf("%s, %s: %.4f of %g intervals cover, want 0.95", env, name, share, n)
			}
		}
	}
}

// count adds, by statistic, the number of intervals that contain the true number to hits, and the number of all
// intervals to all.
func (d deployment) count(t *testing.T, clock clock.Clock, statistics []string, hits, all map[string]int) {
	t.Helper()
	query := numbers.Query{Statistics: statistics, Total: true}
	for _, r := range rowsOf(t, collect(t, d, clock), query) {
		truth, any := d.truth(r)
		if !any {
			continue
		}
		name := r.Statistic
		if math.IsNaN(r.Value) {
			name += " without a value"
		}
		all[name]++
		if math.IsNaN(r.Low) || r.Low-1e-9 <= truth && truth <= r.High+1e-9 {
			hits[name]++
		}
	}
}

// level is the probability with which an interval contains the true number.
const level = 0.95

// truth returns the true number of a row, over the events of the row's decisions. A decision belongs to the interval of
// its last event. any is false if the row has no events.
func (d deployment) truth(r numbers.Row) (truth float64, any bool) {
	n, s, squares, all := 0.0, 0.0, 0.0, []float64(nil)
	for i, e := range d.rows {
		if e.ms = d.rows[i|(d.together-1)].ms; e.ms < r.Start.UnixMilli() || e.ms >= r.End.UnixMilli() {
			continue
		}
		half := map[bool]string{true: "0:12", false: "12:24"}[e.hour < 12]
		if r.Places[0] != numbers.All && (r.Places[0] != e.carrier || r.Places[1] != half) {
			continue
		}
		n, s, squares, all = n+1, s+e.delay, squares+e.delay*e.delay, append(all, e.delay)
	}
	switch r.Statistic {
	case "count":
		return n, true
	case "sum":
		return s, true
	case "mean":
		return s / n, n > 0
	case "p50":
		if slices.Sort(all); n > 0 {
			return all[int(math.Ceil(n/2))-1], true
		}
		return 0, false
	}
	return squares/n - s/n*s/n, n > 0
}
