//go:build soak

package soak

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"oriel/pipeline/kafka"
	"oriel/pipeline/kafka/fetch"
)

// watch follows the committed records of every partition of a topic, without proxies, to find out when the service has
// recovered from a fault.
type watch struct {
	topic string

	mu    sync.Mutex
	marks [][]mark // marks of each partition
}

// mark describes a batch of records: when its newest record was made, and when the batch arrived. Service and soak
// share a clock.
type mark struct{ made, arrived time.Time }

// watchTopic starts a watch and returns at once. The watch ends when ctx is cancelled.
func watchTopic(ctx context.Context, client *kafka.Client, topic string, partitions int, done *sync.WaitGroup) *watch {
	w := &watch{topic: topic, marks: make([][]mark, partitions)}
	for p := range partitions {
		done.Go(func() { w.follow(ctx, client, int32(p)) })
	}
	return w
}

func (w *watch) follow(ctx context.Context, client *kafka.Client, p int32) {
	for next := int64(0); ctx.Err() == nil; {
		reader := fetch.NewReader(client, w.topic, p, next, fetch.Options{MaxWait: 50 * time.Millisecond})
		for {
			batch, err := reader.Fetch(ctx)
			if err != nil {
				_ = kafka.Pause(ctx, 100*time.Millisecond)
				break // a stale leader answers like this; check.py judges the records themselves
			}
			if n := len(batch.Records); n > 0 {
				w.mu.Lock()
				w.marks[p] = append(w.marks[p], mark{time.UnixMilli(batch.Records[n-1].Timestamp), time.Now()})
				w.mu.Unlock()
			}
			next = batch.Next
			batch.Release()
		}
	}
}

// after waits until every partition has a committed record that was made after from, and returns when the last of these
// arrived.
func (w *watch) after(ctx context.Context, from time.Time) (time.Time, error) {
	for {
		last, missing := w.arrival(from)
		if len(missing) == 0 {
			return last, nil
		}
		if err := kafka.Pause(ctx, 20*time.Millisecond); err != nil {
			return last, fmt.Errorf("nothing new is committed in %s, partitions %v, within %v", w.topic, missing, recoveryLimit)
		}
	}
}

func (w *watch) arrival(from time.Time) (last time.Time, missing []int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for p, marks := range w.marks {
		i := slices.IndexFunc(marks, func(m mark) bool { return m.made.After(from) })
		if i < 0 {
			missing = append(missing, p)
		} else if marks[i].arrived.After(last) {
			last = marks[i].arrived
		}
	}
	return last, missing
}
