package main

import (
	"bytes"
	"encoding/csv"
	"fmt"
	"math"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"oriel/cmd/internal/numbers"
	"oriel/cmd/internal/servicetest"
)

// TestNumbersOfATopic: a year of events, replayed from earliest in two partitions, falls into its own hours. The first
// process dies with decisions that it has not committed, which do not count twice. Decisions of an earlier deployment
// have no time: those of their records count, and it is said.
func TestNumbersOfATopic(t *testing.T) {
	t.Parallel()
	const each, apart = 60, 73 * time.Hour // half a year each
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
	killed := f.Start(map[string]string{"TEST_KILL": "produced:3"}, "run")
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

	f.CreateTopic("earlier", 2, nil)
	f.Env["ORIEL_INPUT_TOPIC"] = "earlier" // of Send
	time0 := regexp.MustCompile(`,"time":\d+|,"increment_filter":\[[^]]*\]`)
	later := map[string]float64{} // a day later: when they were published
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
	said := numbersOf("--topic", "earlier", "--descriptor", f.Topic("descriptor"))
	for _, text := range []string{"have no time: those of their records count", numbers.Table} {
		if strings.Count(said, text) != 1 {
			t.Errorf("%q is not said once: %s", text, said)
		}
	}
	compare(said[strings.Index(said, "start,end"):], later)
	f.Fails("--descriptor: missing", "numbers", "--topic", "earlier")
}
