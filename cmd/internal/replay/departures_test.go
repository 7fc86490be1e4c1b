package replay_test

import (
	"bytes"
	"compress/gzip"
	"encoding/csv"
	"fmt"
	"math"
	"os"
	"strings"
	"testing"
	"time"

	"oriel/cmd/internal/numbers"
	"oriel/cmd/internal/numbers/clock"
	"oriel/cmd/internal/repotest"
	"oriel/cmd/internal/settings"
	"oriel/operators"
	"oriel/pipeline/kafka/records"
	"oriel/schemas/decision"
	"oriel/schemas/text"
)

// departure is a row of deploy/examples/departures.csv.gz.
type departure struct {
	hour              time.Time
	carrier, aircraft string
}

func departures(t *testing.T) (all []departure) {
	t.Helper()
	packed, err := os.ReadFile(repotest.Path("deploy/examples/departures.csv.gz"))
	if err != nil {
		t.Fatal(err)
	}
	table, err := gzip.NewReader(bytes.NewReader(packed))
	if err != nil {
		t.Fatal(err)
	}
	rows, err := csv.NewReader(table).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	for _, row := range rows[1:] {
		hour, err := time.Parse(time.RFC3339, row[0])
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, departure{hour, row[1], row[2]})
	}
	return all
}

// numbersOf takes the departures as records that came in their hours, in three partitions, and returns a collector of
// the decisions.
func numbersOf(t *testing.T, all []departure, every time.Duration, lines []string) *numbers.Collector {
	t.Helper()
	w := newClockWalk(t, 3, lines...)
	s, err := settings.Load(lines, settings.Events, settings.Operator)
	if err != nil {
		t.Fatal(err)
	}
	learner := s.Learner()
	names, err := numbers.ParseNames(operators.DescriptorOf(learner.Operator()))
	if err != nil {
		t.Fatal(err)
	}
	c, err := numbers.NewCollector(names, clock.Clock{Every: every})
	if err != nil {
		t.Fatal(err)
	}
	w.Decided = func(_ uint8, _, value []byte) {
		line, _ := decision.AppendLine(nil, value)
		if err := numbers.AddLines(c, bytes.NewReader(line)); err != nil {
			t.Fatal(err)
		}
	}
	w.Taken = func(_ *records.Record, _ int64, code text.Code) {
		if code != text.OK && code != text.TooMany && code != text.NoUser {
			t.Fatal(code)
		}
	}
	within := int64(0) // a second of the hour for each departure
	for i, d := range all {
		if within++; i == 0 || !d.hour.Equal(all[i-1].hour) {
			within = 0
		}
		w.fill = func(r *records.Record) {
			r.Value, r.Key = fmt.Appendf(nil, `{"carrier":%q}`, d.carrier), []byte(d.aircraft)
		}
		w.take(t, d.hour.Unix()+within-w.begin, i%3, 1)
	}
	w.pass(t, 7*24*3600)
	return c
}

// TestDeparturesOfTheNumbersPage takes a week of departures with the settings of deploy/NUMBERS.md. The page must show
// what `oriel numbers` prints, and intervals must contain the true numbers as often as the law of their noise says. The
// truth is counted here, from the rows of the table.
func TestDeparturesOfTheNumbersPage(t *testing.T) {
	all := departures(t)
	daily := func(d departure) string { return d.hour.Format(time.DateOnly) + " " + d.carrier }
	hourly := func(d departure) string { return d.hour.Format("2006-01-02T15") + " " + d.carrier }
	truth := map[string]float64{}
	first := map[string]bool{} // an aircraft counts for the airline of its first departure of a day
	for _, d := range all {
		truth[hourly(d)]++
		if key := d.hour.Format(time.DateOnly) + d.aircraft; d.aircraft != "" && !first[key] {
			first[key] = true
			truth[daily(d)]++
		}
	}
	for _, f := range []struct {
		command string // start of the command on the page, whose block has the settings
		every   time.Duration
		layout  string
		of      string
		rows    int
	}{
		{"departures", time.Hour, "2006-01-02T15", "2013-01-10T13", 7 * 24 * 15},
		{"aircraft", 24 * time.Hour, time.DateOnly, "2013-01-10", 7 * 15},
	} {
		block := repotest.Block(t, "deploy/NUMBERS.md", "ORIEL_NAME="+f.command)
		var lines []string
		for name, value := range repotest.SettingsIn(block) {
			lines = append(lines, name+"="+value)
		}
		c := numbersOf(t, all, f.every, lines)
		begin, err := time.Parse(f.layout, f.of)
		if err != nil {
			t.Fatal(err)
		}
		var shown bytes.Buffer
		if err := c.Write(&shown, "table", numbers.Query{From: begin, To: begin.Add(f.every)}); err != nil {
			t.Fatal(err)
		}
		page := repotest.Block(t, "deploy/NUMBERS.md", "$ oriel numbers --topic "+f.command+".decisions")
		if _, want, _ := strings.Cut(page, "\n"); want != shown.String() {
			t.Errorf("the page shows\n%sand the numbers are\n%s", want, shown.String())
		}
		rows, err := c.Rows(numbers.Query{})
		if err != nil {
			t.Fatal(err)
		}
		covered := 0
		for _, r := range rows {
			key := r.Start.Format(f.layout) + " " + r.Places[0]
			if want := truth[key]; r.Low <= want && want <= r.High {
				covered++
			}
		}
		// A count of once-laplace at ε = 1 is covered with probability 0.9502; 5 standard deviations
		n, p := float64(len(rows)), 0.9502
		if len(rows) != f.rows || math.Abs(float64(covered)-n*p) > 5*math.Sqrt(n*p*(1-p)) {
			t.Errorf("%s: %d of %d intervals contain the true number", f.command, covered, len(rows))
		}
		figure := fmt.Sprintf("In %d of %d ", covered, len(rows))
		content, err := os.ReadFile(repotest.Path("deploy/NUMBERS.md"))
		if err != nil || !strings.Contains(string(content), figure) {
			t.Errorf("%v: the page lacks %q", err, figure)
		}
	}
}
