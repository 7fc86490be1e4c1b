package pipeline

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"oriel/pipeline/changelog"
	"oriel/pipeline/kafka"
	"oriel/pipeline/notice"
	"oriel/pipeline/order"
)

// OrderWriter writes the order of a whole topic's partitions in a process that does not own the topic's stream. All
// functions must be set.
type OrderWriter struct {
	Deployment changelog.Deployment // the deployment; the writer does not use its Model
	Note       func(text string)    // receives an event that a person should see once
	Retried    func(err error)      // called before the writer starts again after err
	Appended   func(records int, offsets int64)
}

const (
	openingInterval = time.Second      // time between checks whether the stream was opened
	overInterval    = 30 * time.Second // time between checks whether the deployment has ended
)

// Run waits until the stream is opened, and then writes its order until ctx ends or an error is permanent. After a
// temporary error it starts again from the committed state. It also starts again if the beginning of the order log was
// deleted because the stream had advanced in the meantime.
func (w OrderWriter) Run(ctx context.Context) error {
	retry := w.Deployment.Client.NewBackoff(firstPause, lastPause)
	for before := int64(-1); ; {
		o, err := w.opened(ctx)
		if err == nil {
			err = w.write(ctx, o)
		}
		deleted := errors.Is(err, kafka.ErrOffsetOutOfRange) && o.At != nil && o.At.Next > before
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case notice.Kind(err) == notice.Stopped && !deleted:
			return err
		}
		if o.At != nil {
			before = o.At.Next
		}
		w.Retried(err)
		if err := retry.Wait(ctx); err != nil {
			return err
		}
	}
}

// opened waits until the stream is opened.
func (w OrderWriter) opened(ctx context.Context) (changelog.Ordered, error) {
	for waiting := false; ; waiting = true {
		o, err := w.Deployment.Ordered(ctx)
		if err != nil || o.At != nil {
			return o, err
		}
		if !waiting {
			w.Note("waiting for oriel run to open the stream")
		}
		if err := kafka.Pause(ctx, openingInterval); err != nil {
			return o, err
		}
	}
}

// write runs a Sequencer, and checks from time to time whether the deployment has ended.
func (w OrderWriter) write(ctx context.Context, o changelog.Ordered) error {
	d := w.Deployment
	work, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var looking sync.WaitGroup
	defer looking.Wait()
	looking.Go(func() {
		for kafka.Pause(work, overInterval) == nil {
			if _, err := d.Ordered(work); err != nil && notice.Kind(err) == notice.Stopped {
				cancel(err)
			}
		}
	})
	err := order.Sequencer{
		Client: d.Client, Log: order.Log{Key: o.Key, Topic: d.Topics.Order.ID, Input: d.Topics.Input.ID, ByClock: o.At.Clock},
		Order: d.Topics.Order, Input: d.Topics.Input, Interval: d.Config.CommitInterval,
		Grace: d.Config.StepGrace, At: o.At, Start: o.Start,
		Appended: w.Appended,
		Refused:  func(total int) { w.Note(refusedRecords(total)) },
	}.Run(work)
	cancel(err)
	return err
}

// refusedRecords describes foreign records in the order log; total is their number.
func refusedRecords(total int) string {
	return fmt.Sprintf("the order log has records that this deployment did not sign, %d since the start; every process ignores these records", total)
}
