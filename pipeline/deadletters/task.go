package deadletters

import (
	"context"
	"errors"
	"fmt"
	"time"

	"oriel/pipeline/kafka"
	"oriel/pipeline/kafka/group"
	"oriel/pipeline/kafka/produce"
	"oriel/pipeline/kafka/topics"
	"oriel/pipeline/notice"
)

// task writes the letters of one partition of the verdict topic, as long as this process has the same share of the
// group's partitions.
type task struct {
	service   *Service
	partition int32
	inputs    []int32 // input partitions whose statuses the task reads, as of the last take-over
	share     *group.Generation
	memory    int // a transaction closes at this many bytes of dead letters
	refused   int // limit of batches that the broker refused as too large; 0 after it accepted some

	verdicts, deadLetter topics.Topic // as of the last take-over, because either topic may be recreated
	short                int          // consecutive attempts in which the verdict topic ended before the rows already read
	reread               bool         // the verdict topic lost rows, so the next take-over reads it from its start

	parked parking
}

// keepRunning takes the partition over again after every failure. An error that only a person can resolve parks the
// partition. A parked partition is tried again every parkPause, so that the process need not be restarted. keepRunning
// returns errEnd when all letters are written, ctx's error, or with Options.Once the error that stops the partition.
func (t *task) keepRunning(ctx context.Context, report func(parked error)) error {
	listen := t.service.options.Listen
	for {
		err := t.run(ctx, func() {
			if t.parked.over() {
				listen.Noted(t.partition, "letters go on")
				report(nil)
			}
		})
		pause := retryPause
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case errors.Is(err, errEnd):
			return err
		case kafka.TooLarge(err), notice.Kind(err) != notice.Stopped:
			listen.Retried(t.partition, err)
		default:
			err = t.explain(err)
			if t.parked.remind(err) {
				listen.Stopped(t.partition, err)
			}
			if t.service.options.Once {
				return err
			}
			report(err)
			pause = parkPause
		}
		if err := kafka.Pause(ctx, pause); err != nil {
			return err
		}
	}
}

// parking is the reason why a partition is parked, and when it was last logged.
type parking struct {
	why      string
	reported time.Time
}

// remind notes why the partition is parked, and reports whether to log it (again).
func (p *parking) remind(err error) bool {
	if why := err.Error(); why != p.why || time.Since(p.reported) >= parkReminder {
		*p = parking{why: why, reported: time.Now()}
		return true
	}
	return false
}

// over ends the parking, and reports whether the partition was parked.
func (p *parking) over() bool {
	was := p.why != ""
	*p = parking{}
	return was
}

// run takes the partition over and writes letters until ctx ends, all letters are written, or an error occurs. Letters
// not committed then have no effect. It calls wrote after each progress.
func (t *task) run(ctx context.Context, wrote func()) error {
	w, err := t.takeOver(ctx)
	if err != nil {
		return err
	}
	defer w.input.release()
	for {
		if t.service.options.Once && w.rows.next >= w.target {
			return errEnd
		}
		caughtUp, err := w.advance(ctx)
		if err != nil {
			return err
		}
		wrote()
		if caughtUp && !t.service.options.Once {
			if err := kafka.Pause(ctx, commitPause); err != nil {
				return err
			}
		}
	}
}

const (
	// commitPause is the pause after a transaction that has reached the end of the verdict topic. New rows come with
	// every transaction of the service, but letters may be slower.
	commitPause = time.Second

	// commitGrace is how long a transaction may take after SIGTERM.
	commitGrace = 5 * time.Second

	// shortLimit is the number of attempts before a verdict topic that is too short counts as a loss, because one
	// answer may come from a broker that lags behind.
	shortLimit = 5

	// parkPause is the time between two attempts at a parked partition. parkReminder is the time between two log lines
	// about it.
	parkPause    = 5 * time.Second
	parkReminder = time.Minute

	// transactionTimeout bounds a transaction that a process leaves open on the broker when no other process follows
	// it.
	transactionTimeout = 60 * time.Second
)

