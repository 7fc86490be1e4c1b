package frontier

import (
	"slices"
	"strings"
	"sync"
	"testing"

	"oriel/cmd/internal/figure/figuretest"
	"oriel/mechanisms/blt"
)

var theFrontier = sync.OnceValues(func() (*Frontier, error) { return New(100, 3, 0.25) })

func frontier(t *testing.T) *Frontier {
	t.Helper()
	f, err := theFrontier()
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// TestFrontier checks that the tables have the documented windows and weights with those of the caller, each at its
// place.
func TestFrontier(t *testing.T) {
	f := frontier(t)
	var windows []uint64
	for i, r := range f.Filters {
		windows = append(windows, r.Window)
		if r.Poles != blt.MinPoles+i%3 {
			t.Errorf("row %d has %d poles", i, r.Poles)
		}
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
		if _, err := New(window, 0, 0.3); err == nil {
			t.Errorf("window %d is not refused", window)
		}
	}
	if _, err := New(64, 0, 2); err == nil {
		t.Error("age weight 2 is not refused")
	}
}

func TestFrontierPrints(t *testing.T) {
	var out strings.Builder
	if err := frontier(t).Print(&out); err != nil {
		t.Fatal(err)
	}
	var plain []string
	for line := range strings.Lines(out.String()) {
		plain = append(plain, strings.Join(strings.Fields(line), " "))
	}
	for _, want := range []string{
		"W optimum blt, m = 2 over it blt, m = 3 over it blt, m = 4 over it tree-gaussian at worst",
		"1024 10.71 11.15 1.041 10.9 1.018 10.89 1.017 110.1 121",
		"Variance and ageing, W = 100, 3 poles",
		"* 0.25 1.085 1.077 1.348 2.695 7.853",
	} {
		if !slices.Contains(plain, want) {
			t.Errorf("no %q in\n%s", want, out.String())
		}
	}
}

func TestFrontierSlide(t *testing.T) {
	f := *frontier(t)
	texts := figuretest.Texts(t, f.Slide())
	for _, text := range []string{
		"growth of the loss with age: µ(100 W) / µ(W)", "variance / optimum", "0.25 chosen", "0", "1",
	} {
		if !slices.Contains(texts, text) {
			t.Errorf("no %q in %q", text, texts)
		}
	}
	figuretest.Legible(t, f.Slide())
	for _, c := range frontier(t).Compromises { // points that are close to each other
		c.Weight += 0.01
		c.Hundred *= 0.999
		f.Compromises = append(f.Compromises, c)
	}
	figuretest.Legible(t, f.Slide())
}
