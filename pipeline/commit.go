package pipeline

import (
	"context"
	"fmt"
	"time"

	"oriel/pipeline/kafka"
	"oriel/state"
)

// commit is the only code that makes anything readable outside: one transaction with the segment's decisions, its
// sealed verdicts, the sealed state and the input offset, and after it the local store. Its requests, their order and
// their sizes are a function of the published decisions and of public facts (offsets, sizes of records): every
// transaction touches the same partitions, and nothing is sent because an event was bad. Which topic a decision is for
// is as public as the decision.
//
// BEFORE the first decision is sent is the place of a durable intent, the promise of which history the transaction
// stands on: nothing may be produced above Produce(decisions) that depends on it. Of the decisions before the first
// event the opening is that intent: it must be committed in a transaction of its own (open.go).
//
// An error leaves the outcome unknown: the owner must drop everything in memory and take the partition over again.
func (t *task) commit(ctx context.Context, o *ownedPartition, g *segment, extra ...state.Record) error {
	s, p := t.service, t.partition
	began := time.Now()
	kept := append(extra, stateRecords(o.stateKey, g.sealed)...)
	if err := t.transact(ctx, o, g, began, kept); err != nil {
		s.listener.Aborted(p)
		return fmt.Errorf("pipeline: partition %d: commit: %w", p, err)
	}
	s.listener.Reached(p, PointEnded)
	o.position = g.position
	o.view.follow(kept)
	if len(extra) > 0 {
		s.listener.Opened(p)
	}
	kept = append(kept, state.Record{Key: localPosition, Value: appendLocalPosition(s.topics.Changelog.ID, o.view.last)})
	if err := s.store.Follow(p, kept); err != nil {
		return fmt.Errorf("pipeline: partition %d: local state: %w", p, err)
	}
	s.listener.decided(p, g.newest)
	s.listener.Committed(Commit{
		Partition: p, Records: g.records, Steps: g.steps, Decisions: g.count,
		Lag: max(0, g.end-g.position.Next), Duration: time.Since(began),
	})
	return nil
}

func (t *task) transact(ctx context.Context, o *ownedPartition, g *segment, began time.Time, log []state.Record) error {
	c, p := t.service.config, t.partition
	if err := o.producer.Begin(ctx, c.parts(p)); err != nil {
		return err
	}
	for i, topic := range t.service.topics.outputs() {
		if _, err := o.producer.ProduceAll(ctx, topic.Name, p, &g.decisions[i]); err != nil {
			return err
		}
	}
	if _, err := o.producer.ProduceAll(ctx, c.Verdicts, p, &g.rows); err != nil {
		return err
	}
	var changes kafka.Pack
	for _, r := range log {
		changes.Append(r.Key, r.Value, nil, began.UnixMilli())
	}
	last, err := o.producer.ProduceAll(ctx, c.Changelog, p, &changes)
	if err != nil {
		return err
	}
	o.view.last = last
	t.service.listener.Reached(p, PointProduced)
	if err := o.producer.CommitOffset(ctx, t.membership, c.Input, p, g.position.Next); err != nil {
		return err
	}
	return o.producer.End(ctx, true)
}
