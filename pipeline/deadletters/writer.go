package deadletters

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	"oriel/pipeline/kafka"
	"oriel/pipeline/kafka/group"
	"oriel/pipeline/kafka/produce"
	"oriel/pipeline/kafka/records"
	"oriel/pipeline/kafka/topics"
	"oriel/pipeline/notice"
	"oriel/schemas"
	"oriel/state"
)

// transactionBytes closes a transaction in the middle of a row, or earlier where there is less memory: a row may have
// half a million letters.
const transactionBytes = 8 << 20

// writer has taken a partition over.
type writer struct {
	task     *task
	producer *produce.Producer
	rows     *statusReader
	input    input
	target   int64 // end of the verdicts when the partition was taken over

	limit   int // of a batch in this transaction; 0 before its first letter
	letters records.Pack
	count   int
	lost    int
}

func (w *writer) release() { w.input.release() }

// advance writes the letters of the rows that come next, in one transaction or several. It reports whether the end of
// the verdicts is reached.
func (w *writer) advance(ctx context.Context) (caughtUp bool, err error) {
	batch, err := w.rows.reader.Fetch(ctx)
	if err != nil {
		return false, w.task.verdictsGone(err)
	}
	defer batch.Release()
	defer w.input.release() // whoever waits for verdicts holds nothing of the input: the two would wait for each other
	for i := range batch.Records {
		record := &batch.Records[i]
		row, missing, err := w.rows.open(ctx, record)
		if err == nil && missing != nil {
			err = w.mark(ctx, record, *missing)
		}
		if err == nil {
			err = w.take(ctx, record, row)
		}
		if err != nil {
			return false, err
		}
	}
	w.rows.next = batch.Next
	if len(batch.Records) > 0 {
		if err := w.commit(ctx, batch.Next); err != nil {
			return false, err
		}
	}
	return batch.Next >= batch.Stable, nil
}

// take adds the letters of one row. Where it commits in the middle, the place is the row itself and how far it was
// taken.
func (w *writer) take(ctx context.Context, record *records.Record, row state.StatusRow) error {
	for i, verdict := range row.Verdicts {
		code, err := w.rows.reason(record, verdict)
		if err != nil {
			return err
		}
		if code == schemas.OK {
			continue
		}
		if w.letters.Bytes() >= w.task.memory {
			w.rows.covered = row.From + int64(i)
			if err := w.commit(ctx, record.Offset); err != nil {
				return err
			}
		}
		if err := w.write(ctx, row.From+int64(i), code); err != nil {
			return err
		}
	}
	w.rows.covered = max(w.rows.covered, row.To)
	return nil
}

// mark adds the letter of a gap, and notes the gap. Where no letter was ever missing there is none to mark: at its
// first start beside a deployment of a version without verdicts, which wrote its letters itself.
func (w *writer) mark(ctx context.Context, record *records.Record, g gap) error {
	c, p, noted := w.task.service.deployment.Config, w.task.partition, w.task.service.options.Listen.Noted
	if w.rows.covered < 0 && g.why == otherVersion {
		noted(p, fmt.Sprintf("the first row of verdicts starts at offset %d of the input: a version of Oriel that "+
			"seals none has taken the records before it, and wrote their letters itself. If the verdict topic was deleted and made again "+
			"meanwhile, letters not written before are lost", g.until))
		return nil
	}
	w.rows.covered = g.from
	if w.letters.Bytes() >= w.task.memory {
		if err := w.commit(ctx, record.Offset); err != nil {
			return err
		}
	}
	if err := w.add(ctx, func() (deadLetter, bool) { return gapLetter(c.Input, p, g), true }); err != nil {
		return err
	}
	w.lost++
	w.rows.covered = g.until
	noted(p, g.String())
	return nil
}

// write adds the letter of one record.
func (w *writer) write(ctx context.Context, offset int64, code schemas.Code) error {
	c, p := w.task.service.deployment.Config, w.task.partition
	r, err := w.input.record(ctx, offset)
	if err != nil {
		return err
	}
	if r == nil {
		w.lost++
	}
	return w.add(ctx, func() (deadLetter, bool) {
		if r == nil {
			return lostLetter(c.Input, p, offset, code), true
		}
		l, fits := newLetter(c.Input, p, r, code, w.rows.maxRecord, w.limit)
		return detailed(l, w.rows.decoder, r, code, w.limit), fits
	})
}

// add adds a letter that is made once the limit is known; made is false for one that does not fit.
func (w *writer) add(ctx context.Context, made func() (l deadLetter, fits bool)) error {
	c := w.task.service.deployment.Config
	if w.limit == 0 {
		if err := w.askLimit(ctx); err != nil {
			return err
		}
	}
	l, fits := made()
	if !fits || l.size() > w.limit {
		return w.task.stop(
			fmt.Sprintf("dead-letter topic %q has max.message.bytes=%d, less than a letter without content has", c.DeadLetter, w.limit),
			fmt.Sprintf("Alter it: kafka-configs.sh --alter --entity-type topics --entity-name %s --add-config max.message.bytes=%d. "+
				"A process that still runs goes on by itself within %v; start one that has ended again", c.DeadLetter, 2*l.size(), parkPause))
	}
	w.letters.Append(l.key, l.value, l.headers, time.Now().UnixMilli())
	w.count++
	return nil
}

// askLimit looks up what the dead-letter topic takes, once a transaction: it may be altered at any time.
func (w *writer) askLimit(ctx context.Context) error {
	d := w.task.service.deployment
	settings, err := topics.Settings(ctx, d.Client, d.Config.DeadLetter)
	if err != nil {
		return err
	}
	limit, err := strconv.Atoi(settings["max.message.bytes"])
	if err != nil {
		limit = records.DefaultPack
	}
	if refused := w.task.refused; refused > 0 && limit >= refused { // a broker that compresses again counts otherwise
		limit = refused / 4 * 3
	}
	w.limit = limit
	w.letters.Limit(limit)
	return nil
}

// commit ends a transaction: its letters and the place behind them, in the middle of a row or after one.
func (w *writer) commit(ctx context.Context, row int64) error {
	t := w.task
	c, p, listen := t.service.deployment.Config, t.partition, t.service.options.Listen
	// Told to end, a transaction that has all of its letters goes through.
	work, expire := context.WithCancelCause(context.WithoutCancel(ctx))
	defer expire(nil)
	defer context.AfterFunc(ctx, func() {
		time.AfterFunc(commitGrace, func() { expire(errors.New("letters: closing took too long")) })
	})()
	if err := w.producer.Begin(work, []kafka.TopicPartition{{Topic: c.DeadLetter, Partition: p}}); err != nil {
		return err
	}
	if _, err := w.producer.ProduceAll(work, c.DeadLetter, p, &w.letters); err != nil {
		if kafka.TooLarge(err) {
			t.refused = w.limit
		}
		return err
	}
	listen.Reached(p, notice.PointProduced)
	for _, at := range []struct {
		topic  string
		offset int64
	}{{c.Verdicts, row}, {c.Input, w.rows.covered}} {
		place := group.Place{Offset: at.offset, Note: note(t.verdicts.ID, w.rows.covered)}
		if err := w.producer.CommitPlace(work, t.membership, at.topic, p, place); err != nil {
			return err
		}
	}
	if err := w.producer.End(work, true); err != nil {
		return err
	}
	listen.Reached(p, notice.PointEnded)
	t.refused = 0
	listen.Written(Written{Partition: p, Letters: w.count, Lost: w.lost, To: w.rows.covered})
	w.letters.Reset()
	w.limit, w.count, w.lost = 0, 0, 0
	return nil
}
