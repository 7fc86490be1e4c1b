package pipetest_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math/bits"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"oriel/mechanisms/mechtest/tiertest"
	"oriel/pipeline/changelog"
	"oriel/pipeline/deployment"
	"oriel/pipeline/kafka"
	"oriel/pipeline/kafka/fetch"
	"oriel/pipeline/kafka/topics"
	"oriel/pipeline/pipetest"
	"oriel/pipeline/pipetest/logtest"
	"oriel/pipeline/pipetest/simtest"
	"oriel/state"
)

// end does the same as `oriel end`, without the master key.
func end(ctx context.Context, client *kafka.Client, s pipetest.Setup, skip bool) (deployment.Offsets, error) {
	described, err := deployment.DescribeTopics(ctx, client, s.Config)
	if err != nil {
		return nil, err
	}
	return changelog.Deployment{Client: client, Config: s.Config, Topics: described}.End(ctx, skip)
}

// next returns another deployment on the same input, which starts at offsets.
func next(at deployment.Offsets) pipetest.Setup {
	s := pipetest.NewSetup()
	c := &s.Config
	c.Name, c.Group, c.Start, c.Offsets = "next", "next", "", at
	c.Decisions, c.Verdicts, c.Changelog = "next.decisions", "next.verdicts", "next.changelog"
	c.DeadLetter = "next.dead-letter"
	return s
}

// works makes the topics of a deployment and runs it until it is at rest. It returns the process's error.
func works(t *testing.T, d *simtest.Deployment, s pipetest.Setup) error {
	t.Helper()
	if err := s.Topics(t.Context(), d.Client(), func(string) {}); err != nil {
		t.Fatal(err)
	}
	a := d.Start(s.Config.Name+" at work", simtest.NewDisk(), s.Run)
	time.Sleep(20 * time.Second)
	return a.Stop()
}

// decided returns the input offsets of the events that the decisions of a partition belong to.
func decided(t *testing.T, d *simtest.Deployment, topic string, p int32, uncommitted bool) (all []int64) {
	t.Helper()
	records, err := logtest.Read(t.Context(), d.Client(), topic, p, -1, fetch.Options{Uncommitted: uncommitted})
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range records {
		all = append(all, int64(decisionIn(t, r).Point[1]))
	}
	return all
}

// usedOnce checks that the committed decisions of two deployments belong to each of the first n events of a partition
// once, and that the first deployment has sent no decision of an event from an offset on, not even uncommitted.
func usedOnce(t *testing.T, d *simtest.Deployment, p int32, n int, at int64) {
	t.Helper()
	all := slices.Concat(decided(t, d, "late.decisions", p, false), decided(t, d, "next.decisions", p, false))
	for i := range n {
		if len(all) != n || all[i] != int64(i) {
			t.Errorf("partition %d: decisions of the events %v, want 0 to %d", p, all, n-1)
			break
		}
	}
	for _, offset := range decided(t, d, "late.decisions", p, true) {
		if offset >= at {
			t.Errorf("partition %d ends at %d, and has sent a decision of event %d", p, at, offset)
		}
	}
}

