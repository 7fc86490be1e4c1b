package pipetest_test

import (
	"testing"
	"testing/synctest"
	"time"

	"oriel/pipeline/kafka/topics"
	"oriel/pipeline/pipetest"
	"oriel/pipeline/pipetest/simtest"
)

// TestManifestsJustCommittedAreWaitedFor: a broker acknowledges a commit before a reader sees it. Whoever started the
// service at once after `oriel topics` was told that the deployment had no manifest.
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
