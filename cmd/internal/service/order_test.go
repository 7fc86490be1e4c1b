package service_test

import (
	"testing"
	"time"

	"oriel/cmd/internal/servicetest"
)

// kill ends a process abruptly, as a crash would.
func kill(p *servicetest.Process) {
	_ = p.Cmd.Process.Kill()
	<-p.Done
}

// TestOrderByAnotherProcess checks that, with ORIEL_SEQUENCER=other, the stream waits until `oriel order` runs. If that
// process dies, another one takes over.
func TestOrderByAnotherProcess(t *testing.T) {
	t.Parallel()
	f := newFixture(t, 3, map[string]string{"ORIEL_STREAM": "topic", "ORIEL_SEQUENCER": "other"})
	f.Must("topics")
	run := f.Start(nil, "run")
	order := f.Start(nil, "order")
	f.sendAll(0, 10)
	f.AwaitTaken(time.Minute, 10, 10, 10)
	kill(order)
	f.sendAll(10, 10)
	order = f.Start(nil, "order")
	f.AwaitTaken(time.Minute, 20, 20, 20)
	order.End()
	run.Terminate()
	f.CheckHistory(0, 60)
}

// TestAProcessThatStandsByWritesTheOrder checks that, with ORIEL_SEQUENCER=other, a standby process writes the order
// and the stream's owner does not. So a second process is enough.
func TestAProcessThatStandsByWritesTheOrder(t *testing.T) {
	t.Parallel()
	f := newFixture(t, 3, map[string]string{"ORIEL_STREAM": "topic", "ORIEL_SEQUENCER": "other"})
	f.Must("topics")
	a := f.Start(nil, "run")
	b := f.Start(map[string]string{"ORIEL_STATE_DIR": t.TempDir()}, "run")
	f.sendAll(0, 10)
	f.AwaitTaken(time.Minute, 10, 10, 10)
	a.Terminate()
	b.Terminate()
	f.CheckHistory(0, 30)
}

// TestOrderIsOnlyForWholeTopics checks that `oriel order` fails under settings with which no process would read the
// order.
func TestOrderIsOnlyForWholeTopics(t *testing.T) {
	t.Parallel()
	f := newFixture(t, 3, nil)
	f.Must("topics")
	f.Fails("ORIEL_SEQUENCER=other", "order")
	f.Env["ORIEL_STREAM"] = "topic"
	f.Fails("ORIEL_SEQUENCER=other", "order")
}

// TestOwnerWritesTheOrder checks that partitions that receive events at different rates are consumed as one stream,
// also if one process takes over from another.
func TestOwnerWritesTheOrder(t *testing.T) {
	t.Parallel()
	f := newFixture(t, 3, map[string]string{"ORIEL_STREAM": "topic"})
	f.Must("topics")
	f.Send(1, servicetest.Events(0, 30)...)
	run := f.Start(nil, "run")
	f.AwaitTaken(time.Minute, 0, 30, 0)
	f.Send(2, servicetest.Events(30, 5)...)
	f.AwaitTaken(time.Minute, 0, 30, 5)
	kill(run)
	f.sendAll(35, 10)
	run = f.Start(nil, "run")
	f.AwaitTaken(time.Minute, 10, 40, 15)
	run.Terminate()
	f.CheckHistory(0, 65)
}
