package main

import (
	"bytes"
	"encoding/csv"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"oriel/cmd/internal/servicetest"
)

// TestNumbersOfAFile checks rows by the hours of a time zone, with marginals. The error for a wrong flag must name the
// flag.
func TestNumbersOfAFile(t *testing.T) {
	dir := t.TempDir()
	names, input := filepath.Join(dir, "names.json"), filepath.Join(dir, "decisions.json")
	text := `{"cells":["carrier=UA,hour=0:12","carrier=UA,hour=12:24","carrier=AA,hour=0:12","carrier=AA,hour=12:24"],` +
		`"statistics":["count"],"views":[{"memory":8,"of":"steps"}],"increments":["count"],"increment_deviations":[1],"emit_every":1}`
	var decisions []byte
	for step := 1; step <= 3; step++ {
		decisions = fmt.Appendf(decisions, `{"stream":"0","incarnation":"ab0100000000000000000000000000ff","index":%d,"step":%[1]d,`+
			`"decision":[0,0,0,0],"mechanism":"blt","window":0,"batch":1,"epsilon":1,"delta":0,"adjacency":"replace","unit":"event",`+
			`"increments":[1,2,3,4],"window_deviation":[1,1],"increment_filter":[8,536870912,1],"time":%d}`+"\n", step, 1769895000000+step*1000000)
	}
	for file, content := range map[string][]byte{names: []byte(text), input: decisions} {
		if err := os.WriteFile(file, content, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	var problems bytes.Buffer
	run := func(args ...string) (string, error) {
		var out bytes.Buffer
		cmd := root()
		cmd.SetOut(&out)
		problems.Reset()
		cmd.SetErr(&problems)
		cmd.SetArgs(append([]string{"numbers", "--input", input, "--names", names, "--format", "csv"}, args...))
		err := cmd.ExecuteContext(t.Context())
		return out.String(), err
	}
	const hour = "2026-01-31T23:00:00+02:00,2026-02-01T00:00:00+02:00,"
	const want = "start,end,carrier,hour,statistic,value,low,high,deviation,steps,note\n" +
		hour + "UA,all,count,3,0.22819235130064408,5.771807648699356,1.4142135623730951,1,\n" +
		hour + "AA,all,count,7,4.228192351300644,9.771807648699356,1.4142135623730951,1,\n" +
		hour + "all,all,count,10,6.080072030919892,13.919927969080108,2,1,\n"
	out, err := run("--by", "carrier", "--total", "--timezone", "+02:00", "--to", "2026-02-01")
	if err != nil || out != want || problems.Len() > 0 {
		t.Errorf("%v: %s%s\nwant\n%s", err, out, &problems, want)
	}
	// Two partitions of one stream, of which the second is read four hours behind the first.
	mixed := regexp.MustCompile(`"time":\d+`)
	var backlog []byte
	for step := 1; step <= 20; step++ {
		line := bytes.Replace(bytes.SplitAfter(decisions, []byte("\n"))[0], []byte(`"step":1`), fmt.Appendf(nil, `"step":%d`, step), 1)
		at := 1769895000000 + step*600_000 - step/11*(10*600_000+4*3_600_000)
		backlog = append(backlog, mixed.ReplaceAll(line, fmt.Appendf(nil, `"time":%d`, at))...)
	}
	if err := os.WriteFile(input, backlog, 0o600); err != nil {
		t.Fatal(err)
	}
	for every, want := range map[string]string{
		"1h": "back by up to 4 h 50 min: hours are mixed", "24h": "days are mixed", "3h": "intervals are mixed", "0": "",
	} {
		if _, err := run("--every", every); err != nil || !strings.Contains(problems.String(), want) ||
			strings.Contains(problems.String(), "times go back") != (want != "") {
			t.Errorf("--every %s: %v: %s", every, err, &problems)
		}
	}
	for _, args := range [][]string{
		{"--timezone", "Berlin"},
		{"--format", "xml"},
		{"--from", "yesterday"},
		{"--every", "-1h"},
		{"--by", "delay"},
		{"--statistic", "mean"},
		{"--topic", "x"},
		{"--last", "1h", "--to", "2026-02-01"},
		{"--statistic", "effect"},
	} {
		if out, err := run(args...); err == nil {
			t.Errorf("%v: %s", args, out)
		}
	}
	for want, args := range map[string][]string{
		"ORIEL_ALWAYS_VALID": {"--effects"},
		"--by":               {"--effects", "--by", "carrier"},
		"--total":            {"--effects", "--total"},
		"--statistic":        {"--effects", "--statistic", "count"},
		"--format":           {"--effects", "--format", "parquet"},
	} {
		if out, err := run(args...); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v: %v: %s", args, err, out)
		}
	}
}

// TestNumbersOfStepsByTheClock prints days of hours: a decision has the end of its hour as its time, so that the first
// one after midnight belongs to the day before. Local days that are not made of whole hours are refused.
func TestNumbersOfStepsByTheClock(t *testing.T) {
	names := servicetest.WriteFile(t, "names.json", []byte(`{"cells":["carrier=UA","carrier=AA"],"statistics":["count"],`+
		`"views":[{"of":"the events of the step"}],"emit_every":1}`))
	var lines []byte
	for hour := range 36 {
		end := time.Date(2026, 1, 31, 1, 0, 0, 0, time.UTC).Add(time.Duration(hour) * time.Hour)
		lines = fmt.Appendf(lines, `{"stream":"all","incarnation":"ab0100000000000000000000000000ff","index":%d,"step":%[1]d,"decision":[%d,0],`+
			`"mechanism":"once-laplace","window":0,"batch":0,"epsilon":1,"delta":0,"adjacency":"add-remove","unit":"event",`+
			`"count_deviation":[1.3570144],"seconds":3600,"time":%d}`+"\n", end.Unix()/3600-1, hour/24, end.UnixMilli())
	}
	input := servicetest.WriteFile(t, "decisions.json", lines)
	run := func(args ...string) (string, error) {
		var out bytes.Buffer
		cmd := root()
		cmd.SetOut(&out)
		cmd.SetErr(&out)
		cmd.SetArgs(append([]string{"numbers", "--input", input, "--names", names, "--every", "24h"}, args...))
		err := cmd.ExecuteContext(t.Context())
		return out.String(), err
	}
	const want = `start                 carrier  statistic  value  95 % interval
2026-01-31T00:00:00Z  UA       count      0      -13 to 13
2026-01-31T00:00:00Z  AA       count      0      -13 to 13
2026-02-01T00:00:00Z  UA       count      12     3 to 21; 12 of 24 steps
2026-02-01T00:00:00Z  AA       count      0      -9 to 9; 12 of 24 steps
`
	if out, err := run(); err != nil || out != want {
		t.Errorf("%v:\n%swant\n%s", err, out, want)
	}
	out, err := run("--timezone", "+05:30")
	if err == nil || !strings.Contains(err.Error(), "does not lie within one interval") {
		t.Errorf("days of +05:30: %v: %s", err, out)
	}
}

// TestNumbersOfATopic publishes a year of events that the service consumes late, from the start, in two partitions:
// numbers must count them in the hours of the events. The first process dies with uncommitted decisions, which must not
// count twice. A decision without a time gets the timestamp of its record, and the
// output must say so.
func TestNumbersOfATopic(t *testing.T) {
	t.Parallel()
	const each, apart = 60, 73 * time.Hour // half a year of events in each partition
	first := time.Date(2025, 1, 1, 0, 20, 0, 0, time.UTC)
	f := newFixture(t, 2, map[string]string{
		"ORIEL_OPERATOR": "aggregate", "ORIEL_CELLS": "country=DE|FR", "ORIEL_EPSILON": "1e6", "ORIEL_MECHANISM": "blt",
		"ORIEL_STATISTICS": "count", "ORIEL_WINDOW": "lifetime", "ORIEL_MEMORY": "64", "ORIEL_INCREMENTS": "true",
	})
	for _, name := range []string{
		"UPDATE", "LOSS", "SET", "RADIUS", "DIMENSION", "STRONG_CONVEXITY", "CLIP",
	} {
		delete(f.Env, "ORIEL_"+name)
	}
	f.Must("topics")
	opened := f.Start(nil, "run") // so that the first transaction of the next process has decisions, and is no opening
	f.Await(time.Minute, "both partitions opened", func() bool {
		return strings.Count(opened.Output(), "state=running") == 2
	})
	opened.Terminate()
	want := map[string]float64{} // events by hour and country
	for p := range 2 {
		list := servicetest.Events(0, 0)
		for i := range each {
			at, country := first.Add(time.Duration(p*each+i)*apart), []string{"DE", "FR"}[i/3%2]
			for range 1 + i%3 {
				r := servicetest.Value(fmt.Sprintf(`{"country":%q}`, country))
				r.Timestamp = at.UnixMilli()
				list = append(list, r)
				want[at.Truncate(time.Hour).Format(time.RFC3339)+" "+country]++
			}
		}
		f.Send(int32(p), list...)
	}
	killed := f.Start(map[string]string{"TEST_KILL": "produced:1"}, "run")
	killed.Finish(time.Minute)
	f.Start(nil, "run")
	f.AwaitTaken(time.Minute, 2*each, 2*each)
	topic, uncommitted := f.Topic("decisions"), 0
	var lines [2][]byte
	for p := range int32(2) {
		uncommitted += len(f.Read(topic, p, true)) - 2*each
		for _, r := range f.Read(topic, p, false) {
			lines[p] = append(append(lines[p], r.Value...), '\n')
		}
	}
	if uncommitted == 0 {
		t.Error("no decision was left uncommitted")
	}
	numbersOf := func(args ...string) string {
		t.Helper()
		return f.Must(append([]string{"numbers", "--every", "1h", "--format", "csv"}, args...)...)
	}
	of := numbersOf("--topic", topic)
	compare := func(rows string, want map[string]float64) {
		t.Helper()
		table, err := csv.NewReader(strings.NewReader(rows)).ReadAll()
		if err != nil || len(table) != 1+2*2*each {
			t.Fatalf("%d rows: %v: %s", len(table), err, rows)
		}
		for _, row := range table[1:] {
			value, err := strconv.ParseFloat(row[4], 64)
			if key := row[0] + " " + row[2]; err != nil || math.Abs(value-want[key]) > 0.1 {
				t.Errorf("%s: %g, want %g: %v", key, value, want[key], err)
			}
		}
	}
	compare(of, want)
	names := servicetest.WriteFile(t, "names.json", f.Read(f.Topic("descriptor"), 0, false)[0].Value)
	input := servicetest.WriteFile(t, "decisions.json", bytes.Join(lines[:], nil))
	if file := numbersOf("--input", input, "--names", names); file != of {
		t.Errorf("of a file:\n%s\nof the topic:\n%s", file, of)
	}

	f.CreateTopic("untimed", 2, nil)
	f.Env["ORIEL_INPUT_TOPIC"] = "untimed" // Send writes to this topic
	time0 := regexp.MustCompile(`,"time":\d+`)
	later := map[string]float64{} // these events count when they are published, a day later
	for key, n := range want {
		at, _ := time.Parse(time.RFC3339, key[:len(key)-3])
		later[at.AddDate(0, 0, 1).Format(time.RFC3339)+key[len(key)-3:]] = n
	}
	for p, text := range lines {
		list := servicetest.Events(0, 0)
		for line := range bytes.Lines(text) {
			at, _, _ := bytes.Cut(line[bytes.Index(line, []byte(`"time":`))+7:], []byte("}"))
			ms, err := strconv.ParseInt(strings.Split(string(at), ",")[0], 10, 64)
			if err != nil {
				t.Fatal(err)
			}
			r := servicetest.Value(string(time0.ReplaceAll(bytes.TrimSpace(line), nil)))
			r.Timestamp = ms + (24 * time.Hour).Milliseconds()
			list = append(list, r)
		}
		f.Send(int32(p), list...)
	}
	said := numbersOf("--topic", "untimed", "--descriptor", f.Topic("descriptor"))
	if strings.Count(said, "they count when they were published") != 1 {
		t.Errorf("the time of decisions without one is not said once: %s", said)
	}
	compare(said[strings.Index(said, "start,end"):], later)
	f.Fails("--descriptor: missing", "numbers", "--topic", "untimed")
}

// TestMixedTimesLeaveBandsRight checks that the warning of mixed times denies no band of an effect: each is of the
// whole experiment until a step, whatever the times are.
func TestMixedTimesLeaveBandsRight(t *testing.T) {
	for effects, want := range map[bool]string{true: "mixed, and an effect may count", false: "cover less than 95 %"} {
		var problems strings.Builder
		warnOfMixed(&problems, 4*time.Hour, 24*time.Hour, effects)
		if !strings.Contains(problems.String(), want) || effects == strings.Contains(problems.String(), "95 %") {
			t.Errorf("effects %v: %s", effects, &problems)
		}
	}
}
