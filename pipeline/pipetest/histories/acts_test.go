package histories

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"oriel/pipeline/kafka"
	"oriel/pipeline/kafka/group"
	"oriel/pipeline/kafka/memory"
	"oriel/pipeline/kafka/topics"
	"oriel/pipeline/notice"
	"oriel/pipeline/pipetest"
	"oriel/pipeline/pipetest/simtest"
)

func (p *play) act(a act) {
	switch a.what {
	case "start":
		p.start(a.member)
		p.out.count("second member")
	case "stop":
		if p.lives["b"] != nil { // without b no process would be left
			p.stop(a.member)
			p.out.count("member told to end")
		}
	case "move":
		p.move(a.topic, a.partition, int(a.at)%7)
		p.out.count("leader moved")
	case "retain":
		p.retain(a)
	case "upgrade":
		p.upgrade()
	case "add":
		p.addPartition()
	case "forge":
		p.forge(a)
	case "kill":
		p.kill(a)
	}
}

// upgrade ends all processes and starts them again in a version with other semantics.
func (p *play) upgrade() {
	p.later = true
	p.out.count("upgrade")
	for _, name := range []string{"a", "b"} {
		if l := p.lives[name]; l != nil && !l.over && l.Alive() && p.whyStopped(name) == "" {
			if err := l.Stop(); err != nil && l.Alive() && !errors.Is(err, context.Canceled) {
				p.out.wrong("parked", "process %s, told to end, says: %v", name, err)
			}
			if l.Alive() {
				p.restart(name)
			}
		}
	}
}

// tear ends the transaction in which a process has died. The script determines how each part ends.
func (p *play) tear(partition int32, d death) {
	ctx := p.t.Context()
	for name, l := range p.lives {
		if name != d.member && name != orderer && l.Alive() {
			return // another process may have taken over already
		}
	}
	torn, err := p.setup.TearOpen(ctx, p.client, partition)
	if err != nil {
		p.t.Fatal(err)
	}
	if d.told && d.disk == "kept" {
		if err := torn.Follow(ctx, p.lives[d.member].disk); errors.Is(err, pipetest.ErrNoState) {
			return // the death was in another partition
		} else if err != nil {
			p.t.Fatal(err)
		}
		p.out.count("acknowledged and torn")
	}
	var committed, late []pipetest.Part
	for _, part := range p.setup.Parts() {
		switch d.torn[part] {
		case "committed":
			committed = append(committed, part)
		case "late":
			late = append(late, part)
		}
	}
	if err := torn.Commit(ctx, committed, pipetest.Whatever); errors.Is(err, pipetest.ErrNoState) {
		return // the death was in another partition
	} else if err != nil {
		p.t.Fatal(err)
	}
	p.out.count("torn")
	for i, part := range late {
		end, err := torn.CommitLate(ctx, part)
		if err != nil {
			p.t.Fatal(err)
		}
		p.ends[p.now()+d.late+time.Duration(i)*53*time.Millisecond] = end
		p.out.count("marker late")
	}
}

// retain deletes records as retention does; of the input, it deletes only records that no state needs.
func (p *play) retain(a act) {
	ctx, c := p.t.Context(), p.setup.Config
	b, err := topics.BoundsOf(ctx, p.client, a.topic, a.partition)
	if err != nil {
		p.t.Fatal(err)
	}
	end, at := b.Stable, p.standing(p.script.streamOf(a.partition))
	if at.next < 0 {
		return // skipped, because retention happens days after the first attempt, not seconds
	}
	switch a.topic {
	case c.Input:
		next, err := group.CommittedOffset(ctx, p.client, c.Group, c.Input, a.partition)
		if err != nil {
			p.t.Fatal(err)
		}
		end = min(next, at.in(a.partition))
	case c.Order:
		end = at.record
		p.out.count("order log trimmed")
	}
	end = b.Start + int64(a.share*float64(end-b.Start)+0.5)
	if end <= b.Start {
		return
	}
	from := place{a.topic, a.partition}
	for _, e := range p.read(from) {
		if e.record.Offset < end {
			p.out.deleted[from] = append(p.out.deleted[from], e)
		}
	}
	if err := topics.DeleteRecords(ctx, p.client, a.topic, a.partition, end); err != nil {
		p.t.Fatal(err)
	}
	p.out.add("retention", b2i(a.topic != c.Order))
	p.out.add("retention under an uncommitted tail", b2i(b.High > b.Stable))
}

