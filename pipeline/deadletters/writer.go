package deadletters

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"time"

	"oriel/pipeline/kafka"
	"oriel/pipeline/kafka/group"
	"oriel/pipeline/kafka/produce"
	"oriel/pipeline/kafka/records"
	"oriel/pipeline/kafka/topics"
	"oriel/pipeline/notice"
	"oriel/schemas/text"
)

// transactionBytes is the size at which a transaction closes, even in the middle of a row, because a row may have half
// a million letters. With less memory a transaction closes earlier.
const transactionBytes = 8 << 20

// writer writes the letters of a partition of the verdict topic after a take-over.
type writer struct {
	task     *task
	producer *produce.Producer
	rows     *statusReader
	input    input
	target   int64 // end of the verdict topic at the take-over

	parts   parts // offset in each input partition up to which dead letters are written
	limit   int   // largest batch in this transaction, bytes; 0 before its first letter
	letters records.Pack
	count   int
	lost    int
}

// advance writes the letters of the next rows, in one transaction or several. It reports whether it has reached the end
// of the verdicts.
func (w *writer) advance(ctx context.Context) (caughtUp bool, err error) {
	batch, err := w.rows.reader.Fetch(ctx)
	if err != nil {
		return false, w.task.verdictsGone(err)
	}
	defer batch.Release()
	defer w.input.release() // while waiting for statuses, the writer must hold no input: a deadlock
	var runs []run
	for i := range batch.Records {
		more, err := w.rows.open(ctx, &batch.Records[i])
		if err != nil {
			return false, err
		}
		runs = append(runs, more...)
	}
	// Runs are sorted by input partition, so that the input is read partition by partition, even if the merged log
	// alternates between partitions.
	slices.SortStableFunc(runs, func(a, b run) int { return cmp.Compare(a.partition, b.partition) })
	for i, n := range runs {
		first := slices.MinFunc(runs[i:], func(a, b run) int { return cmp.Compare(a.row, b.row) })
		if err := w.take(ctx, n, first.row); err != nil {
			return false, err
		}
	}
	w.rows.next = batch.Next
	w.rows.settle()
	if len(batch.Records) > 0 {
		if err := w.commit(ctx, batch.Next); err != nil {
			return false, err
		}
	}
	return batch.Next >= batch.Stable, nil
}

// take adds the letters of one run, and the letter of the gap before it. If it commits in the middle of a row, the
// committed position is row, with the offset reached in each partition.
func (w *writer) take(ctx context.Context, n run, row int64) error {
	if n.missing != nil {
		if err := w.mark(ctx, n, row); err != nil {
			return err
		}
	}
	for i, verdict := range n.verdicts {
		code, err := w.rows.reason(n.row, verdict)
		if err != nil {
			return err
		}
		if code == text.OK {
			continue
		}
		offset := n.from + int64(i)
		w.parts[n.partition] = offset
		if w.letters.Bytes() >= w.task.memory {
			if err := w.commit(ctx, row); err != nil {
				return err
			}
		}
		if err := w.write(ctx, n.partition, offset, code); err != nil {
			return err
		}
	}
	w.parts[n.partition] = n.from + int64(len(n.verdicts))
	return nil
}

// mark adds the letter of the gap before a run, and notes the gap.
func (w *writer) mark(ctx context.Context, n run, row int64) error {
	c, p, noted := w.task.service.deployment.Config, w.task.partition, w.task.service.options.Listen.Noted
	g := *n.missing
	w.parts[n.partition] = g.from
	if w.letters.Bytes() >= w.task.memory {
		if err := w.commit(ctx, row); err != nil {
			return err
		}
	}
	if err := w.add(ctx, func() (deadLetter, bool) { return gapLetter(c.Input, n.partition, g), true }); err != nil {
		return err
	}
	w.lost++
	of := "the input"
	if c.WholeTopic() {
		of = fmt.Sprintf("partition %d of the input", n.partition)
	}
	noted(p, g.text(of))
	return nil
}

// write adds the letter of one record.
func (w *writer) write(ctx context.Context, partition int32, offset int64, code text.Code) error {
	c := w.task.service.deployment.Config
	r, err := w.input.record(ctx, partition, offset)
	if err != nil {
		return err
	}
	if r == nil {
		w.lost++
	}
	return w.add(ctx, func() (deadLetter, bool) {
		if r == nil {
			return lostLetter(c.Input, partition, offset, code), true
		}
		l, fits := newLetter(c.Input, partition, r, code, w.rows.maxRecord, w.limit)
		return detailed(l, w.rows.decoder, partition, r, code, w.limit), fits
	})
}

// add adds a letter. made makes the letter once the topic's limit is known, and returns false if the letter does not
// fit.
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

// askLimit looks up the largest batch that the dead-letter topic accepts, once per transaction, because the setting may
// change at any time.
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
	if refused := w.task.refused; refused > 0 && limit >= refused { // a broker that compresses again counts other bytes
		limit = refused / 4 * 3
	}
	w.limit = limit
	w.letters.Limit(limit)
	return nil
}

// commit ends a transaction: its letters, and the position after them, which may be in the middle of a row.
func (w *writer) commit(ctx context.Context, row int64) error {
	t := w.task
	c, p, listen := t.service.deployment.Config, t.partition, t.service.options.Listen
	// A transaction that has all of its letters is committed even after ctx has ended.
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
	text := note(t.verdicts.ID, w.parts.sum(), w.rows.pending())
	var input []group.Offset
	for _, p := range slices.Sorted(maps.Keys(w.parts)) {
		input = append(input, group.Offset{Partition: p, Offset: w.parts[p], Note: text})
	}
	for _, at := range []struct {
		topic   string
		offsets []group.Offset
	}{{c.Verdicts, []group.Offset{{Partition: p, Offset: row, Note: text}}}, {c.Input, input}} {
		if err := w.producer.CommitOffsets(work, t.share.Membership(), at.topic, at.offsets); err != nil {
			return err
		}
	}
	if err := w.producer.End(work, true); err != nil {
		return err
	}
	listen.Reached(p, notice.PointEnded)
	t.refused = 0
	listen.Written(Written{Partition: p, Letters: w.count, Lost: w.lost, To: w.parts.sum()})
	w.letters.Reset()
	w.limit, w.count, w.lost = 0, 0, 0
	return nil
}
