package pipeline

import (
	"context"
	"errors"
	"sync"
	"time"

	"oriel/pipeline/kafka"
	"oriel/state"
)

// rebalanceTimeout is how long the group waits for a process to close its tasks and to join again, and for a leader
// that died before it had shared the partitions out. Not longer than a session: a group that forms should not wait
// longer for a dead member than one that has formed.
func (c Config) rebalanceTimeout() time.Duration { return min(c.SessionTimeout, 10*time.Second) }

// commitGrace is how long a closing task may take to commit what it has computed: two thirds of the rebalance timeout,
// so that the generation that a commit names is still alive. The rest is for the heartbeat that tells of the rebalance,
// a second at most, and for the way back into the group.
func (c Config) commitGrace() time.Duration { return c.rebalanceTimeout() * 2 / 3 }

// task owns one input partition in this process for one generation of the group.
type task struct {
	service    *Service
	partition  int32
	stream     string
	membership kafka.Membership
	memory     int // bytes, for its transactions
}

// run takes the partition over and works until ctx ends or something fails. Three goroutines pass work on in one
// direction: fetch, compute, commit. While a transaction commits, the next one is computed; when a commit fails, all
// that was computed is dropped, and the caller takes the partition over again from the committed state.
func (t *task) run(ctx context.Context) error {
	t.service.listener.State(t.partition, Restoring)
	o, err := t.takeOver(ctx)
	if err != nil {
		return err
	}
	if err := t.service.users.enter(t.partition, o.stream); err != nil {
		return err
	}
	t.service.listener.Holds(t.partition, len(o.stream.AppendState(nil)))
	t.service.listener.Proves(t.partition, o.stream.Guarantee())
	t.service.listener.State(t.partition, Running)
	work, fail := context.WithCancelCause(ctx)
	defer fail(nil)
	commits, expire := context.WithCancelCause(context.WithoutCancel(ctx))
	defer expire(nil)
	defer context.AfterFunc(ctx, func() {
		timer := time.AfterFunc(t.service.config.commitGrace(), func() {
			expire(errors.New("pipeline: closing took too long"))
		})
		context.AfterFunc(commits, func() { timer.Stop() })
	})()

	batches := make(chan *kafka.Batch, 2)
	segments := make(chan *segment)
	free := make(chan *segment, 2)
	pool := kafka.NewPool()
	free <- t.service.newSegment(pool)
	free <- t.service.newSegment(pool)
	start := o.position
	var fetcher, committer sync.WaitGroup
	fetcher.Go(func() {
		defer close(batches)
		if err := t.fetch(work, start, batches); work.Err() == nil {
			fail(err)
		}
	})
	committer.Go(func() {
		failed := false
		for g := range segments {
			if !failed {
				if err := t.commit(commits, o, g); err != nil {
					fail(err)
					failed = true
				}
			}
			if failed && ctx.Err() != nil {
				t.service.unfinished.Store(true)
			}
			g.reset()
			free <- g
		}
	})
	compute := t.newComputer(o)
	compute.segments, compute.free = segments, free
	compute.memory, compute.input = t.memory, t.service.config.TransactionBytes
	stopped := compute.run(work, batches)
	close(segments)
	committer.Wait() // a failed commit comes before a stop: what precedes the stop must be committed first
	if stopped != nil {
		fail(stopped)
	}
	fetcher.Wait()
	for batch := range batches { // fetched, and not taken because of the stop
		batch.Release()
	}
	if err := context.Cause(work); !errors.Is(err, context.Canceled) {
		return err
	}
	return ctx.Err()
}

// fetch reads the input from a position on, until work ends. It reads the topic that the state stands on, by id, and
// stops when the log has lost what the state has taken.
func (t *task) fetch(work context.Context, from state.Position, batches chan<- *kafka.Batch) error {
	reader := t.service.client.NewReader(t.service.config.Input, t.partition, from.Next, kafka.ReaderOptions{
		MaxBytes: fetchBytes, MaxWait: 250 * time.Millisecond, ID: from.Topic, LastEpoch: &from.LeaderEpoch,
	})
	defer reader.Close()
	for {
		batch, err := reader.Fetch(work)
		if err != nil {
			return err
		}
		select {
		case batches <- batch:
		case <-work.Done():
			batch.Release()
			return work.Err()
		}
	}
}

// fetchBytes is what one fetch asks for: some thousands of events, so that a commit interval holds several fetches and
// a partition's buffers stay within a few MiB.
const fetchBytes = 1 << 20
