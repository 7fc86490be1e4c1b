//go:build kafka

package service_test

import (
	"encoding/binary"
	"fmt"
	"net"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"oriel/cmd/internal/servicetest"
	"oriel/pipeline/kafka/records"
	"oriel/pipeline/pipetest/logtest"
	"oriel/schemas/decision"
)

// stepped is a deployment with steps of a second whose noise is below all differences.
type stepped struct {
	*fixture
	kind string // message.timestamp.type of the input
	sent int
}

const steppedDelay = 3 * time.Second

// newStepped opens a deployment, and returns when it has published two decisions.
func newStepped(t *testing.T, kind string) (s *stepped, p *servicetest.Process) {
	t.Helper()
	f := newFixture(t, 2, map[string]string{
		"ORIEL_STREAM": "topic", "ORIEL_START": "latest", "ORIEL_OPERATOR": "aggregate", "ORIEL_STEP": "1s",
		"ORIEL_STEP_DELAY": steppedDelay.String(), "ORIEL_CELLS": "store=0:4:4", "ORIEL_STATISTICS": "count",
		"ORIEL_MECHANISM": "once-laplace", "ORIEL_EPSILON": "1e6", "ORIEL_DELTA": "", "ORIEL_UPDATE": "", "ORIEL_LOSS": "",
		"ORIEL_SET": "", "ORIEL_RADIUS": "", "ORIEL_DIMENSION": "", "ORIEL_STRONG_CONVEXITY": "", "ORIEL_CLIP": "",
		"ORIEL_WINDOW": "", "ORIEL_SESSION_TIMEOUT": servicetest.SessionTimeout.String(),
	})
	s = &stepped{fixture: f, kind: kind}
	times := map[string]string{"message.timestamp.type": kind}
	err := logtest.Alter(t.Context(), f.Client, f.Env["ORIEL_INPUT_TOPIC"], times)
	if err != nil {
		t.Fatal(err)
	}
	f.Must("topics")
	p = f.Start(nil, "run")
	f.Await(time.Minute, "two decisions", func() bool { return len(s.decisions()) > 1 })
	return s, p
}

// decisions returns the committed records of decisions.
func (s *stepped) decisions() []records.Record { return s.Read(s.Topic("decisions"), 0, false) }

// send sends an event, and a record that is none.
func (s *stepped) send(n int) {
	s.T.Helper()
	for range n {
		event := fmt.Appendf(nil, `{"store":%d}`, s.sent%4)
		s.Send(int32(s.sent%2), records.Record{Value: event}, records.Record{Value: []byte("{")})
		s.sent++
	}
}

// check waits until the step in progress has its decision, and checks all decisions: one of each step, with the time of
// its hand-over. With the brokers' times each has the number of its events, else all have the number of all events.
func (s *stepped) check() {
	t, want, total := s.T, map[uint64]float64{}, 0.
	t.Helper()
	last := uint64(time.Now().Unix())
	all := s.decisions()
	parsed := func() decision.Decision {
		d, err := decision.Parse(all[len(all)-1].Value)
		if err != nil {
			t.Fatal(err)
		}
		return d
	}
	s.Await(time.Minute, "the decision of the last record's step", func() bool {
		all = s.decisions()
		return parsed().Step >= last
	})
	for p := range int32(2) {
		for _, r := range s.Read(s.Env["ORIEL_INPUT_TOPIC"], p, false) {
			if len(r.Value) > 1 {
				want[uint64(r.Timestamp/1000)]++
			}
			if r.Appended != (s.kind == "LogAppendTime") {
				t.Fatalf("the input has other times than %s", s.kind)
			}
		}
	}
	var step uint64
	for i, r := range all {
		d, err := decision.Parse(r.Value)
		if err != nil {
			t.Fatal(err)
		}
		end := int64(d.Step+1) * 1000
		due := end + steppedDelay.Milliseconds()
		if i > 0 && d.Step != step+1 || d.Index != d.Step || d.Time() != end || r.Timestamp != due {
			t.Errorf("%s: behind step %d comes step %d, of %d, at %d", s.kind, step, d.Step, d.Time(), r.Timestamp)
		}
		step = d.Step
		events := 0.
		for _, n := range d.Point {
			events += n
		}
		if total += events; s.kind == "LogAppendTime" && events != want[step] {
			t.Errorf("step %d has %v events, want %v", step, events, want[step])
		}
	}
	if total != float64(s.sent) {
		t.Errorf("%s: %v events in all steps, want %d", s.kind, total, s.sent)
	}
}

