//go:build !kafka

package service_test

import (
	"math"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"

	"oriel/cmd/internal/service"
	"oriel/cmd/internal/servicetest"
	"oriel/pipeline/embedded"
	"oriel/pipeline/kafka/topics"
	"oriel/pipeline/pipetest/brokertest"
)

// TestATakeOverFromStandbyRestoresNothing checks that an idle process copies the changelog, and is ready once the copy
// is complete. When it takes over the stream, it must read only the end of the changelog and continue where the owner
// stopped.
func TestATakeOverFromStandbyRestoresNothing(t *testing.T) {
	t.Parallel()
	for stream, partitions := range map[string]int{"partition": 1, "topic": 3} {
		t.Run(stream, func(t *testing.T) {
			t.Parallel()
			takeOverFromStandby(t, stream, partitions)
		})
	}
}

func takeOverFromStandby(t *testing.T, stream string, partitions int) {
	broker := brokertest.Embedded(t, embedded.Options{})
	f := &fixture{servicetest.NewAt(t, broker.Addr(), partitions, map[string]string{"ORIEL_STREAM": stream})}
	f.Must("topics")
	first := f.inside(func(*service.Host) {})
	f.sendAll(0, 10)
	f.AwaitTaken(time.Minute, slices.Repeat([]int64{10}, partitions)...)

	second := f.inside(func(h *service.Host) {
		h.Environ = append(h.Environ, "ORIEL_STATE_DIR="+filepath.Join(t.TempDir(), "standby"))
	})
	owner, standby := first, second
	f.Await(20*time.Second, "a process stands by", func() bool {
		if strings.Contains(first.log(), "standing by") { // the group may assign the stream to either process
			owner, standby = second, first
		}
		return strings.Contains(standby.log(), "standing by: another process has the stream")
	})
	f.Await(20*time.Second, "the copy is warm", func() bool { return standby.ready() == "ready\nstanding by\n" })

	described, err := topics.Describe(t.Context(), f.Client, f.Topic("changelog"))
	if err != nil {
		t.Fatal(err)
	}
	var lowest, highest atomic.Int64 // lowest and highest changelog offset that a fetch has asked for
	lowest.Store(math.MaxInt64)
	broker.Answer(int16(kmsg.Fetch), func(request kmsg.Request) kmsg.Response {
		for _, topic := range request.(*kmsg.FetchRequest).Topics {
			if topic.TopicID == described.Topics[f.Topic("changelog")].ID {
				lowest.Store(min(lowest.Load(), topic.Partitions[0].FetchOffset))
				highest.Store(max(highest.Load(), topic.Partitions[0].FetchOffset))
			}
		}
		return nil
	})
	f.sendAll(10, 10)
	f.AwaitTaken(time.Minute, slices.Repeat([]int64{20}, partitions)...)
	then, err := topics.BoundsOf(t.Context(), f.Client, f.Topic("changelog"), 0)
	if err != nil {
		t.Fatal(err)
	}
	sent := 20
	for ; highest.Load() < then.Stable; sent++ { // sends events until the copy has passed the offset then.Stable
		f.sendAll(sent, 1)
		f.AwaitTaken(time.Minute, slices.Repeat([]int64{int64(sent) + 1}, partitions)...)
	}
	lowest.Store(math.MaxInt64)
	owner.endsWell()
	f.sendAll(sent, 10)
	f.AwaitTaken(time.Minute, slices.Repeat([]int64{int64(sent) + 10}, partitions)...)
	// a take-over may read the last record before then.Stable again, and a marker
	if at := lowest.Load(); at < then.Stable-2 {
		t.Errorf("the changelog was read from offset %d on, which the copy had up to %d", at, then.Stable)
	}
	f.Await(10*time.Second, "ready as the owner", func() bool { return standby.ready() == "ready\n" })
	standby.endsWell()
	f.CheckHistory(0, (sent+10)*partitions)
}
