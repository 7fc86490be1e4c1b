//go:build soak

package soak

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"syscall"
	"time"

	"oriel/pipeline/kafka"
)

// recoveryLimit is the longest allowed recovery from a fault with settles set: several sessions.
const recoveryLimit = 45 * time.Second

// injector causes the faults of a schedule.
type injector struct {
	*deployment
	random             *rand.Rand // draws the details that a schedule leaves open
	decisions, letters *watch
	feeder             *process
	report             *report
	states             archive
}

// run causes one fault after another until the time is over, or until it has caused most faults. If most is 0, only the
// time counts.
func (in *injector) run(ctx context.Context, s *schedule, until time.Time, most int) error {
	undisturbed := true // the service has recovered from all earlier faults
	for n := 1; time.Now().Before(until) && (most == 0 || n <= most); n++ {
		f := s.next()
		in.aim(ctx, &f)
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
			case undisturbed && f.role == hasLetters:
				in.report.recovered(f.row(), lettered.Sub(from))
			case undisturbed:
				in.report.recovered(f.row(), decided.Sub(from))
				in.prompt(n, f, decided.Sub(from))
			}
		}
		undisturbed = f.settles
		if err := kafka.Pause(ctx, f.gap); err != nil {
			return err
		}
	}
	return nil
}

// settled waits until every partition has a decision and a dead letter that were made after from, and returns when the
// last of them arrived.
func (in *injector) settled(ctx context.Context, from time.Time) (decided, lettered time.Time, err error) {
	ctx, cancel := context.WithTimeout(ctx, recoveryLimit)
	defer cancel()
	if decided, err = in.decisions.after(ctx, from); err == nil {
		lettered, err = in.letters.after(ctx, from)
	}
	return decided, lettered, err
}

// promise is the longest time that the only stream of a topic may rest after its process is lost: one session and a
// take-over. By the clock, a step is added.
const promise = 10 * time.Second

// prompt checks that the service recovered from a fault of processes in time. Other faults have no limit here, because
// they last as long as brokers or networks are down.
func (in *injector) prompt(n int, f fault, took time.Duration) {
	if promise := promise + in.step; in.oneStream && ofProcess(f.kind) && took > promise {
		in.report.violation("fault %d, %s: got over in %.1f s, more than %v", n, f.kind, took.Seconds(), promise)
	}
}

// aim chooses a fault's victim. If one process owns the only stream and the others stand by, the owner is the victim of
// half of the faults.
func (in *injector) aim(ctx context.Context, f *fault) {
	owner := -1
	if in.oneStream {
		owner = slices.IndexFunc(in.slots, func(s *slot) bool { return s.owns(ctx) })
	}
	if drawn := f.victim; owner >= 0 && drawn/len(in.slots)%2 == 0 {
		f.victim = owner
	} else {
		f.victim = drawn % len(in.slots)
	}
	switch {
	case !ofProcess(f.kind) && (f.all || !ofNetwork(f.kind)):
	case in.slots[f.victim].letters:
		f.role = hasLetters
	case owner >= 0 && f.victim != owner:
		f.role = standsBy
	}
}

// do causes one fault and returns the moment from which recovery counts. It is the start of the fault or, if the
// service cannot recover before its end, the end.
func (in *injector) do(ctx context.Context, n int, f fault) (time.Time, error) {
	victim := in.slots[f.victim]
	b := in.cluster.brokers[f.broker%len(in.cluster.brokers)]
	switch f.kind {
	case kill, killReadable, killEnding, killAll, terminate, leave:
		return in.end(ctx, n, f, victim)
	case zombie, pause:
		in.report.fault(n, f, victim.name)
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
	case grow:
		return in.grow(ctx, n, f)
	case trim:
		return in.trim(ctx, n, f)
	default:
		return in.disturb(ctx, n, f, victim)
	}
}

