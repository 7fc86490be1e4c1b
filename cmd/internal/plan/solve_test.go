package plan

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
	"testing"

	"oriel/cmd/internal/digits"
	deployment "oriel/cmd/internal/settings"
	"oriel/mechanisms/mechtest/tiertest"
	"oriel/mechanisms/noise"
	"oriel/operators"
	"oriel/schemas/event"
)

// knobOf returns one of the settings of counting as a SolvedSetting.
func knobOf(name string, greater bool, values int, text func(int) string, changes ...string) SolvedSetting {
	return SolvedSetting{Setting: name, Greater: greater, Values: values, Text: text, Input: func(text string) (
		Input, error,
	) {
		s, err := deployment.Load(counting(append(changes, name+"="+text)...), deployment.Events, deployment.Operator)
		if err != nil {
			return Input{}, err
		}
		learner := s.Learner()
		return Input{Configured: learner.Mechanism(), Operator: learner.Operator(), AgeWeight: s.AgeWeight}, nil
	}}
}

func whole(i int) string { return strconv.Itoa(i + 2) }

// TestSolvedSettingsGiveTheWantedError checks that a solution has the wanted error in the noise of a real stream, over
// 2048 cells, and that the next value has a larger error.
func TestSolvedSettingsGiveTheWantedError(t *testing.T) {
	epsilons, epsilon := Epsilons()
	cells := []string{"ORIEL_CELLS=place=0:2048:2048", "ORIEL_STATISTICS=count", "ORIEL_VALUE="}
	with := func(changes ...string) []string { return append(cells[:len(cells):len(cells)], changes...) }
	for name, x := range map[string]struct {
		half         float64
		knob         SolvedSetting
		changes      []string
		first, every int
	}{
		"epsilon of a memory": {
			20, knobOf("ORIEL_EPSILON", true, epsilons, epsilon, with("ORIEL_MEMORY=16")...),
			with("ORIEL_MEMORY=16"), 160, 80,
		},
		"epsilon of a window": {
			5, knobOf("ORIEL_EPSILON", true, epsilons, epsilon, with(tumbling...)...), with(tumbling...),
			1, 1,
		},
		"epsilon of the total": {
			30, knobOf("ORIEL_EPSILON", true, epsilons, epsilon, with(total...)...), with(total...), 640,
			300,
		},
		"memory": {28, knobOf("ORIEL_MEMORY", false, 1000, whole, cells...), cells, 250, 120},
	} {
		t.Run(name, func(t *testing.T) {
			s, err := Solve(Target{Statistic: "count", Half: x.half, Near: math.NaN()}, x.knob)
			if err != nil {
				t.Fatal(err)
			}
			if !(s.Half <= x.half && s.Half > 0.97*x.half) || s.Beside == "" {
				t.Errorf("%+v", s)
			}
			in := countingInput(t, append(x.changes, s.Setting+"="+s.Value)...)
			if _, ratio := spreadOf(t, in, Spread{Deviation: digits.Number(x.half / 1.959964)}, x.first, x.every,
				looks()); math.Abs(ratio-1) > sixthOfDeviation(2048*looks()) {
				t.Errorf("%s=%s: the noise is %.4f of what was wanted", s.Setting, s.Value, ratio)
			}
		})
	}
}

// TestSolvedBatchGivesTheWantedMean checks that the solved batch gives each cell's mean the wanted error, in tumbling
// windows with equal shares. Values are near the middle of their range.
func TestSolvedBatchGivesTheWantedMean(t *testing.T) {
	const cells, wanted = 64, 2.5
	windows := tiertest.Runs(40, 320)
	changes := append([]string{"ORIEL_CELLS=place=0:64:64", "ORIEL_STATISTICS=mean", "ORIEL_EPSILON=12"}, tumbling...)
	k := knobOf("ORIEL_BATCH", true, 1000, func(i int) string { return strconv.Itoa(cells * (i + 1)) }, changes...)
	s, err := Solve(Target{Statistic: "mean", Half: wanted, Near: 60}, k)
	if err != nil {
		t.Fatal(err)
	}
	in := countingInput(t, append(changes, s.Setting+"="+s.Value)...)
	machine, sum, offset := player(t, in), 0.0, int64(0)
	var dst []operators.Decision
	for range windows {
		for i := range in.Configured.Batch {
			offset++
			value := 60 + 30*float64(1-2*int64(i/cells%2))
			if i/cells == in.Configured.Batch/cells-1 && in.Configured.Batch/cells%2 == 1 {
				value = 60
			}
			dst = machine.Add(dst[:0], operators.Record{
				Identity: noise.Identity{Offset: offset}, Event: event.Event{
					Weight:  1,
					Numbers: []float64{float64(i % cells), value},
				},
			})
		}
		for _, x := range dst[0].Point {
			sum += (x - 60) * (x - 60)
		}
	}
	got := z95 * math.Sqrt(sum/float64(cells*windows))
	t.Logf("%s: ± %.4f", s.Value, got)
	if math.Abs(got/wanted-1) > sixthOfDeviation(cells*windows) {
		t.Errorf("%+v: the noise makes ± %g", s, got)
	}
}

