package tail

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync"
	"time"

	"oriel/cmd/internal/exit"
	"oriel/pipeline/kafka"
	"oriel/pipeline/kafka/fetch"
	"oriel/pipeline/kafka/records"
	"oriel/pipeline/kafka/topics"
)

// Options say which decisions are shown.
type Options struct {
	Topic         string
	Partition     int32 // −1: all partitions
	Limit         int   // number of decisions; 0: no limit
	FromBeginning bool  // start with the oldest decisions, not with those published from now on
	Follow        bool  // wait for new decisions at the end of the topic
	Raw           bool  // show lines of JSON, and records that are not decisions unchanged
}

// Run shows decisions on out as they are committed. problems receives messages for people.
func Run(ctx context.Context, client *kafka.Client, o Options, out, problems io.Writer) error {
	topic, err := topics.Find(ctx, client, o.Topic)
	if err != nil {
		return err
	}
	partitions := []int32{o.Partition}
	switch {
	case o.Partition < -1 || o.Partition >= int32(topic.Partitions):
		return exit.WrongUse("--partition %d: topic %q has %d partitions", o.Partition, o.Topic, topic.Partitions)
	case o.Partition == -1:
		partitions = partitions[:0]
		for p := range int32(topic.Partitions) {
			partitions = append(partitions, p)
		}
	}
	if !o.Raw {
		_, _ = fmt.Fprintf(out, "%-8s %10s %-20s %10s %8s %10s  %s\n",
			"stream", "step", "mechanism", "window", "ε", "δ", "decision")
	}
	t := &reader{Options: o, client: client, out: out, problems: problems}
	return t.read(ctx, partitions)
}

// reader shows the records of several partitions, each partition in order.
type reader struct {
	Options
	client   *kafka.Client
	problems io.Writer // receives messages for people

	mu    sync.Mutex // guards the fields below
	out   io.Writer
	shown int
	idle  int // partitions that have been read to their end
}

// errEnough is the internal error with which a reader stops all others once the requested number of decisions is shown.
var errEnough = errors.New("as many decisions as asked for")

// read reads all partitions, one after another. If it follows new decisions, it reads them in parallel.
func (t *reader) read(ctx context.Context, partitions []int32) error {
	if !t.Follow {
		for _, p := range partitions {
			if err := t.partition(ctx, p, len(partitions)); errors.Is(err, errEnough) {
				return nil
			} else if err != nil {
				return err
			}
		}
		return nil
	}
	work, end := context.WithCancelCause(ctx)
	defer end(nil)
	var readers sync.WaitGroup
	for _, p := range partitions {
		readers.Go(func() {
			if err := t.partition(work, p, len(partitions)); err != nil && work.Err() == nil {
				end(err)
			}
		})
	}
	readers.Wait()
	if err := context.Cause(work); ctx.Err() == nil && !errors.Is(err, errEnough) {
		return err
	}
	return nil
}

func (t *reader) partition(ctx context.Context, p int32, of int) error {
	bounds, err := topics.BoundsOf(ctx, t.client, t.Topic, p)
	if err != nil {
		return err
	}
	next := bounds.Stable
	if t.FromBeginning || !t.Follow {
		next = bounds.Start
	}
	reader := fetch.NewReader(t.client, t.Topic, p, next, fetch.Options{MaxWait: 250 * time.Millisecond})
	for waits := false; t.Follow || next < bounds.Stable; {
		if !waits && next >= bounds.Stable {
			waits = true
			t.waiting(of)
		}
		batch, err := reader.Fetch(ctx)
		if err != nil {
			return err
		}
		err = t.show(p, batch.Records)
		next = batch.Next
		batch.Release()
		if err != nil {
			return err
		}
	}
	return nil
}

// waiting prints, once, that the topic has no more decisions for the moment.
func (t *reader) waiting(of int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.idle++; t.idle == of {
		fmt.Fprintln(t.problems, "waiting for new decisions; Ctrl-C ends")
	}
}

func (t *reader) show(p int32, records []records.Record) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, r := range records {
		if t.Limit > 0 && t.shown == t.Limit {
			return errEnough
		}
		if err := Show(t.out, r.Value, t.Raw); err != nil {
			return fmt.Errorf("%s partition %d offset %d: %w", t.Topic, p, r.Offset, err)
		}
		if t.shown++; t.shown == t.Limit {
			return errEnough
		}
	}
	return nil
}
