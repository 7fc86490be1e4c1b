//go:build !kafka && !race

package main

import (
	"bytes"
	"fmt"
	"maps"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"oriel/cmd/internal/digits"
	"oriel/cmd/internal/eval/race"
	"oriel/cmd/internal/repotest"
	"oriel/mechanisms/mechtest/tiertest"
)

// figures returns the numbers in a text, and for each number the unit of its last digit.
func figures(t *testing.T, text string) (values, units []float64) {
	t.Helper()
	for _, number := range regexp.MustCompile(`\d+(?:\.\d+)?`).FindAllString(text, -1) {
		value, err := strconv.ParseFloat(number, 64)
		if err != nil {
			t.Fatal(err)
		}
		_, fraction, _ := strings.Cut(number, ".")
		values, units = append(values, value), append(units, math.Pow(10, -float64(len(fraction))))
	}
	return values, units
}

// evalOfReadme runs `oriel eval`, the last of an example's commands, with exactly the example's settings, over this
// many first flights; 0 means all flights. It decodes the output into report.
func evalOfReadme(t *testing.T, env map[string]string, commands string, flights int, report any) {
	t.Helper()
	_, words, found := strings.Cut(commands, "./oriel eval ")
	if !found {
		t.Fatalf("no oriel eval in %s", commands)
	}
	home := t.TempDir()
	repotest.UnpackFlights(t, home)
	if flights > 0 {
		keepFirst(t, filepath.Join(home, "flights.csv"), flights)
	}
	for name, value := range env {
		env[name] = strings.Replace(value, "deploy/", "../../deploy/", 1)
	}
	words = strings.TrimSuffix(strings.TrimSpace(words), ")") // the end of a subshell
	words = strings.NewReplacer("\\\n", " ", "'", "", "/tmp/", home+"/").Replace(words)
	f := unserved(t, env)
	documentIn(t, f.Must(append([]string{"eval", "--json"}, strings.Fields(words)...)...), report)
}

// keepFirst cuts a table to its header and this many lines.
func keepFirst(t *testing.T, file string, lines int) {
	t.Helper()
	table, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	all := bytes.SplitAfterN(table, []byte("\n"), lines+2)
	if err := os.WriteFile(file, bytes.Join(all[:lines+1], nil), 0o600); err != nil {
		t.Fatal(err)
	}
}

// decidesSeldom makes the short form publish a decision only every so many steps. If every is 8, a model is at most 7
// events old, among tens of thousands of events.
func decidesSeldom(env map[string]string, every string) map[string]string {
	if every = tiertest.Runs(every, ""); every != "" {
		env["ORIEL_EMIT_EVERY"] = every
	}
	return env
}

// gained holds the expected figures in a row of an example, and their tolerances for one seed in place of three.
type gained struct{ r2, gain, r2Within, gainWithin float64 }

// gainsOfReadme evaluates the example of an operator with one seed in place of three, and checks the figures of its
// rows. The page must show the figures of all flights, which the long form computes. The short form has figures of its
// own, for the first 20 000 flights: means of eight seeds, with a tolerance of 6.11 of their standard deviations.
func gainsOfReadme(t *testing.T, operator, epsilons, said string, shown []float64, want ...gained) {
	t.Helper()
	text, commands := repotest.Operator(t, operator)
	commands = regexp.MustCompile(`--epsilon \S+ --seeds 3`).ReplaceAllString(commands, "--epsilon "+epsilons+" --seeds 1")
	var r race.Report
	evalOfReadme(t, decidesSeldom(repotest.SettingsIn(commands), "32"), commands, tiertest.Runs(20_000, 0), &r)
	match := regexp.MustCompile(said).FindStringSubmatch(repotest.OnOneLine(text))
	if match == nil {
		t.Fatalf("its page has no figures of %s", operator)
	}
	if got, _ := figures(t, strings.Join(match[1:], " ")); !slices.Equal(got, shown) {
		t.Errorf("the page shows %v of %s; the long form of this test has %v", got, operator, shown)
	}
	for i, w := range want {
		r2, gain := float64(r.Rows[i].R2.Mean), 100*float64(r.Rows[i].Gain)
		if w.r2Within > 0 && !(math.Abs(r2-w.r2) <= w.r2Within) || !(math.Abs(gain-w.gain) <= w.gainWithin) {
			t.Errorf("ε = %g: R² %.4f and %.1f %% are to be %g and %g", r.Rows[i].Epsilon, r2, gain, w.r2, w.gain)
		}
	}
}

