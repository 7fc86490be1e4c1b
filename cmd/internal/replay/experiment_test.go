package replay_test

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"oriel/cmd/internal/decisiontest"
	"oriel/cmd/internal/replay"
	"oriel/cmd/internal/settings"
	"oriel/mechanisms/mechtest/tiertest"
	"oriel/pipeline/streams"
)

// trial is an A/B test without an effect, as its owner would simulate it.
type trial struct {
	name   string
	shares []float64                             // probability of each arm
	draw   func(r *rand.Rand, event int) float64 // draws the outcome of an event
	lines  []string                              // settings of the experiment
}

// trials returns simulated experiments with conversions, with drifting levels, with a small arm, with three arms, and
// with amounts of heavy tails that are clamped, on streams with a horizon and for life.
func trials(events, batch int) []trial {
	converts := func(rate func(event int) float64) func(*rand.Rand, int) float64 {
		return func(r *rand.Rand, event int) float64 {
			if r.Float64() < rate(event) {
				return 1
			}
			return 0
		}
	}
	constant := func(p float64) func(*rand.Rand, int) float64 { return converts(func(int) float64 { return p }) }
	lognormal := func(r *rand.Rand, _ int) float64 { return min(100, 5*math.Exp(1.5*r.NormFloat64()-1.125)) }
	pareto := func(r *rand.Rand, _ int) float64 { return min(100, 2*math.Pow(1-r.Float64(), -1/1.5)) }
	exponential := func(r *rand.Rand, _ int) float64 { return min(100, 5*r.ExpFloat64()) }
	sine := func(event int) float64 { return 0.1 + 0.08*math.Sin(float64(event)/2000) }
	jump := func(event int) float64 {
		if event < events/2 {
			return 0.03
		}
		return 0.3
	}
	horizon := []string{"WINDOW=horizon", fmt.Sprintf("HORIZON=%d", events/batch)}
	life := []string{"WINDOW=lifetime", "MEMORY=1024"}
	amounts := []string{"VALUE=y=0:100", "STATISTICS=count,mean,variance", "NEAR=5"}
	half, tenth := []float64{0.5, 0.5}, []float64{0.9, 0.1}
	of := func(lines []string, more ...string) []string { return append(lines[:len(lines):len(lines)], more...) }
	return []trial{
		{"p = 0.02", half, constant(0.02), of(horizon, "NEAR=0.02")},
		{"p = 0.05, NEAR = 0.08", half, constant(0.05), of(horizon, "NEAR=0.08")},
		{"p = 0.1, NEAR = 0.05, for life", half, constant(0.1), of(life, "NEAR=0.05")},
		{"p = 0.5, for life", half, constant(0.5), of(life, "NEAR=0.5")},
		{"a tenth in the treatment", tenth, constant(0.1), of(horizon, "NEAR=0.1")},
		{"a tenth in the treatment, p = 0.02, for life", tenth, constant(0.02), of(life, "NEAR=0.02")},
		{"three arms", []float64{0.4, 0.3, 0.3}, constant(0.1), of(horizon, "NEAR=0.1")},
		{"a level that drifts, for life", half, converts(sine), of(life, "NEAR=0.1")},
		{"a level that jumps", half, converts(jump), of(horizon, "NEAR=0.1")},
		{"lognormal amounts", half, lognormal, of(horizon, amounts...)},
		{"Pareto amounts, a tenth in the treatment, for life", tenth, pareto, of(life, amounts...)},
		{"exponential amounts, no squares", half, exponential, of(horizon, "VALUE=y=0:100", "NEAR=5")},
	}
}

// looked is the part of a decision that readers of an experiment look at.
type looked struct {
	Low     []float64 `json:"effect_low"`
	High    []float64 `json:"effect_high"`
	Verdict string    `json:"verdict"`
	Allowed float64   `json:"stop_allowed"`
	Looks   int       `json:"looks"`
}

