package score

import (
	"context"
	"fmt"
	"io"
	"log"
	"strings"
	"sync"
	"time"

	"oriel/pipeline/kafka"
	"oriel/pipeline/kafka/fetch"
	"oriel/pipeline/kafka/topics"
)

// silent returns a logger that discards everything, because the messages of an event server may contain parts of
// events.
func silent() *log.Logger { return log.New(io.Discard, "", 0) }

// DescriptorTopic returns the descriptor topic that belongs to a decision topic, by their default names.
func DescriptorTopic(decisions string) string {
	return strings.TrimSuffix(decisions, ".decisions") + ".descriptor"
}

// Topics are the topics of a deployment, as described by the cluster.
type Topics struct {
	Client                *kafka.Client
	Decisions, Descriptor topics.Topic
}

// Read returns the newest committed decision of each stream, and the offset at which each partition continues.
func (t Topics) Read(ctx context.Context) (m *Models, next []int64, err error) {
	text, err := t.descriptor(ctx)
	if err != nil {
		return nil, nil, err
	}
	d, err := ParseDescriptor(text)
	if err != nil {
		return nil, nil, fmt.Errorf("%s: %w", t.Descriptor.Name, err)
	}
	m, next = NewModels(d, t.Decisions.Partitions), make([]int64, t.Decisions.Partitions)
	for p := range next {
		if next[p], err = t.newest(ctx, m, int32(p)); err != nil {
			return nil, nil, fmt.Errorf("%s partition %d: %w", t.Decisions.Name, p, err)
		}
	}
	return m, next, nil
}

func (t Topics) descriptor(ctx context.Context) (newest []byte, err error) {
	bounds, err := topics.BoundsOf(ctx, t.Client, t.Descriptor.Name, 0)
	if err != nil {
		return nil, err
	}
	for r, err := range fetch.Records(ctx, t.Client, t.Descriptor, 0, bounds.Start, bounds.Stable, false) {
		if err != nil {
			return nil, err
		}
		newest = append(newest[:0], r.Value...)
	}
	if newest == nil {
		return nil, fmt.Errorf("%s is empty: `oriel topics` writes it", t.Descriptor.Name)
	}
	return newest, nil
}

// look is the number of offsets before the end that the first search for the newest decision covers. A transaction has
// a few decisions, and a marker with an offset of its own.
const look = 64

// newest reads the last decisions of a partition into m, and returns the partition's end offset.
func (t Topics) newest(ctx context.Context, m *Models, p int32) (end int64, err error) {
	bounds, err := topics.BoundsOf(ctx, t.Client, t.Decisions.Name, p)
	if err != nil {
		return 0, err
	}
	for back := int64(look); ; back *= look {
		from, found := max(bounds.Start, bounds.Stable-back), false
		for r, err := range fetch.Records(ctx, t.Client, t.Decisions, p, from, bounds.Stable, false) {
			if err != nil {
				return 0, err
			}
			if err := m.Take(p, r.Timestamp, r.Value); err != nil {
				return 0, fmt.Errorf("offset %d: %w", r.Offset, err)
			}
			found = true
		}
		if found || from == bounds.Start {
			return bounds.Stable, nil
		}
	}
}

// Follow takes decisions as they are committed, until ctx is cancelled or a partition cannot be read.
func (t Topics) Follow(ctx context.Context, m *Models, next []int64) error {
	work, end := context.WithCancelCause(ctx)
	defer end(nil)
	var readers sync.WaitGroup
	for p, from := range next {
		readers.Go(func() {
			if err := t.follow(work, m, int32(p), from); err != nil && work.Err() == nil {
				end(fmt.Errorf("%s partition %d: %w", t.Decisions.Name, p, err))
			}
		})
	}
	readers.Wait()
	if ctx.Err() != nil {
		return nil
	}
	return context.Cause(work)
}

func (t Topics) follow(ctx context.Context, m *Models, p int32, from int64) error {
	reader := fetch.NewReader(t.Client, t.Decisions.Name, p, from, fetch.Options{
		ID: t.Decisions.ID, MaxWait: 250 * time.Millisecond,
	})
	defer reader.Close()
	for {
		batch, err := reader.Fetch(ctx)
		if err != nil {
			return err
		}
		for _, r := range batch.Records {
			if err := m.Take(p, r.Timestamp, r.Value); err != nil {
				batch.Release()
				return fmt.Errorf("offset %d: %w", r.Offset, err)
			}
		}
		batch.Release()
	}
}
