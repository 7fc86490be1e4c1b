package main

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

func TestProduceRefusesFlagsItWouldNotUse(t *testing.T) {
	f := offline(t, map[string]string{"ORIEL_BROKERS": "127.0.0.1:1"})
	file := write(t, "file", []byte("a,b\n1,2\n"))
	f.fails("topic", "produce", "--ndjson", file)
	f.fails("ndjson csv", "produce", "--topic", "t")
	f.fails("ndjson csv", "produce", "--topic", "t", "--ndjson", file, "--csv", file)
	for _, name := range mappingFlags {
		f.fails("ndjson "+name, "produce", "--topic", "t", "--ndjson", file, "--"+name, "a")
		f.fails("map "+name, "produce", "--topic", "t", "--csv", file, "--map", file, "--"+name, "a")
	}
	f.fails("partition partition-by", "produce", "--topic", "t", "--csv", file, "--label", "a", "--feature", "b", "--partition", "0", "--partition-by", "a")
}

// TestProduceSendsEachLineOnce: lines in their order, empty ones and one without end among them, to one partition or in turn.
func TestProduceSendsEachLineOnce(t *testing.T) {
	f := newFixture(t, 2, nil)
	topic := f.env["ORIEL_INPUT_TOPIC"]
	read := func() (all [2][]string) {
		t.Helper()
		for p := range int32(2) {
			for _, r := range f.read(topic, p, false) {
				if r.Value == nil {
					t.Error("an empty line is sent as a tombstone")
				}
				all[p] = append(all[p], string(r.Value))
			}
		}
		return all
	}
	const lines = 3000 // of 400 bytes: more than one batch
	var want []string
	for i := range lines {
		want = append(want, fmt.Sprintf("%0400d", i))
	}
	want[7], want[lines-1] = "", "the last"
	file := write(t, "lines", []byte(strings.Join(want, "\n")))
	f.must("produce", "--topic", topic, "--ndjson", file, "--partition", "1")
	if got := read(); len(got[0]) != 0 || !slices.Equal(got[1], want) {
		t.Errorf("%d and %d records, or not the lines in order", len(got[0]), len(got[1]))
	}
	f.must("produce", "--topic", topic, "--ndjson", file)
	got := read()
	got[1] = got[1][lines:]
	for i, line := range want {
		if half := got[i%2]; i/2 >= len(half) || half[i/2] != line {
			t.Fatalf("line %d is not record %d of partition %d", i, i/2, i%2)
		}
	}
	f.fails("does not exist", "produce", "--topic", topic+"x", "--ndjson", file)
	f.fails("--partition 2", "produce", "--topic", topic, "--ndjson", file, "--partition", "2")
	f.fails("line 1: 400 bytes", "produce", "--topic", topic, "--ndjson", file, "--max-bytes", "399")
	f.fails("missing", "produce", "--topic", topic, "--ndjson", file+".missing")
	if again := read(); len(again[0]) != lines/2 || len(again[1]) != lines+lines/2 {
		t.Error("a refused file is sent")
	}
}

// TestProduceMapsAsItsFlagsDo: a mapping file gives the records of the flags that it stands for, keys included.
func TestProduceMapsAsItsFlagsDo(t *testing.T) {
	f := newFixture(t, 2, nil)
	csv, _ := delays(2)
	file := write(t, "flights.csv", []byte(csv))
	mapping := write(t, "mapping.json", []byte(`{"where":"hour>=3","label":"arr_delay","features":["carrier","hour:number"],"partition_by":"origin","key":"carrier","sort":["hour","carrier"]}`))
	other := f.name + ".other"
	f.createTopic(other, 2, nil)
	f.fails("arr_delay", "produce", "--topic", other, "--csv", file, "--map", mapping) // its labels must not be missing
	csv = strings.ReplaceAll(csv, ",NA\n", ",0\n")
	file = write(t, "flights.csv", []byte(csv))
	f.must("produce", "--topic", f.env["ORIEL_INPUT_TOPIC"], "--csv", file, "--where", "hour>=3", "--label", "arr_delay", "--feature", "carrier",
		"--feature", "hour:number", "--partition-by", "origin", "--key", "carrier", "--sort", "hour,carrier")
	f.must("produce", "--topic", other, "--csv", file, "--map", mapping)
	count := 0
	for p := range int32(2) {
		a, b := f.read(f.env["ORIEL_INPUT_TOPIC"], p, false), f.read(other, p, false)
		if len(a) != len(b) {
			t.Fatalf("partition %d: %d and %d records", p, len(a), len(b))
		}
		for i := range a {
			if string(a[i].Value) != string(b[i].Value) || string(a[i].Key) != string(b[i].Key) || (a[i].Key == nil) != (b[i].Key == nil) {
				t.Errorf("partition %d, record %d: %q %s and %q %s", p, i, a[i].Key, a[i].Value, b[i].Key, b[i].Value)
			}
		}
		count += len(a)
	}
	if count != 9*12 {
		t.Errorf("%d records of 9 hours with 12 flights each", count)
	}
}
