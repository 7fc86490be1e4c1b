package servedtest

import (
	"bytes"
	"path/filepath"
	"strings"
	"time"

	"oriel/cmd/internal/servicetest"
	"oriel/pipeline/kafka/records"
)

// servedThroughKills sends records to a service that is killed at a commit and at random moments. It checks that all
// records are consumed, that published decisions equal a replay of the input, and that no other contents of an event
// appear. It returns the decisions, and the last of them as a table.
func (f *fixture) servedThroughKills(records []records.Record) (decisions []records.Record, shown string) {
	f.T.Helper()
	t, half, whole := f.T, len(records)/2, len(records)
	f.Must("topics")
	f.Send(0, records[:half]...)
	first := f.Start(map[string]string{"TEST_KILL": "produced:1"}, "run")
	<-first.Done
	again := f.Start(nil, "run")
	f.AwaitTaken(time.Minute, int64(half))
	_ = again.Cmd.Process.Kill() // dies at an arbitrary point, as by kill -9
	<-again.Done
	saved := filepath.Join(t.TempDir(), "saved")
	f.Must("replay", "--save", saved, "--partition", "0")
	f.Send(0, records[half:]...)
	second := f.Start(nil, "run")
	f.AwaitTaken(time.Minute, int64(whole))
	pages := f.Pages(second)
	second.Terminate()
	f.CheckHistory(0, whole)
	log := first.Output() + again.Output() + second.Output()
	for where, text := range map[string]string{"the log": log, "the pages": pages} {
		if strings.Contains(text, servicetest.Canary) {
			t.Errorf("the canary shows up in %s", where)
		}
	}
	for _, kind := range []string{"decisions", "verdicts", "changelog"} {
		for _, r := range f.Read(f.Topic(kind), 0, true) {
			if bytes.Contains(r.Key, []byte(servicetest.Canary)) || bytes.Contains(r.Value, []byte(servicetest.Canary)) {
				t.Errorf("the canary shows up in %s", kind)
			}
		}
	}
	if said := f.Must("replay", "--check", "--from", saved, "--partition", "0"); !strings.Contains(said, "all equal") {
		t.Errorf("replay --check: %s", said)
	}
	shown = f.Must("tail", "--topic", f.Topic("decisions"), "--partition", "0", "--from-beginning", "--follow=false")
	return f.Read(f.Topic("decisions"), 0, false), shown
}

// checkpointBeside kills a service at a random moment, and saves a checkpoint while another service takes over. The new
// service ends the transaction that the killed one left open, and is killed too. The caller must start the next
// service.
func (f *fixture) checkpointBeside(running *servicetest.Process) (file string) {
	f.T.Helper()
	_ = running.Cmd.Process.Kill()
	<-running.Done
	other := f.Start(nil, "run")
	file = filepath.Join(f.T.TempDir(), "checkpoint")
	f.Must("replay", "--save", file)
	_ = other.Cmd.Process.Kill()
	<-other.Done
	return file
}
