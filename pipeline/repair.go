package pipeline

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"time"

	"oriel/pipeline/kafka"
	"oriel/state"
)

// reconcile brings state, decisions, verdicts and group offset to one end, in one transaction, and sends in it what is
// missing and nothing else. It changes nothing where all stand at the state. extra are records of an opening that the
// changelog must have beside the state: they are committed in a transaction of their own before.
//
// It may be cut off anywhere, and its transaction may end differently in its topics like any other: the next one starts
// from what is committed then.
func (t *task) reconcile(ctx context.Context, o *ownedPartition, e endOffsets, extra []state.Record) error {
	f, err := t.inspect(ctx, o, e)
	if err != nil {
		return err
	}
	if err := t.checkUnconfirmed(o, f); err != nil {
		return err
	}
	if err := t.checkInput(ctx, o.position, f.end); err != nil {
		return err
	}
	if err := t.checkSemantics(ctx, o, f, e.decisions); err != nil {
		return err
	}
	if len(extra) > 0 {
		if err := t.openAgain(ctx, o, f, extra); err != nil {
			return err
		}
	}
	if f.complete(o.position) {
		return nil
	}
	g, now := t.service.newSegment(kafka.NewPool()), time.Now().UnixMilli()
	for output, found := range f.decisions {
		for _, line := range found.resend {
			d, _ := o.decision(line, t.stream) // it was read as one
			g.decide(uint8(output), o.stream.keyOf(uint8(output), d), line, now)
		}
	}
	for _, r := range f.verdicts.resend {
		g.rows.Append(nil, r.sealed, nil, now)
	}
	g.position, g.sealed = o.position, bytes.Clone(o.sealed)
	says := "a transaction of an earlier owner is not whole; what it lacks is committed now"
	if o.position.Owes {
		says = "an earlier owner has opened the partition, and its first decisions are not committed with the state; what lacks is committed now"
	}
	if f.beyondState(o.position.Next) || o.position.Owes {
		if err := t.redo(ctx, o, f, g, now); err != nil {
			return err
		}
	}
	text := fmt.Sprintf("%s (decisions: %d, input offset: %d)", says, g.count, g.position.Next)
	t.service.listener.Note(t.partition, text)
	return t.commit(ctx, o, g)
}

// openAgain commits an opening that is aborted in the changelog, and the state that was sent last with it. It commits
// nothing else, because the secret of the opening must be durable BEFORE a decision that follows from it can be read.
func (t *task) openAgain(ctx context.Context, o *ownedPartition, f *transactionStatus, opening []state.Record) error {
	g := t.service.newSegment(kafka.NewPool())
	g.position, g.sealed = o.position, bytes.Clone(o.sealed)
	t.service.listener.Note(t.partition, fmt.Sprintf(
		"the opening of an earlier owner is not whole; its state is committed again (input offset: %d)", g.position.Next))
	f.group = g.position.Next
	return t.commitOpening(ctx, o, g, opening...)
}

// redo makes the first decisions again that the state owes, and takes the events behind it again, as far as anything of
// them is committed and not further, into g. What is committed must come out the same and is left out.
func (t *task) redo(ctx context.Context, o *ownedPartition, f *transactionStatus, g *segment, now int64) error {
	next, reached := o.position.Next, uint64(0)
	last, due := f.reach()
	var again [decisionTopics]int // how many of the committed ones came out
	var differs error
	c := t.newComputer(o)
	c.segment, c.now = g, now
	c.walk.Decided = func(output uint8, key, line []byte) {
		d, ours := o.decision(line, t.stream)
		if !ours {
			panic("BUG: pipeline: a decision of the stream does not read as one")
		}
		reached = d.Index
		found := &f.decisions[output]
		committed, is := found.beyondState[d.Index]
		if is {
			again[output]++
		}
		switch {
		case differs != nil: // the first one is told
		case is && !bytes.Equal(committed, line) && d.Step == 0:
			differs = t.stop(fmt.Sprintf("the committed decision %d, of before the first event, differs from the one that the secret of the opening gives now", d.Index),
				"Another version made it: start the version that ran before, or open a new deployment under another ORIEL_NAME")
		case is && !bytes.Equal(committed, line):
			differs = t.stop(fmt.Sprintf("the committed decision %d differs from the one that its events give now", d.Index),
				"The input has changed under its offsets, or another version made it: start the version that ran before, or open a new deployment under another ORIEL_NAME")
		case !is && (len(found.beyondState) == 0 || d.Index > found.index): // an earlier one was deleted by retention
			g.decide(output, key, line, now)
		}
	}
	if o.position.Owes {
		if c.walk.Start(); differs != nil {
			return differs
		}
	}
	reader := t.service.client.NewReader(t.service.config.Input, t.partition, next, kafka.ReaderOptions{
		ID: o.position.Topic, LastEpoch: &o.position.LeaderEpoch, MaxBytes: fetchBytes, MaxWait: 100 * time.Millisecond,
	})
	defer reader.Close()
	until := func() int64 {
		if due && reached < last {
			return untaken
		}
		return f.end
	}
	for c.walk.Position.Next < until() {
		batch, err := reader.Fetch(ctx)
		if err != nil {
			return fmt.Errorf("pipeline: partition %d: take events again: %w", t.partition, err)
		}
		g.end = batch.Stable
		err = c.walk.Take(batch, until)
		short := len(batch.Records) == 0 && batch.Next >= batch.Stable && c.walk.Position.Next < until()
		batch.Release()
		switch {
		case errors.Is(err, ErrEnded):
			return endedError(t.partition, o.stream.end())
		case err != nil:
			return err
		case differs != nil:
			return differs
		case short:
			return t.lost(fmt.Sprintf("decisions are committed for events that the input does not have: it ends at %d", c.walk.Position.Next),
				"Acknowledged events were lost on the brokers; open a new deployment under another ORIEL_NAME")
		}
	}
	for output, found := range f.decisions {
		if again[output] != len(found.beyondState) {
			return t.stop(fmt.Sprintf("of %d committed decisions in topic %s, %d come out of their events now",
				len(found.beyondState), t.service.topics.outputs()[output].Name, again[output]),
				"The input has changed under its offsets, or another version made them: start the version that ran before, or open a new deployment under another ORIEL_NAME")
		}
	}
	c.skipTo()
	// The verdicts that are committed must be those of now, and the rows that follow start where they end.
	for _, r := range f.verdicts.beyondState {
		if r.From >= next && !bytes.Equal(r.Verdicts, g.verdicts[r.From-next:r.To-next]) {
			return t.stop(fmt.Sprintf("the committed verdicts of the offsets %d to %d differ from those that the events give now", r.From, r.To),
				"The input has changed under its offsets, or another version made them: start the version that ran before, or open a new deployment under another ORIEL_NAME")
		}
	}
	c.sent.Next = max(next, f.verdicts.end)
	g.verdicts = g.verdicts[c.sent.Next-next:]
	c.close()
	return nil
}