// end ends one process or all of them, and starts them again.
func (in *injector) end(ctx context.Context, n int, f fault, victim *slot) (time.Time, error) {
	victims, on := []*slot{victim}, victim.name
	if f.kind == killAll {
		victims, on = in.slots, "all"
	}
	in.report.fault(n, f, on)
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

// These are Kafka's keys of the requests that trigger aimed faults.
const (
	produceAPI = 0
	endTxnAPI  = 26
)

// aimLimit is how long a fault that is aimed at a request waits for that request. A process without partitions never
// sends one.
const aimLimit = 5 * time.Second

// spring calls do when some processes send the next request of this kind, or receive an answer to it. If none comes
// within aimLimit, it calls do anyway. It returns the time of the call.
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
	// A fault must not always start at the same moment after the previous one.
	_ = kafka.Pause(ctx, time.Duration(in.random.IntN(300))*time.Millisecond)
	select {
	case at := <-sprung:
		return at
	case <-time.After(aimLimit):
	case <-ctx.Done():
	}
	return time.Now()
}

// fillDisk fills the disk of the process that has its own disk.
func (in *injector) fillDisk(ctx context.Context, n int, f fault) (time.Time, error) {
	for _, s := range in.slots {
		if s.disk {
			in.report.fault(n, f, s.name)
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

// endBroker ends a broker and starts it again. With a single broker, the service can only recover once the broker
// returns.
func (in *injector) endBroker(ctx context.Context, n int, f fault, b *broker) (time.Time, error) {
	in.waitInSync(ctx)
	in.report.fault(n, f, b.name)
	from := time.Now()
	switch f.kind {
	case brokerStop:
		b.signal(syscall.SIGTERM)
		if !b.ends(time.Minute) {
			b.kill()
		}
	case brokerEnding: // any broker may be the transaction's coordinator
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
	elected := in.elected(ctx, b, from)
	if err := kafka.Pause(ctx, f.hold); err != nil {
		return from, err
	}
	if err := b.start(); err != nil {
		return from, err
	}
	if err := in.cluster.complete(ctx); err != nil {
		return from, err
	}
	<-elected
	if len(in.cluster.brokers) == 1 {
		from = time.Now()
	}
	return from, nil
}

// elected reports how long the other brokers still depend on a broker that is away. The service can recover only after
// they stop. The returned channel is closed at the end.
func (in *injector) elected(ctx context.Context, killed *broker, from time.Time) <-chan struct{} {
	done := make(chan struct{})
	go func() {
		defer close(done)
		if len(in.cluster.brokers) == 1 {
			return
		}
		for time.Since(from) < recoveryLimit && ctx.Err() == nil {
			if in.cluster.isElsewhere(ctx, killed) {
				in.report.elected(time.Since(from))
				return
			}
			_ = kafka.Pause(ctx, 200*time.Millisecond)
		}
	}()
	return done
}

// waitInSync waits until all replicas are in sync, so that at most one broker at a time is away.
func (in *injector) waitInSync(ctx context.Context) {
	for end := time.Now().Add(recoveryLimit); len(in.cluster.brokers) > 1 && time.Now().Before(end); {
		if in.cluster.isInSync(ctx) || kafka.Pause(ctx, 200*time.Millisecond) != nil {
			return
		}
	}
}

// electionLimit is the longest allowed time until a cluster has elected another leader.
const electionLimit = 30 * time.Second

// stale freezes the leader of a partition until another broker leads, and wakes it.
func (in *injector) stale(ctx context.Context, n int, f fault) (time.Time, error) {
	all := in.leaderTopics()
	topic := all[f.topic%len(all)]
	p := f.broker % in.partitions(topic)
	id, err := in.cluster.leader(ctx, topic, p, nil)
	if err != nil || id < 1 {
		in.report.fact("fault %d is left out: no broker is known to lead %s partition %d (%v)", n, topic, p, err)
		return time.Now(), nil
	}
	b := in.cluster.brokers[id-1]
	in.report.fault(n, f, fmt.Sprintf("%s, which leads %s partition %d", b.name, topic, p))
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

// disturb disturbs the network of one process or of all.
func (in *injector) disturb(ctx context.Context, n int, f fault, victim *slot) (time.Time, error) {
	victims, on := []*slot{victim}, victim.name
	if f.all {
		victims, on = in.slots, "all"
	}
	in.report.fault(n, f, on)
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
	return time.Now(), errors.Join(append(failed, err)...)
}
