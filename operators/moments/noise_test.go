package moments

import (
	"math"
	"strings"
	"testing"

	"oriel/mechanisms"
	"oriel/mechanisms/contribution"
	"oriel/mechanisms/dp"
	"oriel/mechanisms/mechtest"
	"oriel/mechanisms/protection"
)

// TestDescribeNoise checks that the text has the noise of a stream, and that Theorem 3 bounds the doublings of a shift.
func TestDescribeNoise(t *testing.T) {
	rows := Rows{Features: 16, Label: MaxLabel}
	m := mechanisms.Config{
		Name: "blt", Batch: 1, Budget: dp.Budget{Epsilon: 1, Delta: 1e-6},
		Terms:        protection.Terms{Scope: protection.Window{Steps: 1024}, Unit: protection.Event{Exchange: dp.Replace}},
		Contribution: contribution.Contribution{Components: []contribution.Component{rows.Component()}},
	}
	sd, err := Deviation(m)
	if err != nil || !(sd > 1) {
		t.Fatalf("deviation %g, %v", sd, err)
	}
	stream, err := mechanisms.Open(m, mechtest.Plan(t, m), [32]byte{})
	if err != nil {
		t.Fatal(err)
	}
	if d, err := stream.Deviation(0, 0); err != nil || sd != d.Worst() || sd <= d.At(1) {
		t.Errorf("%v: deviation %g, of a stream %g at worst", err, sd, d.Worst())
	}
	if got := DescribeNoise(m, 16, 1.5); got != "noise of moments: standard deviation 27.9 at most, "+
		"eigenvalues up to about 223. We add a shift of 335 to keep matrices positive; at most 1.8 % of decisions need twice that" {
		t.Error(got)
	}
	if got := Doubled(16, 1.5); math.Abs(got-math.Exp(-4)) > 1e-12 {
		t.Errorf("doubled %g", got)
	}
	if got := DescribeNoise(m, 16, 1); strings.Contains(got, "need twice") ||
		!strings.Contains(got, "We add a shift of 223 to keep matrices positive") {
		t.Error(got)
	}
	if got := DescribeNoise(m, 16, 0); strings.Contains(got, "We add") || !strings.Contains(got, "eigenvalues up to") {
		t.Error(got)
	}
	m.Scope = protection.Window{}
	if got := DescribeNoise(m, 16, 1); got != "" {
		t.Errorf("of no mechanism: %s", got)
	}
}
