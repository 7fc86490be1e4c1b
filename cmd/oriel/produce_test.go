package main

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"oriel/cmd/internal/servicetest"
)

func TestProduceRefusesFlagsItWouldNotUse(t *testing.T) {
	f := offline(t, map[string]string{"ORIEL_BROKERS": "127.0.0.1:1"})
	file := servicetest.WriteFile(t, "file", []byte("a,b\n1,2\n"))
	f.Fails("topic", "produce", "--ndjson", file)
	f.Fails("ndjson csv", "produce", "--topic", "t")
	f.Fails("ndjson csv", "produce", "--topic", "t", "--ndjson", file, "--csv", file)
	for _, name := range mappingFlags {
		f.Fails("ndjson "+name, "produce", "--topic", "t", "--ndjson", file, "--"+name, "a")
		f.Fails("map "+name, "produce", "--topic", "t", "--csv", file, "--map", file, "--"+name, "a")
	}
	f.Fails("partition partition-by", "produce", "--topic", "t", "--csv", file, "--label", "a", "--feature", "b",
		"--partition", "0", "--partition-by", "a")
}

// TestProduceSendsEachLineOnce checks that lines are sent in order, to one partition or in turn. Some lines are empty,
// and the last one has no line end.
func TestProduceSendsEachLineOnce(t *testing.T) {
	t.Parallel()
	f := newFixture(t, 2, nil)
	topic := f.Env["ORIEL_INPUT_TOPIC"]
	read := func() (all [2][]string) {
		t.Helper()
		for p := range int32(2) {
			for _, r := range f.Read(topic, p, false) {
				if r.Value == nil {
					t.Error("an empty line is sent as a tombstone")
				}
				all[p] = append(all[p], string(r.Value))
			}
		}
		return all
	}
	const lines = 3000 // lines of 400 bytes, which fill more than one batch
	var want []string
	for i := range lines {
		want = append(want, fmt.Sprintf("%0400d", i))
	}
	want[7], want[lines-1] = "", "the last"
	file := servicetest.WriteFile(t, "lines", []byte(strings.Join(want, "\n")))
	f.Must("produce", "--topic", topic, "--ndjson", file, "--raw", "--partition", "1")
	if got := read(); len(got[0]) != 0 || !slices.Equal(got[1], want) {
		t.Errorf("%d and %d records, or not the lines in order", len(got[0]), len(got[1]))
	}
	f.Must("produce", "--topic", topic, "--ndjson", file, "--raw")
	got := read()
	got[1] = got[1][lines:]
	for i, line := range want {
		if half := got[i%2]; i/2 >= len(half) || half[i/2] != line {
			t.Fatalf("line %d is not record %d of partition %d", i, i/2, i%2)
		}
	}
	const one = "{\"a\": 1}\n"
	for content, want := range map[string]string{
		"[\n" + one + "]\n":            "line 1: no JSON object: json_syntax: |jq -c '.[]' FILE",
		"{\n  \"a\": 1\n}\n":           "line 1: no JSON object: json_syntax: |spread over several lines|jq -c . FILE",
		"\ufeff" + one:                 "line 1: no JSON object: byte_order_mark: |tail -c +4 FILE",
		"\xff\xfe{\x00}\x00\n\x00":     "line 1: no JSON object: invalid_utf8: |iconv -f UTF-16",
		one + "7\n":                    "line 2: no JSON object: not_object: an event is a JSON object",
		one + "{\"a\":1,}\n":           "line 2: no JSON object: json_syntax: |not from byte 8 on",
		one + "\n":                     "line 2: no JSON object: empty: ",
		one + "{\"a\":\"canary\"} x\n": "line 2: no JSON object: trailing_data: |not from byte 16 on",
	} {
		bad := servicetest.WriteFile(t, "bad", []byte(content))
		for _, how := range [][]string{{"--topic", topic}, {"--dry-run"}, {"--stdout"}} {
			for text := range strings.SplitSeq(want, "|") {
				f.Fails(text, append([]string{"produce", "--ndjson", bad}, how...)...)
			}
		}
	}
	junk := servicetest.WriteFile(t, "junk", []byte("[1]\n"))
	if said := f.Must("produce", "--dry-run", "--raw", "--ndjson", junk); !strings.Contains(said, "1 records") {
		t.Errorf("--raw says %s", said)
	}
	f.Fails("decode raw", "produce", "--dry-run", "--raw", "--decode", "--ndjson", junk)
	f.Fails("csv raw", "produce", "--dry-run", "--raw", "--csv", junk)
	f.Fails("does not exist", "produce", "--topic", topic+"x", "--ndjson", file)
	f.Fails("--partition 2", "produce", "--topic", topic, "--ndjson", file, "--partition", "2")
	f.Fails("line 1: 400 bytes", "produce", "--topic", topic, "--ndjson", file, "--max-bytes", "399")
	f.Fails("missing", "produce", "--topic", topic, "--ndjson", file+".missing")
	if again := read(); len(again[0]) != lines/2 || len(again[1]) != lines+lines/2 {
		t.Error("a refused file is sent")
	}
}

