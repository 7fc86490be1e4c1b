//go:build !kafka && !race

package main

import (
	"math"
	"os"
	"regexp"
	"strings"
	"testing"
	"time"

	"oriel/cmd/internal/eval"
)

// evalOfTheReadme runs the command of a section, with its settings and no other, and one seed of three. It returns the
// report and the numbers that the section says.
func evalOfTheReadme(t *testing.T, section, said string) (r eval.Report, shown []float64) {
	t.Helper()
	content, err := os.ReadFile("../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	_, text, _ := strings.Cut(string(content), section)
	text, _, _ = strings.Cut(text, "\n##")
	f, home := &fixture{t: t, env: map[string]string{}}, t.TempDir()
	unpackFlights(t, home)
	for _, set := range regexp.MustCompile(`(ORIEL_\w+)=(\S+)`).FindAllStringSubmatch(text[strings.Index(text, "```"):], -1) {
		f.env[set[1]] = strings.Replace(set[2], "deploy/", "../../deploy/", 1)
	}
	_, words, _ := strings.Cut(text, "./oriel eval ")
	words, after, _ := strings.Cut(words, "\n```")
	words = strings.NewReplacer("\\\n", " ", "'", "", "/tmp/", home+"/", "--seeds 3", "--seeds 1").Replace(words)
	p := f.start(nil, append([]string{"eval", "--json"}, strings.Fields(words)...)...)
	if !p.finish(5 * time.Minute) {
		t.Fatalf("%s: %s", words, p.output())
	}
	documentIn(t, p.output(), &r)
	match := regexp.MustCompile(said).FindStringSubmatch(strings.Join(strings.Fields(after), " "))
	if match == nil {
		t.Fatalf("README.md has no figures: %s", after)
	}
	shown, _ = figures(t, strings.Join(match[1:], " "))
	return r, shown
}

// TestRidgeOfTheReadme: README.md's command gives its figures; with one seed of three, so that R² may be 0.003 off and
// a gain 5 %.
func TestRidgeOfTheReadme(t *testing.T) {
	r, shown := evalOfTheReadme(t, "### Least squares with standard errors",
		`R² ([\d.]+) at ε = 1 and ([\d.]+) at ε = 4, ([\d.]+) % and ([\d.]+) %`)
	for i, row := range r.Rows[:2] {
		r2, gain := float64(row.R2.Mean), 100*float64(row.Gain)
		if math.Abs(r2-shown[i]) > 0.003 || math.Abs(gain-shown[2+i]) > 5 {
			t.Errorf("ε = %g: R² %.4f and %.1f %% are %g and %g in README.md", row.Epsilon, r2, gain, shown[i], shown[2+i])
		}
	}
}
