package group

import (
	"context"
	"slices"
	"sync"

	"oriel/pipeline/kafka"
)

// Generation is a share of the topic's partitions, valid until Done. The group may begin new generations meanwhile: as
// long as they give the member the same share, only Membership changes.
type Generation struct {
	Partitions []int32 // ascending; empty if the group has more members than partitions

	released chan struct{} // closed by Close
	closed   sync.Once
	done     chan struct{} // closed when the share has ended

	mu         sync.Mutex
	ended      bool          // done is closed
	membership Membership    // of the newest generation that the member has joined
	renewed    chan struct{} // closed, and replaced, when membership changes
	again      func()        // makes the member join again
}

// Membership identifies a member in a generation, so that brokers refuse its CommitOffsets once the generation is over.
type Membership struct {
	Group      string
	Generation int32
	Member     string

	held *Generation // the share under which the member works; nil: none that could be renewed
}

// Membership returns the argument for Producer.CommitOffsets, which must be asked for at each commit.
func (g *Generation) Membership() Membership {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.membership
}

// Renewed waits until the member has joined a newer generation than m's, in which it keeps its share or gives it up. It
// returns false if there is none: ctx or the share has ended.
func (m Membership) Renewed(ctx context.Context) (Membership, bool) {
	if m.held == nil {
		return m, false
	}
	for {
		m.held.mu.Lock()
		now, renewed := m.held.membership, m.held.renewed
		m.held.mu.Unlock()
		if now != m {
			return now, true
		}
		select {
		case <-renewed:
		case <-m.held.done:
			return m, false
		case <-ctx.Done():
			return m, false
		}
	}
}

// Done is closed when the share ends: the group gives the member another one, the coordinator was silent for a session
// or has expelled the member, or Close was called.
func (g *Generation) Done() <-chan struct{} { return g.done }

// Rejoin makes the member join again, so that the group's partitions are assigned again. The share goes on if it stays
// the same.
func (g *Generation) Rejoin() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.again()
}

// Close lets the member take its new share. Everything that belongs to the generation must have stopped BEFORE.
func (g *Generation) Close() {
	g.end()
	g.closed.Do(func() { close(g.released) })
}

// end ends the share.
func (g *Generation) end() {
	g.mu.Lock()
	defer g.mu.Unlock()
	if !g.ended {
		g.ended = true
		close(g.done)
	}
}

// renew replaces the membership.
func (g *Generation) renew(m Membership) {
	g.mu.Lock()
	defer g.mu.Unlock()
	m.held = g
	g.membership = m
	close(g.renewed)
	g.renewed = make(chan struct{})
}

// beats sets the heartbeats that Rejoin ends.
func (g *Generation) beats(p *heartbeats) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.again = p.end
}

// handOut returns the share that the member has joined with, and starts to keep it. If the member has given up
// partitions for it, it joins again at once, because only then the group may assign them to others.
func (g *Member) handOut() *Generation {
	held := &Generation{
		Partitions: g.share.partitions, released: make(chan struct{}), done: make(chan struct{}),
		renewed: make(chan struct{}), again: g.pulse.end,
	}
	held.membership = Membership{Group: g.config.ID, Generation: g.share.generation, Member: g.member, held: held}
	g.waiting = false
	g.held.Store(held)
	if g.pulse.isLost() { // in between, so that lose did not end this share
		held.end()
	}
	if g.gaveUp {
		g.pulse.end()
	}
	go g.keep(held, g.pulse)
	return held
}

// keep joins again whenever the group asks for it, until the share has ended or changed. The member's tasks work on
// meanwhile.
func (g *Member) keep(held *Generation, pulse *heartbeats) {
	for pulse != nil {
		select {
		case <-pulse.ended:
			pulse = g.joinAgain(held, pulse)
		case <-held.released:
			return
		}
	}
}

// joinAgain joins the next generation. It returns its heartbeats, or nil if the share has ended: Next then returns the
// new share, or joins again once the tasks of this one are closed.
func (g *Member) joinAgain(held *Generation, pulse *heartbeats) *heartbeats {
	select {
	case g.holder <- struct{}{}:
	case <-held.released:
		return nil
	}
	defer func() { <-g.holder }()
	if isClosed(held.released) || pulse.isLost() { // Next joins, if it has not done so
		return nil
	}
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	go func() {
		select {
		case <-g.closing:
			cancel()
		case <-ctx.Done():
		}
	}()
	err := g.client.RetryAt(ctx, kafka.CoordinatorOfGroup(g.config.ID), "join group "+g.config.ID, g.rejoin)
	if err != nil || !slices.Equal(g.share.partitions, held.Partitions) {
		held.end()
		return nil
	}
	if isClosed(held.done) { // the coordinator was silent in between, so the tasks are closing
		return nil
	}
	g.waiting = false
	held.beats(g.pulse)
	return g.pulse
}

// lose ends the share that the member holds, because the coordinator may give it to others.
func (g *Member) lose() {
	if held := g.held.Load(); held != nil {
		held.end()
	}
}
