//go:build !kafka && !race

package main

import (
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"oriel/cmd/internal/digits"
	"oriel/cmd/internal/eval/race"
	"oriel/cmd/internal/repotest"
	"oriel/mechanisms/mechtest/tiertest"
)

const aggregatePage = "operators/aggregate/README.md"

// pageOfExperiments returns the section about experiments on aggregate's page, with all its lines joined into one.
func pageOfExperiments(t *testing.T) string {
	t.Helper()
	page, err := os.ReadFile(repotest.Path(aggregatePage))
	_, text, found := strings.Cut(string(page), "\n## An experiment ")
	if err != nil || !found {
		t.Fatalf("no section: %v", err)
	}
	return repotest.OnOneLine(text)
}

// TestExperimentOfTheReadme checks that the command of aggregate's page prints the numbers of events that the page
// shows.
func TestExperimentOfTheReadme(t *testing.T) {
	t.Parallel()
	commands, text := repotest.Block(t, aggregatePage, "--want-effect 0.02"), pageOfExperiments(t)
	said := unserved(t, repotest.SettingsIn(commands)).Must("plan", "--want-effect", "0.02", "--power", "0.8")
	shown, _ := figures(t, strings.Join(regexp.MustCompile(`is found after (\d+) events with probability 0.8. Without privacy the same effect takes (\d+) events. A test without privacy that looks once, at the end, takes (\d+) events`).FindStringSubmatch(text)[1:], " "))
	planned, _ := figures(t, strings.Join(regexp.MustCompile(`(?m)^  (\d+) events`).FindAllString(said, -1), " "))
	if !slices.EqualFunc(shown, planned, func(a, b float64) bool { return math.Abs(a/b-1) < 0.02 }) {
		t.Errorf("the page shows %v, it is %v", shown, planned)
	}
}

// TestAssociationOfTheReadme checks the difference between airlines that the page shows. The page must claim only an
// association.
func TestAssociationOfTheReadme(t *testing.T) {
	tiertest.Slow(t, "TestNumbersOfTheReadme")
	_, commands := repotest.Operator(t, "aggregate")
	text, env := pageOfExperiments(t), repotest.SettingsIn(commands)
	env["ORIEL_CELLS"], env["ORIEL_ARMS"] = "carrier=AA|DL|UA", "carrier"
	delete(env, "ORIEL_MEMORIES")
	commands = strings.NewReplacer("--member hour=hour", "", "--epsilon 4,1 --seeds 3", "").Replace(commands)
	var r comparedNumbers
	evalOfReadme(t, env, commands, 0, &r)
	for _, n := range r.Rows[0].Numbers {
		if n.Statistic != "mean_difference" || n.Cell != "carrier=UA" {
			continue
		}
		said := regexp.MustCompile(`the flights of UA are (\S+) minutes later on average than the flights of AA \(.mean_difference., (\S+) to ` +
			`(\S+) at ε = 1; the truth is (\S+)\)`).FindStringSubmatch(text)
		if said == nil {
			t.Fatal("the page has no difference of UA and AA")
		}
		shown, _ := figures(t, strings.Join(said[1:], " "))
		for i, got := range []float64{*n.Value, *n.Low, *n.High, *n.Truth} {
			if math.Abs(got-shown[i]) > 0.101 {
				t.Errorf("the page shows %g, it is %g", shown[i], got)
			}
		}
	}
	env["ORIEL_ALWAYS_VALID"] = "0.05"
	unserved(t, env).Fails("ORIEL_PROPENSITIES", "plan")
}

// TestBlocksPastedInOrder checks that the commands for a band leave the settings of the worked example as they are for
// the commands after them.
func TestBlocksPastedInOrder(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	script := filepath.Join(home, "oriel")
	if err := os.WriteFile(script, []byte("#!/bin/sh\necho \"$1 $ORIEL_LOSS $ORIEL_WINDOW $ORIEL_BAND.\"\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	example, _, _ := strings.Cut(repotest.Block(t, cocoPage, "topics --input-partitions"), "\nmkdir -p")
	_, last := repotest.Operator(t, "coco")
	cmd := exec.CommandContext(t.Context(), "bash", "-e")
	cmd.Dir, cmd.Env = home, []string{"PATH=" + os.Getenv("PATH")}
	cmd.Stdin = strings.NewReader(example + "\n" + repotest.Block(t, cocoPage, "export ORIEL_BAND=") + "\n" + last)
	said, err := cmd.CombinedOutput()
	if want := "eval squared lifetime 0.9.\neval logistic 1024 .\n"; err != nil || string(said) != want {
		t.Errorf("%v, said %q, want %q", err, said, want)
	}
}

// TestBandsOfTheReadme checks that the commands of coco's page for a prediction band give the page's table. The short
// form runs one seed over the first 8 000 flights, after which the covered share is within 0.05 of the level.
func TestBandsOfTheReadme(t *testing.T) {
	t.Parallel()
	commands := repotest.Block(t, cocoPage, "export ORIEL_BAND=")
	example, _, _ := strings.Cut(repotest.Block(t, cocoPage, "topics --input-partitions"), "\nmkdir -p")
	env := repotest.SettingsIn(example)
	for name, value := range repotest.SettingsIn(commands) {
		env[name] = value
	}
	commands = strings.Replace(commands, "--seeds 3", tiertest.Runs("--seeds 1", "--seeds 3"), 1)
	var r race.Report
	evalOfReadme(t, decidesSeldom(env, "8"), commands, tiertest.Runs(8000, 0), &r)
	page, err := os.ReadFile(repotest.Path(cocoPage))
	if err != nil {
		t.Fatal(err)
	}
	bounds := regexp.MustCompile(`(?m)^at most +([\d.]+) +([\d.]+) +([\d.]+)`).FindStringSubmatch(unserved(t, env).Must("plan"))
	shown := regexp.MustCompile(`prints ([\d.]+) after 10 000 events here, which says nothing, ([\d.]+) after 100 000 and ` +
		`([\d.]+) after a million`).FindStringSubmatch(repotest.OnOneLine(string(page)))
	if len(bounds) != len(shown) || bounds == nil {
		t.Fatalf("the page has %q of the plan's bounds %q", shown, bounds)
	}
	for i, text := range shown[1:] {
		values, units := figures(t, text)
		if planned, _ := figures(t, bounds[i+1]); math.Abs(planned[0]-values[0]) > 0.501*units[0] {
			t.Errorf("the page has a bound of %s, the plan %s", text, bounds[i+1])
		}
	}
	for row, kind := range map[string]string{"for life, ε = 1": race.KindPrivate, "without privacy": race.KindReference} {
		cells := regexp.MustCompile(`\n\| ` + row + ` \| ([\d.]+)[^|]*\| ([\d.]+)[^|]*\| ([\d.]+)`).FindStringSubmatch(string(page))
		if cells == nil {
			t.Fatalf("the page has no row %q", row)
		}
		for _, x := range r.Rows {
			if x.Kind != kind {
				continue
			}
			if math.Abs(float64(x.Within.Mean)-0.9) > tiertest.Runs(0.05, 0.01) {
				t.Errorf("%s: %.4f within", row, x.Within.Mean)
			}
			if !tiertest.Runs(false, true) {
				continue
			}
			for i, got := range []digits.Number{x.Within.Mean, x.Width.Mean, x.R2.Mean} {
				values, units := figures(t, cells[i+1])
				if math.Abs(float64(got)-values[0]) > 1.01*units[0] {
					t.Errorf("%s: %g, the page says %s", row, got, cells[i+1])
				}
			}
		}
	}
}
