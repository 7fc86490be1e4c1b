package main

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"oriel/pipeline/kafka"
	"oriel/schemas"
)

func (f *fixture) pages(p *process) string {
	f.t.Helper()
	found := regexp.MustCompile(`address=(127\.0\.0\.1:\d+)`).FindStringSubmatch(p.output())
	if found == nil {
		f.t.Fatalf("the log does not say where the pages are: %s", p.output())
	}
	var all strings.Builder
	for _, page := range []string{"metrics", "healthz", "readyz"} {
		r, err := http.Get("http://" + found[1] + "/" + page)
		if err != nil {
			f.t.Fatal(err)
		}
		b, _ := io.ReadAll(r.Body)
		_ = r.Body.Close()
		if r.StatusCode != http.StatusOK {
			f.t.Errorf("%s: status %d: %s", page, r.StatusCode, b)
		}
		all.Write(b)
	}
	return all.String()
}

// checkHistory reads a partition's decisions: uncommitted ones never show two values for one index, committed ones are
// exactly 1, 2, …, steps, in order.
func (f *fixture) checkHistory(p int32, steps int) {
	t := f.t
	t.Helper()
	type identity struct {
		incarnation [16]byte
		index       uint64
	}
	values := map[identity][]byte{}
	aborted := 0
	for _, r := range f.read(f.topic("decisions"), p, true) {
		d, err := schemas.ParseDecision(r.Value)
		if err != nil {
			t.Fatalf("partition %d offset %d: %v", p, r.Offset, err)
		}
		id := identity{d.Incarnation, d.Index}
		if earlier, seen := values[id]; seen {
			aborted++
			if !bytes.Equal(earlier, r.Value) {
				t.Errorf("partition %d index %d: two values", p, d.Index)
			}
		}
		values[id] = r.Value
	}
	committed := f.read(f.topic("decisions"), p, false)
	t.Logf("partition %d: %d decisions committed, %d seen again in other transactions", p, len(committed), aborted)
	if len(committed) != steps {
		t.Errorf("partition %d: %d decisions committed, want %d", p, len(committed), steps)
	}
	for i, r := range committed {
		if d, err := schemas.ParseDecision(r.Value); err != nil || d.Index != uint64(i+1) || d.Step != uint64(i+1) ||
			string(r.Key) != strconv.Itoa(int(p)) {
			t.Fatalf("partition %d: place %d holds index %d", p, i, d.Index)
		}
	}
}

// letters writes what is owed and gives the letters of a partition.
func (f *fixture) letters(p int32) []kafka.Record {
	f.t.Helper()
	f.must("letters", "--once")
	return f.read(f.topic("dead-letter"), p, false)
}

// ours are the headers that a letter has after the record's own.
func ours(letter kafka.Record) map[string]string {
	headers := map[string]string{}
	for _, h := range letter.Headers.List() {
		headers[h.Key] = string(h.Value)
	}
	return headers
}

// reasons are the places and reasons of letters.
func reasons(letters []kafka.Record) []string {
	var all []string
	for _, letter := range letters {
		h := ours(letter)
		all = append(all, h["oriel-offset"]+" "+h["oriel-reason"])
	}
	return all
}

// checkLetters holds letters of a partition to the bad records of its offsets: each one once, in order, whole but for a
// value above maxRecord bytes.
func (f *fixture) checkLetters(p int32, letters []kafka.Record, bad map[int64]kafka.Record, maxRecord int) {
	f.t.Helper()
	var offsets []int64
	for offset := range bad {
		offsets = append(offsets, offset)
	}
	slices.Sort(offsets)
	if len(letters) != len(bad) {
		f.t.Fatalf("partition %d: %d letters for %d bad records: %v", p, len(letters), len(bad), reasons(letters))
	}
	for i, letter := range letters {
		want, h := bad[offsets[i]], ours(letter)
		if h["oriel-reason"] == "" || h["oriel-reason"] == "ok" || h["oriel-topic"] != f.env["ORIEL_INPUT_TOPIC"] ||
			h["oriel-partition"] != fmt.Sprint(p) || h["oriel-offset"] != fmt.Sprint(offsets[i]) {
			f.t.Errorf("letter %d: headers %v, want those of offset %d", i, h, offsets[i])
		}
		value := want.Value
		if len(value) > maxRecord {
			value = value[:64<<10]
			if h["oriel-truncated"] != "true" || h["oriel-length"] != fmt.Sprint(len(want.Value)) {
				f.t.Errorf("letter %d: not marked as truncated", i)
			}
		}
		if !bytes.Equal(letter.Value, value) || !bytes.Equal(letter.Key, want.Key) ||
			(letter.Value == nil) != (value == nil) {
			f.t.Errorf("letter %d: key or value are not the original's", i)
		}
		headers := letter.Headers.List()
		for j, header := range want.Headers.List() {
			if len(headers) <= j || headers[j].Key != header.Key || !bytes.Equal(headers[j].Value, header.Value) {
				f.t.Errorf("letter %d: header %d is not the original's", i, j)
			}
		}
	}
}

// refused runs the service with changed settings and checks that it ends badly, says all of want once, and releases
// nothing.
func (f *fixture) refused(more map[string]string, want ...string) {
	f.t.Helper()
	before := len(f.read(f.topic("decisions"), 0, true))
	p := f.start(more, "run")
	if p.finish(40 * time.Second) {
		f.t.Fatalf("the service ended well; it said: %s", p.output())
	}
	for _, text := range want {
		if !strings.Contains(p.output(), text) {
			f.t.Errorf("the message does not say %q: %s", text, p.output())
		}
	}
	if after := len(f.read(f.topic("decisions"), 0, true)); after != before {
		f.t.Errorf("%d decisions were released", after-before)
	}
}

// goesOn checks that the unchanged deployment still continues where it stopped.
func (f *fixture) goesOn(from int) {
	f.t.Helper()
	f.send(0, events(from, 10)...)
	p := f.start(nil, "run")
	f.awaitTaken(time.Minute, int64(from+10))
	p.terminate()
	f.checkHistory(0, from+10)
}

// compares has replay --check play what was decided since a checkpoint: so many decisions, and all equal.
func (f *fixture) compares(checkpoint string, decisions int) {
	f.t.Helper()
	said := f.must("replay", "--check", "--from", checkpoint)
	if !strings.Contains(said, fmt.Sprintf(": %d decisions compared, all equal", decisions)) {
		f.t.Errorf("%d decisions since the checkpoint, but replay --check says %q", decisions, said)
	}
}
