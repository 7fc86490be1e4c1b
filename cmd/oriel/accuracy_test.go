//go:build !kafka && !race

package main

import (
	"math"
	"os"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"oriel/cmd/internal/eval"
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

// TestAccuracyOfTheReadme: README.md's command, in the shell of its example, gives its table. A figure may be one off
// in its last digit: another processor fits another filter.
func TestAccuracyOfTheReadme(t *testing.T) {
	content, err := os.ReadFile("../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	readme, home := string(content), t.TempDir()
	unpackFlights(t, home)

	f := &fixture{t: t, env: map[string]string{}}
	set := regexp.MustCompile(`(ORIEL_\w+)=(\S+)`)
	example, _, _ := strings.Cut(readme, "\nmkdir -p")
	_, command, found := strings.Cut(readme, "\nORIEL_START_REGULARIZER=")
	if command, _, _ = strings.Cut(command, "\n```"); !found {
		t.Fatal("README.md has no command")
	}
	before, words, _ := strings.Cut("ORIEL_START_REGULARIZER="+command, " ./oriel eval ")
	for _, text := range []string{example, before} { // the command's own are later, and in force
		for _, name := range set.FindAllStringSubmatch(text, -1) {
			f.env[name[1]] = name[2]
		}
	}
	words = strings.NewReplacer("\\\n", " ", "'", "", "/tmp/", home+"/").Replace(words)
	p := f.start(nil, append([]string{"eval", "--json"}, strings.Fields(words)...)...)
	if !p.finish(5 * time.Minute) {
		t.Fatalf("%s: %s", words, p.output())
	}
	said := p.output()
	var r eval.Report
	documentIn(t, said, &r)

	check := func(what, text string, want ...eval.Number) {
		t.Helper()
		values, units := figures(t, text)
		if len(values) != len(want) {
			t.Fatalf("%s: %q has %d figures, want %d", what, text, len(values), len(want))
		}
		for i, v := range values {
			if !(math.Abs(v-float64(want[i])) <= 1.01*units[i]) {
				t.Errorf("%s: %g is shown, it is %g", what, v, want[i])
			}
		}
	}
	counted := regexp.MustCompile(`gives for ([\d ]+) flights, mean \(worst\) of three seeds`).FindStringSubmatch(readme)
	if counted == nil || strings.ReplaceAll(counted[1], " ", "") != strconv.Itoa(r.Events) || r.Seeds != 3 {
		t.Errorf("%d events and %d seeds, README.md says %q", r.Events, r.Seeds, counted)
	}
	rows := map[string]int{
		"for life (memory 65 536), ε = 1": 65536 + 1, "for life, ε = 4": 65536 + 4,
		"newest 1024 flights, ε = 1": 1, "newest 1024 flights, ε = 4": 4,
	}
	for start, want := range rows {
		_, rest, found := strings.Cut(readme, "\n| "+start+" |")
		cells := strings.SplitN(rest, "|", 4)
		if !found || len(cells) < 4 {
			t.Fatalf("no row %q", start)
		}
		for _, row := range r.Rows {
			if row.Kind != eval.KindBase && row.Epsilon > 0 && int(row.Memory)+int(math.Round(row.Epsilon)) == want {
				check(start, cells[0], row.Loss.Mean, row.Loss.Worst)
				check(start, cells[1], row.LateAUC.Mean, row.LateAUC.Worst)
				check(start, cells[2], 100*row.Gain)
				delete(rows, start)
			}
		}
	}
	if len(rows) > 0 {
		t.Errorf("not computed: %v", rows)
	}
	base := r.Rows[len(r.Rows)-1]
	_, rest, _ := strings.Cut(readme, "\n| base rate, without privacy |")
	cells := strings.SplitN(rest, "|", 3)
	check("base rate, log loss", cells[0], base.Loss.Mean)
	check("base rate, AUC", cells[1], base.LateAUC.Mean)
}
