//go:build kafka

package service_test

import (
	"slices"
	"testing"
	"time"

	"oriel/cmd/internal/servicetest"
)

// TestTwelvePartitionsAreOneStream runs one stream over twelve partitions with two processes. The owner of the stream
// is killed twice while events come in, and partitions are added meanwhile.
func TestTwelvePartitionsAreOneStream(t *testing.T) {
	t.Parallel()
	f := newFixture(t, 12, map[string]string{
		"ORIEL_STREAM": "topic", "ORIEL_SESSION_TIMEOUT": servicetest.SessionTimeout.String(),
	})
	f.Must("topics")
	first := f.Start(nil, "run")
	f.sendAll(0, 10)
	f.AwaitTaken(time.Minute, slices.Repeat([]int64{10}, 12)...)
	second := f.Start(map[string]string{"ORIEL_STATE_DIR": t.TempDir()}, "run")
	f.sendAll(10, 10)
	kill(first)
	f.sendAll(20, 10)
	f.AwaitTaken(time.Minute, slices.Repeat([]int64{30}, 12)...)
	f.growInput(16)
	f.sendAll(30, 10)
	kill(second)
	last := f.Start(nil, "run")
	want := slices.Concat(slices.Repeat([]int64{40}, 12), slices.Repeat([]int64{10}, 4))
	f.AwaitTaken(2*time.Minute, want...)
	last.Terminate()
	f.CheckHistory(0, 12*40+4*10)
}