// shown is a figure of a table with its tolerance.
type shown struct{ value, within float64 }

// TestAccuracyOfTheReadme checks that the command of coco's page, in the shell of its worked example, gives the page's
// table. A figure may differ by one in its last digit, because another processor fits another filter. The short form
// runs one seed over the first 40 000 flights and has figures of its own: means of eight seeds. With a probability of 1
// − 10⁻⁹, the figure of a single other seed differs from such a mean by at most 6.11 standard deviations of their
// difference.
func TestAccuracyOfTheReadme(t *testing.T) {
	t.Parallel()
	text, commands := repotest.Operator(t, "coco")
	example, _, _ := strings.Cut(repotest.Block(t, cocoPage, "topics --input-partitions"), "\nmkdir -p")
	env := repotest.SettingsIn(example)
	maps.Copy(env, repotest.SettingsIn(commands))
	seeds := tiertest.Runs(1, 3)
	commands = strings.Replace(commands, "--seeds 3", fmt.Sprintf("--seeds %d", seeds), 1)
	var r race.Report
	evalOfReadme(t, decidesSeldom(env, "32"), commands, tiertest.Runs(40_000, 0), &r)

	check := func(what string, text []shown, got ...digits.Number) {
		t.Helper()
		if len(text) != len(got) {
			t.Fatalf("%s: %v for %d figures", what, text, len(got))
		}
		for i, want := range text {
			if !(math.Abs(want.value-float64(got[i])) <= want.within) {
				t.Errorf("%s: %g ± %g is to be, it is %g", what, want.value, want.within, got[i])
			}
		}
	}
	// in returns the figures in a cell of the table.
	in := func(cell string) (all []shown) {
		values, units := figures(t, cell)
		for i, v := range values {
			all = append(all, shown{v, 1.01 * units[i]})
		}
		return all
	}
	counted := regexp.MustCompile(`gives for ([\d ]+) flights, mean \(worst\) of three seeds`).FindStringSubmatch(text)
	if counted == nil || r.Seeds != seeds ||
		tiertest.Runs("40000", strings.ReplaceAll(counted[1], " ", "")) != strconv.Itoa(r.Events) {
		t.Errorf("%d events and %d seeds, the page says %q", r.Events, r.Seeds, counted)
	}
	rows := map[string]struct {
		memory, epsilon float64
		short           [3]shown // log loss, AUC of the second half, gain
	}{
		"for life (memory 65 536), ε = 1": {65536, 1, [3]shown{{0.5221, 0.0103}, {0.665, 0.0294}, {57.4, 33.8}}},
		"for life, ε = 4":                 {65536, 4, [3]shown{{0.5100, 0.0060}, {0.688, 0.0178}, {96.8, 19.6}}},
		"newest 1024 flights, ε = 1":      {0, 1, [3]shown{{0.5186, 0.0113}, {0.672, 0.0263}, {68.7, 36.8}}},
		"newest 1024 flights, ε = 4":      {0, 4, [3]shown{{0.5095, 0.0032}, {0.689, 0.0082}, {98.2, 10.5}}},
	}
	for start, want := range rows {
		_, rest, found := strings.Cut(text, "\n| "+start+" |")
		cells := strings.SplitN(rest, "|", 4)
		if !found || len(cells) < 4 {
			t.Fatalf("no row %q", start)
		}
		loss, auc, gain := in(cells[0]), in(cells[1]), in(cells[2])
		if short := want.short; tiertest.Runs(true, false) {
			loss, auc, gain = []shown{short[0], short[0]}, []shown{short[1], short[1]}, short[2:]
		}
		for _, row := range r.Rows {
			if row.Kind != race.KindBase && float64(row.Memory) == want.memory && math.Round(row.Epsilon) == want.epsilon {
				check(start, loss, row.Loss.Mean, row.Loss.Worst)
				check(start, auc, row.LateAUC.Mean, row.LateAUC.Worst)
				check(start, gain, 100*row.Gain)
				delete(rows, start)
			}
		}
	}
	if len(rows) > 0 {
		t.Errorf("not computed: %v", rows)
	}
	base := r.Rows[len(r.Rows)-1]
	_, rest, _ := strings.Cut(text, "\n| base rate, without privacy |")
	cells := strings.SplitN(rest, "|", 3)
	check("base rate, log loss", tiertest.Runs(in("0.5396"), in(cells[0])), base.Loss.Mean)
	check("base rate, AUC", tiertest.Runs(in("0.498"), in(cells[1])), base.LateAUC.Mean)
}

