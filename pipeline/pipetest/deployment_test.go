package pipetest_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	kafkago "github.com/segmentio/kafka-go"

	"oriel/pipeline/kafka/fetch"
	"oriel/pipeline/kafka/records"
	"oriel/pipeline/kafka/topics"
	"oriel/pipeline/notice"
	"oriel/pipeline/pipetest"
	"oriel/pipeline/pipetest/logtest"
	"oriel/pipeline/pipetest/simtest"
)

// TestEffectsOfFaults checks each Effect: the first of two Produce requests fails, and the log is read while the
// second is delayed.
func TestEffectsOfFaults(t *testing.T) {
	for _, test := range []struct {
		effect  simtest.Effect
		outcome string
		after   time.Duration
		done    int // records in the log after that time; only the first request could write them
	}{
		{simtest.Effect{}, "ok", 5 * time.Second, 1},
		{simtest.Lost, "lost", 5 * time.Second, 1},
		{simtest.Cut, "cut", 5 * time.Second, 0},
		{simtest.Refused(kafkago.NotEnoughReplicas), "NOT_ENOUGH_REPLICAS", 5 * time.Second, 0},
		{simtest.Late(20 * time.Second), "client gone", 22 * time.Second, 1}, // the client gives up after 15 s
	} {
		t.Run(test.outcome, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				d := simtest.New(t)
				if err := topics.Create(t.Context(), d.Client(), "t", 1, 1, nil); err != nil {
					t.Fatal(err)
				}
				produce := simtest.Kind{API: "Produce", Partition: simtest.AnyPartition}
				d.Fail(
					simtest.Fault{Kind: produce, Effect: test.effect},
					simtest.Fault{Kind: produce, Skip: 1, Count: -1, Effect: simtest.Late(10 * time.Second)},
				)
				sent := make(chan error, 1)
				c := d.Lent("a")
				go func() { sent <- logtest.Send(t.Context(), c, "t", 0, records.Record{Value: []byte("v")}) }()
				time.Sleep(test.after)
				requests := d.Requests()
				first := slices.IndexFunc(requests, func(r simtest.Request) bool { return r.API == "Produce" })
				if got := requests[first]; got.Outcome != test.outcome || got.Topic != "t" || got.Partition != 0 ||
					got.Member != "a" {
					t.Errorf("first: %v", got)
				}
				length := func() int {
					records, err := logtest.Read(t.Context(), d.Client(), "t", 0, -1, fetch.Options{})
					if err != nil {
						t.Fatal(err)
					}
					return len(records)
				}
				if got := length(); got != test.done {
					t.Errorf("%d records by the first request, want %d", got, test.done)
				}
				if err := <-sent; err != nil || length() != 1 {
					t.Errorf("%d records in the end, %v", length(), err)
				}
			})
		})
	}
}

// trace runs a service over 40 events in two partitions, and returns its requests.
func trace(t *testing.T, faults ...simtest.Fault) (all []simtest.Request) {
	synctest.Test(t, func(t *testing.T) {
		d, setup := prepared(t, 2)
		d.Fail(faults...)
		a := d.Start("a", simtest.NewDisk(), setup.Run)
		for range 4 {
			for p := range int32(2) {
				send(t, d, setup, p, 5)
			}
			time.Sleep(time.Second)
		}
		time.Sleep(12 * time.Second)
		if err := a.Stop(); err != nil {
			t.Errorf("%v: %v", faults, err)
		}
		for p := range int32(2) {
			wantTaken(t, d, setup, p, 20)
		}
		all = d.Requests()
	})
	return all
}

func prepared(t *testing.T, partitions int) (*simtest.Deployment, pipetest.Setup) {
	t.Helper()
	d, setup := simtest.New(t), pipetest.NewSetup()
	if err := setup.Prepare(t.Context(), d.Client(), partitions); err != nil {
		t.Fatal(err)
	}
	return d, setup
}

func send(t *testing.T, d *simtest.Deployment, s pipetest.Setup, p int32, n int) {
	t.Helper()
	if err := logtest.Send(t.Context(), d.Client(), s.Config.Input, p, make([]records.Record, n)...); err != nil {
		t.Fatal(err)
	}
}

// wantTaken checks that there is one decision for each of the first n offsets, in order.
func wantTaken(t *testing.T, d *simtest.Deployment, s pipetest.Setup, p int32, n int) {
	t.Helper()
	records, err := logtest.Read(t.Context(), d.Client(), s.Config.Decisions, p, -1, fetch.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if len(records) != n {
		t.Errorf("partition %d: %d decisions, want %d", p, len(records), n)
	}
	for i, r := range records {
		if want := fmt.Sprintf(`"decision":[%d,%d]`, i+1, i); !strings.Contains(string(r.Value), want) {
			t.Errorf("partition %d: decision %d is %s, want %s", p, i, r.Value, want)
		}
	}
}

// TestRunsOfOneInputAreOneTrace checks that runs of the same input have equal traces, to the nanosecond, although the
// scheduler may run goroutines in any order.
func TestRunsOfOneInputAreOneTrace(t *testing.T) {
	want := simtest.Lines(trace(t))
	for range runs {
		if text := simtest.Difference(want, simtest.Lines(trace(t))); text != "" {
			t.Fatal(text)
		}
	}
}

// runs is small, because a single longer run with two hundred has passed.
const runs = 5

// TestEveryRequestCanBeRefused answers each API that the service uses with an error code. The service must retry or
// start over, and no event may be lost or taken twice.
func TestEveryRequestCanBeRefused(t *testing.T) {
	seen := map[string]bool{}
	for _, r := range trace(t) {
		if seen[r.API] {
			continue
		}
		seen[r.API] = true
		first := simtest.Kind{API: r.API, Partition: simtest.AnyPartition}
		refused := trace(t, simtest.Fault{Kind: first, Effect: simtest.Refused(kafkago.NotEnoughReplicas)})
		at := slices.IndexFunc(refused, func(r simtest.Request) bool { return r.API == first.API })
		want := "NOT_ENOUGH_REPLICAS"
		if r.API == "Metadata" && r.Topic == "" {
			want = "cut" // the request names all topics, so its answer cannot report one topic's code
		}
		if got := refused[at].Outcome; got != want {
			t.Errorf("%v: %s, want %s", first, got, want)
		}
	}
	if len(seen) < 15 {
		t.Errorf("the service used %d APIs", len(seen))
	}
}

// TestAKilledMemberIsReplaced kills a member at every point of a commit. Another process takes over, or the same one is
// started again on the contents of its disk.
func TestAKilledMemberIsReplaced(t *testing.T) {
	points := []notice.Point{notice.PointFenced, notice.PointRestored, notice.PointProduced, notice.PointEnded}
	for _, point := range points {
		for _, next := range []string{"a", "b"} {
			t.Run(fmt.Sprintf("%s/%s", point, next), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					d, setup := prepared(t, 2)
					a := d.Start("a", simtest.NewDisk(), setup.Run)
					a.KillAt(point, 2)
					send(t, d, setup, 0, 5)
					time.Sleep(2 * time.Second)
					if point == notice.PointFenced || point == notice.PointRestored {
						wantTaken(t, d, setup, 0, 0)
					}
					<-a.Done()
					disk := a.Disk()
					if next != a.Name {
						disk = simtest.NewDisk()
					}
					b := d.Start(next, disk, setup.Run)
					send(t, d, setup, 0, 5)
					time.Sleep(20 * time.Second)
					if err := b.Stop(); err != nil {
						t.Error(err)
					}
					wantTaken(t, d, setup, 0, 10)
				})
			})
		}
	}
}
