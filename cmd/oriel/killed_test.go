package main

import (
	"bytes"
	"path/filepath"
	"strings"
	"time"

	"oriel/pipeline/kafka"
)

// servedThroughKills sends records, killed as it commits and anywhere between, and checks that all are taken, that what
// was published is what the input makes, and that nothing of an event shows up beside it. An audit of the settings does
// not refute them. It returns the decisions, and the end of them as a table.
func (f *fixture) servedThroughKills(records []kafka.Record) (decisions []kafka.Record, shown string) {
	f.t.Helper()
	t, half, whole := f.t, len(records)/2, len(records)
	f.must("topics")
	f.send(0, records[:half]...)
	first := f.start(map[string]string{"TEST_KILL": "produced:1"}, "run")
	<-first.done
	again := f.start(nil, "run")
	f.awaitTaken(time.Minute, int64(half))
	_ = again.cmd.Process.Kill() // anywhere, as kill -9
	<-again.done
	saved := filepath.Join(t.TempDir(), "saved")
	f.must("replay", "--save", saved, "--partition", "0")
	f.send(0, records[half:]...)
	second := f.start(nil, "run")
	f.awaitTaken(time.Minute, int64(whole))
	pages := f.pages(second)
	second.terminate()
	f.checkHistory(0, whole)
	log := first.output() + again.output() + second.output()
	for where, text := range map[string]string{"the log": log, "the pages": pages} {
		if strings.Contains(text, canary) {
			t.Errorf("the canary shows up in %s", where)
		}
	}
	for _, kind := range []string{"decisions", "verdicts", "changelog"} {
		for _, r := range f.read(f.topic(kind), 0, true) {
			if bytes.Contains(r.Key, []byte(canary)) || bytes.Contains(r.Value, []byte(canary)) {
				t.Errorf("the canary shows up in %s", kind)
			}
		}
	}
	if said := f.must("replay", "--check", "--from", saved, "--partition", "0"); !strings.Contains(said, "all equal") {
		t.Errorf("replay --check: %s", said)
	}
	shown = f.must("tail", "--topic", f.topic("decisions"), "--partition", "0", "--from-beginning", "--follow=false")
	if text := f.must("audit", "--runs", "20", "--seed", seedText); !strings.HasSuffix(text, "\nNot refuted.\n") {
		t.Errorf("audit: %s", text)
	}
	return f.read(f.topic("decisions"), 0, false), shown
}
