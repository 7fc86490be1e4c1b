package servedtest

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
	"time"

	"oriel/mechanisms/mechtest/tiertest"
	"oriel/pipeline/kafka/records"
)

// TestExperimentsInTurn starts the next experiment of a running stream, and kills the service before, at and after the
// first step of the experiment. The running process must start the new experiment without a restart. Decisions must
// name their experiment, and equal a replay from a checkpoint before the experiment was announced.
func TestExperimentsInTurn(t *testing.T) {
	tiertest.Slow(t, "TestAggregateIsServed")
	t.Parallel()
	const batch, ahead = 20, 100 // number of steps before its start at which an experiment is announced
	f := newFixture(t, 1, map[string]string{
		"ORIEL_WINDOW": "lifetime", "ORIEL_MEMORY": "64", "ORIEL_MECHANISM": "blt", "ORIEL_BATCH": fmt.Sprint(batch),
	})
	asAggregate(f)
	f.Env["ORIEL_CELLS"], f.Env["ORIEL_VALUE"], f.Env["ORIEL_STATISTICS"] = "variant=A|B", "paid=0:1", "count,mean"
	f.Env["ORIEL_ARMS"], f.Env["ORIEL_PROPENSITIES"], f.Env["ORIEL_UNITS"] = "variant", "0.5|0.5", "single"
	f.Env["ORIEL_ALWAYS_VALID"], f.Env["ORIEL_NEAR"], f.Env["ORIEL_TARGET"] = "0.05", "0.3", "2000"
	delete(f.Env, "ORIEL_ELSEWHERE")
	f.Must("topics")
	sent := 0
	send := func(steps int) {
		var list []records.Record
		for range steps * batch {
			list = append(list, records.Record{Value: fmt.Appendf(nil, `{"variant":%q,"paid":%d}`, "AB"[sent%2:sent%2+1], sent%7/5)})
			sent++
		}
		f.Send(0, list...)
	}
	f.Fails("not opened yet", "next")
	send(10)
	first := f.Start(map[string]string{"TEST_KILL": "produced:1"}, "run")
	<-first.Done
	running := f.Start(nil, "run")
	f.AwaitTaken(time.Minute, int64(sent))
	checkpoint := f.T.TempDir() + "/checkpoint"
	f.Must("replay", "--save", checkpoint)
	f.Fails("112", "next", "--step", "50")
	said := f.Must("next")
	if !strings.Contains(said, "experiment 2 starts with step 112, ") || !strings.Contains(said, "% wider") {
		t.Fatalf("said %q", said)
	}
	send(ahead)
	f.AwaitTaken(time.Minute, int64(sent)) // waits until the process that ran before has consumed them
	_ = running.Cmd.Process.Kill()
	<-running.Done
	send(2)
	running = f.Start(map[string]string{"TEST_KILL": "produced:1"}, "run")
	<-running.Done
	running = f.Start(nil, "run")
	send(60)
	f.AwaitTaken(time.Minute, int64(sent))
	running.Terminate()
	f.CheckHistory(0, sent/batch)
	f.Compares(checkpoint, sent/batch-10)
	for i, d := range f.Read(f.Topic("decisions"), 0, false) {
		want := `"experiment":1,"experiment_step":1`
		if i+1 >= 112 {
			want = fmt.Sprintf(`"looks":%d,`, i+1-111)
		}
		if !bytes.Contains(d.Value, []byte(want)) {
			t.Fatalf("step %d has no %s: %s", i+1, want, d.Value)
		}
	}
}
