package main

import (
	"bytes"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"oriel/pipeline/kafka"
)

// canary is looked for in everything that leaves. The hexadecimal and the number forms catch it re-encoded.
const canary = "canary7f3a"

// badRecords are malformed in a different way each, with a canary wherever one fits.
func badRecords() []kafka.Record {
	values := []string{
		`{"features":{"carrier":"` + canary + `"},"label":1`, // cut short
		`{"features":{"` + canary + `":1},"label":7}`,
		`{"features":{"` + canary + `":1},"label":"` + canary + `"}`,
		`{"features":{"` + canary + `":1},"label":1,"` + canary + `":2}`,
		`{"features":{"a":1,"a":"` + canary + `"},"label":1}`,
		`{"Features":{"a":"` + canary + `"},"label":1}`,
		`{"features":["` + canary + `"],"label":1}`,
		`{"features":[1,2],"label":1}`,
		`{"features":{"a":null,"b":"` + canary + `"},"label":1}`,
		`{"features":{"a":NaN,"b":"` + canary + `"},"label":1}`,
		`{"features":{"a":1e999,"b":"` + canary + `"},"label":1}`,
		`{"features":{"a":"` + canary + `\ud800"},"label":1}`,
		`{"features":{"a":"` + canary + "\xff" + `"},"label":1}`,
		"\ufeff" + `{"features":{"a":"` + canary + `"},"label":1}`,
		`{"features":{"a":"` + canary + `"},"label":1} ` + canary,
		`[[[[[[[[[["` + canary + `"]]]]]]]]]]`,
		strings.Repeat("[", 200_000) + canary,
		`{"features":{"indices":[99],"values":[1]},"label":1}`,
		`{"features":{"a":"` + canary + `"},"label":1,"weight":-1}`,
		`"` + canary + `"`,
		canary,
		`{"features":{"a":"` + strings.Repeat(canary, 100_000) + `"},"label":1}`, // 1 MB
	}
	records := []kafka.Record{{}, {Value: []byte{}}} // tombstone, empty value
	for i, v := range values {
		records = append(records, kafka.Record{
			Key: []byte(canary), Value: []byte(v),
			Headers: kafka.HeadersOf(
				kafka.Header{Key: canary, Value: []byte(canary)}, kafka.Header{Key: "n", Value: fmt.Append(nil, i)},
			),
		})
	}
	return records
}

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
	checkHistory(t, f, 0, steps)

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
	checkLetters(f, 0, f.letters(0), at(10, bad), 900_000)
}

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
	checkHistory(t, f, 0, 12)
	for _, letter := range f.letters(0) {
		if len(letter.Key) > 64<<10 || len(letter.Value) > 64<<10 {
			t.Errorf("a letter of %d and %d bytes", len(letter.Key), len(letter.Value))
		}
	}
}
