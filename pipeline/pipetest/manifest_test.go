package pipetest_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"oriel/mechanisms/mechtest/tiertest"
	"oriel/pipeline/kafka"
	"oriel/pipeline/kafka/records"
	"oriel/pipeline/kafka/topics"
	"oriel/pipeline/notice"
	"oriel/pipeline/pipetest"
	"oriel/pipeline/pipetest/logtest"
	"oriel/pipeline/pipetest/simtest"
)

// TestManifestsJustCommittedAreWaitedFor checks that a service that starts right after `oriel topics` finds the
// manifests. A broker acknowledges a commit before readers see it, so the service must wait for them.
func TestManifestsJustCommittedAreWaitedFor(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d, s := simtest.New(t), pipetest.NewSetup()
		late := d.Lent("a")
		d.Fail(simtest.Fault{
			Kind:   simtest.Kind{API: "EndTxn", Partition: simtest.AnyPartition},
			Effect: simtest.Late(3 * time.Second),
		})
		written := make(chan error, 1)
		go func() { written <- s.Prepare(t.Context(), late, 1) }()
		time.Sleep(time.Second)
		if b, err := topics.BoundsOf(t.Context(), d.Client(), s.Config.Changelog, 0); err != nil || b.Stable == b.High {
			t.Fatalf("the manifest is not on its way: %+v, %v", b, err)
		}
		if err := checkManifests(t.Context(), s, d.Client()); err != nil {
			t.Error(err)
		}
		if err := <-written; err != nil {
			t.Error(err)
		}
	})
}

// changed returns the deployment with another public setting.
func changed(s pipetest.Setup, value string) pipetest.Setup {
	s.Model.Settings += "EMIT_EVERY=" + value + "\n"
	return s
}

// incarnations returns the configurations of the partitions whose stream was opened.
func incarnations(t *testing.T, client *kafka.Client, s pipetest.Setup, partitions int32) (configs map[int32]string) {
	t.Helper()
	configs = map[int32]string{}
	described, err := s.Deployment(t.Context(), client)
	if err != nil {
		t.Fatal(err)
	}
	for p := range partitions {
		inc, err := described.Incarnation(t.Context(), p)
		if err == nil {
			configs[p] = inc.Config
		} else if !strings.Contains(err.Error(), "no incarnation") {
			t.Fatal(err)
		}
	}
	return configs
}

// TestSettingsMayChangeUntilAStreamIsOpened checks that `oriel topics` takes other settings while no stream was opened,
// and refuses them afterwards, also if the opening was not committed. A deployment kept the settings of its first
// `oriel topics`, although it had taken no record.
func TestSettingsMayChangeUntilAStreamIsOpened(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d, s := simtest.New(t), pipetest.NewSetup()
		first, second, third := changed(s, "1"), changed(s, "2"), changed(s, "3")
		check := func(err error) {
			t.Helper()
			if err != nil {
				t.Fatal(err)
			}
		}
		check(first.Prepare(t.Context(), d.Client(), 2))
		refused := func(err error, stored, configured string) {
			t.Helper()
			want := fmt.Sprintf("ORIEL_EMIT_EVERY: stored %s, configured %s", stored, configured)
			if err == nil || !strings.Contains(err.Error(), want) {
				t.Fatalf("want %q: %v", want, err)
			}
		}
		refused(checkManifests(t.Context(), second, d.Client()), "1", "2")
		check(second.Topics(t.Context(), d.Client(), func(string) {}))
		check(checkManifests(t.Context(), second, d.Client()))
		refused(checkManifests(t.Context(), first, d.Client()), "2", "1")
		check(third.Topics(t.Context(), d.Client(), func(string) {}))
		a := d.Start("a", simtest.NewDisk(), third.Run)
		time.Sleep(30 * time.Second)
		wrong := d.Lent("wrong")
		d.Fail(simtest.Fault{
			Kind:   simtest.Kind{API: "InitProducerID", Partition: simtest.AnyPartition},
			Effect: simtest.Late(time.Second), Count: -1,
		})
		refused(first.Topics(t.Context(), wrong, func(string) {}), "3", "1")
		if n := d.Effects()["late"]; n > 0 {
			t.Errorf("settings that are refused have fenced the owner of an open stream: %d requests", n)
		}
		d.Mend()
		check(a.Stop())
		for p, config := range incarnations(t, d.Client(), third, 2) {
			if config != third.Model.Settings {
				t.Errorf("partition %d was opened with %q", p, config)
			}
		}
		err := first.Topics(t.Context(), d.Client(), func(string) {})
		refused(err, "3", "1")
		if unsent := "if it is stopped now, its privacy loss adds nothing"; !strings.Contains(err.Error(), unsent) {
			t.Errorf("an empty input, want %q: %v", unsent, err)
		}
		check(third.Topics(t.Context(), d.Client(), func(string) {}))
		check(logtest.Send(t.Context(), d.Client(), third.Config.Input, 0, records.Record{}))
		a = d.Start("a", simtest.NewDisk(), third.Run)
		time.Sleep(30 * time.Second)
		check(a.Stop())
		err = first.Topics(t.Context(), d.Client(), func(string) {})
		refused(err, "3", "1")
		if adds := "its privacy loss adds to the old one's"; !strings.Contains(err.Error(), adds) ||
			strings.Contains(err.Error(), "adds nothing") || strings.Contains(err.Error(), "takes the new values") {
			t.Errorf("a decision was sent, want %q: %v", adds, err)
		}
	})
}

