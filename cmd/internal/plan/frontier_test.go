package plan

import (
	"bytes"
	"encoding/json"
	"math"
	"math/bits"
	"slices"
	"strings"
	"sync"
	"testing"

	"oriel/mechanisms/blt"
)

var theFrontier = sync.OnceValues(func() (*Frontier, error) { return NewFrontier(100, 3, 0.25) })

func frontier(t *testing.T) *Frontier {
	t.Helper()
	f, err := theFrontier()
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// TestFrontier recomputes every figure of the frontier from the power series of the same filter.
func TestFrontier(t *testing.T) {
	f := frontier(t)
	for _, c := range f.Compromises {
		filter, err := blt.Fit(f.Window, c.Weight, f.Poles)
		if err != nil {
			t.Fatal(err)
		}
		b, d := series(filter, 100_000)
		growth := func(windows int) float64 { return math.Sqrt(squares(d[:windows*100]) / squares(d[:100])) }
		near(t, "ratio", c.OverOptimum, squares(b)*squares(d[:100])/optimum(100), 1e-6)
		near(t, "2 W", c.Two, growth(2), 1e-6)
		near(t, "10 W", c.Ten, growth(10), 1e-6)
		near(t, "100 W", c.Hundred, growth(100), 1e-6)
		near(t, "1000 W", c.Thousand, growth(1000), 1e-6)
		if c.Configured != (c.Weight == 0.25) {
			t.Errorf("weight %g: configured %t", c.Weight, c.Configured)
		}
	}
	for _, r := range f.Filters {
		if r.Window > 1<<10 {
			continue // longer windows use the same formulas
		}
		filter, err := blt.Fit(r.Window, 0, r.Poles)
		if err != nil {
			t.Fatal(err)
		}
		b, d := series(filter, 200_000)
		near(t, "variance", r.Variance, squares(b)*squares(d[:r.Window]), 1e-6)
		near(t, "optimum", r.Optimum, optimum(r.Window), 1e-9)
		near(t, "over it", r.OverOptimum, r.Variance/r.Optimum, 1e-9)
		window := uint64(1) << bits.Len64(r.Window-1)
		h, total, most := math.Log2(float64(window))+1, 0, 0
		for step := window + 1; step <= 2*window; step++ {
			total += active(step, window)
			most = max(most, active(step, window))
		}
		near(t, "tree", r.TreeMean, h*float64(total)/float64(window), 1e-12)
		near(t, "tree at worst", r.TreeWorst, h*float64(most), 1e-12)
	}
}

// TestFrontierRows checks that the table has the documented windows and weights, and the configured ones among them.
func TestFrontierRows(t *testing.T) {
	f := frontier(t)
	var windows []uint64
	for _, r := range f.Filters {
		windows = append(windows, r.Window)
	}
	if len(f.Filters) != 3*(len(filterWindows)+1) || !slices.IsSorted(windows) || !slices.Contains(windows, 100) {
		t.Errorf("windows %v", windows)
	}
	if len(f.Compromises) != len(ageWeights)+1 || len(with(ageWeights, 0.3)) != len(ageWeights) {
		t.Errorf("%d compromises", len(f.Compromises))
	}
	for i, c := range f.Compromises[1:] {
		if before := f.Compromises[i]; c.Weight <= before.Weight || c.Hundred >= before.Hundred {
			t.Errorf("weight %g ages like %g", c.Weight, before.Weight)
		}
	}
	for _, window := range []uint64{0, 1<<22 + 1} {
		if _, err := NewFrontier(window, 0, 0.3); err == nil {
			t.Errorf("window %d is not refused", window)
		}
	}
	if _, err := NewFrontier(64, 0, 2); err == nil {
		t.Error("age weight 2 is not refused")
	}
}

func TestFrontierShows(t *testing.T) {
	f := frontier(t)
	var out bytes.Buffer
	if err := f.Print(&out); err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{"* 0.25", "W = 100, 3 poles", "4194304", "blt, m = 4", "tree-gaussian"} {
		if !strings.Contains(out.String(), text) {
			t.Errorf("no %q in\n%s", text, out.String())
		}
	}
	data, err := json.Marshal(f)
	if err != nil {
		t.Fatal(err)
	}
	var wire struct {
		WindowSteps uint64 `json:"window_steps"`
		Poles       int    `json:"poles"`
		Filters     []struct {
			WindowSteps               uint64  `json:"window_steps"`
			Poles                     int     `json:"poles"`
			Variance                  float64 `json:"variance"`
			Optimum                   float64 `json:"optimum"`
			VarianceOverOptimum       float64 `json:"variance_over_optimum"`
			TreeGaussianVariance      float64 `json:"tree_gaussian_variance"`
			TreeGaussianWorstVariance float64 `json:"tree_gaussian_worst_variance"`
		} `json:"filters"`
		Compromises []struct {
			AgeWeight           float64 `json:"age_weight"`
			Configured          bool    `json:"configured"`
			VarianceOverOptimum float64 `json:"variance_over_optimum"`
			Mu2WOverMuW         float64 `json:"mu_2w_over_mu_w"`
			Mu10WOverMuW        float64 `json:"mu_10w_over_mu_w"`
			Mu100WOverMuW       float64 `json:"mu_100w_over_mu_w"`
			Mu1000WOverMuW      float64 `json:"mu_1000w_over_mu_w"`
		} `json:"compromises"`
	}
	strict(t, data, &wire)
}
