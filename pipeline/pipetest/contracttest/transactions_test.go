package contracttest

import (
	"context"
	"errors"
	"sync"
	"time"

	kafkago "github.com/segmentio/kafka-go"

	"oriel/pipeline/kafka"
	"oriel/pipeline/kafka/fetch"
	"oriel/pipeline/kafka/group"
	"oriel/pipeline/kafka/produce"
	"oriel/pipeline/kafka/records"
	"oriel/pipeline/kafka/topics"
	"oriel/pipeline/pipetest/logtest"
)

func transactionVisible(e *env) {
	topic, other, groupID := e.topic(1, nil), e.topic(1, nil), e.name("group")
	p := e.producer(e.name("txn"))
	parts := []kafka.TopicPartition{{Topic: topic}, {Topic: other}}
	e.check(p.Begin(e.ctx, parts))
	for _, tp := range parts {
		base, err := p.Produce(e.ctx, tp.Topic, 0, batch("a", "b"))
		e.check(err)
		if base != 0 {
			e.Fatalf("base offset %d, want 0", base)
		}
	}
	if b := e.bounds(topic); b != (topics.Bounds{Start: 0, Stable: 0, High: 2}) {
		e.Fatalf("bounds %+v while the transaction is open", b)
	}
	if got := values(e.log(e.c, topic, 0, fetch.Options{Uncommitted: true})); got != "a b" {
		e.Fatalf("uncommitted log is %q", got)
	}
	if got := e.committed(groupID, topic); got != -1 {
		e.Fatalf("offset %d of a group that has none", got)
	}
	place := group.Offset{Offset: 7, Note: "a note"}
	e.check(p.CommitOffsets(e.ctx, group.Membership{Group: groupID, Generation: -1}, topic, []group.Offset{place}))
	e.check(p.End(e.ctx, true))
	if got, err := group.CommittedOffsets(e.ctx, e.c, groupID, topic, []int32{0}); err != nil || got[0] != place {
		e.Fatalf("place %+v, want %+v: %v", got, place, err)
	}
	e.wantLog(topic, "a", "b")
	e.wantLog(other, "a", "b")
	e.transact(p, topic, true, "c")
	e.wantLog(topic, "a", "b", "c")
}

func abortLeavesNothing(e *env) {
	topic, groupID := e.topic(1, nil), e.name("group")
	p := e.producer(e.name("txn"))
	e.transact(p, topic, true, "a")
	_, before := p.Identity()
	e.check(p.Begin(e.ctx, []kafka.TopicPartition{{Topic: topic}}))
	_, err := p.Produce(e.ctx, topic, 0, batch("x", "y"))
	e.check(err)
	e.check(p.CommitOffsets(e.ctx, group.Membership{Group: groupID, Generation: -1}, topic,
		[]group.Offset{{Partition: 0, Offset: 7}}))
	e.check(p.End(e.ctx, false))
	if _, after := p.Identity(); after <= before {
		e.Fatalf("epoch %d after the abort, %d before: a late batch would be taken", after, before)
	}
	if got := e.committed(groupID, topic); got != -1 {
		e.Fatalf("offset %d was committed by an abort", got)
	}
	e.transact(p, topic, true, "b")
	e.wantLog(topic, "a", "b")
	if got := values(e.log(e.c, topic, 0, fetch.Options{Uncommitted: true})); got != "a x y b" {
		e.Fatalf("uncommitted log is %q", got)
	}
}

// readableEnd checks that a reader that starts during a commit gets the committed records, and that a later open
// transaction does not delay it.
func readableEnd(e *env) {
	topic := e.topic(1, nil)
	first, later := e.producer(e.name("txn")), e.producer(e.name("txn"))
	for _, p := range []*produce.Producer{first, later} {
		e.check(p.Begin(e.ctx, []kafka.TopicPartition{{Topic: topic}}))
	}
	_, err := first.Produce(e.ctx, topic, 0, batch("a", "b"))
	e.check(err)
	found := make(chan topics.Bounds, 1)
	go func() {
		b, err := topics.ReadableEnd(e.ctx, e.c, topic, 0)
		if err != nil {
			e.Error(err)
		}
		found <- b
	}()
	select {
	case b := <-found:
		e.Fatalf("bounds %+v while the transaction is open", b)
	case <-time.After(200 * time.Millisecond):
	}
	_, err = later.Produce(e.ctx, topic, 0, batch("c"))
	e.check(err)
	e.check(first.End(e.ctx, true))
	if b := <-found; b.Stable != 2 || b.High < 3 {
		e.Fatalf("bounds %+v when the first transaction is committed and a later one is open", b)
	}
	if b, err := topics.ReadableEnd(e.ctx, e.c, topic, 0); err != nil || b.Stable != 2 {
		e.Fatalf("bounds %+v, %v of a transaction that stays open: its start is not given", b, err)
	}
	e.check(later.End(e.ctx, true))
}

