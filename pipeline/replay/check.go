package replay

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
	"time"

	"oriel/pipeline/changelog"
	"oriel/pipeline/kafka/fetch"
	"oriel/pipeline/kafka/records"
	"oriel/pipeline/kafka/topics"
	"oriel/pipeline/merge"
	"oriel/pipeline/notice"
	"oriel/pipeline/streams"
	"oriel/schemas/decision"
	"oriel/schemas/text"
)

// Check recomputes the decisions after a checkpoint from the input topic and compares them with the published ones,
// byte for byte. It returns the number of decisions compared; if there are none, it returns an error. It calls progress
// after each decision.
func Check(
	ctx context.Context, d changelog.Deployment, p int32, checkpoint []byte, progress func(compared int),
) (int, error) {
	view, err := parseCheckpoint(checkpoint)
	if err != nil {
		return 0, err
	}
	outputs := d.Topics.Outputs()
	bounds := make([]topics.Bounds, len(outputs))
	for i, topic := range outputs { // BEFORE addLater, to have all schemas that decisions used
		if bounds[i], err = topics.ReadableEnd(ctx, d.Client, topic.Name, p); err != nil {
			return 0, err
		}
	}
	if err := addLater(ctx, d, view, p); err != nil {
		return 0, err
	}
	o, keys, err := open(d, view, p)
	if err != nil {
		return 0, err
	}
	if o.Incarnation.Topic != d.Topics.Input.ID || o.Incarnation.Partition != p {
		return 0, &notice.StopError{
			Partition: p, Reason: "the checkpoint is of another input",
			Remedy: "Name the deployment and partition that it was saved from",
		}
	}
	c := &check{partition: p, progress: progress}
	for i, topic := range outputs {
		published, stop := iter.Pull2(published(ctx, d, p, o, topic, bounds[i]))
		defer stop()
		c.topics = append(c.topics, comparison{published: published})
		c.next(len(c.topics) - 1)
	}
	err = recompute(ctx, d, p, o, keys.Order, c)
	if err == nil && c.compared == 0 {
		err = fmt.Errorf("pipeline: partition %d: no decision behind the checkpoint was published; nothing is shown", p)
	}
	return c.compared, err
}

// addLater replaces the schemas and the amendment of a checkpoint by the current ones, because decisions after the
// checkpoint were computed with them. Schemas and amendment are only ever extended.
func addLater(ctx context.Context, d changelog.Deployment, checkpoint *changelog.View, p int32) error {
	keys, err := checkpoint.Keys(p, d.Config, d.Model, d.Master)
	if err != nil {
		return err
	}
	now, err := d.View(ctx, p)
	if err != nil {
		return err
	}
	for _, key := range [][]byte{keys.Schemas, keys.Amendment} {
		if value := now.Value(key); value != nil {
			checkpoint.Set(key, value)
		}
	}
	return nil
}

// publishedDecision is a committed decision: its offset, and its line, which stays valid until the next decision is
// read.
type publishedDecision struct {
	decision.Decision
	offset int64
	line   []byte
}

// published yields, in order, the committed decisions of a topic that belong to the incarnation and come after the
// checkpoint.
func published(
	ctx context.Context, d changelog.Deployment, p int32, o changelog.Saved, topic topics.Topic, b topics.Bounds,
) iter.Seq2[publishedDecision, error] {
	return func(yield func(publishedDecision, error) bool) {
		for r, err := range fetch.Records(ctx, d.Client, topic, p, b.Start, b.Stable, false) {
			found := publishedDecision{offset: r.Offset, line: r.Value}
			if err == nil {
				if found.Decision, err = decision.Parse(r.Value); err != nil {
					err = fmt.Errorf("pipeline: topic %s, partition %d, offset %d: %w", topic.Name, p, r.Offset, err)
				}
			}
			if err == nil && (found.Incarnation != o.Incarnation.ID || found.Step <= o.Position.Step && !o.Position.Owes) {
				continue
			}
			if !yield(found, err) || err != nil {
				return
			}
		}
	}
}

// check compares recomputed decisions with published ones, until the published ones end or one differs.
type check struct {
	partition int32
	topics    []comparison // one comparison for each output topic
	progress  func(compared int)
	compared  int
	err       error // the error that ended the comparison
}

// comparison is the progress of the comparison in one topic.
type comparison struct {
	published func() (publishedDecision, error, bool)
	due       publishedDecision // published decision to compare next
	ended     bool              // no published decision is left
	compared  bool              // at least one decision was compared
}

// next reads the next published decision of a topic.
func (c *check) next(output int) {
	t := &c.topics[output]
	var more bool
	var err error
	t.due, err, more = t.published()
	t.ended = !more || err != nil
	c.err = errors.Join(c.err, err)
}

// over reports whether no decision is left to compare.
func (c *check) over() bool {
	return c.err != nil || !slices.ContainsFunc(c.topics, func(t comparison) bool { return !t.ended })
}

// compare takes the next recomputed decision of a topic. Retention may have deleted the topic's oldest decisions; all
// decisions after the first remaining one must be there.
func (c *check) compare(output uint8, _, line []byte) {
	t := &c.topics[output]
	if t.ended || c.err != nil {
		return
	}
	again, err := decision.Parse(line)
	switch {
	case err != nil:
		panic("BUG: pipeline: a decision of the stream does not read as one")
	case again.Index < t.due.Index && !t.compared:
		return
	case again.Index != t.due.Index:
		c.err = fmt.Errorf("pipeline: partition %d: the decision with index %d was published where %d was due", c.partition, t.due.Index, again.Index)
		return
	case !bytes.Equal(line, t.due.line):
		c.err = fmt.Errorf("pipeline: partition %d: the decision at offset %d (index %d) differs from the recomputed one", c.partition, t.due.offset, t.due.Index)
		return
	}
	t.compared = true
	c.compared++
	c.progress(c.compared)
	c.next(int(output))
}

// until returns the input offset up to which the walk must go while there are decisions to compare.
func (c *check) until() int64 {
	if c.over() {
		return 0
	}
	return streams.Untaken
}

// recompute takes events of the input up to the last published decision.
func recompute(
	ctx context.Context, d changelog.Deployment, p int32, o changelog.Saved, orderKey [32]byte, c *check,
) error {
	w := &streams.Walk{
		Stream: o.Stream, Partition: p, Position: o.Position.Clone(),
		Decided: c.compare,
		Taken:   func(*records.Record, int64, text.Code) {},
	}
	if o.Position.Owes {
		w.Start()
	}
	reader := merge.Open(d.Client, d.Config, p, orderKey, o.Incarnation.Order, o.Position, fetch.Options{
		MaxWait: 100 * time.Millisecond,
	})
	defer reader.Close()
	var idle merge.Idle
	for !c.over() {
		batch, err := reader.Fetch(ctx)
		if err != nil {
			return err
		}
		err = w.Take(batch, c.until)
		short := idle.Over(batch)
		batch.Release()
		switch {
		case errors.Is(err, streams.ErrEnded):
			return fmt.Errorf("pipeline: partition %d: decisions were published behind the horizon of %d steps", p, w.Stream.Guarantee().Scope.End())
		case err != nil:
			return err
		case short && !c.over():
			return fmt.Errorf("pipeline: partition %d: decisions were published for events that the input does not have", p)
		}
	}
	return c.err
}
