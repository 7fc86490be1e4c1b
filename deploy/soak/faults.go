//go:build soak

package main

import (
	"context"
	"fmt"
	"math/rand/v2"
	"sync"
	"syscall"
	"time"

	"oriel/pipeline/kafka"
)

// recoveryLimit is how long a fault that is waited for may take to be got over: several sessions.
const recoveryLimit = 45 * time.Second

// injector does the faults of a schedule.
type injector struct {
	*deployment
	random             *rand.Rand // of what a schedule does not say
	decisions, letters *watch
	report             *report
	states             archive
}

// run does one fault after the other until the time is over.
func (in *injector) run(ctx context.Context, s *schedule, until time.Time) error {
	alone := true // no earlier fault is still to be got over
	for n := 1; time.Now().Before(until); n++ {
		f := s.next()
		from, err := in.do(ctx, n, f)
		if err != nil {
			return fmt.Errorf("fault %d, %s: %w", n, f.kind, err)
		}
		if f.settles {
			decided, lettered, err := in.settled(ctx, from)
			switch {
			case ctx.Err() != nil:
				return ctx.Err()
			case err != nil:
				in.report.violation("after fault %d, %s: %v", n, f.kind, err)
			case alone && in.ofLetters(f):
				in.report.recovered(in.row(f), lettered.Sub(from))
			case alone:
				in.report.recovered(in.row(f), decided.Sub(from))
			}
		}
		alone = f.settles
		if err := kafka.Pause(ctx, f.gap); err != nil {
			return err
		}
	}
	return nil
}

// settled waits until every partition has a decision and a letter that were made after a moment, and returns when the
// last arrived.
func (in *injector) settled(ctx context.Context, from time.Time) (decided, lettered time.Time, err error) {
	ctx, cancel := context.WithTimeout(ctx, recoveryLimit)
	defer cancel()
	if decided, err = in.decisions.after(ctx, from); err == nil {
		lettered, err = in.letters.after(ctx, from)
	}
	return decided, lettered, err
}

func (in *injector) victim(f fault) *slot { return in.slots[f.victim%len(in.slots)] }

// ofLetters tells whether a fault is one of `oriel letters` alone.
func (in *injector) ofLetters(f fault) bool {
	switch f.kind {
	case kill, killReadable, killEnding, zombie, pause, terminate, leave:
		return in.victim(f).letters
	case delay, silence, answersLost, refuse, reset:
		return in.victim(f).letters && !f.all
	default:
		return false
	}
}

// row is under what the report counts a fault.
func (in *injector) row(f fault) string {
	if in.ofLetters(f) {
		return string(f.kind) + ", letters"
	}
	return string(f.kind)
}

// do does one fault and returns the moment from which getting over it counts: its begin, or the end of one that nobody
// can get over before.
func (in *injector) do(ctx context.Context, n int, f fault) (time.Time, error) {
	victim := in.victim(f)
	b := in.cluster.brokers[f.broker%len(in.cluster.brokers)]
	switch f.kind {
	case kill, killReadable, killEnding, killAll, terminate, leave:
		return in.end(ctx, n, f, victim)
	case zombie, pause:
		in.report.fault(n, in.row(f), f, victim.name)
		victim.signal(syscall.SIGSTOP)
		from := time.Now()
		err := kafka.Pause(ctx, f.hold)
		victim.signal(syscall.SIGCONT)
		return from, err
	case fullDisk:
		return in.fillDisk(ctx, n, f)
	case brokerKill, brokerEnding, brokerStop:
		return in.endBroker(ctx, n, f, b)
	case staleLeader:
		return in.stale(ctx, n, f)
	default:
		return in.disturb(ctx, n, f, victim)
	}
}

// end ends a process or all of them, and starts them again.
func (in *injector) end(ctx context.Context, n int, f fault, victim *slot) (time.Time, error) {
	victims, on := []*slot{victim}, victim.name
	if f.kind == killAll {
		victims, on = in.slots, "all"
	}
	in.report.fault(n, in.row(f), f, on)
	from := time.Now()
	switch f.kind {
	case terminate, leave:
		victim.terminate(in.report.violation)
	case killReadable:
		from = in.spring(ctx, produceAPI, true, []*slot{victim}, func(*proxy) { victim.signal(syscall.SIGKILL) })
	case killEnding:
		from = in.spring(ctx, endTxnAPI, false, []*slot{victim}, func(*proxy) { victim.signal(syscall.SIGKILL) })
	default:
	}
	for _, s := range victims {
		s.signal(syscall.SIGKILL)
	}
	for _, s := range victims {
		s.kill()
		if err := in.states.keep(s); err != nil {
			return from, err
		}
		if err := in.states.damage(s, f.damage, in.random); err != nil {
			return from, err
		}
	}
	if err := kafka.Pause(ctx, f.hold+f.down); err != nil {
		return from, err
	}
	for _, s := range victims {
		if err := s.start(); err != nil {
			return from, err
		}
	}
	return from, nil
}

// Kafka's keys of the requests that aimed faults listen for.
const (
	produceAPI = 0
	endTxnAPI  = 26
)

