//go:build !kafka && !race

package main

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"
)

// TestNumbersOfTheReadme: README.md's command in the shell of its specification gives its table of intervals, and a
// plot. A figure may be one off in its last digit: another processor fits another filter.
func TestNumbersOfTheReadme(t *testing.T) {
	content, err := os.ReadFile("../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	_, text, _ := strings.Cut(string(content), "### Numbers instead of a model")
	example, rest, _ := strings.Cut(text, "./oriel plan")
	_, command, found := strings.Cut(rest, "./oriel eval ")
	command, rest, closed := strings.Cut(command, "\n```")
	if !found || !closed {
		t.Fatal("README.md has no command")
	}
	home := t.TempDir()
	unpackFlights(t, home)
	f := &fixture{t: t, env: map[string]string{}}
	for _, set := range regexp.MustCompile(`(ORIEL_\w+)=('[^']*'|\S+)`).FindAllStringSubmatch(example, -1) {
		f.env[set[1]] = strings.Trim(set[2], "'")
	}
	words := strings.NewReplacer("\\\n", " ", "'", "", "/tmp/", home+"/").Replace(command)
	p := f.start(nil, append([]string{"eval", "--json"}, strings.Fields(words)...)...)
	if !p.finish(5 * time.Minute) {
		t.Fatalf("%s: %s", words, p.output())
	}
	said := p.output()
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
	documentIn(t, said, &r)
	if _, err := os.Stat(filepath.Join(home, "delays.svg")); err != nil {
		t.Error(err)
	}
	checked := 0
	for _, row := range r.Rows {
		_, line, found := strings.Cut(rest, fmt.Sprintf("\n| ε = %.0f |", row.Epsilon))
		cells := strings.SplitN(line, "|", 3)
		if !found || len(cells) < 3 {
			t.Fatalf("no row of ε = %g", row.Epsilon)
		}
		for _, k := range row.Kinds {
			if k.Memory != "65536" {
				continue
			}
			values, units := figures(t, cells[map[string]int{"count": 0, "mean": 1}[k.Statistic]])
			for i, want := range []float64{k.Half, 100 * k.Covered} {
				if checked++; math.Abs(values[i]-want) > 1.01*units[i] {
					t.Errorf("ε = %g, %s: %g is shown, it is %g", row.Epsilon, k.Statistic, values[i], want)
				}
			}
		}
	}
	if checked != 8 {
		t.Errorf("%d figures", checked)
	}
}
