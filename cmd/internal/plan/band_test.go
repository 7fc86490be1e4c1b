package plan

import (
	"math"
	"strings"
	"testing"

	load "oriel/cmd/internal/settings"
)

// TestPlanOfABand checks that a band increases the noise of gradients by the stated factor, that decisions have only
// the noise of gradients, and that the guaranteed coverage gets tighter with events.
func TestPlanOfABand(t *testing.T) {
	report := func(more ...string) *Report {
		s, err := load.Load(append([]string{
			"ORIEL_OPERATOR=coco", "ORIEL_UPDATE=projection", "ORIEL_LOSS=squared", "ORIEL_SET=l2-ball", "ORIEL_RADIUS=2",
			"ORIEL_DIMENSION=4", "ORIEL_STRONG_CONVEXITY=0.01", "ORIEL_CLIP=0.5", "ORIEL_FEATURES_MAX=1",
			"ORIEL_MECHANISM=blt", "ORIEL_WINDOW=lifetime", "ORIEL_MEMORY=256", "ORIEL_EPSILON=1", "ORIEL_DELTA=1e-6",
		}, more...), load.Events, load.Operator)
		if err != nil {
			t.Fatal(err)
		}
		learner := s.Learner()
		r, err := New(Input{Configured: learner.Mechanism(), Operator: learner.Operator(), Name: "coco"})
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	with, without := report("ORIEL_BAND=0.9", "ORIEL_BAND_RANGE=-1:1"), report()
	if without.Band != nil || with.Band == nil {
		t.Fatalf("%+v, %+v", without.Band, with.Band)
	}
	for i, d := range with.Mechanisms[0].Decisions {
		factor := float64(d.RMSVector / without.Mechanisms[0].Decisions[i].RMSVector)
		if math.Abs(factor/with.Band.Noise-1) > 1e-3 {
			t.Errorf("after %d steps a decision has %g times the noise, a band costs %g", d.Steps, factor, with.Band.Noise)
		}
	}
	if want := math.Sqrt(1 + 0.3*0.3/2); math.Abs(with.Band.Noise-want) > 1e-6 {
		t.Errorf("a band costs %g, want %g", with.Band.Noise, want)
	}
	if a, b := with.Advice.StartRegularizer, without.Advice.StartRegularizer; math.Abs(float64(a/b)-1) > 0.06 {
		t.Errorf("advised: %g with a band, %g without", float64(a), float64(b))
	}
	for i, e := range with.Band.Errors[1:] {
		if before := with.Band.Errors[i]; e.Events != 10*before.Events || e.MaxError >= before.MaxError {
			t.Errorf("%+v after %+v", e, before)
		}
	}
	if last := with.Band.Errors[len(with.Band.Errors)-1]; last.MaxError > 0.01 {
		t.Errorf("%+v", last)
	}
	var text strings.Builder
	if err := with.Print(&text); err != nil || !strings.Contains(text.String(), "band for 0.9 of all events: gradients have 1.022 times the noise") {
		t.Errorf("%v\n%s", err, text.String())
	}
}