// aimLimit is how long an aimed fault waits for its moment; a process without partitions never has one.
const aimLimit = 5 * time.Second

// spring does something at the next such request or answer of some processes, or when there is none for a while, and
// returns when.
func (in *injector) spring(ctx context.Context, api uint16, answer bool, slots []*slot, do func(*proxy)) time.Time {
	sprung := make(chan time.Time, 1)
	t := &trap{api: api, answer: answer, spring: func(at *proxy) {
		do(at)
		sprung <- time.Now()
	}}
	for _, s := range slots {
		s.trap.Store(t)
		defer s.trap.Store(nil)
	}
	_ = kafka.Pause(ctx, time.Duration(in.random.IntN(300))*time.Millisecond) // not always right after the fault before
	select {
	case at := <-sprung:
		return at
	case <-time.After(aimLimit):
	case <-ctx.Done():
	}
	return time.Now()
}

// fillDisk fills the disk of the process that has one of its own.
func (in *injector) fillDisk(ctx context.Context, n int, f fault) (time.Time, error) {
	for _, s := range in.slots {
		if s.disk {
			in.report.fault(n, in.row(f), f, s.name)
			release, err := s.fill()
			if err != nil {
				return time.Now(), err
			}
			err = kafka.Pause(ctx, f.hold)
			if failed := release(); failed != nil {
				return time.Now(), failed
			}
			return time.Now(), err
		}
	}
	return time.Now(), nil
}

// endBroker ends a broker and starts it again. With one broker, only its return can be got over.
func (in *injector) endBroker(ctx context.Context, n int, f fault, b *broker) (time.Time, error) {
	in.report.fault(n, in.row(f), f, b.name)
	from := time.Now()
	switch f.kind {
	case brokerStop:
		b.signal(syscall.SIGTERM)
		if !b.ends(time.Minute) {
			b.kill()
		}
	case brokerEnding: // whichever coordinates that transaction
		after := time.Duration(in.random.IntN(3000)) * time.Microsecond
		from = in.spring(ctx, endTxnAPI, false, in.slots, func(at *proxy) {
			time.Sleep(after)
			b = at.broker
			b.signal(syscall.SIGKILL)
		})
		b.kill()
	default:
		b.kill()
	}
	if err := kafka.Pause(ctx, f.hold); err != nil {
		return from, err
	}
	if err := b.start(); err != nil {
		return from, err
	}
	if err := in.cluster.whole(ctx); err != nil {
		return from, err
	}
	if len(in.cluster.brokers) == 1 {
		from = time.Now()
	}
	return from, nil
}

// electionLimit is how long a cluster may take to elect another leader.
const electionLimit = 30 * time.Second

// stale freezes the leader of a partition until another one leads, and wakes it.
func (in *injector) stale(ctx context.Context, n int, f fault) (time.Time, error) {
	topic, p := leaderTopics[f.topic%len(leaderTopics)], f.broker%partitions
	id, err := in.cluster.leader(ctx, topic, p, nil)
	if err != nil || id < 1 {
		in.report.fact("fault %d is left out: nobody is known to lead %s partition %d (%v)", n, topic, p, err)
		return time.Now(), nil
	}
	b := in.cluster.brokers[id-1]
	in.report.fault(n, in.row(f), f, fmt.Sprintf("%s, which leads %s partition %d", b.name, topic, p))
	b.signal(syscall.SIGSTOP)
	defer b.signal(syscall.SIGCONT)
	for end := time.Now().Add(electionLimit); time.Now().Before(end); {
		if now, err := in.cluster.leader(ctx, topic, p, b); err == nil && now > 0 && now != id {
			break
		}
		if err := kafka.Pause(ctx, 200*time.Millisecond); err != nil {
			return time.Now(), err
		}
	}
	err = kafka.Pause(ctx, f.hold)
	return time.Now(), err
}

// disturb disturbs the network of a process or of all.
func (in *injector) disturb(ctx context.Context, n int, f fault, victim *slot) (time.Time, error) {
	victims, on := []*slot{victim}, victim.name
	if f.all {
		victims, on = in.slots, "all"
	}
	in.report.fault(n, in.row(f), f, on)
	var proxies []*proxy
	for _, s := range victims {
		proxies = append(proxies, s.proxies...)
	}
	if f.kind == reset {
		for _, p := range proxies {
			p.reset(f.half)
		}
		return time.Now(), nil
	}
	d := &disturbance{
		requests: f.kind == silence, answers: f.kind == silence || f.kind == answersLost, refuse: f.kind == refuse,
		half: f.half, late: f.late, over: make(chan struct{}),
	}
	if f.kind == delay {
		d.delay = f.hold / 10
	}
	for _, p := range proxies {
		p.disturb(d)
	}
	err := kafka.Pause(ctx, f.hold)
	close(d.over)
	var healing sync.WaitGroup
	failed := make([]error, len(proxies))
	for i, p := range proxies {
		healing.Go(func() { failed[i] = p.heal(d) })
	}
	healing.Wait()
	for _, f := range failed {
		if f != nil {
			return time.Now(), f
		}
	}
	return time.Now(), err
}
