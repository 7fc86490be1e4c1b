package main

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
)

// clockEnviron returns the environment of hourly counts by the clock, with changes.
func clockEnviron(changes ...string) []string {
	return append([]string{
		"ORIEL_OPERATOR=aggregate", "ORIEL_STREAM=topic", "ORIEL_STEP=1h", "ORIEL_MECHANISM=once-gaussian",
		"ORIEL_CELLS=kind=a|b",
		"ORIEL_EPSILON=1", "ORIEL_DELTA=1e-6", "ORIEL_START=2026-11-01T00:30:00Z",
	}, changes...)
}

// TestPlanByTheClock checks what people and programs read of steps by the clock, at event level and for users, and that
// nothing is said of numbers of events.
func TestPlanByTheClock(t *testing.T) {
	planned := func(o planOptions, changes ...string) string {
		t.Helper()
		var out, problems bytes.Buffer
		o.problems = &problems
		if err := runPlan(&out, clockEnviron(changes...), o); err != nil {
			t.Fatal(err)
		}
		if problems.Len() > 0 {
			t.Errorf("%v: warns %s", changes, problems.String())
		}
		return out.String()
	}
	daily := []string{"ORIEL_USER_ID=key", "ORIEL_USER_PERIOD=1d", "ORIEL_USER_EVENTS=4"}
	persons := append(daily[:2:2], "ORIEL_STATISTICS=persons", "ORIEL_PERSON_CELLS=2")
	both := map[string]string{
		"persons": planned(planOptions{}, persons...),
		"event":   planned(planOptions{rate: 100, inputs: 6}), "user": planned(planOptions{}, daily...),
	}
	for name, wants := range map[string][]string{
		"event": {
			"once-gaussian, no window, steps of 1 h, ε = 1", "one event present or absent moves the sum of a step by Δ ≤ 1:", "24 decisions a day",
			"first step of the stream, by ORIEL_START: 498192, from 2026-11-01T00:00:00Z to 2026-11-01T01:00:00Z",
			"k events of one person, all there ever are, present or absent together", "in terms of exchange, of one event for another", "100 fit",
			"at this rate in 6 partitions", " a day in the changelog, until the broker compacts",
			" 360000 ", " 180000\n", "a week, 168 steps", " 6.048e+07 ",
			"LogAppendTime",
		},
		"user": {
			"the first 4 records of a user in each period of 24 steps",
			"move it by up to 4·Δ together", "in so many periods of 1 d", "365",
			"of one event, which another one of the user replaces", "of one user-period for another",
		},
		"persons": {
			"the first 2 values of a user in each period of 24 steps", "by up to 2·Δ together in the ℓ1 norm, and √2·Δ in the ℓ2 norm",
			"in so many periods of 1 d", "365", "persons in 2 cells", "a day, 24 steps", "up to 100 bytes for each user",
		},
	} {
		for _, want := range wants {
			if !strings.Contains(both[name], want) {
				t.Errorf("%s: no %q in\n%s", name, want, both[name])
			}
		}
		if name == "persons" && strings.Contains(both[name], "a week") {
			t.Errorf("persons of a week, which days do not add up to:\n%s", both[name])
		}
		for _, not := range []string{"0 events a step", "ORIEL_BATCH", "NaN", "Inf", "exchanged"} {
			if strings.Contains(both[name], not) {
				t.Errorf("%s: %q in\n%s", name, not, both[name])
			}
		}
	}
	var r struct {
		Setting struct {
			Batch  uint64 `json:"batch_events"`
			Step   int64  `json:"step_seconds"`
			Period uint64 `json:"user_period_steps"`
		} `json:"setting"`
		Clock struct {
			Day    *float64 `json:"decision_bytes_a_day"`
			Period struct {
				Active []struct{ Epsilon *float64 } `json:"active_in"`
			} `json:"user_period"`
		} `json:"by_the_clock"`
	}
	text := planned(planOptions{json: true}, daily...)
	if err := json.Unmarshal([]byte(text), &r); err != nil {
		t.Fatal(err)
	}
	if r.Setting.Batch != 0 || r.Setting.Step != 3600 || r.Setting.Period != 24 ||
		r.Clock.Day == nil || *r.Clock.Day < 24*100 ||
		len(r.Clock.Period.Active) != 4 || *r.Clock.Period.Active[3].Epsilon < 30 {
		t.Errorf("%+v in %s", r, text)
	}
}

// TestEvalIsByCount checks that old events are not evaluated by the clock.
func TestEvalIsByCount(t *testing.T) {
	_, err := evalOptions{}.rows(clockEnviron())
	if err == nil || !strings.Contains(err.Error(), "eval: ORIEL_STEP is set, and without an order log no event has a time that counts; set ORIEL_BATCH") {
		t.Error(err)
	}
}
