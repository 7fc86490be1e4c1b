package pipeline

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"oriel/pipeline/kafka"
	"oriel/pipeline/kafka/topics"
	"oriel/pipeline/order"
	"oriel/pipeline/takeover"
	"oriel/state"
)

// trimInterval is the time between two checks which part of the order log can be deleted. The log grows by some 100 kB
// a minute.
const trimInterval = time.Minute

// keepOrder starts two goroutines for the owner of a whole topic's stream. One writes the order, unless another process
// does; the other deletes old parts of the order log. Both are counted in working and end with work. If the writer
// fails before, its error is passed to fail. The caller must report each committed position with the returned function.
func (t *task) keepOrder(
	work context.Context, fail context.CancelCauseFunc, working *sync.WaitGroup, o *takeover.Owned,
) (committed func(state.Position)) {
	s := t.service
	if !s.config.WholeTopic() {
		return func(state.Position) {}
	}
	log := order.LogOf(o.OrderKey, o.Position.Order, o.Position.Topic)
	if !s.config.OtherSequencer {
		at := o.Position.Order.Clone()
		working.Go(func() {
			if err := t.sequencer(log, at, o.Start).Run(work); work.Err() == nil {
				fail(fmt.Errorf("pipeline: partition %d: %w", t.partition, err))
			}
		})
	}
	var stands atomic.Pointer[state.Ordered]
	stands.Store(o.Position.Order.Clone())
	working.Go(func() { t.trim(work, log, &stands) })
	if s.config.OtherSequencer {
		working.Go(func() { t.watchLag(work, o.Start, &stands) })
	}
	return func(at state.Position) { stands.Store(at.Order.Clone()) }
}

func (t *task) sequencer(log order.Log, at, start *state.Ordered) order.Sequencer {
	s := t.service
	return order.Sequencer{
		Client: s.client, Log: log, Order: s.topics.Order, Input: s.topics.Input, Interval: s.config.CommitInterval,
		Grace: s.config.StepGrace, At: at, Start: start,
	}
}

// trim trims the order log until work ends. It affects only the size of the order log.
func (t *task) trim(work context.Context, log order.Log, committed *atomic.Pointer[state.Ordered]) {
	s := t.service
	trimmer := order.Trimmer{Client: s.client, Log: log, Order: s.topics.Order, Input: s.topics.Input}
	denied := false
	for kafka.Pause(work, trimInterval) == nil {
		_, err := trimmer.Trim(work, committed.Load().Next)
		if _, lacks := errors.AsType[*kafka.DeniedError](err); lacks && !denied {
			denied = true
			s.listener.Note(t.partition, "the order log cannot be trimmed, so it grows", fmt.Sprintf(": %v", err))
		}
	}
}

// watchLag reports, until work ends, how far the stream is behind the input. Reports at commits would not suffice,
// because they count only ordered events, and commits end when the process that writes the order dies.
func (t *task) watchLag(work context.Context, start *state.Ordered, committed *atomic.Pointer[state.Ordered]) {
	s := t.service
	ends := topics.NewStableEnds(s.client, s.topics.Input)
	defer ends.Wait()
	known := map[int32]int64{}
	for kafka.Pause(work, topicsInterval) == nil {
		reached, err := ends.Look(work, topicsInterval)
		if work.Err() != nil || err != nil && !kafka.Transient(err) {
			return // watchTopics reports this error
		}
		for _, end := range reached {
			known[end.Partition] = end.Offset
		}
		s.listener.Behind(t.partition, behind(known, committed.Load(), start))
	}
}

// behind returns the number of offsets between a stream's position and the ends of its input partitions.
func behind(ends map[int32]int64, at, start *state.Ordered) (offsets int64) {
	for p, end := range ends {
		offsets += max(0, end-order.Place(at, start, p).Next)
	}
	return offsets
}
