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

// TestRidgeOfTheReadme: README.md's command, with its settings and no other, gives its figures; with one seed of three,
// so that R² may be 0.003 off and a gain 5 %.
func TestRidgeOfTheReadme(t *testing.T) {
	content, err := os.ReadFile("../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	_, text, _ := strings.Cut(string(content), "### Least squares with standard errors")
	text, _, _ = strings.Cut(text, "\n##")
	f, home := &fixture{t: t, env: map[string]string{}}, t.TempDir()
	unpackFlights(t, home)
	for _, set := range regexp.MustCompile(`(ORIEL_\w+)=(\S+)`).FindAllStringSubmatch(text[strings.Index(text, "```"):], -1) {
		f.env[set[1]] = set[2]
	}
	_, words, _ := strings.Cut(text, "./oriel eval ")
	words, said, _ := strings.Cut(words, "\n```")
	words = strings.NewReplacer("\\\n", " ", "'", "", "/tmp/", home+"/", "--seeds 3", "--seeds 1").Replace(words)
	p := f.start(nil, append([]string{"eval", "--json"}, strings.Fields(words)...)...)
	if !p.finish(5 * time.Minute) {
		t.Fatalf("%s: %s", words, p.output())
	}
	var r eval.Report
	documentIn(t, p.output(), &r)
	shown := regexp.MustCompile(`R² ([\d.]+) at ε = 1 and ([\d.]+) at ε = 4, ([\d.]+) % and ([\d.]+) %`).
		FindStringSubmatch(strings.Join(strings.Fields(said), " "))
	if shown == nil {
		t.Fatalf("README.md has no figures: %s", said)
	}
	values, _ := figures(t, strings.Join(shown[1:], " "))
	for i, row := range r.Rows[:2] {
		r2, gain := float64(row.R2.Mean), 100*float64(row.Gain)
		if math.Abs(r2-values[i]) > 0.003 || math.Abs(gain-values[2+i]) > 5 {
			t.Errorf("ε = %g: R² %.4f and %.1f %% are %g and %g in README.md", row.Epsilon, r2, gain, values[i], values[2+i])
		}
	}
}
