package main

import (
	"bytes"
	"encoding/json"
	"math"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"oriel/cmd/internal/plan/statistics"
	"oriel/cmd/internal/repotest"
	"oriel/operators"
)

// numbersShell returns the environment that aggregate's page sets up, with changes.
func numbersShell(changes ...string) []string {
	return append([]string{
		"ORIEL_OPERATOR=aggregate", "ORIEL_EPSILON=1", "ORIEL_DELTA=1e-6", "ORIEL_CELLS=carrier=AA|DL|UA,hour=0:24:24",
		"ORIEL_VALUE=delay=-60:180", "ORIEL_STATISTICS=count,mean", "ORIEL_MECHANISM=blt", "ORIEL_WINDOW=lifetime",
		"ORIEL_MEMORY=65536",
	}, changes...)
}

// numbersFixture returns a fixture that starts commands in an environment. If the environment sets a variable twice,
// the later line has precedence.
func numbersFixture(t *testing.T, environ []string) *fixture {
	t.Helper()
	f := unserved(t, map[string]string{})
	for _, line := range environ {
		name, value, _ := strings.Cut(line, "=")
		f.Env[name] = value
	}
	return f
}

// TestErrorsOfTheReadme checks that plans at the values of ε on aggregate's page give the errors that the page
// prints. The last digits may differ, because another processor fits another filter.
func TestErrorsOfTheReadme(t *testing.T) {
	text, _ := repotest.Operator(t, "aggregate")
	shown := regexp.MustCompile(`at ε = ([0-9.]+) (?:a mean over 3000 events of its cell has )?at most ± ([0-9.]+[0-9])`).FindAllStringSubmatch(repotest.OnOneLine(text), -1)
	if len(shown) != 2 {
		t.Fatalf("the page shows %q", shown)
	}
	for _, x := range shown {
		f := numbersFixture(t, numbersShell("ORIEL_MEMORIES=1000,65536", "ORIEL_EPSILON="+x[1]))
		said := f.Must("plan", "--json", "--after", "3000")
		var r struct {
			Numbers struct {
				Ratios []struct {
					Events uint64  `json:"events"`
					Ends   float64 `json:"half_width_at_ends"`
				} `json:"ratios"`
			} `json:"numbers"`
		}
		if err := json.Unmarshal([]byte(said), &r); err != nil {
			t.Fatal(err)
		}
		largest := 0.0
		for _, ratio := range r.Numbers.Ratios {
			if ratio.Events == 3000 {
				largest = max(largest, ratio.Ends)
			}
		}
		if want, err := strconv.ParseFloat(x[2], 64); err != nil || math.Abs(largest/want-1) > 0.002 {
			t.Errorf("at ε = %s the page shows ± %s, it is %g", x[1], x[2], largest)
		}
	}
}

// experimentShell returns the environment of an experiment with 1000 looks, with changes.
func experimentShell(changes ...string) []string {
	return append([]string{
		"ORIEL_NAME=ab", "ORIEL_INPUT_TOPIC=visits", "ORIEL_OPERATOR=aggregate", "ORIEL_EPSILON=1", "ORIEL_DELTA=1e-6",
		"ORIEL_CELLS=variant=A|B", "ORIEL_VALUE=converted=0:1", "ORIEL_STATISTICS=count,mean", "ORIEL_ARMS=variant",
		"ORIEL_PROPENSITIES=0.5|0.5", "ORIEL_ALWAYS_VALID=0.05", "ORIEL_NEAR=0.1", "ORIEL_TARGET=50000",
		"ORIEL_UNITS=single", "ORIEL_MECHANISM=blt", "ORIEL_WINDOW=horizon", "ORIEL_HORIZON=1000", "ORIEL_BATCH=100",
	}, changes...)
}

