package service_test

import (
	"bufio"
	"bytes"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"time"

	"oriel/cmd/internal/servicetest"
	"oriel/pipeline/kafka/records"
)

// front returns the page for people, and the page's event stream up to its first frame.
func (f *fixture) front(p *servicetest.Process) string {
	f.T.Helper()
	address := f.PageAddress(p)
	var all strings.Builder
	for _, page := range []string{
		"/", "/page/course?partition=0&coordinate=0", "/page/course?partition=0&arm=1", "/page/events",
	} {
		r, err := http.Get(address + page)
		if err != nil {
			f.T.Fatal(err)
		}
		lines := bufio.NewReader(r.Body)
		for !strings.Contains(all.String(), "event: now") {
			line, err := lines.ReadString('\n')
			if all.WriteString(line); err != nil {
				break
			}
		}
		frame, _ := lines.ReadString('\n')
		all.WriteString(frame)
		_ = r.Body.Close()
	}
	return all.String()
}

// checkLetters compares the dead letters of a partition with its bad records, which are given by offset. Each must
// appear once, in order and complete, except for values above maxRecord bytes.
func (f *fixture) checkLetters(p int32, letters []records.Record, bad map[int64]records.Record, maxRecord int) {
	f.T.Helper()
	offsets := slices.Sorted(maps.Keys(bad))
	if len(letters) != len(bad) {
		f.T.Fatalf("partition %d: %d letters for %d bad records: %v", p, len(letters), len(bad), servicetest.Reasons(letters))
	}
	for i, letter := range letters {
		want, h := bad[offsets[i]], servicetest.LetterHeaders(letter)
		if h["oriel-reason"] == "" || h["oriel-reason"] == "ok" || h["oriel-topic"] != f.Env["ORIEL_INPUT_TOPIC"] ||
			h["oriel-partition"] != fmt.Sprint(p) || h["oriel-offset"] != fmt.Sprint(offsets[i]) {
			f.T.Errorf("letter %d: headers %v, want the headers of offset %d", i, h, offsets[i])
		}
		value := want.Value
		if len(value) > maxRecord {
			value = value[:64<<10]
			if h["oriel-truncated"] != "true" || h["oriel-length"] != fmt.Sprint(len(want.Value)) {
				f.T.Errorf("letter %d: not marked as truncated", i)
			}
		}
		if !bytes.Equal(letter.Value, value) || !bytes.Equal(letter.Key, want.Key) ||
			(letter.Value == nil) != (value == nil) {
			f.T.Errorf("letter %d: key or value are not the original's", i)
		}
		headers := letter.Headers.List()
		for j, header := range want.Headers.List() {
			if len(headers) <= j || headers[j].Key != header.Key || !bytes.Equal(headers[j].Value, header.Value) {
				f.T.Errorf("letter %d: header %d is not the original's", i, j)
			}
		}
	}
}

// goesOn checks that the unchanged deployment still continues where it stopped.
func (f *fixture) goesOn(from int) {
	f.T.Helper()
	f.Send(0, servicetest.Events(from, 10)...)
	p := f.Start(nil, "run")
	f.AwaitTaken(time.Minute, int64(from+10))
	p.Terminate()
	f.CheckHistory(0, from+10)
}

// sendAll appends the same events to each partition of the input.
func (f *fixture) sendAll(from, n int) {
	f.T.Helper()
	for p := range int32(f.Partitions) {
		f.Send(p, servicetest.Events(from, n)...)
	}
}
