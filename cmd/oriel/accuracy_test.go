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
	"time"

	"oriel/cmd/internal/eval"
	"oriel/cmd/internal/repotest"
	"oriel/mechanisms/mechtest/tiertest"
)

// figures are the numbers of a text, and the unit of the last digit of each.
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

// evalOfReadme runs the last of an example's commands, `oriel eval`, with its settings and no other, over the first
// flights, or all for 0, and reads what it says. Files that it makes are in home.
func evalOfReadme(t *testing.T, env map[string]string, commands string, flights int, report any) (home string) {
	t.Helper()
	_, words, found := strings.Cut(commands, "./oriel eval ")
	if !found {
		t.Fatalf("no oriel eval in %s", commands)
	}
	home = t.TempDir()
	repotest.UnpackFlights(t, home)
	if flights > 0 {
		keepFirst(t, filepath.Join(home, "flights.csv"), flights)
	}
	for name, value := range env {
		env[name] = strings.Replace(value, "deploy/", "../../deploy/", 1)
	}
	words = strings.NewReplacer("\\\n", " ", "'", "", "/tmp/", home+"/").Replace(words)
	f := unserved(t, env)
	p := f.Start(nil, append([]string{"eval", "--json"}, strings.Fields(words)...)...)
	if !p.Finish(5 * time.Minute) {
		t.Fatalf("%s: %s", words, p.Output())
	}
	documentIn(t, p.Output(), report)
	return home
}

// keepFirst leaves a table its header and so many lines.
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

// decidesSeldom makes one of so many steps decide in the short form: of every 8, a model is 7 events old at most, of
// tens of thousands.
func decidesSeldom(env map[string]string, every string) map[string]string {
	if every = tiertest.Runs(every, ""); every != "" {
		env["ORIEL_EMIT_EVERY"] = every
	}
	return env
}

// gained are figures of a row of an example, and how far off one seed of three may be.
type gained struct{ r2, gain, r2Within, gainWithin float64 }