func takeoverFences(e *env) {
	topic := e.topic(1, nil)
	parts := []kafka.TopicPartition{{Topic: topic}}
	for name, call := range map[string]func(*produce.Producer) error{
		"produce": func(p *produce.Producer) error {
			_, err := p.Produce(e.ctx, topic, 0, batch("zombie"))
			return err
		},
		"commit offset": func(p *produce.Producer) error {
			return p.CommitOffsets(e.ctx, group.Membership{Group: e.name("group"), Generation: -1}, topic,
				[]group.Offset{{Partition: 0, Offset: 1}})
		},
		"commit": func(p *produce.Producer) error { return p.End(e.ctx, true) },
		"abort":  func(p *produce.Producer) error { return p.End(e.ctx, false) },
	} {
		id := e.name("txn")
		zombie := e.producer(id)
		e.check(zombie.Begin(e.ctx, parts))
		owner := e.producer(id)
		e.wantClass(name, call(zombie), kafka.Fenced)
		e.wantClass(name+", again", call(zombie), kafka.Fenced)
		e.transact(owner, topic, true, "owner")
	}
	id := e.name("txn")
	zombie := e.producer(id)
	owner := e.producer(id)
	e.wantClass("begin", zombie.Begin(e.ctx, parts), kafka.Fenced)
	e.transact(owner, topic, true, "owner")
	e.wantLog(topic, "owner", "owner", "owner", "owner", "owner")
}

func takeoverAborts(e *env) {
	topic, id := e.topic(1, nil), e.name("txn")
	zombie := e.producer(id)
	e.check(zombie.Begin(e.ctx, []kafka.TopicPartition{{Topic: topic}}))
	_, err := zombie.Produce(e.ctx, topic, 0, batch("x"))
	e.check(err)
	owner := e.producer(id)
	if b := e.bounds(topic); b.Stable != b.High {
		e.Fatalf("bounds %+v: the transaction is still open", b)
	}
	e.transact(owner, topic, true, "a")
	e.wantLog(topic, "a")
}

func staleGeneration(e *env) {
	topic, groupID := e.topic(1, nil), e.name("group")
	member, err := group.Join(e.c, group.Config{ID: groupID, Topic: topic})
	e.check(err)
	generation, err := member.Next(e.ctx)
	e.check(err)
	defer member.Close()
	good := generation.Membership()
	for name, change := range map[string]func(*group.Membership){
		"generation before": func(m *group.Membership) { m.Generation-- },
		"generation after":  func(m *group.Membership) { m.Generation++ },
		"unknown member":    func(m *group.Membership) { m.Member = "nobody" },
	} {
		m := group.Membership{Group: good.Group, Generation: good.Generation, Member: good.Member}
		change(&m)
		p := e.producer(e.name("txn"))
		e.check(p.Begin(e.ctx, []kafka.TopicPartition{{Topic: topic}}))
		e.wantClass(name, p.CommitOffsets(e.ctx, m, topic, []group.Offset{{Partition: 0, Offset: 5}}), kafka.Fenced)
	}
	p := e.producer(e.name("txn"))
	e.check(p.Begin(e.ctx, []kafka.TopicPartition{{Topic: topic}}))
	e.check(p.CommitOffsets(e.ctx, good, topic, []group.Offset{{Partition: 0, Offset: 6}}))
	e.check(p.End(e.ctx, true))
	if got := e.committed(groupID, topic); got != 6 {
		e.Fatalf("offset %d, want 6", got)
	}
}