// TestErrorsOfReplayedExperiments replays experiments without an effect from lines of events, and reads each decision.
// At most 5 % of the experiments may have a sequence that excludes 0 at any look, and at most 5 % may have a verdict.
// The long form allows 3 standard errors more for each setting, that is 70 of 1000. The short form has four replays of
// each setting; the probability that 15 of all 48 err is below 1e-8.
func TestErrorsOfReplayedExperiments(t *testing.T) {
	const tolerated = 70 // number of errors tolerated among 1000 experiments
	runs, events, batch := tiertest.Runs(4, 1000), tiertest.Runs(1600, 20000), tiertest.Runs(100, 50)
	all, outsides, betters, barred := 0, 0, 0, 0
	for i, c := range trials(events, batch) {
		t.Run(c.name, func(t *testing.T) {
			outside, better, m := 0, 0, decisiontest.Model(t, c.settings(t, batch))
			for run := range runs {
				last, missed := c.replayed(t, m, events, batch, [2]uint64{uint64(i), uint64(run)})
				switch {
				case strings.HasSuffix(last.Verdict, "better"):
					better++
				case last.Allowed == 0:
					barred++
				}
				if missed {
					outside++
				}
			}
			t.Logf("%d replays exclude 0, %d have a verdict, of %d", outside, better, runs)
			if most := tiertest.Runs(runs, tolerated); max(outside, better) > most {
				t.Errorf("%d replays exclude 0, %d have a verdict, of %d: above %d", outside, better, runs, most)
			}
			all, outsides, betters = all+runs, outsides+outside, betters+better
		})
	}
	if most := tiertest.Runs(14, all); max(outsides, betters) > most {
		t.Errorf("%d replays exclude 0, %d have a verdict, of %d: above %d", outsides, betters, all, most)
	}
	if most := tiertest.Runs(3, 40); barred > most { // each is barred with a probability of at most 1/1000
		t.Errorf("%d of %d replays say that arms are not drawn so: above %d", barred, all, most)
	}
}

// arms has the arms' names.
const arms = "ABC"

// settings returns the settings of the trial, with this many events a step.
func (c trial) settings(t *testing.T, batch int) settings.Settings {
	t.Helper()
	cells, shares := strings.Join(strings.Split(arms[:len(c.shares)], ""), "|"), strings.Trim(fmt.Sprint(c.shares), "[]")
	return decisiontest.Load(t, append([]string{
		"OPERATOR=aggregate", "EPSILON=1", "DELTA=1e-6", "MECHANISM=blt", fmt.Sprintf("BATCH=%d", batch),
		"CELLS=variant=" + cells,
		"VALUE=y=0:1", "STATISTICS=count,mean", "ARMS=variant", "ALWAYS_VALID=0.05", "UNITS=single", "TARGET=10000",
		"PROPENSITIES=" + strings.ReplaceAll(shares, " ", "|"),
	}, c.lines...)...)
}

// replayed simulates the events of an experiment and replays them. It returns the last look, and reports whether any
// sequence at any look excludes 0.
func (c trial) replayed(t *testing.T, m streams.Model, events, batch int, seed [2]uint64) (last looked, missed bool) {
	t.Helper()
	r := rand.New(rand.NewPCG(seed[0], seed[1]))
	var in bytes.Buffer
	for event := range events {
		arm, at := 0, r.Float64()
		for ; at >= c.shares[arm] && arm < len(c.shares)-1; arm++ {
			at -= c.shares[arm]
		}
		fmt.Fprintf(&in, "{\"variant\":%q,\"y\":%g}\n", arms[arm:arm+1], c.draw(r, event))
	}
	var secret [32]byte
	binary.BigEndian.PutUint64(secret[:], seed[0])
	binary.BigEndian.PutUint64(secret[8:], seed[1])
	out := decisiontest.Replay(t, m, replay.Options{Seed: hex.EncodeToString(secret[:])}, in.Bytes())
	decisions := bytes.Split(bytes.TrimSuffix(out, []byte("\n")), []byte("\n"))
	for l, line := range decisions {
		var d looked
		if err := json.Unmarshal(line, &d); err != nil {
			t.Fatal(err)
		}
		if d.Looks != l+1 || len(d.Low) != len(c.shares)-1 || d.Allowed > 0 && (l+1)*batch < 1000 {
			t.Fatalf("seed %d: look %d: %s", seed, l+1, line)
		}
		for k := range d.Low {
			missed = missed || d.Low[k] > 0 || d.High[k] < 0
		}
		last = d
	}
	if len(decisions) != events/batch {
		t.Fatalf("%d looks, want %d", len(decisions), events/batch)
	}
	return last, missed
}
