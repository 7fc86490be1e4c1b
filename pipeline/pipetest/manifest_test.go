package pipetest_test

import (
	"testing"
	"testing/synctest"
	"time"

	"oriel/pipeline/kafka/topics"
	"oriel/pipeline/pipetest"
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
		if err := s.CheckManifests(t.Context(), d.Client()); err != nil {
			t.Error(err)
		}
		if err := <-written; err != nil {
			t.Error(err)
		}
	})
}