// TestRidgeOfTheReadme checks that the command of ridge's page gives the page's figures. It runs one seed in place of
// three, so R² may differ by 0.003 and a gain by 5 %. The short form runs ε = 16, because at ε = 4 so few
// flights give a gain that differs too much between seeds.
func TestRidgeOfTheReadme(t *testing.T) {
	t.Parallel()
	shown := []float64{0.040, 0.054, 69, 92}
	gainsOfReadme(t, "ridge", tiertest.Runs("16", "1,4"),
		`R² ([\d.]+) at ε = 1 and ([\d.]+) at ε = 4, ([\d.]+) % and ([\d.]+) %`, shown, tiertest.Runs(
			[]gained{{0.0263, 72.7, 0.0043, 11.6}},
			[]gained{{shown[0], shown[2], 0.003, 5}, {shown[1], shown[3], 0.003, 5}},
		)...)
}

// TestSubmodularOfTheReadme checks that the command of submodular's page, with its settings, gives the page's figures.
// It runs one seed in place of three, so a gain may differ by 5 %.
func TestSubmodularOfTheReadme(t *testing.T) {
	t.Parallel()
	shown := []float64{100, 93}
	gainsOfReadme(t, "submodular", "1,0.1", `keeps (\d+) % of this gain at ε = 1, and (\d+) % at ε = 0.1`, shown, tiertest.Runs(
		[]gained{{gain: 94.7, gainWithin: 11.2}, {gain: 62.8, gainWithin: 44.7}},
		[]gained{{gain: shown[0], gainWithin: 5}, {gain: shown[1], gainWithin: 5}},
	)...)
}

// TestNumbersOfTheReadme checks that the command of aggregate's page, in the shell of its specification, gives the
// page's table of intervals. A figure may differ by one in its last digit, because another processor fits
// another filter. The short form runs one seed over the first 40 000 flights, publishes every 256th step, and has
// figures of its own. The half-width of a count's interval does not depend on events. The other figures are means of
// eight seeds. Their tolerance is 6.11 standard deviations of the difference from a single other seed: 0.75 % and 1.2 %
// of a mean's half-width, and 0.6 percentage points of the share of intervals that contain the true value.
func TestNumbersOfTheReadme(t *testing.T) {
	t.Parallel()
	text, commands := repotest.Operator(t, "aggregate")
	var r struct {
		Rows []struct {
			Epsilon float64
			Kinds   []struct {
				Statistic, Memory string
				Half              float64 `json:"median_half_interval"`
				Covered           float64
			}
		}
	}
	env := decidesSeldom(repotest.SettingsIn(commands), "256")
	commands = strings.Replace(commands, "--seeds 3", "--seeds "+tiertest.Runs("1", "3"), 1)
	evalOfReadme(t, env, commands, tiertest.Runs(40_000, 0), &r)
	short := map[string][2]shown{ // half-width of an interval, and coverage in percent
		"4 count": {{19.4, 0.2}, {94.9, 3.9}}, "4 mean": {{21.8, 1.1}, {95.0, 3.9}},
		"1 count": {{68.6, 0.7}, {95.1, 3.9}}, "1 mean": {{57.4, 4.6}, {95.3, 3.9}},
	}
	checked := 0
	for _, row := range r.Rows {
		_, line, found := strings.Cut(text, fmt.Sprintf("\n| ε = %.0f |", row.Epsilon))
		cells := strings.SplitN(line, "|", 3)
		if !found || len(cells) < 3 {
			t.Fatalf("no row of ε = %g", row.Epsilon)
		}
		for _, k := range row.Kinds {
			if k.Memory != "65536" {
				continue
			}
			values, units := figures(t, cells[map[string]int{"count": 0, "mean": 1}[k.Statistic]])
			if len(values) != 2 {
				t.Fatalf("README.md shows %v", values)
			}
			all := tiertest.Runs(short[fmt.Sprintf("%.0f %s", row.Epsilon, k.Statistic)],
				[2]shown{{values[0], 1.01 * units[0]}, {values[1], 1.01 * units[1]}})
			for i, got := range []float64{k.Half, 100 * k.Covered} {
				if checked++; math.Abs(all[i].value-got) > all[i].within {
					t.Errorf("ε = %g, %s: %g ± %g is to be, it is %g", row.Epsilon, k.Statistic, all[i].value, all[i].within, got)
				}
			}
		}
	}
	if checked != 8 {
		t.Errorf("%d figures", checked)
	}
}
