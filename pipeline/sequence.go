package pipeline

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"oriel/pipeline/kafka"
	"oriel/pipeline/order"
	"oriel/pipeline/takeover"
	"oriel/state"
)

// trimInterval is the time between two looks at what of the order log nobody needs any more. The log grows by some
// 100 kB a minute.
const trimInterval = time.Minute

// keepOrder lets the owner of a whole topic's stream write its order, unless another process does, and delete what of
// the order log nobody needs any more. The goroutines are working's, and end with work; what ends the first one before
// is handed to fail. The caller reports each position that is committed.
func (t *task) keepOrder(
	work context.Context, fail context.CancelCauseFunc, working *sync.WaitGroup, o *takeover.Owned,
) (committed func(state.Position)) {
	s := t.service
	if !s.config.WholeTopic() {
		return func(state.Position) {}
	}
	log := order.Log{Key: o.OrderKey, Topic: s.topics.Order.ID, Input: o.Position.Topic}
	if !s.config.OtherSequencer {
		at := o.Position.Order.Clone()
		working.Go(func() {
			if err := t.sequencer(log, at, o.Start).Run(work); work.Err() == nil {
				fail(fmt.Errorf("pipeline: partition %d: %w", t.partition, err))
			}
		})
	}
	var record atomic.Int64
	record.Store(o.Position.Order.Next)
	working.Go(func() { t.trim(work, log, &record) })
	return func(at state.Position) { record.Store(at.Order.Next) }
}

func (t *task) sequencer(log order.Log, at, start *state.Ordered) order.Sequencer {
	s := t.service
	return order.Sequencer{
		Client: s.client, Log: log, Order: s.topics.Order, Input: s.topics.Input, Interval: s.config.CommitInterval,
		At: at, Start: start,
		Refused: func(total int) { s.listener.Note(t.partition, refusedRecords(total)) },
	}
}

// trim works until work ends. Nothing depends on it but the size of the order log.
func (t *task) trim(work context.Context, log order.Log, committed *atomic.Int64) {
	s := t.service
	trimmer := order.Trimmer{Client: s.client, Log: log, Order: s.topics.Order, Input: s.topics.Input}
	denied := false
	for kafka.Pause(work, trimInterval) == nil {
		_, err := trimmer.Trim(work, committed.Load())
		if _, lacks := errors.AsType[*kafka.DeniedError](err); lacks && !denied {
			denied = true
			s.listener.Note(t.partition, fmt.Sprintf("the order log is not trimmed and grows: %v", err))
		}
	}
}
