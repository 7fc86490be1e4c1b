package bubbletest

import (
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"oriel/cmd/internal/service"
	"oriel/cmd/internal/servicetest"
	"oriel/cmd/internal/settings"
	"oriel/mechanisms/mechtest/tiertest"
	"oriel/pipeline/kafka/records"
	"oriel/pipeline/notice"
	"oriel/pipeline/pipetest/simtest"
	"oriel/pipeline/streams"
)

// seconds has the settings of a step each second.
var seconds = map[string]string{
	"ORIEL_STREAM": "topic", "ORIEL_STEP": "1s", "ORIEL_START": "latest", "ORIEL_OPERATOR": "aggregate",
	"ORIEL_CELLS": "carrier=UA|AA", "ORIEL_STATISTICS": "count", "ORIEL_MECHANISM": "once-gaussian", "ORIEL_EPSILON": "1",
	"ORIEL_DELTA": "1e-6", "ORIEL_LOG_LEVEL": "debug", "ORIEL_COMMIT_INTERVAL": "200ms", "ORIEL_DECISION_GAUGES": "2",
}

// sending are the values of the records that come at each half second, by partition.
type sending map[int][2][]string

// readersSee runs a service with steps by the clock, and returns everything that readers of decisions see. The service
// has the settings of seconds, but for the length of steps.
func readersSee(
	t *testing.T, step string, model func(settings.Settings) (streams.Model, error), input map[string]string, in sending,
	kill notice.Point, nth int, faults ...simtest.Fault,
) (seen sight) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		set := maps.Clone(seconds)
		set["ORIEL_STEP"] = step
		d := newBubbleOf(t, 2, input, set, model)
		d.Broker.Fail(faults...)
		a := d.Start("a", simtest.NewDisk(), service.Run)
		if kill != "" {
			a.KillAt(kill, nth)
		}
		began := time.Now()
		for tick := range 28 {
			time.Sleep(500 * time.Millisecond)
			for p, values := range in[tick] {
				for _, value := range values {
					d.Send(int32(p), records.Record{Value: []byte(value)})
				}
			}
			if !a.Alive() && a.Ended() {
				seen.seeEnd(a)
				a = d.Start("a", a.Disk(), service.Run)
			}
			at := time.Since(began).Truncate(500 * time.Millisecond).String()
			for _, page := range []string{
				"/healthz", "/readyz", "/metrics", "/page/course?partition=0&coordinate=0", "/page/course?partition=0&arm=1",
			} {
				seen.see(at+" "+page, d.get(a, page))
			}
			seen.see(at+" frame", d.events(a, 1))
		}
		_ = a.Stop()
		seen.seeEnd(a)
		d.seeTopic(&seen, d.Topic("decisions"), 0)
	})
	for i := range seen { // a test's machine counts its records, which real noise hides
		seen[i] = noised.ReplaceAllString(seen[i], "")
	}
	return seen
}

var noised = regexp.MustCompile(`"decision":\[[^]]*\]`)

// TestReadersDoNotSeeWhetherAnEventWasSent runs services over inputs that differ in one record: valid or not, in the
// middle, the only one of a partition, the first and the last. But for their numbers, whatever readers of decisions see
// must have the same bytes: metrics, pages, readiness, the log, and the topic of decisions.
func TestReadersDoNotSeeWhetherAnEventWasSent(t *testing.T) {
	t.Parallel()
	const valid, bad = `{"carrier":"UA"}`, `{"carrier":`
	model := blind()
	some := sending{4: {{valid, valid}, {valid}}, 5: {{valid}}, 9: {{}, {valid}}, 15: {{valid, bad}}}
	for _, input := range []map[string]string{nil, {"message.timestamp.type": "LogAppendTime"}} {
		want := readersSee(t, "1s", model, input, some, "", 0)
		for what, more := range map[string]sending{
			"a valid one":      {5: {{valid, valid}}},
			"a bad one":        {5: {{bad, valid}}},
			"of its own":       {12: {nil, {valid}}},
			"the first":        {1: {{valid}}},
			"the last":         {27: {nil, {bad}}},
			"no record at all": {4: {}, 5: {}, 9: {}, 15: {}},
		} {
			in := maps.Clone(some)
			maps.Copy(in, more)
			got := readersSee(t, "1s", model, input, in, "", 0)
			if text := simtest.Difference(want, got); text != "" {
				t.Errorf("%v, %s: %s", input, what, text)
			}
		}
		has := func(text string) bool {
			return slices.ContainsFunc(want, func(line string) bool { return strings.Contains(line, text) })
		}
		if !has(`oriel_decisions_total{deployment="late",partition="0"} 8`) || !has("/readyz: ready") || !has("msg=committed") {
			t.Error("the run has no decisions, is never ready, or has no log")
		}
	}
}

