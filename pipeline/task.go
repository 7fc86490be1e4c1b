package pipeline

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"oriel/pipeline/deployment"
	"oriel/pipeline/kafka/fetch"
	"oriel/pipeline/kafka/group"
	"oriel/pipeline/kafka/records"
	"oriel/pipeline/merge"
	"oriel/pipeline/notice"
	"oriel/pipeline/takeover"
	"oriel/pipeline/transaction"
)

// commitGrace is how long a closing task may take to commit its computed transactions: two thirds of the rebalance
// timeout, so that the commit's generation is still alive. The remaining third is for the heartbeat that reports the
// rebalance, which takes at most a second, and for rejoining the group.
func (t *task) commitGrace() time.Duration { return t.service.config.RebalanceTimeout() * 2 / 3 }

// commitContext returns the context of commits, which outlives ctx by commitGrace, and a function that ends it.
func (t *task) commitContext(ctx context.Context) (commits context.Context, end func()) {
	commits, expire := context.WithCancelCause(context.WithoutCancel(ctx))
	stop := context.AfterFunc(ctx, func() {
		timer := time.AfterFunc(t.commitGrace(), func() { expire(errors.New("pipeline: closing took too long")) })
		context.AfterFunc(commits, func() { timer.Stop() })
	})
	return commits, func() { stop(); expire(nil) }
}

// task owns one input partition in this process as long as the process has the same share of the group's partitions.
type task struct {
	service   *Service
	partition int32
	share     *group.Generation
	memory    int  // bytes that its transactions may hold
	ahead     bool // events are decoded before the walk reaches them
}

// run takes the partition over and works until ctx ends or a step fails. Three goroutines pass work on in one
// direction: fetch, compute, commit. If events are decoded ahead, a fourth one decodes between fetch and compute. While
// a transaction commits, the next one is computed. If a commit fails, all computed work is dropped, and the caller must
// take the partition over again from the committed state.
func (t *task) run(ctx context.Context) error {
	o, committer, err := t.takeOver(ctx)
	if err != nil {
		return err
	}
	if err := t.service.users.Enter(t.partition, o.Stream); err != nil {
		return err
	}
	state, users := len(o.Stream.AppendState(nil)), o.Stream.Grown()
	t.service.listener.Holds(t.partition, state, users)
	t.service.listener.Proves(t.partition, o.Stream.Guarantee())
	t.service.listener.State(t.partition, notice.Running)
	work, fail := context.WithCancelCause(ctx)
	defer fail(nil)
	commits, end := t.commitContext(ctx)
	defer end()

	batches := make(chan fetched, batchesAhead)
	filled := make(chan *transaction.Transaction)
	free := make(chan *transaction.Transaction, 2)
	pool := records.NewPool()
	for range cap(free) {
		free <- transaction.New(pool)
	}
	var fetcher, committing sync.WaitGroup
	read := batches
	if t.ahead {
		ahead, err := o.Stream.NewAhead()
		if err != nil {
			return err
		}
		read, batches = decodeAhead(work, &fetcher, ahead)
	}
	fetcher.Go(func() {
		defer close(read)
		if err := t.fetch(work, o, read); work.Err() == nil {
			fail(err)
		}
	})
	committed := t.keepOrder(work, fail, &fetcher, o)
	committing.Go(func() {
		t.commit(ctx, filled, free, func(tx *transaction.Transaction) error {
			err := committer.Commit(commits, tx)
			if err == nil {
				committed(tx.Position)
				if users != tx.Remembers {
					users = tx.Remembers
					t.service.listener.Holds(t.partition, state, users)
				}
			} else {
				fail(err)
			}
			return err
		})
	})
	compute := &computer{
		Builder:   t.builder(o),
		partition: t.partition, interval: t.service.config.CommitInterval, ordered: t.service.config.WholeTopic(),
		filled: filled, free: free, memory: t.memory, input: t.service.config.TransactionBytes,
		clock: t.service.model.Clock, delay: t.service.config.StepDelay,
	}
	stopped := compute.run(work, batches)
	close(filled)
	committing.Wait() // a commit error takes precedence: work before the stop must be committed first
	if stopped != nil {
		fail(stopped)
	}
	for batch := range batches { // releases Batches that were fetched but not taken because of the stop
		batch.Release()
	}
	fetcher.Wait()
	if err := context.Cause(work); !errors.Is(err, context.Canceled) {
		return err
	}
	return ctx.Err()
}

