package pipetest_test

import (
	"context"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"oriel/pipeline/console"
	"oriel/pipeline/kafka/topics"
	"oriel/pipeline/notice"
	"oriel/pipeline/pipetest"
	"oriel/pipeline/pipetest/logtest"
	"oriel/pipeline/pipetest/simtest"
)

// TestAProcessThatEndsIsNeverReady looks at the readiness of a process at each of its messages, and each millisecond,
// in each way of ending. From the first sign of the end on, the process must not be ready. /readyz once said "ready"
// for the 30 ms that a process with a stopped partition took to leave its group.
func TestAProcessThatEndsIsNeverReady(t *testing.T) {
	deleted := func(w *whole, topic string) {
		w.check(logtest.Delete(w.t.Context(), w.Client(), topic))
	}
	for _, c := range []struct {
		name   string
		beside bool                                // another process has the stream
		before func(w *whole)                      // what happens before the process starts
		end    func(w *whole, m *simtest.Member)   // ends the process
		signs  func(l *notice.Listener, at func()) // sets the functions that are the first sign of the end
	}{
		{
			"asked to stop", false, nil, func(_ *whole, m *simtest.Member) { _ = m.Stop() },
			func(l *notice.Listener, at func()) { l.Closed = func(int32) { at() } },
		},
		{
			"asked to stop, standing by", true, nil, func(_ *whole, m *simtest.Member) { _ = m.Stop() },
			func(l *notice.Listener, at func()) {
				l.Standby = func(s notice.Standby) {
					if s == notice.NoStandby {
						at()
					}
				}
			},
		},
		{
			"its partition cannot start", false, func(w *whole) {
				w.send(0, 5)
				w.check(topics.DeleteRecords(w.t.Context(), w.Client(), w.setup.Config.Input, 0, 9))
			}, nil, func(l *notice.Listener, at func()) { l.Stopped = func(int32, error) { at() } },
		},
		{
			"its partition stops at work", false, nil, func(w *whole, _ *simtest.Member) {
				deleted(w, w.setup.Config.Order)
			}, func(l *notice.Listener, at func()) { l.Stopped = func(int32, error) { at() } },
		},
		{
			"the deployment stops, standing by", true, nil, func(w *whole, _ *simtest.Member) {
				deleted(w, w.setup.Config.Verdicts)
			}, func(l *notice.Listener, at func()) { l.Unassigned = at },
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newWhole(t, pipetest.NewSetup(), 1, 1)
				a := w.Start("a", simtest.NewDisk(), w.setup.Run)
				w.send(0, 7)
				time.Sleep(3 * time.Second)
				if !c.beside {
					w.check(a.Stop())
				}
				if c.before != nil {
					c.before(w)
				}
				readiness, ending := console.New(notice.Operators), new(atomic.Bool)
				look := func() {
					if ending.Load() && len(readiness.Reasons()) == 0 {
						t.Error("ready, although the process ends")
					}
				}
				var signs notice.Listener
				c.signs(&signs, func() { ending.Store(true); look() })
				setup := w.setup
				setup.Listener = readiness.Listen(signs)
				b := w.Start("b", simtest.NewDisk(), func(ctx context.Context, m *simtest.Member) error {
					err := setup.Run(ctx, m)
					ending.Store(true)
					look()
					return err
				})
				time.Sleep(5 * time.Second)
				if c.end != nil {
					if n := len(readiness.Reasons()); n > 0 {
						t.Errorf("not ready before the end: %v", readiness.Reasons())
					}
					go c.end(w, b)
				}
				for n := 0; ; n++ {
					select {
					case <-b.Done():
						if look(); !ending.Load() {
							t.Error("the process gave no sign of its end")
						}
						_ = a.Stop()
						return
					case <-time.After(time.Millisecond):
						look()
					}
					if n > 60_000 {
						t.Fatal("the process goes on")
					}
				}
			})
		})
	}
}