// TestSolveFindsTheEdge compares Solve with a search through all values, in a small range.
func TestSolveFindsTheEdge(t *testing.T) {
	halves := tiertest.Runs([]float64{26, 1, 1000}, []float64{24, 26, 28, 30, 1, 1000})
	values := tiertest.Runs(20, 40)
	f := func(w Target, scale float64, k SolvedSetting) {
		t.Helper()
		w.Near = math.NaN()
		reached := make([]float64, k.Values) // error that each value gives
		for i := range reached {
			in, err := k.Input(k.Text(i))
			if err != nil {
				t.Fatal(err)
			}
			each, err := w.Error(in)
			if err != nil {
				t.Fatal(err)
			}
			reached[i] = each.Half
		}
		for _, half := range halves {
			w.Half = scale * half
			got, failed := Solve(w, k)
			want := ""
			for i, each := range reached {
				if each <= w.Half && (want == "" || !k.Greater) {
					want = k.Text(i)
				}
			}
			if got.Value != want || (failed == nil) != (want != "") {
				t.Errorf("%+v: %s, %v, want %q", w, got.Value, failed, want)
			}
		}
	}
	batch := func(i int) string { return strconv.Itoa(100 * (i + 1)) }
	f(Target{Statistic: "count"}, 1, knobOf("ORIEL_MEMORY", false, values, whole, "ORIEL_STATISTICS=count,mean"))
	f(Target{Statistic: "mean", After: 3000}, 1, knobOf("ORIEL_MEMORY", false, values, whole, "ORIEL_BATCH=1000"))
	f(Target{Statistic: "mean"}, 1, knobOf("ORIEL_MEMORY", true, values, whole, "ORIEL_BATCH=500"))
	f(Target{Statistic: "variance"}, 100, knobOf("ORIEL_BATCH", true, values, batch, tumbling...))
}

// TestTargetsNeedSettings checks which settings a target needs, and the errors if they are missing.
func TestTargetsNeedSettings(t *testing.T) {
	f := func(w Target, want string, changes ...string) {
		t.Helper()
		reached, err := w.Error(countingInput(t, changes...))
		if said := fmt.Sprint(err, reached.Why); !strings.Contains(said, want) || err == nil && !math.IsInf(reached.Half, 1) {
			t.Errorf("%+v: %g, %s, want %q", w, reached.Half, said, want)
		}
	}
	anywhere := math.NaN()
	f(Target{Statistic: "p50", Near: anywhere}, "p50: not among the statistics")
	f(Target{Statistic: "count", Near: anywhere, View: 7}, "memory 7 is none of those that numbers are read at: memory 64")
	f(Target{Statistic: "mean", Near: 200}, "200: not in the range of values, -60 to 180")
	f(Target{Statistic: "mean", Near: anywhere, After: 65}, "memory 64 never has 65 events, but 64")
	f(Target{Statistic: "mean", Near: anywhere}, "mean over 8 events is lost in noise; a readable number takes more than")
	f(Target{Statistic: "mean", Near: anywhere}, "say after how many", total...)
	f(
		Target{Statistic: "count", Near: anywhere, Own: true}, "memory 30 is read beside ORIEL_MEMORY",
		"ORIEL_MEMORIES=30,64",
	)
	if _, err := (Target{Statistic: "count"}).Error(everySetting[0].input()); err == nil || !strings.Contains(err.Error(), "no numbers") {
		t.Errorf("a learner: %v", err)
	}

	// Without a given mean, the error is the largest over all views, with the mean at an end of the range. With a given
	// mean and view, it is the error of this view.
	r := numbersOf(t, "ORIEL_MEMORIES=30,64", "ORIEL_BATCH=100")
	near(t, "count", must(t, Target{Statistic: "count", Near: anywhere}, "ORIEL_MEMORIES=30,64", "ORIEL_BATCH=100"),
		max(float64(r.Numbers.Views[0].Count.Half), float64(r.Numbers.Views[1].Count.Half)), 0)
	near(t, "one view", must(t, Target{Statistic: "count", Near: anywhere, View: 30}, "ORIEL_MEMORIES=30,64",
		"ORIEL_BATCH=100"),
		float64(r.Numbers.Views[0].Count.Half), 0)
	for _, ratio := range r.Numbers.Ratios {
		if ratio.Events == 1000 && ratio.View == "memory 64" {
			w := Target{Statistic: ratio.Statistic, After: 1000, Near: anywhere, View: 64}
			near(t, "ends", must(t, w, "ORIEL_MEMORIES=30,64", "ORIEL_BATCH=100"), float64(ratio.Ends), 0)
			w.Near = 60
			near(t, "middle", must(t, w, "ORIEL_MEMORIES=30,64", "ORIEL_BATCH=100"), float64(ratio.Middle), 0)
		}
	}
}

