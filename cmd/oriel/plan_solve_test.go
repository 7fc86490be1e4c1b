package main

import (
	"bytes"
	"encoding/json"
	"math"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"oriel/cmd/internal/plan"
	"oriel/cmd/internal/repotest"
	"oriel/mechanisms/mechtest/tiertest"
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

// solvedReport is the part of `oriel plan --json` about a solution.
type solvedReport struct {
	Setting struct {
		Memory uint64 `json:"memory_steps"`
		Batch  uint64 `json:"batch_events"`
	} `json:"setting"`
	Solved *struct {
		Setting string  `json:"setting"`
		Value   string  `json:"value"`
		Half    float64 `json:"half_width"`
		AlsoSet string  `json:"also_set"`
	} `json:"solved"`
	Numbers struct {
		Views []struct {
			Events float64 `json:"events"`
			Count  struct {
				Half float64 `json:"half_width"`
			} `json:"count"`
		} `json:"views"`
		Ratios []struct {
			Events uint64   `json:"events"`
			Middle *float64 `json:"half_width"`
			Ends   *float64 `json:"half_width_at_ends"`
		} `json:"ratios"`
	} `json:"numbers"`
}

// TestPlanSolves checks that an ordinary plan with the value found has the wanted error.
func TestPlanSolves(t *testing.T) {
	t.Parallel()
	plans := func(environ []string, args ...string) (r solvedReport) {
		t.Helper()
		said := numbersFixture(t, environ).Must(append([]string{"plan", "--json"}, args...)...)
		if err := json.Unmarshal([]byte(said), &r); err != nil {
			t.Fatalf("%v in %s", err, said)
		}
		return r
	}
	f := func(environ, args []string, wanted float64, of func(solvedReport) float64) solvedReport {
		t.Helper()
		r := plans(environ, args...)
		if r.Solved == nil {
			t.Fatalf("%v: no solution", args)
		}
		back := append(environ, r.Solved.Setting+"="+r.Solved.Value)
		if r.Solved.AlsoSet != "" {
			back = append(back, strings.Split(r.Solved.AlsoSet, " ")...)
		}
		again := plans(back, "--after", "3000")
		if got := of(again); got > wanted || got < 0.97*wanted || math.Abs(got/r.Solved.Half-1) > 1e-12 {
			t.Errorf("%v: %+v gives %g, want %g", args, *r.Solved, got, wanted)
		}
		return again
	}
	count := func(r solvedReport) float64 { return r.Numbers.Views[0].Count.Half }
	ratio := func(ends bool) func(solvedReport) float64 {
		return func(r solvedReport) float64 {
			for _, x := range r.Numbers.Ratios {
				if x.Events == 3000 && x.Middle != nil {
					if ends {
						return *x.Ends
					}
					return *x.Middle
				}
			}
			return math.NaN()
		}
	}
	f(numbersShell(), []string{"--want-count", "40", "--solve", "memory"}, 40, count)
	ranks := numbersShell("ORIEL_STATISTICS=p90", "ORIEL_BINS=32")
	if tiertest.Runs(false, true) { // only the long form solves for further statistics and settings
		f(numbersShell(), []string{"--want-mean", "2", "--after", "3000"}, 2, ratio(true))
		f(numbersShell(), []string{"--want-count", "50"}, 50, count)
		f(ranks, []string{"--want-quantile", "p90=3", "--after", "3000"}, 3, ratio(true))
		f(numbersShell(), []string{"--want-mean", "2", "--after", "3000", "--near", "60"}, 2, ratio(false))
		f(ranks, []string{"--want-quantile", "p90=4", "--after", "3000", "--solve", "memory"}, 4, ratio(true))
		over := f(numbersShell(), []string{"--want-count", "±50", "--over", "65000"}, 50, count)
		if over.Setting.Memory != 65000 {
			t.Errorf("memory %d", over.Setting.Memory)
		}
	}
	f(ranks, []string{"--want-quantile", "p90=±3", "--after", "3000", "--near", "60"}, 3, ratio(false))
	r := f(numbersShell(), []string{"--want-count", "50", "--over", "65000", "--solve", "batch"}, 50, count)
	if events := r.Setting.Memory * r.Setting.Batch; events < 65000 || events >= 65000+r.Setting.Batch ||
		r.Setting.Batch < 2 {
		t.Errorf("%d steps of %d events", r.Setting.Memory, r.Setting.Batch)
	}
	tumbling := numbersShell("ORIEL_MECHANISM=once-gaussian", "ORIEL_WINDOW=", "ORIEL_MEMORY=")
	if r := f(tumbling, []string{"--want-count", "12", "--over", "5000"}, 12, count); r.Numbers.Views[0].Events != 5000 {
		t.Errorf("%+v", r.Numbers.Views)
	}
}

// TestPlanSolvesForBatches checks that plan finds the shortest tumbling window whose cells have a mean to within ± 5.
// The error for a refused combination must name an alternative.
func TestPlanSolvesForBatches(t *testing.T) {
	tumbling := numbersShell("ORIEL_MECHANISM=once-gaussian", "ORIEL_WINDOW=", "ORIEL_MEMORY=")
	said := numbersFixture(t, tumbling).Must("plan", "--want-mean", "5", "--solve", "batch")
	if !strings.Contains(said, "solved: ORIEL_BATCH=") ||
		!strings.Contains(said, " gives ± 5 of a mean, where ± 5 is wanted") {
		t.Errorf("said %s", said)
	}
	wide := numbersShell("ORIEL_CELLS=place=0:100000:100000", "ORIEL_STATISTICS=count", "ORIEL_VALUE=")
	numbersFixture(t, wide).Fails("take ORIEL_BATCH=25 or more, or fewer cells", "plan")
	numbersFixture(t, wide).Fails("take ORIEL_BATCH=25 or more, or fewer cells", "plan", "--want-count", "50")
	said = numbersFixture(t, wide).Must("plan", "--want-count", "50", "--solve", "batch")
	if !strings.Contains(said, "solved: ORIEL_BATCH=25 ORIEL_MEMORY=2622 gives ± ") ||
		!strings.Contains(said, "ORIEL_BATCH=24 is refused: ") {
		t.Errorf("said %s", said)
	}
}

// TestSolvedOfTheReadme checks that the request on aggregate's page gives the solution that the page prints. The last
// digits may differ, because another processor fits another filter.
func TestSolvedOfTheReadme(t *testing.T) {
	text, commands := repotest.Operator(t, "aggregate")
	command := regexp.MustCompile(`\./oriel (plan --want[^\n]+)`).FindStringSubmatch(commands)
	shown := regexp.MustCompile(`ORIEL_EPSILON=([0-9.]+) gives ± ([0-9.]+) of a mean over 3000 events of its cell`).FindStringSubmatch(repotest.OnOneLine(text))
	if command == nil || shown == nil {
		t.Fatal("the page shows no want, or no solution")
	}
	said := numbersFixture(t, numbersShell("ORIEL_MEMORIES=1000,65536")).Must(strings.Fields(command[1])...)
	got := regexp.MustCompile(`solved: ORIEL_EPSILON=([0-9.]+) gives ± ([0-9.]+) of a mean over 3000 events of its cell, where ± 2 is wanted`).FindStringSubmatch(said)
	if got == nil {
		t.Fatal(said)
	}
	for i := range got[1:] {
		x, errX := strconv.ParseFloat(got[i+1], 64)
		y, errY := strconv.ParseFloat(shown[i+1], 64)
		if errX != nil || errY != nil || math.Abs(x/y-1) > 0.002 {
			t.Errorf("the page shows %s, it is %s", shown[i+1], got[i+1])
		}
	}
}

func TestPlanRefusesWants(t *testing.T) {
	t.Parallel()
	f := func(environ []string, want string, args ...string) {
		t.Helper()
		numbersFixture(t, environ).Fails(want, append([]string{"plan"}, args...)...)
	}
	f(numbersShell(), `--want-count: "many" is not a positive number`, "--want-count", "many")
	f(numbersShell(), `--want-quantile: "2" is not a quantile and its ±, such as p90=2`, "--want-quantile", "2")
	f(numbersShell(), `--want-quantile: "mean=2" is not a quantile`, "--want-quantile", "mean=2")
	f(numbersShell(), `--want-quantile: "x" is not a positive number`, "--want-quantile", "p50=x")
	f(numbersShell(), "p50: not among the statistics that are configured", "--want-quantile", "p50=2")
	f(numbersShell(), "--solve: \"window\": not epsilon, memory or batch", "--want-count", "50", "--solve", "window")
	f(numbersShell("ORIEL_MECHANISM=once-gaussian", "ORIEL_WINDOW=", "ORIEL_MEMORY="),
		"no batch reaches ± 5 of a count at ε = 1; the best, ORIEL_BATCH=2147483648, gives ± ",
		"--want-count", "5", "--solve", "batch")
	if tiertest.Runs(false, true) { // solving for a memory takes a second; in the short form, only TestPlanSolves does it
		f(numbersShell(), "no memory reaches ± 5 of a count at ε = 1; the best, ORIEL_MEMORY=2, gives ± ",
			"--want-count", "5", "--solve", "memory")
	}
	f(numbersShell(), "--over: --solve memory finds how many events a memory has",
		"--want-count", "50", "--solve", "memory", "--over", "10")
	f(numbersShell(), "--over, --view, --near", "--over", "10")
	f(numbersShell("ORIEL_MEMORIES=1000,65536"),
		"memory 1000 is read beside ORIEL_MEMORY", "--want-count", "50", "--solve", "batch")
	f(numbersShell("ORIEL_WINDOW=64", "ORIEL_MEMORY="),
		"--solve memory: only sums with a memory have one", "--want-count", "50", "--solve", "memory")
	f(numbersShell("ORIEL_WINDOW=64", "ORIEL_MEMORY="),
		"--solve batch: the noise of totals", "--want-count", "50", "--solve", "batch")
	f(numbersShell("ORIEL_WINDOW=64", "ORIEL_MEMORY="),
		"--over: totals since the start", "--want-count", "50", "--over", "64")
	f(numbersShell("ORIEL_USER_ID=key", "ORIEL_USER_SEPARATION=8", "ORIEL_WINDOW=64", "ORIEL_MEMORY="),
		"ORIEL_USER_SEPARATION in steps", "--want-count", "50", "--solve", "batch")
	f(planEnviron(), "the operator's decisions are no numbers whose noise is known", "--want-count", "50")
	f(numbersShell(), "sum: not among the statistics that are configured", "--want-sum", "50")
	f(numbersShell("ORIEL_EPSILON=x"), "ORIEL_EPSILON", "--want-count", "50", "--solve", "memory")
}

// TestSolvedBatchOmitsRounds checks that plan can solve for a batch although ORIEL_ROUNDS must equal the horizon, which
// changes with the batch.
func TestSolvedBatchOmitsRounds(t *testing.T) {
	environ := []string{
		"ORIEL_OPERATOR=aggregate", "ORIEL_CELLS=carrier=AA|DL", "ORIEL_MECHANISM=blt", "ORIEL_WINDOW=horizon",
		"ORIEL_HORIZON=1024", "ORIEL_EPSILON=1", "ORIEL_DELTA=1e-6", "ORIEL_BATCH=10",
	}
	target, o := plan.Target{Statistic: "count", Half: 50, Near: math.NaN()}, wantOptions{solve: "batch"}
	_, plain, err := o.solved(environ, target)
	if err != nil {
		t.Fatal(err)
	}
	_, repeated, err := o.solved(append(environ, "ORIEL_ROUNDS=1024"), target)
	if err != nil || repeated.Value != plain.Value || !strings.Contains(repeated.AlsoSet, "ORIEL_ROUNDS=0") {
		t.Errorf("%+v, %v; want the value of %+v", repeated, err, plain)
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
	answer := func(statistics string, deviation float64) (oneLook, events float64) {
		var out bytes.Buffer
		aim := operators.Aim{Effect: 0.02, Probability: 0.8, Deviation: deviation}
		environ := experimentShell("ORIEL_EPSILON=8", "ORIEL_STATISTICS="+statistics)
		if err := runPlan(&out, environ, planOptions{aim: aim, json: true}); err != nil {
			t.Fatal(err)
		}
		var got plan.Effect
		if err := json.Unmarshal(out.Bytes(), &got); err != nil {
			t.Fatal(err)
		}
		if got.Deviation != deviation {
			t.Errorf("%s", out.String())
		}
		return float64(got.OneLook), float64(got.Events)
	}
	binary, most := answer("count,mean", 0)
	for statistics, share := range map[string][2]float64{"count,mean,variance": {0.25, 0.45}, "count,mean": {0.8, 0.95}} {
		once, events := answer(statistics, 0.15)
		if math.Abs(4*once/binary-1) > 0.1 || events < share[0]*most || events > share[1]*most {
			t.Errorf("%s: %g of %g events for one look, %g of %g for any", statistics, once, binary, events, most)
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
