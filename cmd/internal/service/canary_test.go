package service_test

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

	"oriel/cmd/internal/servicetest"
	"oriel/pipeline/kafka/produce"
	"oriel/pipeline/kafka/records"
)

// TestCanaryShowsUpNowhere checks guarantees G5 and G6 with events that contain marked texts. Contents of an event may
// leave the service only through the mechanism. Bad records keep their places in the stream and appear in full in the
// dead-letter topic.
func TestCanaryShowsUpNowhere(t *testing.T) {
	f := newFixture(t, 1, map[string]string{"ORIEL_MAX_RECORD_BYTES": "900000", "ORIEL_LOG_LEVEL": "debug"})
	f.Must("topics")
	bad := badRecords()
	good := servicetest.Events(0, 20)
	for i := range good {
		good[i].Key = []byte(servicetest.Canary)
		good[i].Headers = records.HeadersOf(records.Header{Key: servicetest.Canary, Value: []byte(servicetest.Canary)})
		good[i].Value = fmt.Appendf(nil, `{"features":{"%s":"%s%d"},"label":1}`, servicetest.Canary, servicetest.Canary, i)
	}
	f.Send(0, append(append(good[:10:10], bad...), good[10:]...)...)
	steps := len(good) + len(bad)
	p := f.Start(nil, "run")
	f.AwaitTaken(time.Minute, int64(steps))
	pages, front := f.Pages(p), f.front(p)
	p.Terminate()
	f.CheckHistory(0, steps)
	if !strings.Contains(front, `"values":[`) {
		t.Errorf("the page shows no decision: %s", front)
	}

	look := func(where string, b []byte) {
		if bytes.Contains(bytes.ToLower(b), []byte(servicetest.Canary)) {
			t.Errorf("the canary shows up in %s", where)
		}
	}
	look("the log", []byte(p.Output()))
	look("the pages", []byte(pages))
	look("the page", []byte(front))
	for _, kind := range []string{"decisions", "verdicts", "changelog"} {
		for _, r := range f.Read(f.Topic(kind), 0, true) {
			look(kind, r.Key)
			look(kind, r.Value)
			if r.Headers.Len() > 0 {
				t.Errorf("a record of %s has headers", kind)
			}
		}
	}
	_ = filepath.WalkDir(f.Env["ORIEL_STATE_DIR"], func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		b, err := os.ReadFile(path)
		look("file "+d.Name(), b)
		return err
	})
	f.checkLetters(0, f.Letters(0), atOffsets(10, bad), 900_000)
}

// TestMetricsDependOnCountsOnly checks that two inputs with equal counts, one all valid and one all bad, give the same
// metrics. The test omits metrics of durations, because they depend on the clock.
func TestMetricsDependOnCountsOnly(t *testing.T) {
	texts := [2]string{}
	for i, record := range []records.Record{servicetest.Event(1), {Value: []byte(`{"features":{"carrier":"` + servicetest.Canary + `"},"label":`)}} {
		f := newFixture(t, 1, map[string]string{"ORIEL_COMMIT_INTERVAL": "1s"})
		f.Must("topics")
		all := make([]records.Record, 30)
		for j := range all {
			all[j] = record
		}
		f.Send(0, all...)
		p := f.Start(nil, "run")
		f.AwaitTaken(time.Minute, 30)
		counted := fmt.Sprintf(`oriel_decisions_total{deployment=%q,partition="0"} 30`, f.Name)
		f.Await(10*time.Second, "counted", func() bool { return strings.Contains(f.Pages(p), counted) })
		texts[i] = regexp.MustCompile(`(?m)^oriel_(commit_duration_seconds_(bucket|sum)|last_decision_timestamp_seconds).*$`).ReplaceAllString(f.Pages(p), "")
		texts[i] = strings.ReplaceAll(texts[i], f.Name, "NAME")
		p.Terminate()
	}
	if texts[0] != texts[1] {
		t.Errorf("metrics differ:\n%s\n%s", texts[0], texts[1])
	}
}

// TestPoisonDoesNotHaltAPartition checks that a partition continues after a compressed record whose key, once
// decompressed, is longer than any topic accepts.
func TestPoisonDoesNotHaltAPartition(t *testing.T) {
	t.Parallel()
	f := newFixture(t, 1, nil)
	f.Must("topics")
	producer, err := produce.New(f.Ctx(), f.Client, "", time.Minute)
	if err != nil {
		t.Fatal(err)
	}
	var b records.Builder
	b.Compress(records.Zstd)
	b.Append(make([]byte, 3<<20), []byte("bad"), []records.Header{{Key: "h", Value: make([]byte, 3<<20)}},
		time.Now().UnixMilli())
	b.Append(nil, make([]byte, 5<<20), nil, time.Now().UnixMilli())
	if _, err := producer.Produce(f.Ctx(), f.Env["ORIEL_INPUT_TOPIC"], 0, &b); err != nil {
		t.Fatal(err)
	}
	f.Send(0, servicetest.Events(0, 10)...)
	p := f.Start(nil, "run")
	f.AwaitTaken(time.Minute, 12)
	p.Terminate()
	f.CheckHistory(0, 12)
	for _, letter := range f.Letters(0) {
		if len(letter.Key) > 64<<10 || len(letter.Value) > 64<<10 {
			t.Errorf("a letter of %d and %d bytes", len(letter.Key), len(letter.Value))
		}
	}
}