func must(t *testing.T, w Target, changes ...string) float64 {
	t.Helper()
	reached, err := w.Error(countingInput(t, changes...))
	if err != nil {
		t.Fatal(err)
	}
	return reached.Half
}

// TestSolvePassesOverRefusedSettings checks that Solve skips values that the settings refuse, if others are valid. If
// all are refused, the error must name the reason.
func TestSolvePassesOverRefusedSettings(t *testing.T) {
	k := knobOf("ORIEL_BATCH", true, 100, func(i int) string { return strconv.Itoa(i + 1) },
		"ORIEL_CELLS=place=0:100000:100000", "ORIEL_STATISTICS=count", "ORIEL_VALUE=")
	s, err := Solve(Target{Statistic: "count", Half: 50, Near: math.NaN()}, k)
	if err != nil || s.Value != "25" || !strings.Contains(s.Beside, "ORIEL_BATCH=24 is refused: ") {
		t.Errorf("%+v, %v", s, err)
	}
	k.Values = 24
	if _, err := Solve(Target{Statistic: "count", Half: 50, Near: math.NaN()}, k); err == nil || !strings.Contains(err.Error(), "take ORIEL_BATCH=25 or more") {
		t.Errorf("%v", err)
	}
	k.Input = func(string) (Input, error) { return Input{}, errors.New("refused") }
	if _, err := Solve(Target{Statistic: "count", Half: 50}, k); err == nil || err.Error() != "refused" {
		t.Errorf("%v", err)
	}
}

// TestEpsilons checks that the values of ε with four digits ascend, and that each text parses to its value.
func TestEpsilons(t *testing.T) {
	values, text := Epsilons()
	last := 0.0
	for i := range values {
		x, err := strconv.ParseFloat(text(i), 64)
		if err != nil || !(x > last && (last == 0 || x < 1.0011*last)) {
			t.Fatalf("%d: %s after %g", i, text(i), last)
		}
		last = x
	}
	if text(0) != "0.0001" || last != 999.9 {
		t.Errorf("from %s to %g", text(0), last)
	}
}