// TestReadersDoNotSeeEventsThroughACrash kills the process at each point, and restarts it on the same disk.
func TestReadersDoNotSeeEventsThroughACrash(t *testing.T) {
	t.Parallel()
	model := blind()
	for _, at := range []notice.Point{notice.PointFenced, notice.PointRestored, notice.PointProduced, notice.PointEnded} {
		for _, nth := range tiertest.Runs([]int{1, 3}, []int{1, 2, 3, 4, 5, 6, 7}) {
			for _, step := range []string{"1s", "10s"} { // of 10 s, most transactions save
				want := readersSee(t, step, model, nil, sending{4: {{"{}"}}, 14: {{"{}"}, {"{}"}}}, at, nth)
				got := readersSee(t, step, model, nil, sending{4: {{}}, 14: {{}, {"{}"}}}, at, nth)
				if text := simtest.Difference(want, got); text != "" {
					t.Errorf("steps of %s, %s, number %d: %s", step, at, nth, text)
				}
			}
		}
	}
}

// TestReadersHearOfNoUnreadablePartition refuses all fetches of a partition, with a record in it and without. The log
// must not tell the two apart, because only a partition with records is fetched.
func TestReadersHearOfNoUnreadablePartition(t *testing.T) {
	t.Parallel()
	run := func(record bool) (log []string) {
		synctest.Test(t, func(t *testing.T) {
			m := newMinutes(t)
			a := m.Start("a", simtest.NewDisk(), service.Run)
			time.Sleep(70 * time.Second)
			if record {
				m.Send(1, records.Record{Value: []byte(`{"store":3}`)})
			}
			m.Broker.Fail(simtest.Fault{
				Kind:  simtest.Kind{API: "Fetch", Topic: m.Env["ORIEL_INPUT_TOPIC"], Partition: 1},
				Count: -1, Effect: simtest.Cut,
			})
			time.Sleep(50 * time.Second)
			if m.Broker.Effects()["cut"] > 0 != record {
				t.Errorf("with a record %t: %v", record, m.Broker.Effects())
			}
			for line := range strings.Lines(a.Out.String()) {
				log = append(log, unique.ReplaceAllString(line, ""))
			}
		})
		return log
	}
	if text := simtest.Difference(run(false), run(true)); text != "" {
		t.Error(text)
	}
}

// unique matches the parts of log lines that are different in each deployment.
var unique = regexp.MustCompile(`[0-9a-f]{16,}`)

// TestReadersOfTheOrderProcess runs `oriel order` beside the service, over inputs that differ in one record. Its log
// must not tell the two apart.
func TestReadersOfTheOrderProcess(t *testing.T) {
	t.Parallel()
	run := func(record bool) (log []string) {
		synctest.Test(t, func(t *testing.T) {
			m := newMinutes(t)
			m.Env["ORIEL_SEQUENCER"], m.Env["ORIEL_LOG_LEVEL"] = "other", "debug"
			order := m.Start("order", simtest.NewDisk(), service.WriteOrder)
			a := m.Start("a", simtest.NewDisk(), service.Run)
			time.Sleep(30 * time.Second)
			if record {
				m.Send(1, records.Record{Value: []byte(`{"store":3}`)})
			}
			time.Sleep(100 * time.Second)
			if len(m.decisions()) == 0 {
				t.Error("no decision")
			}
			for _, c := range []*servicetest.Command{order, a} {
				_ = c.Stop()
			}
			for line := range strings.Lines(order.Out.String()) {
				log = append(log, line)
			}
		})
		return log
	}
	want := run(false)
	if text := simtest.Difference(want, run(true)); text != "" || len(want) == 0 {
		t.Errorf("%d lines of log: %s", len(want), text)
	}
}
