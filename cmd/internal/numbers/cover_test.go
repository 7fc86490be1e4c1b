package numbers_test

import (
	"math"
	"testing"
	"time"

	"oriel/cmd/internal/numbers"
	"oriel/mechanisms/mechtest/tiertest"
)

// TestIntervalsCover checks that intervals contain the true number in 95 % of cases, from the first step of a stream
// on. Cells, columns and streams have independent noise, and consecutive hours have nearly independent noise. So the
// share of n intervals is wrong by more than 4.9·√(0.95·0.05/n) with a probability of 10⁻⁶. For means and variances
// only intervals with a value count: a decision of 60 events has ten in each cell, which is hardly above 12 deviations.
// Noisy means bend the surfaces of equal variance. An end of a variance's interval may be the end of the range, beyond
// which there is no true number, so up to half of the misses are missing. Intervals without a value contain the true
// number at least as often, because they may be the whole range.
func TestIntervalsCover(t *testing.T) {
	for statistics, most := range map[string]float64{
		"count,sum,mean,variance": 0.955, "count*5,mean*0.5,variance*3": 0.975,
	} {
		t.Run(statistics, func(t *testing.T) {
			hits, all := map[string]int{}, map[string]int{}
			for seed := range uint64(tiertest.Runs(1, 24)) {
				d := serve(t, seed, 3600, 5*time.Second, append([]string{
					"ORIEL_EPSILON=120", "ORIEL_BINS=", "ORIEL_STATISTICS=" + statistics,
				}, memory...)...)
				d.count(t, numbers.Clock{Every: time.Duration(300+seed) * time.Second}, hits, all)
			}
			for name, n := range all {
				share, away := float64(hits[name])/float64(n), 4.9*math.Sqrt(0.95*0.05/float64(n))
				t.Logf("%s: %.4f of %d", name, share, n)
				top := map[string]float64{"count": 0.95, "sum": 0.95, "mean": 0.95, "variance": most}[name]
				if share < 0.95-away || top > 0 && share > top+away {
					t.Errorf("%s: %.4f of %d intervals cover, want 0.95 to %g within %.4f", name, share, n, top, away)
				}
			}
			for _, name := range []string{"count", "sum", "mean", "variance"} {
				if all[name] < tiertest.Runs(100, 2000) {
					t.Errorf("%s: %d intervals", name, all[name])
				}
			}
		})
	}
}

// count adds, by statistic, the number of intervals that contain the true number to hits, and the number of all
// intervals to all.
func (d deployment) count(t *testing.T, clock numbers.Clock, hits, all map[string]int) {
	t.Helper()
	query := numbers.Query{Statistics: []string{"count", "sum", "mean", "variance"}, Total: true}
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

// truth returns the true number of a row, over the events of the row's decisions. A decision of two steps belongs to
// the interval of the later step. any is false if the row has no events.
func (d deployment) truth(r numbers.Row) (truth float64, any bool) {
	n, s, squares := 0.0, 0.0, 0.0
	for i, e := range d.rows {
		if e.ms = d.rows[i|1].ms; e.ms < r.Start.UnixMilli() || e.ms >= r.End.UnixMilli() {
			continue
		}
		half := map[bool]string{true: "0:12", false: "12:24"}[e.hour < 12]
		if r.Places[0] != numbers.All && (r.Places[0] != e.carrier || r.Places[1] != half) {
			continue
		}
		n, s, squares = n+1, s+e.delay, squares+e.delay*e.delay
	}
	switch r.Statistic {
	case "count":
		return n, true
	case "sum":
		return s, true
	case "mean":
		return s / n, n > 0
	}
	return squares/n - s/n*s/n, n > 0
}