// TestSolvedEpsilonGivesTheWantedRank solves for a median on an edge of bins, near which events are spread evenly. The
// solved ε must make the ranks as exact as wanted.
func TestSolvedEpsilonGivesTheWantedRank(t *testing.T) {
	const cells, wanted = 64, 0.6
	windows := tiertest.Runs(40, 320)
	changes := append([]string{
		"ORIEL_CELLS=place=0:64:64", "ORIEL_STATISTICS=p50", "ORIEL_BINS=4",
		fmt.Sprint("ORIEL_BATCH=", 48*cells),
	}, tumbling...)
	values, epsilon := Epsilons()
	// For a median of 60, the edge itself, a plan uses the bin above; for 59 it uses the bin that ends at the edge.
	s, err := Solve(Target{Statistic: "p50", Half: wanted, Near: 59},
		knobOf("ORIEL_EPSILON", true, values, epsilon, changes...))
	if err != nil {
		t.Fatal(err)
	}
	if said := s.lines(); s.Unit != "points of rank" || !strings.Contains(said, " points of rank of a p50") {
		t.Errorf("%+v: %s", s, said)
	}
	in := countingInput(t, append(changes, s.Setting+"="+s.Value)...)
	machine, sum, offset := player(t, in), 0.0, int64(0)
	var dst []operators.Decision
	for range windows {
		for i := range in.Configured.Batch {
			offset++
			dst = machine.Add(dst[:0], operators.Record{
				Identity: noise.Identity{Offset: offset}, Event: event.Event{
					Weight: 1, Numbers: []float64{float64(i % cells), -30 + 60*float64(i/cells%4)},
				},
			})
		}
		for _, x := range dst[0].Point {
			rank := 100 * (x - 60) / 240
			sum += rank * rank
		}
	}
	got := z95 * math.Sqrt(sum/float64(cells*windows))
	t.Logf("ORIEL_EPSILON=%s: ± %.4f", s.Value, got)
	if math.Abs(got/wanted-1) > sixthOfDeviation(cells*windows) {
		t.Errorf("%+v: the noise makes ± %g", s, got)
	}
}

// TestSolveFindsTheBestInTheMiddle covers errors that fall and then rise along the range. Solve must find the smallest
// error, and from there a value that reaches the target. If no value reaches it, the message must say what the best
// value gives.
func TestSolveFindsTheBestInTheMiddle(t *testing.T) {
	const count = 1 << 20
	for _, least := range []int{0, 1, 2, 7, 300, 12345, 77777, count - 2, count - 1} {
		k := SolvedSetting{Values: count}
		tries := 0
		if got := k.best(func(i int) float64 {
			tries++
			if i < least {
				return math.Inf(1) // a cell that never has that many events
			}
			return 1 + float64(i-least)
		}); got != least || tries > 400 {
			t.Errorf("the best of a cliff is %d after %d tries, want %d", got, tries, least)
		}
		if got := k.best(func(i int) float64 { return math.Abs(float64(i - least)) }); got != least {
			t.Errorf("the best of a valley is %d, want %d", got, least)
		}
	}
	k := knobOf("ORIEL_MEMORY", false, tiertest.Runs(360, 1<<10), whole, "ORIEL_STATISTICS=mean")
	w := Target{Statistic: "mean", Half: 1, After: 300, Near: math.NaN()}
	_, err := Solve(w, k)
	if err == nil || !strings.HasPrefix(err.Error(), "no memory reaches ± 1 of a mean over 300 events of its cell at ε = 1; the best, ORIEL_MEMORY=300, gives ± ") {
		t.Fatalf("%v", err)
	}
	best := must(t, w, "ORIEL_STATISTICS=mean", "ORIEL_MEMORY=300")
	w.Half = 1.01 * best
	s, err := Solve(w, k)
	value, _ := strconv.Atoi(s.Value)
	if err != nil || value < 300 || value > 330 || s.Half > w.Half {
		t.Errorf("%+v, %v; ORIEL_MEMORY=300 gives ± %g", s, err, best)
	}
	beside := must(t, w, "ORIEL_STATISTICS=mean", fmt.Sprint("ORIEL_MEMORY=", value+1))
	if beside <= w.Half || !strings.HasPrefix(s.Beside, fmt.Sprintf("ORIEL_MEMORY=%d gives ± ", value+1)) {
		t.Errorf("the longest memory is %d, but the next one gives ± %g: %s", value, beside, s.Beside)
	}
	_, epsilon := Epsilons()
	_, err = Solve(Target{Statistic: "count", Half: 1e-9, Near: math.NaN()}, knobOf("ORIEL_EPSILON", true, 9000, epsilon))
	if err == nil || !strings.HasPrefix(err.Error(), "no epsilon reaches ± 1e-09 of a count; the best, ORIEL_EPSILON=0.0009999, gives ± ") {
		t.Errorf("%v", err)
	}
	none := knobOf("ORIEL_MEMORY", false, 100, whole, "ORIEL_STATISTICS=mean")
	if _, err = Solve(w, none); err == nil || !strings.Contains(err.Error(), ": even ORIEL_MEMORY=101 gives none: memory 101 never has 300 events") {
		t.Errorf("%v", err)
	}
}