// TestProduceMapsAsItsFlagsDo checks that a mapping file gives the same records as the equivalent flags, keys included.
func TestProduceMapsAsItsFlagsDo(t *testing.T) {
	t.Parallel()
	f := newFixture(t, 2, nil)
	csv, _ := servicetest.Delays(2)
	file := servicetest.WriteFile(t, "flights.csv", []byte(csv))
	mapping := servicetest.WriteFile(t, "mapping.json", []byte(`{"where":"hour>=3","label":"arr_delay","features":["carrier","hour:number"],"partition_by":"origin","key":"carrier","sort":["hour","carrier"]}`))
	other := f.Name + ".other"
	f.CreateTopic(other, 2, nil)
	// the mapping requires labels, and some rows have none
	f.Fails("arr_delay", "produce", "--topic", other, "--csv", file, "--map", mapping)
	csv = strings.ReplaceAll(csv, ",NA\n", ",0\n")
	file = servicetest.WriteFile(t, "flights.csv", []byte(csv))
	f.Must("produce", "--topic", f.Env["ORIEL_INPUT_TOPIC"], "--csv", file, "--where", "hour>=3", "--label", "arr_delay",
		"--feature", "carrier",
		"--feature", "hour:number", "--partition-by", "origin", "--key", "carrier", "--sort", "hour,carrier")
	f.Must("produce", "--topic", other, "--csv", file, "--map", mapping)
	count := 0
	for p := range int32(2) {
		a, b := f.Read(f.Env["ORIEL_INPUT_TOPIC"], p, false), f.Read(other, p, false)
		if len(a) != len(b) {
			t.Fatalf("partition %d: %d and %d records", p, len(a), len(b))
		}
		for i := range a {
			if string(a[i].Value) != string(b[i].Value) || string(a[i].Key) != string(b[i].Key) ||
				(a[i].Key == nil) != (b[i].Key == nil) {
				t.Errorf("partition %d, record %d: %q %s and %q %s", p, i, a[i].Key, a[i].Value, b[i].Key, b[i].Value)
			}
		}
		count += len(a)
	}
	if count != 9*12 {
		t.Errorf("%d records of 9 hours with 12 flights each", count)
	}
}

// TestProduceChecksTheFileFirst checks that nothing is sent if any line of the file breaks a rule, and that the message
// names the flag.
func TestProduceChecksTheFileFirst(t *testing.T) {
	t.Parallel()
	f := newFixture(t, 1, nil)
	topic := f.Env["ORIEL_INPUT_TOPIC"]
	rows := strings.Repeat("1,2\n", 5000)
	good := servicetest.WriteFile(t, "good.csv", []byte("a,b\n"+rows))
	bad := servicetest.WriteFile(t, "bad.csv", []byte("a,b\n"+rows+",2\n"))
	f.Fails(`nothing was sent`, "produce", "--topic", topic, "--csv", bad, "--label", "a", "--feature", "b")
	f.Fails(`line 5002: label: missing_member: /a is absent`, "produce", "--topic", topic, "--csv", bad, "--label", "a", "--feature", "b")
	f.Fails("--label: missing: events must have one", "produce", "--topic", topic, "--csv", good, "--feature", "b")
	f.Fails(`--feature: no column "c"`, "produce", "--topic", topic, "--csv", good, "--label", "a", "--feature", "c")
	f.Fails("--delimiter may be wrong", "produce", "--topic", topic, "--csv", good, "--label", "a", "--feature", "b",
		"--delimiter", ";")
	f.Fails("--delimiter: not one character", "produce", "--topic", topic, "--csv", good, "--label", "a", "--feature", "b",
		"--delimiter", ";;")
	if sent := f.Read(topic, 0, true); len(sent) != 0 {
		t.Fatalf("%d records of refused files were sent", len(sent))
	}
	f.Must("produce", "--topic", topic, "--csv", good, "--label", "a", "--feature", "b")
	if sent := f.Read(topic, 0, true); len(sent) != 5000 {
		t.Errorf("%d records of 5000", len(sent))
	}
}

