package transaction

import (
	"context"
	"fmt"
	"slices"
	"time"

	"oriel/pipeline/changelog"
	"oriel/pipeline/deployment"
	"oriel/pipeline/kafka"
	"oriel/pipeline/kafka/fetch"
	"oriel/pipeline/kafka/group"
	"oriel/pipeline/kafka/produce"
	"oriel/pipeline/kafka/records"
	"oriel/pipeline/kafka/topics"
	"oriel/pipeline/notice"
	"oriel/state"
)

// Committer commits the transactions of one partition. The owner of the partition creates it after a take-over and must
// use it from one goroutine.
type Committer struct {
	Partition int32
	Config    deployment.Config
	Topics    deployment.Topics
	Client    *kafka.Client
	Producer  *produce.Producer // from the take-over, so brokers refuse all earlier producers
	Share     *group.Generation // whose membership commits the group's offset
	StateKey  []byte            // key of the state's records in the changelog
	Log       *changelog.View   // view of the changelog; updated after each commit
	Store     state.Store       // local copy of the changelog, shared with other partitions
	Listener  notice.Listener
}

// Commit is the only code that publishes anything: one transaction with decisions, sealed statuses, the sealed state
// and the input offset, and after it the local store. Its requests, their order and their sizes are a function of the
// published decisions and of public facts (offsets, sizes of records). For example, every transaction touches the same
// partitions, and no request depends on whether an event was bad. The topic of a decision is as public as the decision.
// With users in periods this does not hold for the changelog: it also gets the ids of new users. So persons who can
// read the changelog, or see the brokers' traffic, learn how many users were new between two states.
//
// The order of the requests leaves room for a durable intent BEFORE the first decision is sent: a record that commits
// to the history on which the transaction is based. For the decisions before the first event, the opening is this
// intent: it must be committed in a transaction of its own. Nothing that depends on the decisions may be sent before
// them.
//
// After an error it is unknown whether the transaction was committed: the owner must drop everything in memory and take
// the partition over again.
func (c *Committer) Commit(ctx context.Context, t *Transaction) error {
	p := c.Partition
	if t.Note != "" {
		c.Listener.Note(p, t.Note, t.Detail)
	}
	began := time.Now()
	records := slices.Concat(t.Opening, t.Users, changelog.StateRecords(c.StateKey, t.Sealed))
	last, err := c.transact(ctx, t, began, records)
	if err != nil {
		c.Listener.Aborted(p)
		return fmt.Errorf("pipeline: partition %d: commit: %w", p, err)
	}
	c.Listener.Reached(p, notice.PointEnded)
	c.Log.Follow(records, last)
	if len(t.Opening) > 0 {
		c.Listener.Opened(p)
	}
	if err := c.Store.Follow(p, append(records, c.Log.LocalRecord())); err != nil {
		return fmt.Errorf("pipeline: partition %d: local state: %w", p, err)
	}
	if t.Newest != nil {
		c.Listener.Decided(p, t.Newest)
	}
	c.Listener.Committed(notice.Commit{
		Partition: p, Records: t.Records, Steps: t.Steps, Decisions: t.Count, Time: time.UnixMilli(t.Time),
		Lag: max(0, t.End-t.Position.Next), Duration: time.Since(began),
	})
	if len(t.Opening) > 0 {
		return c.confirm(ctx, last)
	}
	return nil
}

// transact sends and commits one Kafka transaction. It returns the changelog offset after the transaction's last
// record.
func (c *Committer) transact(
	ctx context.Context, t *Transaction, began time.Time, log []state.Record,
) (last int64, err error) {
	p := c.Partition
	if err := c.Producer.Begin(ctx, c.Config.TransactionParts(p, t.Decides())); err != nil {
		return 0, err
	}
	for i, topic := range c.Topics.Outputs() { // no request for a topic without decisions
		if _, err := c.Producer.ProduceAll(ctx, topic.Name, p, &t.Decisions[i]); err != nil {
			return 0, err
		}
	}
	if _, err := c.Producer.ProduceAll(ctx, c.Config.Verdicts, p, &t.Rows); err != nil {
		return 0, err
	}
	var changes records.Pack
	for _, r := range log {
		changes.Append(r.Key, r.Value, nil, began.UnixMilli())
	}
	if last, err = c.Producer.ProduceAll(ctx, c.Config.Changelog, p, &changes); err != nil {
		return 0, err
	}
	c.Listener.Reached(p, notice.PointProduced)
	if err := c.Producer.CommitOffsets(ctx, c.Share.Membership(), c.Config.Input, t.Offsets); err != nil {
		return 0, err
	}
	return last, c.Producer.End(ctx, true)
}

// confirm returns once the changelog shows an opening as committed. An acknowledgement is not enough, because a
// coordinator that crashes after it may never inform the changelog's partition. The next owner would then abort the
// records, and the broker may delete them.
func (c *Committer) confirm(ctx context.Context, last int64) error {
	p := c.Partition
	b, err := topics.ReadableEnd(ctx, c.Client, c.Topics.Changelog.Name, p)
	if err != nil {
		return fmt.Errorf("pipeline: partition %d: bounds of the changelog: %w", p, err)
	}
	shown := b.Stable >= last
	if shown {
		shown, err = fetch.HasRecord(ctx, c.Client, c.Topics.Changelog, p, last-1, last, false)
	}
	if err == nil && !shown {
		err = fmt.Errorf("pipeline: partition %d: the opening was acknowledged, and the changelog does not show it as committed", p)
	}
	return err
}
