package setup

import (
	"strings"
	"testing"
)

// TestArmsAndEffects checks the settings that answers about an experiment give, and that malformed answers are refused.
func TestArmsAndEffects(t *testing.T) {
	cells, propensities, err := ParseArms(" Variant=A:0.5|b:x:0.25|C:0.25")
	if err != nil || cells != "variant=A|b:x|C" || propensities != "0.5|0.25|0.25" {
		t.Errorf("%s, %s, %v", cells, propensities, err)
	}
	for text, want := range map[string]string{
		"variant": "is not column", "=A:0.5|B:0.5": "is not column", "v=A:1|B:0": "is not column",
		"v=:0.5|B:0.5": "is not column", "v=A:0.5": "at least two", "v=A:0.5|B:0.4": "sum to 0.9",
	} {
		if _, _, err := ParseArms(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", text, err, want)
		}
	}
	outcome := Range{Low: 0, High: 100}
	if effect, near, err := ParseEffect("-2 near 30.5", outcome); err != nil || effect != -2 || near != 30.5 {
		t.Errorf("%g, %g, %v", effect, near, err)
	}
	for text, want := range map[string]string{
		"2": "near a mean", "2 near": "near a mean", "2 near x": "near a mean", "2 near 100": "not inside",
		"0 near 3": "effect of 0", "100 near 3": "effect of 100", "NaN near 3": "is not an effect near",
	} {
		if _, _, err := ParseEffect(text, outcome); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", text, err, want)
		}
	}
	for events, want := range map[float64]uint64{3: 1000, 1001: 1100, 58_684: 59_000, 60_000: 60_000} {
		if got := TargetFor(events); got != want {
			t.Errorf("%g: %d, want %d", events, got, want)
		}
	}
}
