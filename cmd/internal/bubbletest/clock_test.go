package bubbletest

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"oriel/cmd/internal/service"
	"oriel/cmd/internal/servicetest"
	"oriel/pipeline/kafka/fetch"
	"oriel/pipeline/kafka/records"
	"oriel/pipeline/pipetest/logtest"
	"oriel/pipeline/pipetest/simtest"
	"oriel/schemas/decision"
)

// perMinute are the settings of private counts for each minute.
var perMinute = map[string]string{
	"ORIEL_STREAM": "topic", "ORIEL_START": "latest", "ORIEL_OPERATOR": "aggregate", "ORIEL_STEP": "1m",
	"ORIEL_CELLS": "store=0:4:4", "ORIEL_STATISTICS": "count", "ORIEL_MECHANISM": "once-gaussian", "ORIEL_EPSILON": "2",
	"ORIEL_DELTA": "1e-6", "ORIEL_ALLOW_SINGLE_REPLICA": "true",
}

// minutes is a deployment of perMinute.
type minutes struct{ bubble }

func newMinutes(t *testing.T) minutes {
	m := minutes{bubble{servicetest.NewBubble(t, simtest.New(t), perMinute, silenced())}}
	m.Create(2, map[string]string{"message.timestamp.type": "LogAppendTime"})
	return m
}

// decisions returns the lines of the topic of decisions, without what is different in each deployment, behind their
// offsets and timestamps.
func (m minutes) decisions() (all []string) {
	m.T.Helper()
	found, err := logtest.Read(m.T.Context(), m.Client, "late.decisions", 0, -1, fetch.Options{})
	if err != nil {
		m.T.Fatal(err)
	}
	for _, r := range found {
		d, err := decision.Parse(r.Value)
		if err != nil {
			m.T.Fatal(err)
		}
		d.Incarnation = [16]byte{}
		line, _ := decision.AppendLine(nil, r.Value)
		if !strings.Contains(string(line), `"batch":0,`) || !strings.Contains(string(line), `"seconds":60,`) ||
			!strings.Contains(string(line), `"adjacency":"add-remove"`) || d.Index != d.Step {
			m.T.Errorf("%s", line)
		}
		all = append(all, fmt.Sprintf("%d at %d: step %d, %v %v", r.Offset, r.Timestamp, d.Step, d.Point, d.Extras))
	}
	return all
}

// TestRunByTheClock runs `oriel run` with steps of a minute over two inputs, which differ in one event and in a record
// that is no event. Each minute must have one decision, also without events, and nothing but released numbers may
// differ in their topic. In between the process is killed and started again.
func TestRunByTheClock(t *testing.T) {
	run := func(more bool) (all []string) {
		synctest.Test(t, func(t *testing.T) {
			m := newMinutes(t)
			a := m.Start("a", simtest.NewDisk(), service.Run)
			time.Sleep(10 * time.Second)
			for i := range 120 {
				if i < 40 || i > 90 {
					m.Send(0, records.Record{Value: []byte(`{"store":1}`)})
				}
				if more && i == 20 {
					m.Send(1, records.Record{Value: []byte(`{"store":3}`)}, records.Record{Value: []byte(`{"store":"none"}`)})
				}
				if i == 60 {
					a.Kill()
					a = m.Start("b", simtest.NewDisk(), service.Run)
				}
				time.Sleep(5 * time.Second)
			}
			if all = m.decisions(); a.Ended() {
				t.Error(a.Out.String())
			}
		})
		return all
	}
	want, got := run(false), run(true)
	if !slices.Equal(got, want) || len(got) < 9 {
		t.Errorf("with one event more:\n%q\n%q", got, want)
	}
}