// await waits until every partition has committed all of its input, for at most a minute.
func (p *play) await() {
	from := p.now()
	for p.now() < from+time.Minute {
		p.wait(p.now() + time.Second)
		if len(p.ends) == 0 && p.done() {
			p.out.settled = p.now() - from
			p.awaitDecision()
			return
		}
	}
	p.out.wrong("stuck", "a minute after all is mended, not everything is committed")
}

func (p *play) done() bool {
	at := map[int32]bool{} // partitions with a running task
	for _, l := range p.lives {
		if !l.over && !l.Alive() {
			return false
		}
		l.mu.Lock()
		for partition, is := range l.runs {
			at[partition] = at[partition] || is && l.Alive() && !l.over
		}
		l.mu.Unlock()
	}
	c := p.setup.Config
	for partition := range p.partitionsOf(c.Input) {
		stream := p.script.streamOf(partition)
		b, err := topics.BoundsOf(p.t.Context(), p.client, c.Input, partition)
		if err != nil {
			p.t.Fatal(err)
		}
		next, err := group.CommittedOffset(p.t.Context(), p.client, c.Group, c.Input, partition)
		if next == -1 {
			next = b.Stable // only the offset of an opening was aborted, so the state decides
		}
		if err != nil || !at[stream] || next != b.Stable || p.standing(stream).in(partition) != b.Stable {
			return false
		}
	}
	return true
}

// process returns the service that a process with this name currently runs.
func (p *play) process(name string, l *life) func(context.Context, *simtest.Member) error {
	s := p.setup
	if p.script.static {
		s.Config.Instance = name
	}
	learner := summing{
		Opener: s.Model.Learner, slow: p.script.slow, later: p.later, seen: &p.out.releases,
		byClock: p.script.clock != nil, mechanism: p.script.mechanism(),
	}
	s.Model.Learner = learner
	if p.later {
		s.Model.Semantics++
	}
	if p.script.budget > 0 {
		s.Client = func(c *kafka.Config) { c.Budget = memory.NewBudget(p.script.budget) }
	}
	return func(ctx context.Context, m *simtest.Member) error {
		s.Listener = p.listener(m, l)
		return s.Run(ctx, m)
	}
}

// listener returns a listener of a process. Steps by the clock are judged by what readers of decisions may hear.
func (p *play) listener(m *simtest.Member, l *life) notice.Listener {
	audience := notice.Operators
	if p.script.clock != nil {
		audience = notice.Readers
	}
	return notice.Both(notice.Listener{
		State: func(q int32, s notice.TaskState) {
			l.works(q, s == notice.Running && m.Alive())
			p.out.works(s == notice.Running && m.Alive())
		},
		Closed: func(q int32) { l.works(q, false) },
		Stopped: func(_ int32, err error) {
			if !m.Alive() {
				return
			}
			p.mu.Lock()
			defer p.mu.Unlock()
			p.stopped[m.Name] = err.Error()
			if !strings.Contains(err.Error(), "under semantics") {
				p.out.wrong("parked", "%s: %v", m.Name, err)
			}
		},
		Reached: func(q int32, point notice.Point) {
			if point == notice.PointProduced && m.Alive() {
				l.at = q
			}
		},
	}, audience.Limit(p.saying(m)))
}

// saying returns a listener that keeps what a process says.
func (p *play) saying(m *simtest.Member) notice.Listener {
	say := func(format string, args ...any) {
		if m.Alive() {
			p.out.say(p.now(), m.Name, fmt.Sprintf(format, args...))
		}
	}
	return notice.Listener{
		Assigned: func(list []int32) { say("assigned %v", list) },
		Committed: func(c notice.Commit) {
			say("%d: committed %d records, %d decisions", c.Partition, c.Records, c.Decisions)
		},
		Aborted:   func(q int32) { say("%d: aborted", q) },
		State:     func(q int32, s notice.TaskState) { say("%d: %s", q, s) },
		Opening:   func(q int32, from int64) { say("%d: opening at %d", q, from) },
		Opened:    func(q int32) { say("%d: opened", q) },
		Restarted: func(q int32, err error) { say("%d: taken over again: %v", q, err) },
		Note:      func(q int32, text, detail string) { say("%d: %s%s", q, text, detail) },
		Stopped:   func(q int32, err error) { say("%d: %v", q, err) },
	}
}
