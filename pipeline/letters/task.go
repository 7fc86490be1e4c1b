package letters

import (
	"context"
	"errors"
	"fmt"
	"time"

	"oriel/pipeline"
	"oriel/pipeline/kafka"
)

// task writes the letters of one partition in this process for one generation of the group.
type task struct {
	service    *Service
	partition  int32
	membership kafka.Membership
	memory     int // bytes of letters, where a transaction closes
	short      int // attempts in a row that found the verdicts shorter than what was read of them
	refused    int // limit of the batches that were refused as too large; 0 once others were taken
}

// keepRunning takes the partition over again after every failure that a retry can mend. It returns errEnd when all is
// written that had to be, an error that stops the partition, or ctx's.
func (t *task) keepRunning(ctx context.Context) error {
	listen := t.service.options.Listen
	for {
		err := t.run(ctx)
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case errors.Is(err, errEnd):
			return err
		case kafka.TooLarge(err), pipeline.Kind(err) != pipeline.Stopped:
			if listen.Retried != nil {
				listen.Retried(t.partition, err)
			}
		default:
			err = t.explain(err)
			if listen.Stopped != nil {
				listen.Stopped(t.partition, err)
			}
			return err
		}
		if err := pipeline.Pause(ctx, retryPause); err != nil {
			return err
		}
	}
}

// run takes the partition over and writes letters until ctx ends, everything is written, or something fails. What was
// not committed then is as if it had never been.
func (t *task) run(ctx context.Context) error {
	w, err := t.takeOver(ctx)
	if err != nil {
		return err
	}
	defer w.release()
	for {
		if t.service.options.Once && w.rows.next >= w.target {
			return errEnd
		}
		caughtUp, err := w.advance(ctx)
		if err != nil {
			return err
		}
		if caughtUp && !t.service.options.Once {
			if err := pipeline.Pause(ctx, commitPause); err != nil {
				return err
			}
		}
	}
}

const (
	// commitPause comes after a transaction that has reached the end of the verdicts: rows come with every transaction
	// of the service, and letters need not be as quick.
	commitPause = time.Second

	// commitGrace is how long a transaction may take after the process was told to end.
	commitGrace = 5 * time.Second

	// shortLimit keeps one answer of a broker that lags behind from being taken for a loss.
	shortLimit = 5

	// transactionTimeout bounds an open transaction on the broker, for a process that nobody follows.
	transactionTimeout = 60 * time.Second
)

// takeOver makes this task the partition's only writer of letters, and finds out where to go on.
func (t *task) takeOver(ctx context.Context) (*writer, error) {
	d, p := t.service.deployment, t.partition
	c, topics := d.Config, d.Topics
	producer, err := d.Client.NewProducer(ctx, transactionalID(c.Name, topics.Verdicts.ID, p), transactionTimeout)
	if err != nil {
		return nil, err
	}
	t.reached(pipeline.PointFenced)
	if err := producer.Settle(ctx, []kafka.TopicPartition{{Topic: c.DeadLetter, Partition: p}}, c.Group); err != nil {
		return nil, err
	}
	bounds, err := d.Client.Bounds(ctx, c.Verdicts, p)
	if err != nil {
		return nil, err
	}
	at, err := t.place(ctx)
	if err != nil {
		return nil, err
	}
	if at.row > bounds.High {
		if t.short++; t.short < shortLimit {
			return nil, fmt.Errorf("letters: %s partition %d ends at offset %d, rows up to %d were read",
				c.Verdicts, p, bounds.High, at.row)
		}
		return nil, fmt.Errorf("letters: %s partition %d: %w", c.Verdicts, p, kafka.ErrTruncated)
	}
	t.short = 0
	w := &writer{
		task: t, producer: producer, target: bounds.High,
		rows:  t.newRows(max(at.row, bounds.Start), at.covered, at.written),
		input: input{client: d.Client, topic: topics.Input, partition: p},
	}
	t.reached(pipeline.PointRestored)
	return w, nil
}

// transactionalID is static per deployment, verdict topic and partition, so that a new owner fences the old one,
// whatever their groups are.
func transactionalID(name string, verdicts [16]byte, partition int32) string {
	return fmt.Sprintf("%s.letters/%x/%d", name, verdicts, partition)
}

func (t *task) reached(p pipeline.Point) {
	if f := t.service.options.Listen.Reached; f != nil {
		f(t.partition, p)
	}
}

func (t *task) stop(reason, remedy string) error {
	return &pipeline.StopError{Partition: t.partition, Reason: reason, Remedy: remedy}
}

// explain gives an error that stops the partition a remedy, if it has none of its own.
func (t *task) explain(err error) error {
	var known *pipeline.StopError
	if errors.As(err, &known) {
		return err
	}
	e := &pipeline.StopError{
		Partition: t.partition, Reason: "a request is refused and would be refused again", Cause: err,
		Remedy: "Correct what the cause names on the brokers or in the settings, and start again; " +
			"letters go on where they stopped",
	}
	switch {
	case errors.Is(err, kafka.ErrTopicRecreated):
		e.Reason = "a topic was deleted or made again"
		e.Remedy = "Its offsets mean other records now: open a new deployment under another ORIEL_NAME"
	case errors.Is(err, kafka.ErrTruncated), errors.Is(err, kafka.ErrOffsetOutOfRange):
		e.Reason = "a topic lost records that were there"
		e.Remedy = "Acknowledged records were lost on the brokers; " +
			"restore them, or open a new deployment under another ORIEL_NAME"
	}
	return e
}
