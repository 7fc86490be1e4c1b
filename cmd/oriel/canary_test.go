package main

import (
	"bytes"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"oriel/pipeline/kafka"
)

// TestCanaryShowsUpNowhere is G5 and G6: nothing of an event leaves but through the mechanism, bad records take their
// place and stand whole in the dead-letter topic.
func TestCanaryShowsUpNowhere(t *testing.T) {
	f := newFixture(t, 1, map[string]string{"ORIEL_MAX_RECORD_BYTES": "900000", "ORIEL_LOG_LEVEL": "debug"})
	f.must("topics")
	bad := badRecords()
	good := events(0, 20)
	for i := range good {
		good[i].Key, good[i].Headers = []byte(canary), kafka.HeadersOf(kafka.Header{Key: canary, Value: []byte(canary)})
		good[i].Value = fmt.Appendf(nil, `{"features":{"%s":"%s%d"},"label":1}`, canary, canary, i)
	}
	f.send(0, append(append(good[:10:10], bad...), good[10:]...)...)
	steps := len(good) + len(bad)
	p := f.start(nil, "run")
	f.awaitTaken(time.Minute, int64(steps))
	pages := f.pages(p)
	p.terminate()
	f.checkHistory(0, steps)

	look := func(where string, b []byte) {
		if bytes.Contains(bytes.ToLower(b), []byte(canary)) {
			t.Errorf("the canary shows up in %s", where)
		}
	}
	look("the log", []byte(p.output()))
	look("the pages", []byte(pages))
	for _, kind := range []string{"decisions", "verdicts", "changelog"} {
		for _, r := range f.read(f.topic(kind), 0, true) {
			look(kind, r.Key)
			look(kind, r.Value)
			if r.Headers.Len() > 0 {
				t.Errorf("a record of %s has headers", kind)
			}
		}
	}
	_ = filepath.WalkDir(f.env["ORIEL_STATE_DIR"], func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		b, err := os.ReadFile(path)
		look("file "+d.Name(), b)
		return err
	})
	f.checkLetters(0, f.letters(0), at(10, bad), 900_000)
}

// TestMetricsDependOnCountsOnly: two inputs of equal counts, one all valid and one all bad, give the same metrics.
// Times are left out: they are the clock's.
func TestMetricsDependOnCountsOnly(t *testing.T) {
	texts := [2]string{}
	for i, record := range []kafka.Record{event(1), {Value: []byte(`{"features":{"carrier":"` + canary + `"},"label":`)}} {
		f := newFixture(t, 1, map[string]string{"ORIEL_COMMIT_INTERVAL": "1s"})
		f.must("topics")
		all := make([]kafka.Record, 30)
		for j := range all {
			all[j] = record
		}
		f.send(0, all...)
		p := f.start(nil, "run")
		f.awaitTaken(time.Minute, 30)
		counted := fmt.Sprintf(`oriel_decisions_total{deployment=%q,partition="0"} 30`, f.name)
		f.await(10*time.Second, "counted", func() bool { return strings.Contains(f.pages(p), counted) })
		texts[i] = regexp.MustCompile(`(?m)^oriel_commit_duration_seconds_(bucket|sum).*$`).ReplaceAllString(f.pages(p), "")
		texts[i] = strings.ReplaceAll(texts[i], f.name, "NAME")
		p.terminate()
	}
	if texts[0] != texts[1] {
		t.Errorf("metrics differ:\n%s\n%s", texts[0], texts[1])
	}
}

// TestPoisonDoesNotHaltAPartition: a compressed record can unpack to a key that no topic takes.
func TestPoisonDoesNotHaltAPartition(t *testing.T) {
	t.Parallel()
	f := newFixture(t, 1, nil)
	f.must("topics")
	producer, err := f.client.NewProducer(f.ctx(), "", time.Minute)
	if err != nil {
		t.Fatal(err)
	}
	var b kafka.Builder
	b.Compress(kafka.Zstd)
	b.Append(make([]byte, 3<<20), []byte("bad"), []kafka.Header{{Key: "h", Value: make([]byte, 3<<20)}},
		time.Now().UnixMilli())
	b.Append(nil, make([]byte, 5<<20), nil, time.Now().UnixMilli())
	if _, err := producer.Produce(f.ctx(), f.env["ORIEL_INPUT_TOPIC"], 0, &b); err != nil {
		t.Fatal(err)
	}
	f.send(0, events(0, 10)...)
	p := f.start(nil, "run")
	f.awaitTaken(time.Minute, 12)
	p.terminate()
	f.checkHistory(0, 12)
	for _, letter := range f.letters(0) {
		if len(letter.Key) > 64<<10 || len(letter.Value) > 64<<10 {
			t.Errorf("a letter of %d and %d bytes", len(letter.Key), len(letter.Value))
		}
	}
}
