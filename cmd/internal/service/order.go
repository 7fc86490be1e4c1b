package service

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"time"

	"oriel/cmd/internal/exit"
	"oriel/cmd/internal/settings"
	"oriel/pipeline/changelog"
	"oriel/pipeline/deployment"
	"oriel/pipeline/kafka"
	"oriel/pipeline/notice"
	"oriel/pipeline/order"
)

// WriteOrder writes the order of a whole topic's partitions, until it is told to end or the deployment is over.
func WriteOrder(ctx context.Context, h Host) error {
	s, err := settings.Load(h.Environ, settings.Kafka, settings.Deployment)
	if err != nil {
		return err
	}
	c := s.Deployment()
	if !c.WholeTopic() || !c.OtherSequencer {
		return exit.WrongUse("`oriel run` writes the order itself, or there is none: oriel order is for ORIEL_STREAM=topic " +
			"with ORIEL_SEQUENCER=other, which all processes of the deployment must have")
	}
	if err := c.Validate(); err != nil {
		return err
	}
	log := h.logger(s.LogLevel, s.LogFormat)
	d, err := h.connect(ctx, s, c, deployment.ByOrder, c.Memory.Fetching(), retrying(log, nil))
	if cancelled(ctx, err) {
		log.Info("told to end before the brokers had answered")
		return nil
	}
	if err != nil {
		return err
	}
	defer func() { _ = d.client.Close() }()
	log.Info("writing the order of the input's partitions", "to", c.Order, "input", c.Input, "version", h.version)
	deployment := changelog.Deployment{Client: d.client, Config: c, Topics: d.topics, Master: d.master}
	err = orderWriter{log: log, deployment: deployment}.run(ctx)
	if cancelled(ctx, err) {
		log.Info("the order is written as far as the brokers have answered")
		return nil
	}
	return err
}

// orderWriter writes a deployment's order without a part of its stream.
type orderWriter struct {
	log        *slog.Logger
	deployment changelog.Deployment
}

const (
	openingInterval = time.Second      // between looks whether the stream was opened
	overInterval    = 30 * time.Second // between looks whether the deployment is over
)

// run waits for the stream, and writes its order until ctx ends or nothing can be written any more. After what may pass
// it starts again from the committed state, and where the beginning of the order log was deleted because the stream had
// gone on meanwhile.
func (w orderWriter) run(ctx context.Context) error {
	retry := w.deployment.Client.NewBackoff(100*time.Millisecond, 10*time.Second)
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
		w.log.Warn("starting again from the committed state", "error", err)
		if err := retry.Wait(ctx); err != nil {
			return err
		}
	}
}

// opened waits until the stream was opened.
func (w orderWriter) opened(ctx context.Context) (changelog.Ordered, error) {
	for waiting := false; ; waiting = true {
		o, err := w.deployment.Ordered(ctx)
		if err != nil || o.At != nil {
			return o, err
		}
		if !waiting {
			w.log.Info("waiting for oriel run to open the stream")
		}
		if err := kafka.Pause(ctx, openingInterval); err != nil {
			return o, err
		}
	}
}

// write runs a Sequencer, and looks beside it whether the deployment is over.
func (w orderWriter) write(ctx context.Context, o changelog.Ordered) error {
	d := w.deployment
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
		Client: d.Client, Log: order.Log{Key: o.Key, Topic: d.Topics.Order.ID, Input: d.Topics.Input.ID},
		Order: d.Topics.Order, Input: d.Topics.Input, Interval: d.Config.CommitInterval, At: o.At, Start: o.Start,
		Appended: func(records int, offsets int64) {
			w.log.Debug("order appended", "records", records, "offsets", offsets)
		},
		Refused: func(total int) {
			w.log.Warn("the order log has records that this deployment did not sign; they count for nobody", "records", total)
		},
	}.Run(work)
	cancel(err)
	return err
}
