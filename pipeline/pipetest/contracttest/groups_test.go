package contracttest

import (
	"context"
	"errors"
	"slices"
	"time"

	"oriel/pipeline/kafka"
	"oriel/pipeline/kafka/group"
)

// twoMembers lets a second member join a group, and then leave it.
func twoMembers(e *env) {
	topic := e.topic(4, nil)
	config := group.Config{ID: e.name("group"), Topic: topic}
	a, err := group.Join(e.c, config)
	e.check(err)
	defer a.Close()
	alone, err := a.Next(e.ctx)
	e.check(err)
	if !slices.Equal(alone.Partitions, []int32{0, 1, 2, 3}) {
		e.Fatalf("alone with partitions %v", alone.Partitions)
	}
	b, err := group.Join(e.client(nil), config)
	e.check(err)
	defer b.Close()
	fromB := e.next(b)
	<-alone.Done() // because two of the partitions go to the other
	alone.Close()
	first, second := <-e.next(a), <-fromB
	e.check(errors.Join(first.err, second.err))
	<-second.generation.Done() // it was empty, because the partitions had to be given up first
	second.generation.Close()
	second = <-e.next(b)
	e.check(second.err)
	mine, others := first.generation, second.generation
	both := slices.Sorted(slices.Values(slices.Concat(mine.Partitions, others.Partitions)))
	if len(mine.Partitions) != 2 || !slices.Equal(both, []int32{0, 1, 2, 3}) {
		e.Fatalf("shares %v and %v", mine.Partitions, others.Partitions)
	}
	e.heldBy(mine)
	if m, o := mine.Membership(), others.Membership(); m.Generation != o.Generation || m.Member == o.Member {
		e.Fatalf("memberships %+v and %+v", m, o)
	}
	others.Close()
	e.check(b.Close())
	<-mine.Done()
	mine.Close()
	again, err := a.Next(e.ctx)
	e.check(err)
	if !slices.Equal(again.Partitions, []int32{0, 1, 2, 3}) {
		e.Fatalf("partitions %v after the other left", again.Partitions)
	}
	if _, err := b.Next(e.ctx); err == nil {
		e.Fatal("a closed group gave a generation")
	}
}

// heldBy checks that a share goes on.
func (e *env) heldBy(g *group.Generation) {
	e.Helper()
	select {
	case <-g.Done():
		e.Fatalf("the share %v has ended", g.Partitions)
	default:
	}
}

// ownerKeepsItsShare lets members come and go that get nothing of a topic with one partition. The owner's share must
// not end, and its commits must go on: at any point of a rebalance, and under a membership that it asked for before.
// When the owner leaves, another member gets the partition, and keeps it when the first one is back.
func ownerKeepsItsShare(e *env) {
	topic := e.topic(1, nil)
	config := group.Config{ID: e.name("group"), Topic: topic}
	owner, err := group.Join(e.c, config)
	e.check(err)
	held, err := owner.Next(e.ctx)
	e.check(err)
	first := held.Membership()
	commits, stop := context.WithCancel(e.ctx)
	committed := make(chan error, 1)
	go func() {
		for offset := int64(1); kafka.Pause(commits, 10*time.Millisecond) == nil; offset++ {
			if err := e.commitOne(held, topic, offset); err != nil {
				committed <- err
				return
			}
		}
		committed <- nil
	}()
	for range 2 {
		standby, err := group.Join(e.client(nil), config)
		e.check(err)
		empty, err := standby.Next(e.ctx)
		e.check(err)
		if len(empty.Partitions) > 0 {
			e.Fatalf("the stream moved: partitions %v", empty.Partitions)
		}
		empty.Close()
		e.check(standby.Close())
	}
	e.pause(2 * time.Second)
	e.heldBy(held)
	stop()
	e.check(<-committed)
	if now := held.Membership(); now.Generation <= first.Generation {
		e.Fatalf("membership %+v after %+v", now, first)
	}
	p := e.producer(e.name("txn"))
	e.check(p.Begin(e.ctx, []kafka.TopicPartition{{Topic: topic}}))
	e.check(p.CommitOffsets(e.ctx, first, topic, []group.Offset{{Partition: 0, Offset: 9}}))
	e.check(p.End(e.ctx, true))

	other, err := group.Join(e.client(nil), config)
	e.check(err)
	defer other.Close()
	empty, err := other.Next(e.ctx)
	e.check(err)
	held.Close()
	e.check(owner.Close())
	e.wantClass("a membership that has ended", e.commitUnder(first, topic), kafka.Fenced)
	<-empty.Done()
	empty.Close()
	stream, err := other.Next(e.ctx)
	e.check(err)
	if len(stream.Partitions) != 1 {
		e.Fatal("the stream went to nobody")
	}
	back, err := group.Join(e.client(nil), config)
	e.check(err)
	defer back.Close()
	empty, err = back.Next(e.ctx)
	e.check(err)
	if len(empty.Partitions) > 0 {
		e.Fatal("a member that is back took the stream again")
	}
	e.heldBy(stream)
}

// commitOne commits an offset under the share that a member holds.
func (e *env) commitOne(held *group.Generation, topic string, offset int64) error {
	p := e.producer(e.name("txn"))
	if err := p.Begin(e.ctx, []kafka.TopicPartition{{Topic: topic}}); err != nil {
		return err
	}
	if err := p.CommitOffsets(e.ctx, held.Membership(), topic,
		[]group.Offset{{Partition: 0, Offset: offset}}); err != nil {
		return err
	}
	return p.End(e.ctx, true)
}

// commitUnder tries to commit an offset under a membership.
func (e *env) commitUnder(m group.Membership, topic string) error {
	p := e.producer(e.name("txn"))
	e.check(p.Begin(e.ctx, []kafka.TopicPartition{{Topic: topic}}))
	return p.CommitOffsets(e.ctx, m, topic, []group.Offset{{Partition: 0, Offset: 5}})
}

// share is a result of Member.Next.
type share struct {
	generation *group.Generation
	err        error
}

func (e *env) next(g *group.Member) chan share {
	c := make(chan share, 1)
	go func() {
		generation, err := g.Next(e.ctx)
		c <- share{generation, err}
	}()
	return c
}

// partitionsMoveAfterClose keeps an ended share open. Until its owner closes it, no other member may get its
// partitions.
func partitionsMoveAfterClose(e *env) {
	topic := e.topic(2, nil)
	config := group.Config{ID: e.name("group"), Topic: topic}
	a, err := group.Join(e.c, config)
	e.check(err)
	defer a.Close()
	held, err := a.Next(e.ctx)
	e.check(err)
	b, err := group.Join(e.client(nil), config)
	e.check(err)
	defer b.Close()
	empty, err := b.Next(e.ctx)
	e.check(err)
	e.pause(3 * time.Second)
	e.heldBy(empty)
	if len(empty.Partitions) > 0 {
		e.Fatalf("partitions %v were given away while their owner still held them", empty.Partitions)
	}
	<-held.Done()
	held.Close()
	first := <-e.next(a)
	e.check(first.err)
	<-empty.Done()
	empty.Close()
	second := <-e.next(b)
	e.check(second.err)
	if len(first.generation.Partitions) != 1 || len(second.generation.Partitions) != 1 {
		e.Fatalf("shares %v and %v", first.generation.Partitions, second.generation.Partitions)
	}
	e.heldBy(first.generation)
}
