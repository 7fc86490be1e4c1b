package page

import (
	"time"

	"oriel/mechanisms/protection"
	"oriel/pipeline/notice"
	"oriel/schemas/decision"
)

// Listen returns a listener that updates the page, and then calls the functions that are set in l.
func (p *Page) Listen(l notice.Listener) notice.Listener {
	l.EnsureDefaults()
	l.Committed, l.Aborted = both(p.committed, l.Committed), both(p.aborted, l.Aborted)
	l.Behind, l.Restarted = both2(p.behind, l.Behind), both2(p.restarted, l.Restarted)
	l.State, l.Stopped, l.Closed = both2(p.state, l.State), both2(p.stopped, l.Stopped), both(p.closed, l.Closed)
	l.Proves, l.Partitions, l.Standby = both2(p.proves, l.Proves), both2(p.counted, l.Partitions), both(p.waits, l.Standby)
	if l.Decided == nil {
		l.Decided = p.decided
	} else {
		l.Decided = both2(p.decided, l.Decided)
	}
	return l
}

// both returns a function that calls two functions, one after the other.
func both[A any](first, second func(A)) func(A) {
	return func(a A) {
		first(a)
		second(a)
	}
}

// both2 is both for functions of two arguments.
func both2[A, B any](first, second func(A, B)) func(A, B) {
	return func(a A, b B) {
		first(a, b)
		second(a, b)
	}
}

func (p *Page) committed(c notice.Commit) {
	p.change(c.Partition, func(part *partition) {
		part.lag = c.Lag
		for _, t := range []*totals{&part.counts, &p.totals} {
			t.records += uint64(c.Records)
			t.steps += c.Steps
			t.decisions += uint64(c.Decisions)
			t.commits++
		}
		if c.Decisions > 0 && c.Time.After(p.newest) {
			p.newest = c.Time
		}
	})
}

func (p *Page) aborted(id int32) {
	p.change(id, func(part *partition) {
		part.counts.aborts++
		p.totals.aborts++
	})
}

func (p *Page) behind(id int32, lag int64) {
	p.change(id, func(part *partition) { part.lag = lag })
}

func (p *Page) restarted(id int32, _ error) {
	p.change(id, func(part *partition) { part.restarts++ })
}

func (p *Page) state(id int32, s notice.TaskState) {
	p.mu.Lock()
	if p.partitions[id] == nil {
		p.partitions[id] = &partition{}
	}
	p.mu.Unlock()
	p.change(id, func(part *partition) {
		if part.state = s; s != notice.Halted {
			part.stopped = ""
		}
	})
}

func (p *Page) stopped(id int32, err error) {
	p.change(id, func(part *partition) { part.stopped = err.Error() })
}

func (p *Page) closed(id int32) {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.partitions, id)
}

func (p *Page) proves(_ int32, g protection.Guarantee) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.proved || g.Epsilon > p.guarantee.Epsilon {
		p.guarantee, p.proved, p.ages = g, true, nil
	}
}

func (p *Page) counted(inputs, streams int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.inputs, p.streams = inputs, streams
}

func (p *Page) waits(s notice.Standby) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.standby = s
}

func (p *Page) decided(id int32, newest *decision.Decision) {
	p.change(id, func(part *partition) {
		if p.take(part, newest); p.about.Step > 0 {
			p.clocked.add(p.sampled(time.UnixMilli(newest.Time())))
		}
	})
}

// change calls f for a partition that this process owns.
func (p *Page) change(id int32, f func(*partition)) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if part := p.partitions[id]; part != nil {
		f(part)
	}
}

// take keeps a decision until the next sample, and counts its action.
func (p *Page) take(part *partition, newest *decision.Decision) {
	part.published = newest
	if p.plays {
		part.choices.add(choiceOf(newest))
	}
}