// TestProduceWithoutBrokers checks that --dry-run prints the count and the first event, and that --stdout prints
// everything that would be sent, keys included.
func TestProduceWithoutBrokers(t *testing.T) {
	f := unserved(t, nil)
	file := servicetest.WriteFile(t, "file.csv", []byte("a;b;k\n1;2;x\n3;4;\n"))
	flags := []string{"produce", "--csv", file, "--delimiter", ";", "--label", "a", "--feature", "b:number", "--key", "k"}
	if said := f.prints(append(flags, "--dry-run")...); said != `2 records, nothing was sent; the first event:
{"features":{"b":2},"label":1}
` {
		t.Errorf("dry run: %s", said)
	}
	if said := f.prints(append(flags, "--stdout")...); said != `{"features":{"b":2},"label":1}
{"features":{"b":4},"label":3}
` {
		t.Errorf("stdout: %s", said)
	}
	if said := f.prints(append(flags, "--stdout", "--key-separator", "\t")...); !strings.HasPrefix(said, "x\t{") ||
		!strings.Contains(said, "\n{") {
		t.Errorf("stdout with keys: %s", said)
	}
	f.Fails("topic", flags...)
}

// TestProduceKeepsItsRate checks that 30 records at 100 a second take at least 0.2 s, and that all arrive.
func TestProduceKeepsItsRate(t *testing.T) {
	f := newFixture(t, 1, nil)
	file := servicetest.WriteFile(t, "lines", []byte(strings.Repeat("{}\n", 30)))
	began := time.Now()
	f.Must("produce", "--topic", f.Env["ORIEL_INPUT_TOPIC"], "--ndjson", file, "--rate", "100")
	if took := time.Since(began); took < 200*time.Millisecond {
		t.Errorf("30 records at 100 a second in %v", took)
	}
	if sent := f.Read(f.Env["ORIEL_INPUT_TOPIC"], 0, true); len(sent) != 30 {
		t.Errorf("%d records of 30", len(sent))
	}
}

// TestProduceMapsColumnsToMembersOfTheConfiguredEvents checks that columns become members of the operator's events, and
// that the service's decoder checks their values.
func TestProduceMapsColumnsToMembersOfTheConfiguredEvents(t *testing.T) {
	f := offline(t, map[string]string{"ORIEL_LOSS": "portfolio", "ORIEL_SET": "simplex", "ORIEL_DIMENSION": "2"})
	file := servicetest.WriteFile(t, "prices.csv", []byte("a,b,w,day\n1.5,0.5,2,mon\n1,2,,tue\n"))
	call := func(more ...string) []string { return append([]string{"produce", "--csv", file, "--stdout"}, more...) }
	want := `{"relatives":[1.5,0.5],"weight":2}` + "\n" + `{"relatives":[1,2]}` + "\n"
	if said := f.prints(call("--member", "relatives=a,b", "--member", "weight=w")...); said != want {
		t.Errorf("%q", said)
	}
	if said := f.prints(
		call("--member", "relatives=a,b", "--key", "day", "--key-separator", "|")...,
	); !strings.HasPrefix(said, "mon|{") {
		t.Errorf("with keys: %q", said)
	}
	mapping := servicetest.WriteFile(t, "map.json", []byte(`{"members":["relatives=a,b","weight=w"]}`))
	if said := f.prints(call("--map", mapping)...); said != want {
		t.Errorf("by a mapping file: %q", said)
	}
	f.Fails(`--member: events have no member "cost"`, call("--member", "cost=a")...)
	f.Fails(`--member: nothing gives the member relatives`, call("--member", "weight=w")...)
	f.Fails(`line 2: relatives: unreadable_value: /day is a text`, call("--member", "relatives=a,day")...)
	f.Fails("record 1: relatives: wrong_dimension", call("--member", "relatives=a,b,w")...)

	lines := servicetest.WriteFile(t, "lines.ndjson", []byte("{\"relatives\":[1,2]}\n{\"relatives\":[0,0]}\n"))
	f.Must("produce", "--dry-run", "--ndjson", lines)
	f.Fails("line 2: relatives: relative_range", "produce", "--dry-run", "--ndjson", lines, "--decode")
	delete(f.Env, "ORIEL_DIMENSION")
	f.Fails("ORIEL_DIMENSION: not set", "produce", "--dry-run", "--ndjson", lines, "--decode")
}
