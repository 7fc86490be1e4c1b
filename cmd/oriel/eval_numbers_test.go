package main

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"oriel/cmd/internal/servicetest"
	"oriel/schemas/decision"
)

// comparedNumbers is the part of `oriel eval --json` that the tests read; null stands for a missing true value.
type comparedNumbers struct {
	Events int
	Null   int `json:"null_events"`
	Rows   []struct {
		Epsilon float64
		Kinds   []struct {
			Statistic, Memory string
			Compared          int
			Covered           *float64
		}
		Numbers []struct {
			Statistic, Cell, Memory string
			Value, Low, High, Truth *float64
		}
	}
}

func (f *fixture) showsTruth(args ...string) (r comparedNumbers) {
	f.T.Helper()
	said := f.Must(append([]string{"eval", "--json"}, args...)...)
	documentIn(f.T, said, &r)
	return r
}

// counted returns a deployment that publishes numbers of the rows of a CSV file, and the mapping of the file's columns.
func counted(t *testing.T, rows int, more ...string) (f *fixture, mapping []string) {
	t.Helper()
	f = unserved(t, map[string]string{
		"ORIEL_OPERATOR": "aggregate", "ORIEL_MECHANISM": "blt", "ORIEL_WINDOW": "256", "ORIEL_EPSILON": "4",
		"ORIEL_DELTA": "1e-6", "ORIEL_CELLS": "carrier=UA|AA|HA,hour=0:24:2", "ORIEL_VALUE": "delay=-60:180",
		"ORIEL_BATCH": "3", "ORIEL_STATISTICS": "count,sum,mean,variance,p50", "ORIEL_ELSEWHERE": "other",
	})
	for _, line := range more {
		name, value, _ := strings.Cut(line, "=")
		f.Env["ORIEL_"+name] = value
	}
	table := []byte("airline,hour,arr_delay\n")
	for i := range rows {
		airline, delay := airlineOf(i)
		table = fmt.Appendf(table, "%s,%d,%d\n", airline, i%24, delay)
	}
	file := servicetest.WriteFile(t, "flights.csv", table)
	return f, []string{
		"--csv", file, "--member", "carrier=airline", "--member", "hour=hour", "--member", "delay=arr_delay",
	}
}

// airlineOf returns the airline and delay of the i-th row. No row has the airline HA.
func airlineOf(i int) (airline string, delay int) {
	return []string{"UA", "AA", "B6"}[i%3], i*i%300 - 80
}

// TestEvalComparesNumbersWithTheTruth compares the true numbers with a computation in this file that uses no code of
// Oriel. The private numbers must be those that a replay publishes with the secret of the same seed.
func TestEvalComparesNumbersWithTheTruth(t *testing.T) {
	const rows = 600
	f, mapping := counted(t, rows)
	r := f.showsTruth(append(mapping, "--seeds", "2", "--epsilon", "4,1")...)
	if r.Events != rows || r.Null != 0 || len(r.Rows) != 2 || r.Rows[1].Epsilon > 1 {
		t.Fatalf("%+v", r)
	}
	values := map[string][]float64{}
	for i := range rows {
		airline, delay := airlineOf(i)
		cell := fmt.Sprintf("carrier=%s,hour=%d:%d", airline, i%24/12*12, i%24/12*12+12)
		if airline == "B6" {
			cell = "other"
		}
		values[cell] = append(values[cell], max(-60, min(180, float64(delay))))
	}
	for _, n := range r.Rows[0].Numbers {
		of := values[n.Cell]
		if len(of) == 0 && n.Statistic != "count" && n.Statistic != "sum" {
			if n.Truth != nil {
				t.Errorf("%s of no events is %g", n.Statistic, *n.Truth)
			}
			continue
		}
		var total, squares float64
		for _, x := range of {
			total, squares = total+x, squares+x*x
		}
		slices.Sort(of)
		size := float64(len(of))
		want, slack := map[string]float64{
			"count": size, "sum": total, "mean": total / size, "variance": squares/size - total*total/size/size, "p50": 0,
		}[n.Statistic], 1e-6
		if n.Statistic == "p50" {
			want, slack = of[len(of)/2], 240./64+3 // slack: the width of a bin plus the distance of adjacent values in a cell
		}
		if n.Truth == nil {
			t.Fatalf("%s of %s: no truth, want %g", n.Statistic, n.Cell, want)
		}
		if math.Abs(*n.Truth-want) > slack*max(1, math.Abs(want)) {
			t.Errorf("%s of %s: %g, want %g", n.Statistic, n.Cell, *n.Truth, want)
		}
	}
	for _, k := range r.Rows[0].Kinds {
		if k.Compared == 0 || *k.Covered < 0.5 {
			t.Errorf("%+v", k)
		}
	}

	secret := sha256.Sum256([]byte("oriel eval, seed 1"))
	var same []byte
	for i := range rows {
		airline, delay := airlineOf(i)
		same = fmt.Appendf(same, `{"carrier":%q,"hour":%d,"delay":%d}`+"\n", airline, i%24, delay)
	}
	events := servicetest.WriteFile(t, "events.ndjson", same)
	lines := bytes.Split(bytes.TrimSpace([]byte(f.Must("replay", "--events", events,
		"--seed", hex.EncodeToString(secret[:])))), []byte("\n"))
	last, err := decision.Parse(lines[len(lines)-1])
	if err != nil || len(last.Point) != len(r.Rows[0].Numbers) {
		t.Fatalf("%d numbers: %v", len(last.Point), err)
	}
	for i, n := range r.Rows[0].Numbers {
		if *n.Value != last.Point[i] || !(*n.Low <= *n.Value && *n.Value <= *n.High) {
			t.Errorf("number %d is %g in [%g, %g], a replay publishes %g", i, *n.Value, *n.Low, *n.High, last.Point[i])
		}
	}
	said := f.Must(append([]string{"eval"}, mapping...)...)
	for _, want := range []string{
		"carrier=UA,hour=0:12", "computed without privacy", "data's owner", "outside the guarantee",
	} {
		if !strings.Contains(said, want) {
			t.Errorf("%q is not said: %s", want, said)
		}
	}
	f.Fails("--delay", append([]string{"eval", "--delay", "5"}, mapping...)...)
}