func offsetWaits(e *env) {
	topic, groupID := e.topic(1, nil), e.name("group")
	unstable := make(chan struct{})
	var once sync.Once
	waiting := e.client(func(c *kafka.Config) {
		c.OnRetry = func(_ string, err error) {
			if errors.Is(err, kafkago.UnstableOffsetCommit) {
				once.Do(func() { close(unstable) })
			}
		}
	})
	// The embedded broker makes a group only at its first commit.
	e.check(logtest.AlterOffset(e.ctx, e.c, groupID, topic, 0, 1))
	p := e.producer(e.name("txn"))
	e.check(p.Begin(e.ctx, []kafka.TopicPartition{{Topic: topic}}))
	e.check(p.CommitOffsets(e.ctx, group.Membership{Group: groupID, Generation: -1}, topic,
		[]group.Offset{{Partition: 0, Offset: 3}}))
	type result struct {
		offset int64
		err    error
	}
	done := make(chan result, 1)
	go func() {
		offset, err := group.CommittedOffset(e.ctx, waiting, groupID, topic, 0)
		done <- result{offset, err}
	}()
	select {
	case <-unstable:
	case r := <-done:
		e.Fatalf("offset %d, %v while a transaction is about to change it", r.offset, r.err)
	}
	e.check(p.End(e.ctx, true))
	if r := <-done; r.err != nil || r.offset != 3 {
		e.Fatalf("offset %d, %v, want 3", r.offset, r.err)
	}
}

func resentOnce(e *env) {
	topic := e.topic(1, nil)
	p := e.producer("")
	id, epoch := p.Identity()
	for sequence := int32(0); sequence < 6; sequence += 2 {
		stamp := records.Stamp{ProducerID: id, Epoch: epoch, Sequence: sequence}
		for range 3 {
			base, err := produce.Send(e.ctx, e.c, "", topic, 0, batch("a", "b"), stamp)
			if err != nil && !errors.Is(err, kafkago.DuplicateSequenceNumber) {
				e.Fatal(err)
			}
			if err == nil && base != int64(sequence) {
				e.Fatalf("base offset %d, want %d", base, sequence)
			}
		}
	}
	e.wantLog(topic, "a", "b", "a", "b", "a", "b")
}

func badStamps(e *env) {
	topic, id := e.topic(1, nil), e.name("txn")
	p := e.producer(id)
	producerID, epoch := p.Identity()
	e.check(p.Begin(e.ctx, []kafka.TopicPartition{{Topic: topic}}))
	_, err := p.Produce(e.ctx, topic, 0, batch("a"))
	e.check(err)
	stamp := records.Stamp{ProducerID: producerID, Epoch: epoch, Sequence: 5, Transactional: true}
	if _, err := produce.Send(e.ctx, e.c, id, topic, 0, batch("gap"), stamp); !errors.Is(err,
		kafkago.OutOfOrderSequenceNumber) {
		e.Fatalf("sequence gap: %v, want code 45", err)
	}
	e.check(p.End(e.ctx, true))
	owner := e.producer(id)
	e.transact(owner, topic, true, "b")
	stamp.Sequence = 1
	if _, err := produce.Send(e.ctx, e.c, id, topic, 0, batch("late"), stamp); err == nil {
		e.Fatal("a late batch of an old epoch was taken")
	}
	e.wantLog(topic, "a", "b")
}

func batchOutside(e *env) {
	topic, other, id := e.topic(1, nil), e.topic(1, nil), e.name("txn")
	p := e.producer(id)
	if _, err := p.Produce(e.ctx, topic, 0, batch("x")); err == nil {
		e.Fatal("produced before Begin")
	}
	producerID, epoch := p.Identity()
	e.check(p.Begin(e.ctx, []kafka.TopicPartition{{Topic: topic}}))
	stamp := records.Stamp{ProducerID: producerID, Epoch: epoch, Transactional: true}
	if _, err := produce.Send(e.ctx, e.c, id, other, 0, batch("x"), stamp); err == nil {
		e.Fatal("produced to a partition that the transaction does not have")
	}
	e.check(p.End(e.ctx, true))
	e.wantLog(other)
}

func idempotentOnly(e *env) {
	topic := e.topic(2, nil)
	p := e.producer("")
	for i := range 5 {
		_, err := p.Produce(e.ctx, topic, 0, batch(number(i)))
		e.check(err)
		_, err = p.Produce(e.ctx, topic, 1, batch(number(i)))
		e.check(err)
	}
	e.wantLog(topic, number(0), number(1), number(2), number(3), number(4))
	if err := p.Begin(e.ctx, nil); err == nil {
		e.Fatal("transaction without a transactional id")
	}
	ctx, cancel := context.WithTimeout(e.ctx, 200*time.Millisecond)
	defer cancel()
	_, err := p.Produce(ctx, e.name("missing"), 0, batch("x"))
	e.wantClass("no such topic", err, kafka.Unknown)
	if _, err := p.Produce(e.ctx, topic, 0, batch("x")); !errors.Is(err, kafka.ErrBroken) {
		e.Fatalf("after an unknown outcome: %v, want ErrBroken", err)
	}
}
