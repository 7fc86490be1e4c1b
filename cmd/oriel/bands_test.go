//go:build !kafka && !race

package main

import (
	"math"
	"os"
	"regexp"
	"strings"
	"testing"

	"oriel/cmd/internal/eval"
	"oriel/cmd/internal/repotest"
	"oriel/mechanisms/mechtest/tiertest"
)

// TestBandsOfTheReadme checks that the commands of coco's page that make a prediction band give the page's table. The
// short form runs one seed over the first 8 000 flights, after which the covered share is within 0.05 of the level.
func TestBandsOfTheReadme(t *testing.T) {
	t.Parallel()
	commands := repotest.Block(t, cocoPage, "export ORIEL_BAND=")
	example, _, _ := strings.Cut(repotest.Block(t, cocoPage, "topics --input-partitions"), "\nmkdir -p")
	env := repotest.SettingsIn(example)
	for name, value := range repotest.SettingsIn(commands) {
		env[name] = value
	}
	commands = strings.Replace(commands, "--seeds 3", tiertest.Runs("--seeds 1", "--seeds 3"), 1)
	var r eval.Report
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
	for row, kind := range map[string]string{"for life, ε = 1": eval.KindPrivate, "without privacy": eval.KindReference} {
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
			for i, got := range []eval.Number{x.Within.Mean, x.Width.Mean, x.R2.Mean} {
				values, units := figures(t, cells[i+1])
				if math.Abs(float64(got)-values[0]) > 1.01*units[0] {
					t.Errorf("%s: %g, the page says %s", row, got, cells[i+1])
				}
			}
		}
	}
}