func (t *task) builder(o *takeover.Owned) *transaction.Builder {
	b := transaction.NewBuilder(o.Stream, t.partition, o.Position, o.Sealer, &t.service.users)
	b.KeepsNewest = t.service.listener.Decided != nil
	return b
}

// commit passes filled transactions to do, one after the other, and returns each to free. After the first error it
// drops the rest: they are unfinished if ctx has ended.
func (t *task) commit(
	ctx context.Context, filled <-chan *transaction.Transaction, free chan<- *transaction.Transaction,
	do func(*transaction.Transaction) error,
) {
	failed := false
	for tx := range filled {
		failed = failed || do(tx) != nil
		if failed && ctx.Err() != nil {
			t.service.unfinished.Store(true)
		}
		tx.Reset()
		free <- tx
	}
}

// takeOver makes this task the partition's only owner, and commits the transactions that earlier owners left
// incomplete.
func (t *task) takeOver(ctx context.Context) (*takeover.Owned, *transaction.Committer, error) {
	s, p := t.service, t.partition
	o, err := takeover.Run(ctx, s.ports(), p)
	if err != nil {
		return nil, nil, err
	}
	c := &transaction.Committer{
		Partition: p, Config: s.config, Topics: s.topics, Client: s.client, Producer: o.Producer,
		Share: t.share, StateKey: o.StateKey, Log: o.Log, Store: s.store, Listener: s.listener,
	}
	// This must come BEFORE the first commit, which the store follows. A store that followed commits without the
	// changelog's earlier records, above all the manifest, would be useless to the next owner.
	if err := s.store.Replace(p, o.Log.Records()); err != nil {
		return nil, nil, fmt.Errorf("pipeline: partition %d: local state: %w", p, err)
	}
	for _, due := range o.Due {
		if err := c.Commit(ctx, due); err != nil {
			return nil, nil, err
		}
	}
	o.Due = nil
	o.Log.LetGo()
	s.listener.Reached(p, notice.PointRestored)
	return o, c, nil
}

// fetch reads the input from the stream's position on, until work ends. It reads the topic by the id that the state
// names, and fails if the log has lost records that the state has taken.
func (t *task) fetch(work context.Context, o *takeover.Owned, batches chan<- fetched) error {
	reader := merge.Open(t.service.client, t.service.config, t.partition, o.OrderKey, o.Start, o.Position, fetch.Options{
		MaxBytes: deployment.FetchBytes, MaxWait: 250 * time.Millisecond,
	})
	defer reader.Close()
	if whole, is := reader.(*merge.Reader); is {
		notices, ended := t.mergeNotices()
		defer ended()
		whole.Notify(notices)
	}
	for {
		batch, err := reader.Fetch(work)
		if err != nil {
			return err
		}
		select {
		case batches <- fetched{Batch: batch}:
		case <-work.Done():
			batch.Release()
			return work.Err()
		}
	}
}

// mergeNotices returns callbacks that report which input partition the stream of a whole topic waits for, and foreign
// order records. Only the first foreign record is reported, because a client with write access may write many of them.
// The caller must call ended when the Reader is closed.
func (t *task) mergeNotices() (n merge.Notices, ended func()) {
	var refused sync.Once
	awaited := int32(-1)
	n = merge.Notices{
		Halted: func(input int32, halted bool) {
			t.service.listener.Waits(t.partition, input, halted)
			if awaited = -1; halted {
				awaited = input
			}
		},
		Void: func(last time.Duration) { t.service.listener.Void(t.partition, last) },
		Refused: func(record int64) {
			t.service.listener.Refused(t.partition)
			refused.Do(func() {
				t.service.listener.Note(t.partition, fmt.Sprintf(
					"the order log has a record at offset %d that this deployment did not write: every process ignores this record", record), "")
			})
		},
	}
	return n, func() {
		if awaited >= 0 {
			t.service.listener.Waits(t.partition, awaited, false)
		}
	}
}