// transactions returns how many steps each transaction decides, as the order log says: an order record that closes
// several steps leads to two, of which the second has the last step.
func (s *stepped) transactions(first int64) (steps []int) {
	s.T.Helper()
	closed := first - 1
	for _, r := range s.Read(s.Topic("order"), 0, false) {
		slot, _ := binary.Uvarint(r.Value[17:])
		if n := int(int64(slot) - closed); n > 1 {
			steps = append(steps, n-1, 1)
		} else if n == 1 {
			steps = append(steps, 1)
		}
		closed = max(closed, int64(slot))
	}
	return steps
}

// seen checks what readers see of the topic of decisions. Of the first process, it must follow from the order log:
// each transaction is a batch and a marker, in the process's epoch, with the next sequence number, and nothing else
// takes an offset. It returns the producer's epoch of the second process, counted from that of the first.
func (s *stepped) seen() (takeOver int) {
	t := s.T
	t.Helper()
	leader, _, _ := strings.Cut(s.Env["ORIEL_BROKERS"], ",")
	conn, err := net.Dial("tcp", leader)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close() }()
	batches, err := logtest.Batches(conn, s.Topic("decisions"))
	if err != nil {
		t.Fatal(err)
	}
	for batches[0].Count == 0 || batches[0].Sequence < 0 { // the end of what an earlier owner may have left
		batches = batches[1:]
	}
	d, err := decision.Parse(s.decisions()[0].Value)
	if err != nil {
		t.Fatal(err)
	}
	first, offset, sequence := batches[0], batches[0].Base, int32(0)
	checked := 0
	for _, n := range s.transactions(int64(d.Step)) {
		if len(batches) < 2 || batches[1].ProducerEpoch != first.ProducerEpoch {
			break // the second process ends the transaction of the first one
		}
		b, marker := batches[0], batches[1]
		if int(b.Count) != n || b.Base != offset || b.Sequence != sequence || b.ProducerEpoch != first.ProducerEpoch ||
			marker.Sequence != -1 || marker.Base != b.Next() {
			t.Errorf("%s: %s and %s, want a transaction of %d steps at offset %d, sequence %d", s.kind,
				logtest.BatchLine(b), logtest.BatchLine(marker), n, offset, sequence)
		}
		offset, sequence, batches = marker.Next(), sequence+b.Count, batches[2:]
		checked++
	}
	if checked < 3 {
		t.Errorf("%s: %d transactions of the first process", s.kind, checked)
	}
	return int(batches[len(batches)-1].ProducerEpoch - first.ProducerEpoch)
}

// TestStepsByTheClockOnRealKafka runs four deployments over the same records, two with each kind of times, of which one
// has a record more, and kills their processes. Each step must have one decision. What readers see of the topic of
// decisions must follow from the order log and from the take-over.
func TestStepsByTheClockOnRealKafka(t *testing.T) {
	t.Parallel()
	kinds := []string{"CreateTime", "LogAppendTime"}
	var all [4]*stepped // by kind, then with a record more
	var running [4]*servicetest.Process
	each := func(do func(i int)) {
		t.Helper()
		var done sync.WaitGroup
		for i := range all {
			done.Go(func() { do(i) })
		}
		done.Wait()
		if t.Failed() {
			t.FailNow()
		}
	}
	each(func(i int) { all[i], running[i] = newStepped(t, kinds[i/2]) })
	for k := range 8 {
		each(func(i int) {
			if k == 4 {
				all[i].send(i % 2) // the record that one of two has more
			}
			all[i].send(1)
		})
		time.Sleep(300 * time.Millisecond)
	}
	each(func(i int) {
		kill(running[i])
		all[i].send(2)
		running[i] = all[i].Start(nil, "run")
	})
	each(func(i int) { all[i].check() })
	var epochs [4]int
	each(func(i int) {
		running[i].Terminate()
		epochs[i] = all[i].seen()
	})
	if slices.Min(epochs[:]) < 1 || slices.Min(epochs[:]) != slices.Max(epochs[:]) {
		t.Errorf("take-overs took %v epochs", epochs)
	}
}