// TestTheEndSurvivesDeathAtEachRequest kills the command at each of its requests, beside a process of the deployment
// that goes on. After a death each stream goes on or has ended. A second call ends all streams, at the events that the
// process has committed. The process cannot commit any event afterwards, and another deployment uses each of them once.
// The short form tries every third request.
func TestTheEndSurvivesDeathAtEachRequest(t *testing.T) {
	outcomes := map[string]bool{}
	for request := 1; ; request++ {
		survived := false
		synctest.Test(t, func(t *testing.T) {
			d, s := simtest.New(t), pipetest.NewSetup()
			if err := s.Prepare(t.Context(), d.Client(), 2); err != nil {
				t.Fatal(err)
			}
			old := d.Start("old", simtest.NewDisk(), s.Run)
			counts := []int{5, 3}
			for p, n := range counts {
				send(t, d, s, int32(p), n)
			}
			time.Sleep(10 * time.Second)
			ends := d.Start("end", simtest.NewDisk(), func(ctx context.Context, m *simtest.Member) error {
				config := kafka.Config{Brokers: []string{m.Broker()}}
				m.Network(&config)
				client, err := kafka.New(config)
				if err != nil {
					return err
				}
				_, err = end(ctx, client, s, false)
				return errors.Join(err, client.Close())
			})
			ends.KillAtRequest(request, request%2 == 0)
			time.Sleep(10 * time.Second)
			survived = ends.Alive()
			outcome := ""
			for p := range int32(len(counts)) {
				bounds, err := topics.ReadableEnd(t.Context(), d.Client(), s.Config.Changelog, p)
				if err != nil {
					t.Fatal(err)
				}
				found, err := topics.Find(t.Context(), d.Client(), s.Config.Changelog)
				if err != nil {
					t.Fatal(err)
				}
				view, err := changelog.Read(t.Context(), d.Client(), found, p, bounds, nil)
				if err != nil {
					t.Fatal(err)
				}
				send(t, d, s, p, 2)
				if view.Value(state.EndedKey()) == nil {
					counts[p] += 2
					outcome += "goes on "
				} else {
					outcome += "ended "
				}
			}
			outcomes[outcome] = true
			time.Sleep(15 * time.Second)
			for range 2 {
				at, err := end(t.Context(), d.Client(), s, false)
				if want := (deployment.Offsets{0: int64(counts[0]), 1: int64(counts[1])}); err != nil || !maps.Equal(at, want) {
					t.Fatalf("died at request %d: ends at %v, want %v: %v", request, at, want, err)
				}
			}
			at := deployment.Offsets{0: int64(counts[0]), 1: int64(counts[1])}
			for p := range int32(len(counts)) {
				send(t, d, s, p, 2)
			}
			time.Sleep(15 * time.Second)
			if err := old.Stop(); err == nil || !strings.Contains(err.Error(), "this deployment was ended for good by `oriel end`") {
				t.Errorf("died at request %d: the old process: %v", request, err)
			}
			if err := works(t, d, next(at)); err != nil {
				t.Error(err)
			}
			for p, all := range []int{9, 7} {
				usedOnce(t, d, int32(p), all, at[int32(p)])
			}
		})
		if survived || t.Failed() {
			break
		}
		request += tiertest.Runs(2, 0)
	}
	if len(outcomes) != 3 {
		t.Errorf("a death leaves %v", slices.Collect(maps.Keys(outcomes)))
	}
}

// TestTheEndOfATornDeployment plays each way in which the last transaction may have ended in some parts and not in
// others; the short form plays every other one. The end must be refused, or be at an offset that covers every decision
// that was sent. After a refusal the
// deployment can complete the transaction and end, or end at the end of the input. No event may have two decisions.
func TestTheEndOfATornDeployment(t *testing.T) {
	refusals, ends := 0, 0
	setup := pipetest.NewSetup().SecondTopic(2)
	parts := setup.Parts()
	for committed := range 1 << len(parts) {
		for _, skip := range []bool{false, true} {
			odd := bits.OnesCount(uint(committed))%2 == 1
			if tiertest.Runs(odd || skip && committed%5 != 0, false) {
				continue
			}
			ends++
			t.Run(fmt.Sprintf("%v skip=%t", subset(parts, committed), skip), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					h := &history{t: t, Deployment: simtest.New(t), setup: setup, every: 2}
					if err := h.setup.Prepare(t.Context(), h.Client(), 1); err != nil {
						t.Fatal(err)
					}
					if err := works(t, h.Deployment, h.setup); err != nil {
						t.Fatal(err)
					}
					h.tear("torn", 4, subset(parts, committed))
					at, err := end(t.Context(), h.Client(), h.setup, skip)
					if err != nil {
						if refusals++; skip || !strings.Contains(err.Error(), "oriel end --skip") {
							t.Fatal(err)
						}
						if err := works(t, h.Deployment, h.setup); err != nil {
							t.Fatal(err)
						}
						if at, err = end(t.Context(), h.Client(), h.setup, false); err != nil {
							t.Fatal(err)
						}
					}
					if at[0] != 4 {
						t.Errorf("ends at %v", at)
					}
					send(t, h.Deployment, h.setup, 0, 2)
					after := next(at)
					if err := works(t, h.Deployment, after); err != nil {
						t.Fatal(err)
					}
					if got := decided(t, h.Deployment, "next.decisions", 0, false); !slices.Equal(got, []int64{4, 5}) {
						t.Errorf("the next deployment has decisions of %v", got)
					}
				})
			})
		}
	}
	if refusals < ends/3 || refusals == ends {
		t.Errorf("%d of %d ends are refused", refusals, ends)
	}
}

