package plan

import (
	"math"
	"strings"
	"testing"

	"oriel/mechanisms/protection"
	"oriel/operators/description"
)

// TestDecisionNoise checks that the noise of a decision is the noise of the release over λ₀ + µBT, and that it falls
// below a tenth of the radius at the planned step.
func TestDecisionNoise(t *testing.T) {
	each(t, func(t *testing.T, in Input, _ *Report) {
		damping := &description.Damping{Start: 3, Step: 0.001 * float64(in.Configured.Batch)}
		in.Operator = learner{description.Figures{Radius: 5, Damping: damping}}
		r, err := New(in)
		if err != nil {
			t.Fatal(err)
		}
		m := r.Mechanisms[0]
		if m.opened.Stream.PerStep() {
			if len(m.Decisions) != 0 || m.Settles.Known() {
				t.Error("single steps have no prefix sums to divide")
			}
			return
		}
		at := func(steps float64) float64 {
			return m.RMSVector / (3 + 0.001*float64(in.Configured.Batch)*steps)
		}
		for i, d := range m.Decisions {
			if d.Steps != r.Ages[i].Steps || math.Abs(float64(d.RMSVector)/at(float64(d.Steps))-1) > 1e-12 {
				t.Errorf("after %d steps %g, want %g", d.Steps, d.RMSVector, at(float64(d.Steps)))
			}
		}
		if s := float64(m.Settles); at(s) > 0.5*(1+1e-12) || s > 1 && at(s-1) <= 0.5 {
			t.Errorf("settles after %g steps with %g, a step before %g", s, at(s), at(s-1))
		}
	})
}

// TestNoiseThatStaysAboveATenth checks the text for decaying sums whose noise stays above R/10 for ever. Plan must
// report the noise, and add that a learner may still learn.
func TestNoiseThatStaysAboveATenth(t *testing.T) {
	f := func(radius float64, want bool) {
		t.Helper()
		in := configured{"plain", func(*Input) {}}.input()
		in.Configured.Name, in.Configured.Scope = "blt", protection.Decay{Steps: 1024}
		in.Configured.AgeWeight = 0
		in.Operator = learner{description.Figures{Radius: radius, Damping: &description.Damping{Start: 1, Step: 0.001}}}
		out := tableOf(t, in)
		if got := strings.Contains(out, "stays above"); got != want || strings.Contains(out, "never\n") ||
			!strings.Contains(out, "Noise above R/10 does not mean that nothing is learned") {
			t.Errorf("R = %g: %t of\n%s", radius, got, out)
		}
	}
	f(5, true)
	f(1e9, false)
}

// TestDecisionsWithoutARadius checks that plan shows the noise of decisions that are in no set, but no radius.
func TestDecisionsWithoutARadius(t *testing.T) {
	in := everySetting[0].input()
	in.Operator = learner{description.Figures{Damping: &description.Damping{Step: 1}}}
	r, err := New(in)
	if err != nil {
		t.Fatal(err)
	}
	var out strings.Builder
	if err := r.Print(&out); err != nil {
		t.Fatal(err)
	}
	if said := out.String(); !strings.Contains(said, "Noise of the decision after T steps") ||
		strings.Contains(said, "NaN") ||
		strings.Contains(said, "R/10") {
		t.Error(said)
	}
}