// TestEvalShowsDecayedNumbers checks that eval compares each memory, and a tumbling window, with a true value of its
// own.
func TestEvalShowsDecayedNumbers(t *testing.T) {
	const rows = 300
	f, mapping := counted(t, rows, "WINDOW=lifetime", "MEMORY=64", "MEMORIES=16,64", "BATCH=1", "STATISTICS=count,mean")
	r := f.showsTruth(mapping...)
	tumbling, _ := counted(t, rows, "WINDOW=", "MECHANISM=once-gaussian", "BATCH=30", "STATISTICS=count,mean")
	delete(tumbling.Env, "ORIEL_WINDOW")
	checked := 0
	for _, n := range append(r.Rows[0].Numbers, tumbling.showsTruth(mapping...).Rows[0].Numbers...) {
		if n.Cell != "carrier=AA,hour=0:12" || n.Statistic != "count" {
			continue
		}
		checked++
		gamma := map[string]float64{"16": 1 - 1./16, "64": 1 - 1./64, "step": 1}[n.Memory]
		want := 0.0
		for i := range rows {
			if want *= gamma; n.Memory == "step" && i%30 == 0 {
				want = 0
			}
			if airline, _ := airlineOf(i); airline == "AA" && i%24 < 12 {
				want++
			}
		}
		if math.Abs(*n.Truth-want) > 1e-6 {
			t.Errorf("memory %s: %g, want %g", n.Memory, *n.Truth, want)
		}
	}
	if checked != 3 {
		t.Errorf("%d numbers", checked)
	}
}

// TestEvalShowsDifferences checks differences between an experiment's arms: of means, and of the share of an arm's
// events in a cell.
func TestEvalShowsDifferences(t *testing.T) {
	const rows = 600
	f, mapping := counted(t, rows, "CELLS=carrier=UA|AA,hour=0:24:2", "ARMS=carrier", "STATISTICS=count,mean")
	type tally struct{ count, sum float64 }
	cells, arms := map[string]tally{}, map[string]float64{}
	for i := range rows {
		airline, delay := airlineOf(i)
		cell := fmt.Sprintf("carrier=%s,hour=%d:%d", airline, i%24/12*12, i%24/12*12+12)
		x := cells[cell]
		cells[cell] = tally{x.count + 1, x.sum + max(-60, min(180, float64(delay)))}
		arms[airline]++
	}
	checked := 0
	for _, n := range f.showsTruth(mapping...).Rows[0].Numbers {
		of, control := cells[n.Cell], cells[strings.Replace(n.Cell, "AA", "UA", 1)]
		want := 0.0
		switch n.Statistic {
		case "mean_difference":
			want = of.sum/of.count - control.sum/control.count
		case "share_difference":
			want = of.count/arms["AA"] - control.count/arms["UA"]
		default:
			continue
		}
		if checked++; n.Truth == nil || math.Abs(*n.Truth-want) > 1e-6*max(1, math.Abs(want)) {
			t.Errorf("%s of %s: %v, want %g", n.Statistic, n.Cell, n.Truth, want)
		}
		if !(*n.Low <= *n.Value && *n.Value <= *n.High) {
			t.Errorf("%s of %s: %g in [%g, %g]", n.Statistic, n.Cell, *n.Value, *n.Low, *n.High)
		}
	}
	if checked != 4 {
		t.Errorf("%d differences", checked)
	}
}