// TestTheEndOfSeveralStreams ends a deployment with a stream for each partition, after a partition was added that it
// does not have. A stream of the whole input starts at these offsets, and ends at the offsets of its own. An ended
// deployment gets no new streams.
func TestTheEndOfSeveralStreams(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d, s := simtest.New(t), pipetest.NewSetup()
		if err := s.Prepare(t.Context(), d.Client(), 2); err != nil {
			t.Fatal(err)
		}
		send(t, d, s, 0, 5)
		send(t, d, s, 1, 3)
		if err := works(t, d, s); err != nil {
			t.Fatal(err)
		}
		if err := topics.AddPartitions(t.Context(), d.Client(), "trips", 3); err != nil {
			t.Fatal(err)
		}
		at, err := end(t.Context(), d.Client(), s, false)
		if want := (deployment.Offsets{0: 5, 1: 3, 2: 0}); err != nil || !maps.Equal(at, want) {
			t.Fatalf("ends at %v, want %v: %v", at, want, err)
		}
		err = s.Topics(t.Context(), d.Client(), func(string) {})
		if err == nil || !strings.Contains(err.Error(), "this deployment was ended for good") {
			t.Errorf("an ended deployment gets a new stream: %v", err)
		}
		for p := range int32(3) {
			send(t, d, s, p, int(p)+1)
		}
		incomplete := maps.Clone(at)
		delete(incomplete, 2)
		for want, wrong := range map[string]deployment.Offsets{
			"no line for partition 2": incomplete, "offset 9 of partition 1": {0: 5, 1: 9, 2: 0},
		} {
			if err := works(t, d, next(wrong).WholeTopic()); err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("start at %v: %v", wrong, err)
			}
		}
		whole := next(at).WholeTopic()
		if err := works(t, d, whole); err != nil {
			t.Fatal(err)
		}
		if got := decided(t, d, "next.decisions", 0, false); len(got) != 6 {
			t.Errorf("%d decisions, want one for each of 6 events", len(got))
		}
		for range 2 {
			at, err = end(t.Context(), d.Client(), whole, false)
			if want := (deployment.Offsets{0: 6, 1: 5, 2: 3}); err != nil || !maps.Equal(at, want) {
				t.Errorf("ends at %v, want %v: %v", at, want, err)
			}
		}
		if err := works(t, d, whole); err == nil || !strings.Contains(err.Error(), "this deployment was ended for good") {
			t.Errorf("an ended deployment starts: %v", err)
		}
	})
}

// TestTheEndNeedsKnownOffsets checks that the end of a deployment whose group's offsets are forgotten or set back is
// refused, because nothing would say which events its decisions belong to.
func TestTheEndNeedsKnownOffsets(t *testing.T) {
	for name, loses := range map[string]func(c *deployment.Config){
		"nothing": func(*deployment.Config) {}, "the offsets": func(c *deployment.Config) { c.Group = "gone" },
		"offsets and verdicts": func(c *deployment.Config) { c.Group, c.Verdicts = "gone", "late.gone" },
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				d, s := simtest.New(t), pipetest.NewSetup()
				if err := s.Prepare(t.Context(), d.Client(), 1); err != nil {
					t.Fatal(err)
				}
				send(t, d, s, 0, 5)
				if err := works(t, d, s); err != nil {
					t.Fatal(err)
				}
				loses(&s.Config)
				at, err := end(t.Context(), d.Client(), s, false)
				if refused := err != nil && strings.Contains(err.Error(), "do not cover"); refused != (name != "nothing") {
					t.Errorf("ends at %v: %v", at, err)
				}
				if at, err = end(t.Context(), d.Client(), s, true); err != nil || at[0] != 5 {
					t.Errorf("with --skip it ends at %v: %v", at, err)
				}
			})
		})
	}
}

// TestAnEndKeepsItsOffsets checks that a repeated end returns the offsets of the first one, whatever happens to
// those of the group.
func TestAnEndKeepsItsOffsets(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d, s := simtest.New(t), pipetest.NewSetup()
		if err := s.Prepare(t.Context(), d.Client(), 1); err != nil {
			t.Fatal(err)
		}
		send(t, d, s, 0, 5)
		if err := works(t, d, s); err != nil {
			t.Fatal(err)
		}
		for _, offset := range []int64{5, 9, 2} {
			if err := logtest.AlterOffset(t.Context(), d.Client(), "late", "trips", 0, offset); err != nil {
				t.Fatal(err)
			}
			if at, err := end(t.Context(), d.Client(), s, false); err != nil || at[0] != 5 {
				t.Errorf("ends at %v: %v", at, err)
			}
		}
	})
}