// TestWhatKeepsSettings checks that `oriel topics` refuses other settings of a stream whose opening was sent and then
// aborted, because its commit may have been acknowledged. It also checks that the choice of streams never changes.
func TestWhatKeepsSettings(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d, s := simtest.New(t), pipetest.NewSetup()
		if err := s.Prepare(t.Context(), d.Client(), 1); err != nil {
			t.Fatal(err)
		}
		err := s.WholeTopic().Topics(t.Context(), d.Client(), func(string) {})
		if err == nil || !strings.Contains(err.Error(), "ORIEL_STREAM: not stored, configured topic") {
			t.Errorf("a stream of the whole input takes the topics of streams of partitions: %v", err)
		} else if strings.Contains(err.Error(), "takes the new values") {
			t.Errorf("a setting that never changes has the remedy of one that does: %v", err)
		}
		dead := d.Start("dead", simtest.NewDisk(), s.Run)
		dead.KillAt(notice.PointProduced, 1) // all records of the opening are sent
		time.Sleep(30 * time.Second)
		if dead.Alive() || len(incarnations(t, d.Client(), s, 1)) > 0 {
			t.Fatal("the stream is open")
		}
		if err := changed(s, "2").Topics(t.Context(), d.Client(), func(string) {}); err == nil {
			t.Error("settings change under an opening that was sent")
		}
		if err := s.Topics(t.Context(), d.Client(), func(string) {}); err != nil {
			t.Error(err)
		}
	})
}

// TestTwoProcessesWithDifferentSettings runs `oriel topics` with new settings at each moment of the first opening by a
// process with the old ones, and kills `oriel topics` at each of its requests. A stream must only ever be opened with
// the settings of its manifest, and one of both deployments must be able to go on.
func TestTwoProcessesWithDifferentSettings(t *testing.T) {
	const alone = time.Hour // no other process runs
	run := func(later time.Duration, dies int) (outcome string) {
		synctest.Test(t, func(t *testing.T) {
			d, s := simtest.New(t), pipetest.NewSetup()
			before, after := changed(s, "1"), changed(s, "2")
			if err := before.Prepare(t.Context(), d.Client(), 2); err != nil {
				t.Fatal(err)
			}
			var zombie *simtest.Member
			if later < alone {
				zombie = d.Start("zombie", simtest.NewDisk(), func(ctx context.Context, m *simtest.Member) error {
					time.Sleep(max(0, -later))
					return before.Run(ctx, m)
				})
				time.Sleep(max(0, later))
			}
			prepared := make(chan error, 1)
			prepares := d.Start("topics", simtest.NewDisk(), func(ctx context.Context, m *simtest.Member) error {
				config := kafka.Config{Brokers: []string{m.Broker()}}
				m.Network(&config)
				client, err := kafka.New(config)
				if err == nil {
					defer func() { _ = client.Close() }()
					err = after.Topics(ctx, client, func(string) {})
				}
				prepared <- err
				return err
			})
			if dies > 0 {
				prepares.KillAtRequest(dies, dies%2 == 0)
			}
			time.Sleep(2 * time.Minute)
			_ = prepares.Stop()
			if zombie != nil {
				_ = zombie.Stop()
			}
			opened := incarnations(t, d.Client(), before, 2)
			goesOn := 0
			for _, setup := range []pipetest.Setup{before, after} {
				if err := setup.Topics(t.Context(), d.Client(), func(string) {}); err != nil {
					continue // its streams were opened with the other settings
				}
				goesOn++
				for p, config := range opened {
					if config != setup.Model.Settings {
						t.Errorf("partition %d was opened with %q, and %q goes on", p, config, setup.Model.Settings)
					}
				}
			}
			switch {
			case len(opened) == 0 && goesOn == 2:
				outcome = "open"
			case goesOn == 1:
				outcome = opened[0] + opened[1]
			default:
				t.Errorf("after %v, killed at request %d: %d deployments go on, opened with %q", later, dies, goesOn, opened)
			}
		})
		return outcome
	}
	outcomes := map[string]int{}
	for at := range tiertest.Runs(16, 400) {
		outcomes[run(time.Duration(at-tiertest.Runs(8, 200))*tiertest.Runs[time.Duration](25, 1)*time.Millisecond, 0)]++
	}
	if len(outcomes) < 2 {
		t.Errorf("the moments make no difference: %v", outcomes)
	}
	for request := 1; request <= 48; request += tiertest.Runs(4, 1) {
		run(alone, request)
		run(-time.Duration(request)*5*time.Millisecond, request)
	}
}

// checkManifests makes the checks with which `oriel run` starts.
func checkManifests(ctx context.Context, s pipetest.Setup, client *kafka.Client) error {
	d, err := s.Deployment(ctx, client)
	if err != nil {
		return err
	}
	return d.CheckManifests(ctx)
}
