package traps

import (
	"slices"
	"strings"
	"testing"

	"oriel/cmd/internal/audit/subject"
	"oriel/cmd/internal/settings"
)

// usual returns settings that cause no warning, with changes.
func usual(changes ...string) []string {
	return append([]string{
		"ORIEL_OPERATOR=coco", "ORIEL_UPDATE=projection", "ORIEL_LOSS=logistic", "ORIEL_SET=l2-ball", "ORIEL_RADIUS=5",
		"ORIEL_DIMENSION=8", "ORIEL_STRONG_CONVEXITY=0.001", "ORIEL_MECHANISM=blt", "ORIEL_WINDOW=64", "ORIEL_EPSILON=1",
		"ORIEL_DELTA=1e-6", "ORIEL_CLIP=1", "ORIEL_FEATURES_RANGE=amount:0:5000",
	}, changes...)
}

// TestSettingsThatAreTraps checks that each trap causes one warning, which names the setting and gives advice. Settings
// just outside a trap must cause none.
func TestSettingsThatAreTraps(t *testing.T) {
	f := func(want []string, changes ...string) {
		t.Helper()
		s, err := settings.Load(usual(changes...), settings.Events, settings.Operator)
		if err != nil {
			t.Fatal(err)
		}
		got := slices.Concat(Settings(s), Unseen(s))
		if len(got) != len(want) {
			t.Fatalf("%v: warnings %q, want %q", changes, got, want)
		}
		for i := range want {
			if !strings.Contains(got[i], want[i]) {
				t.Errorf("%v: %q, want %q", changes, got[i], want[i])
			}
		}
	}
	f(nil)
	f(nil, "ORIEL_EPSILON=20")
	f([]string{"ORIEL_EPSILON=20.5 is above 20: one event may change the odds of anything published by a factor of e^20.5"}, "ORIEL_EPSILON=20.5")
	f(nil, "ORIEL_WINDOW=16")
	f([]string{"ORIEL_WINDOW=15 is below 16: ε holds for an event only while it is among the newest 15 events"}, "ORIEL_WINDOW=15")
	f([]string{"among the newest 150 events"}, "ORIEL_WINDOW=15", "ORIEL_BATCH=10")
	f([]string{"among the newest 1 event,"}, "ORIEL_WINDOW=1")
	f(nil, "ORIEL_WINDOW=lifetime", "ORIEL_MEMORY=2")
	f(nil, "ORIEL_WINDOW=horizon", "ORIEL_HORIZON=8") // the stream ends, so that its loss does not grow with age
	squared := []string{"ORIEL_LOSS=squared without ORIEL_START_REGULARIZER"}
	f(squared, "ORIEL_LOSS=squared")
	f(nil, "ORIEL_LOSS=squared", "ORIEL_START_REGULARIZER=1")
	f(nil, "ORIEL_LOSS=absolute")
	f(nil, "ORIEL_LOSS=squared", "ORIEL_MECHANISM=once-gaussian", "ORIEL_WINDOW=", "ORIEL_UPDATE=ogd")
	unranged := []string{"ORIEL_FEATURES_RANGE is not set. A named feature that is a large number"}
	f(unranged, "ORIEL_FEATURES_RANGE=")
	f(nil, "ORIEL_FEATURES_RANGE=", "ORIEL_LOSS=linear") // these events have no named features
	f(slices.Concat([]string{"ORIEL_EPSILON=1000 is", "ORIEL_WINDOW=8 is"}, squared, unranged), "ORIEL_EPSILON=1000",
		"ORIEL_WINDOW=8", "ORIEL_LOSS=squared", "ORIEL_FEATURES_RANGE=")
}

// TestOverpaidWarns checks that the warning states the component, its calibrated sensitivity, the sensitivity
// found, their ratio, and advice.
func TestOverpaidWarns(t *testing.T) {
	f := func(m subject.Move, want ...string) {
		t.Helper()
		got := overpaidWarning("toy", m)
		for _, text := range want {
			if !strings.Contains(got, text) {
				t.Errorf("%+v: %q lacks %q", m, got, text)
			}
		}
	}
	f(subject.Move{Name: "sums", Distance: 1.25, Sensitivity: 2.5}, "ORIEL_OPERATOR=toy pays for more",
		"of its component sums is for a sensitivity of 2.5, and the largest move found is 1.25.",
		" The noise is 2 times as large as it needs to be. Give the component a smaller bound")
	f(subject.Move{Sensitivity: 2}, "The noise of its contributions is",
		"move found is 0. Nothing moves it, so it needs none.")
	s, err := settings.Load(usual(), settings.Events, settings.Operator)
	if err != nil {
		t.Fatal(err)
	}
	if got := Overpaid(s); len(got) > 0 {
		t.Errorf("warnings %q", got)
	}
}
