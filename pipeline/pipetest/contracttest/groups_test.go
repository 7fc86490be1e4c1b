package contracttest

import (
	"context"
	"slices"
	"time"

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
	fromB := e.next(b)
	<-alone.Done()
	alone.Close()
	first, second := e.share(a, b, e.next(a), fromB)
	if first.ID != second.ID || first.ID <= alone.ID || first.Member == second.Member {
		e.Fatalf("generations %d and %d after %d", first.ID, second.ID, alone.ID)
	}
	both := slices.Sorted(slices.Values(slices.Concat(first.Partitions, second.Partitions)))
	if len(first.Partitions) != 2 || !slices.Equal(both, []int32{0, 1, 2, 3}) {
		e.Fatalf("shares %v and %v", first.Partitions, second.Partitions)
	}
	second.Close()
	e.check(b.Close())
	<-first.Done()
	first.Close()
	again, err := a.Next(e.ctx)
	e.check(err)
	if !slices.Equal(again.Partitions, []int32{0, 1, 2, 3}) {
		e.Fatalf("partitions %v after the other left", again.Partitions)
	}
	if _, err := b.Next(e.ctx); err == nil {
		e.Fatal("a closed group gave a generation")
	}
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

// share runs two members until both are in the same generation.
func (e *env) share(a, b *group.Member, fromA, fromB chan share) (first, second *group.Generation) {
	e.Helper()
	for {
		ra, rb := <-fromA, <-fromB
		e.check(ra.err)
		e.check(rb.err)
		if ra.generation.ID == rb.generation.ID {
			return ra.generation, rb.generation
		}
		// One of them is in an older generation; its owner must notice that it has ended.
		if ra.generation.ID < rb.generation.ID {
			<-ra.generation.Done()
			ra.generation.Close()
			fromA = e.next(a)
			fromB <- rb
		} else {
			<-rb.generation.Done()
			rb.generation.Close()
			fromB = e.next(b)
			fromA <- ra
		}
	}
}

// rejoinAfterClose keeps an ended generation open. Until its owner closes it, no member may get a new one.
func rejoinAfterClose(e *env) {
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
	soon, cancel := context.WithTimeout(e.ctx, 3*time.Second)
	defer cancel()
	if generation, err := b.Next(soon); err == nil {
		e.Fatalf("partitions %v were given away while their owner still held them", generation.Partitions)
	}
	<-held.Done()
	held.Close()
	first, second := e.share(a, b, e.next(a), e.next(b))
	if len(first.Partitions) != 1 || len(second.Partitions) != 1 {
		e.Fatalf("shares %v and %v", first.Partitions, second.Partitions)
	}
	first.Close()
	second.Close()
}