// takeOver makes this task the partition's only writer of letters, and determines where to continue.
func (t *task) takeOver(ctx context.Context) (*writer, error) {
	d, p := t.service.deployment, t.partition
	c, described := d.Config, d.Topics
	if err := t.describe(ctx); err != nil {
		return nil, err
	}
	producer, err := produce.New(ctx, d.Client, transactionalID(c.Name, t.verdicts.ID, p), transactionTimeout)
	if err != nil {
		return nil, err
	}
	t.service.options.Listen.Reached(p, notice.PointFenced)
	if err := producer.Settle(ctx, []kafka.TopicPartition{{Topic: c.DeadLetter, Partition: p}}, c.Group); err != nil {
		return nil, err
	}
	bounds, err := topics.BoundsOf(ctx, d.Client, c.Verdicts, p)
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
		t.reread = true
	}
	if t.reread { // after a loss the offsets number other rows, so all rows are read again
		at.row, at.found = bounds.Start, rowsLost
	}
	t.short = 0
	w := &writer{
		task: t, producer: producer, target: bounds.High, rows: t.newRows(at, bounds.Start), parts: at.parts,
		input: input{client: d.Client, topic: described.Input},
	}
	t.service.options.Listen.Reached(p, notice.PointRestored)
	return w, nil
}

// describe looks up the verdict topic and the dead-letter topic, because either may be recreated while this process
// runs; only letters are lost then. It also finds how many partitions the input of one stream has.
func (t *task) describe(ctx context.Context) error {
	topics, err := t.service.describe(ctx)
	if err != nil {
		return err
	}
	d := t.service.deployment
	c := d.Config
	t.verdicts, t.deadLetter, t.inputs = topics[c.Verdicts], topics[c.DeadLetter], []int32{t.partition}
	if c.WholeTopic() {
		t.inputs = nil
		for p := range max(d.Topics.Input.Partitions, topics[c.Input].Partitions) {
			t.inputs = append(t.inputs, int32(p))
		}
	}
	return nil
}

// verdictsGone handles an error of reading verdicts. Because only letters can be lost with them, the partition is taken
// over again, and the next row shows which statuses are missing.
func (t *task) verdictsGone(err error) error {
	truncated := errors.Is(err, kafka.ErrTruncated)
	t.reread = t.reread || truncated
	if truncated || errors.Is(err, kafka.ErrOffsetOutOfRange) || errors.Is(err, kafka.ErrTopicRecreated) {
		//nolint:errorlint // wrapped, it would be final
		return fmt.Errorf("letters: the verdicts do not continue where reading stands: %v", err)
	}
	return err
}

// transactionalID is fixed for a deployment, verdict topic and partition, so that a new owner fences the old one even
// if their groups differ.
func transactionalID(name string, verdicts [16]byte, partition int32) string {
	return fmt.Sprintf("%s.letters/%x/%d", name, verdicts, partition)
}

func (t *task) stop(reason, remedy string) error {
	return &notice.StopError{Partition: t.partition, Reason: reason, Remedy: remedy}
}

// explain adds a remedy to an error that stops the partition, unless the error has one.
func (t *task) explain(err error) error {
	var known *notice.StopError
	if errors.As(err, &known) {
		return err
	}
	e := &notice.StopError{
		Partition: t.partition, Reason: "a request is refused and would be refused again", Cause: err,
		Remedy: "Remove the cause, on the brokers (a process that still runs goes on by itself) or in the settings " +
			"(start again); letters go on where they stopped",
	}
	switch {
	case errors.Is(err, kafka.ErrTopicRecreated):
		e.Reason = "the input topic was deleted or made again"
		e.Remedy = "Its offsets mean other records now: open a new deployment under another ORIEL_NAME"
	case errors.Is(err, kafka.ErrTruncated), errors.Is(err, kafka.ErrOffsetOutOfRange):
		e.Reason = "the input topic lost records that were there"
		e.Remedy = "Acknowledged events were lost on the brokers; open a new deployment under another ORIEL_NAME"
	}
	return e
}