// TestPlanOfAnEffect checks the planned number of events. A single look needs (1.96 + 0.84)²·v/d² events. Looks at any
// time need about 1.65 times as many, and privacy needs a tenth more.
func TestPlanOfAnEffect(t *testing.T) {
	var out bytes.Buffer
	small := planOptions{aim: operators.Aim{Effect: 0.01, Probability: 0.8}, json: true}
	if err := runPlan(&out, experimentShell(), small); err != nil {
		t.Fatal(err)
	}
	var got struct {
		Events         float64 `json:"events"`
		WithoutPrivacy float64 `json:"events_without_privacy"`
		OneLook        float64 `json:"events_of_one_look_without_privacy"`
		Most           float64 `json:"most_events"`
		Later          []struct {
			Ahead float64 `json:"steps_ahead"`
			Width float64 `json:"width"`
		} `json:"later_starts"`
	}
	if err := json.Unmarshal(out.Bytes(), &got); err != nil {
		t.Fatal(err)
	}
	if l := got.Later; len(l) != 3 || l[0].Ahead != 20 || l[2].Ahead != 320 || l[0].Width < 1.1 ||
		l[0].Width <= l[1].Width || l[1].Width <= l[2].Width || l[2].Width <= 1 { // 1280 steps ahead is after the horizon
		t.Errorf("later starts: %+v", l)
	}
	if got.OneLook != 29497 || got.WithoutPrivacy < 1.6*got.OneLook || got.WithoutPrivacy > 1.7*got.OneLook ||
		got.Events < 1.05*got.WithoutPrivacy || got.Events > 1.15*got.WithoutPrivacy || got.Most != 100000 {
		t.Errorf("%s", out.String())
	}
	out.Reset()
	tiny := planOptions{aim: operators.Aim{Effect: 0.002, Probability: 0.8}}
	if err := runPlan(&out, experimentShell(), tiny); err != nil ||
		!strings.Contains(out.String(), "more than 100000 events as configured") ||
		!strings.Contains(out.String(), "% wider if it starts 20 steps after the command") {
		t.Errorf("%v: %s", err, out.String())
	}
}

// TestPlanOfAnEffectOnAmounts checks outcomes whose standard deviation is half the largest possible one. A single look
// then needs a quarter of the events. Looks at any time need about a third if squares are released; otherwise they
// assume the largest deviation, that of outcomes 0 and 1, and need nearly as many events as for such outcomes.
func TestPlanOfAnEffectOnAmounts(t *testing.T) {
	answer := func(names string, deviation float64) (oneLook, events float64) {
		var out bytes.Buffer
		aim := operators.Aim{Effect: 0.02, Probability: 0.8, Deviation: deviation}
		environ := experimentShell("ORIEL_EPSILON=8", "ORIEL_STATISTICS="+names)
		if err := runPlan(&out, environ, planOptions{aim: aim, json: true}); err != nil {
			t.Fatal(err)
		}
		var got statistics.Effect
		if err := json.Unmarshal(out.Bytes(), &got); err != nil {
			t.Fatal(err)
		}
		if got.Deviation != deviation {
			t.Errorf("%s", out.String())
		}
		return float64(got.OneLook), float64(got.Events)
	}
	binary, most := answer("count,mean", 0)
	for names, share := range map[string][2]float64{"count,mean,variance": {0.25, 0.45}, "count,mean": {0.8, 0.95}} {
		once, events := answer(names, 0.15)
		if math.Abs(4*once/binary-1) > 0.1 || events < share[0]*most || events > share[1]*most {
			t.Errorf("%s: %g of %g events for one look, %g of %g for any", names, once, binary, events, most)
		}
	}
}

func TestPlanOfAnEffectIsRefused(t *testing.T) {
	for _, c := range []struct {
		want    string
		environ []string
		o       planOptions
	}{
		{"ORIEL_ALWAYS_VALID", experimentShell("ORIEL_ALWAYS_VALID=0", "ORIEL_PROPENSITIES=", "ORIEL_NEAR=0",
			"ORIEL_TARGET=0", "ORIEL_UNITS=unknown"), planOptions{aim: operators.Aim{Effect: 0.1, Probability: 0.8}}},
		{"--power", experimentShell(), planOptions{aim: operators.Aim{Effect: 0.1, Probability: 1}}},
		{
			"mean ORIEL_NEAR have one of at most 0.3", experimentShell(),
			planOptions{aim: operators.Aim{Effect: 0.1, Probability: 0.8, Deviation: 0.31}},
		},
		{"test no effect", planEnviron(), planOptions{aim: operators.Aim{Effect: 0.1, Probability: 0.8}}},
	} {
		if err := runPlan(&bytes.Buffer{}, c.environ, c.o); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%v, want %q", err, c.want)
		}
	}
}
