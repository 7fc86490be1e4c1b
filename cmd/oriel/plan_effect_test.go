package main

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
)

// experimentShell is the environment of an experiment of 1000 looks, with changes.
func experimentShell(changes ...string) []string {
	return append([]string{
		"ORIEL_NAME=ab", "ORIEL_INPUT_TOPIC=visits", "ORIEL_OPERATOR=aggregate", "ORIEL_EPSILON=1", "ORIEL_DELTA=1e-6",
		"ORIEL_CELLS=variant=A|B", "ORIEL_VALUE=converted=0:1", "ORIEL_STATISTICS=count,mean", "ORIEL_ARMS=variant",
		"ORIEL_PROPENSITIES=0.5|0.5", "ORIEL_ALWAYS_VALID=0.05", "ORIEL_NEAR=0.1", "ORIEL_TARGET=50000",
		"ORIEL_UNITS=single", "ORIEL_MECHANISM=blt", "ORIEL_WINDOW=horizon", "ORIEL_HORIZON=1000", "ORIEL_BATCH=100",
	}, changes...)
}

// One look takes (1.96 + 0.84)²·v/d² events, looking at any time about 1.65 times as many, and privacy a tenth more.
func TestPlanOfAnEffect(t *testing.T) {
	var out bytes.Buffer
	if err := runPlan(&out, experimentShell(), planOptions{effect: 0.01, power: 0.8, json: true}); err != nil {
		t.Fatal(err)
	}
	var got struct {
		Events         float64 `json:"events"`
		WithoutPrivacy float64 `json:"events_without_privacy"`
		OneLook        float64 `json:"events_of_one_look_without_privacy"`
		Most           float64 `json:"most_events"`
	}
	if err := json.Unmarshal(out.Bytes(), &got); err != nil {
		t.Fatal(err)
	}
	if got.OneLook != 29497 || got.WithoutPrivacy < 1.6*got.OneLook || got.WithoutPrivacy > 1.7*got.OneLook ||
		got.Events < 1.05*got.WithoutPrivacy || got.Events > 1.15*got.WithoutPrivacy || got.Most != 100000 {
		t.Errorf("%s", out.String())
	}
	out.Reset()
	if err := runPlan(&out, experimentShell(), planOptions{effect: 0.002, power: 0.8}); err != nil ||
		!strings.Contains(out.String(), "more than 100000 events as configured") {
		t.Errorf("%v: %s", err, out.String())
	}
}

func TestPlanOfAnEffectIsRefused(t *testing.T) {
	for _, c := range []struct {
		want    string
		environ []string
		o       planOptions
	}{
		{"ORIEL_ALWAYS_VALID", experimentShell("ORIEL_ALWAYS_VALID=0", "ORIEL_PROPENSITIES=", "ORIEL_NEAR=0",
			"ORIEL_TARGET=0", "ORIEL_UNITS=unknown"), planOptions{effect: 0.1, power: 0.8}},
		{"--power", experimentShell(), planOptions{effect: 0.1, power: 1}},
		{"test no effect", planEnviron(), planOptions{effect: 0.1, power: 0.8}},
	} {
		if err := runPlan(&bytes.Buffer{}, c.environ, c.o); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%v, want %q", err, c.want)
		}
	}
}
