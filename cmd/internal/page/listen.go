package page

import (
	"oriel/mechanisms/protection"
	"oriel/pipeline/notice"
	"oriel/schemas/decision"
)

// Listen returns a listener that updates the page, and then calls the functions that are set in l.
func (p *Page) Listen(l notice.Listener) notice.Listener {
	l.EnsureDefaults()
	committed, aborted, behind, restarted := l.Committed, l.Aborted, l.Behind, l.Restarted
	state, stopped, closed, proves := l.State, l.Stopped, l.Closed, l.Proves
	partitions, standby, published := l.Partitions, l.Standby, l.Published
	l.Committed = func(c notice.Commit) {
		p.change(c.Partition, func(part *partition) {
			part.lag = c.Lag
			for _, t := range []*totals{&part.counts, &p.totals} {
				t.records += uint64(c.Records)
				t.steps += c.Steps
				t.decisions += uint64(c.Decisions)
				t.commits++
			}
		})
		committed(c)
	}
	l.Aborted = func(id int32) {
		p.change(id, func(part *partition) {
			part.counts.aborts++
			p.totals.aborts++
		})
		aborted(id)
	}
	l.Behind = func(id int32, lag int64) {
		p.change(id, func(part *partition) { part.lag = lag })
		behind(id, lag)
	}
	l.Restarted = func(id int32, err error) {
		p.change(id, func(part *partition) { part.restarts++ })
		restarted(id, err)
	}
	l.State = func(id int32, s notice.TaskState) {
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
		state(id, s)
	}
	l.Stopped = func(id int32, err error) {
		p.change(id, func(part *partition) { part.stopped = err.Error() })
		stopped(id, err)
	}
	l.Closed = func(id int32) {
		p.mu.Lock()
		delete(p.partitions, id)
		p.mu.Unlock()
		closed(id)
	}
	l.Proves = func(id int32, g protection.Guarantee) {
		p.mu.Lock()
		if !p.proved || g.Epsilon > p.guarantee.Epsilon {
			p.guarantee, p.proved, p.ages = g, true, nil
		}
		p.mu.Unlock()
		proves(id, g)
	}
	l.Partitions = func(inputs, streams int) {
		p.mu.Lock()
		p.inputs, p.streams = inputs, streams
		p.mu.Unlock()
		partitions(inputs, streams)
	}
	l.Standby = func(s notice.Standby) {
		p.mu.Lock()
		p.standby = s
		p.mu.Unlock()
		standby(s)
	}
	l.Published = func(id int32, newest []byte) {
		p.change(id, func(part *partition) { p.take(part, newest) })
		if published != nil {
			published(id, newest)
		}
	}
	return l
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
func (p *Page) take(part *partition, line []byte) {
	part.published = append(part.published[:0], line...)
	if !p.plays {
		return
	}
	if d, err := decision.Parse(line); err == nil {
		part.choices.add(choiceOf(d))
	}
}