// gainsOfReadme evaluates the example of an operator with one seed of three and wants its rows to give the figures. The
// section must show those of all flights: the long form computes them. The short form has figures of its own, of the
// first 40 000 flights: means of eight seeds, and 6.11 of their standard deviations.
func gainsOfReadme(t *testing.T, operator, epsilons, said string, shown []float64, want ...gained) {
	t.Helper()
	text, commands := repotest.Operator(t, operator)
	commands = regexp.MustCompile(`--epsilon \S+ --seeds 3`).ReplaceAllString(commands, "--epsilon "+epsilons+" --seeds 1")
	var r eval.Report
	evalOfReadme(t, decidesSeldom(repotest.SettingsIn(commands), "32"), commands, tiertest.Runs(40_000, 0), &r)
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

// TestAccuracyOfTheReadme: the command of coco's page, in the shell of its worked example, gives its table. A figure
// may be one off in its last digit: another processor fits another filter. In the short form one seed plays. Of eight,
// losses have a standard deviation of 0.001 and AUC one of 0.002, where they are farthest apart, so that one seed and
// the mean of three others differ by 0.0012 and 0.0023: a loss may be five times as far off, AUC six times.
func TestAccuracyOfTheReadme(t *testing.T) {
	t.Parallel()
	text, commands := repotest.Operator(t, "coco")
	example, _, _ := strings.Cut(repotest.Block(t, cocoPage, "topics --input-partitions"), "\nmkdir -p")
	env := repotest.SettingsIn(example)
	maps.Copy(env, repotest.SettingsIn(commands))
	seeds, within, lossWithin := tiertest.Runs(1, 3), tiertest.Runs(15.0, 1.01), tiertest.Runs(60.0, 1.01)
	commands = strings.Replace(commands, "--seeds 3", fmt.Sprintf("--seeds %d", seeds), 1)
	var r eval.Report
	evalOfReadme(t, decidesSeldom(env, "8"), commands, 0, &r)

	check := func(what, text string, within float64, want ...eval.Number) {
		t.Helper()
		values, units := figures(t, text)
		if len(values) != len(want) {
			t.Fatalf("%s: %q has %d figures, want %d", what, text, len(values), len(want))
		}
		for i, v := range values {
			if !(math.Abs(v-float64(want[i])) <= within*units[i]) {
				t.Errorf("%s: %g is shown, it is %g", what, v, want[i])
			}
		}
	}
	counted := regexp.MustCompile(`gives for ([\d ]+) flights, mean \(worst\) of three seeds`).FindStringSubmatch(text)
	if counted == nil || strings.ReplaceAll(counted[1], " ", "") != strconv.Itoa(r.Events) || r.Seeds != seeds {
		t.Errorf("%d events and %d seeds, the page says %q", r.Events, r.Seeds, counted)
	}
	rows := map[string]int{
		"for life (memory 65 536), ε = 1": 65536 + 1, "for life, ε = 4": 65536 + 4,
		"newest 1024 flights, ε = 1": 1, "newest 1024 flights, ε = 4": 4,
	}
	for start, want := range rows {
		_, rest, found := strings.Cut(text, "\n| "+start+" |")
		cells := strings.SplitN(rest, "|", 4)
		if !found || len(cells) < 4 {
			t.Fatalf("no row %q", start)
		}
		for _, row := range r.Rows {
			if row.Kind != eval.KindBase && row.Epsilon > 0 && int(row.Memory)+int(math.Round(row.Epsilon)) == want {
				check(start, cells[0], lossWithin, row.Loss.Mean, row.Loss.Worst)
				check(start, cells[1], within, row.LateAUC.Mean, row.LateAUC.Worst)
				check(start, cells[2], within, 100*row.Gain)
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
	check("base rate, log loss", cells[0], 1.01, base.Loss.Mean)
	check("base rate, AUC", cells[1], 1.01, base.LateAUC.Mean)
}

// TestRidgeOfTheReadme: the page's command gives its figures; with one seed of three, so that R² may be 0.003 off and
// a gain 5 %. The short form plays ε = 4, because nothing is gained from so few flights at ε = 1.
func TestRidgeOfTheReadme(t *testing.T) {
	t.Parallel()
	shown := []float64{0.039, 0.054, 67, 92}
	gainsOfReadme(t, "ridge", tiertest.Runs("4", "1,4"),
		`R² ([\d.]+) at ε = 1 and ([\d.]+) at ε = 4, ([\d.]+) % and ([\d.]+) %`, shown, tiertest.Runs(
			[]gained{{0.0306, 66.5, 0.005, 10.3}},
			[]gained{{shown[0], shown[2], 0.003, 5}, {shown[1], shown[3], 0.003, 5}},
		)...)
}

// TestSubmodularOfTheReadme: the page's command, with its settings, gives its figures; with one seed of three, so
// that a gain may be 5 % off.
func TestSubmodularOfTheReadme(t *testing.T) {
	t.Parallel()
	shown := []float64{100, 93}
	gainsOfReadme(t, "submodular", "1,0.1", `has (\d+) % of what .* and at ε = 0.1 (\d+) %`, shown, tiertest.Runs(
		[]gained{{gain: 98.0, gainWithin: 5.2}, {gain: 73.5, gainWithin: 27}},
		[]gained{{gain: shown[0], gainWithin: 5}, {gain: shown[1], gainWithin: 5}},
	)...)
}

// TestNumbersOfTheReadme: the command of aggregate's page in the shell of its specification gives its table of
// intervals, and a plot. A figure may be one off in its last digit: another processor fits another filter. In the
// short form one seed of three plays and every 256th step decides: half an interval is then within 2 %, and the share
// of covered truths within 3 points, three standard deviations of 500 independent intervals.
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
	home := evalOfReadme(t, env, commands, 0, &r)
	if _, err := os.Stat(filepath.Join(home, "delays.svg")); err != nil {
		t.Error(err)
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
			within := tiertest.Runs([]float64{0.02 * k.Half, 3}, []float64{1.01 * units[0], 1.01 * units[1]})
			for i, want := range []float64{k.Half, 100 * k.Covered} {
				if checked++; math.Abs(values[i]-want) > within[i] {
					t.Errorf("ε = %g, %s: %g is shown, it is %g", row.Epsilon, k.Statistic, values[i], want)
				}
			}
		}
	}
	if checked != 8 {
		t.Errorf("%d figures", checked)
	}
}
