package histories

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"

	"oriel/pipeline/kafka"
	"oriel/pipeline/kafka/produce"
	"oriel/pipeline/pipetest"
	"oriel/pipeline/pipetest/simtest"
)

// play is a running history.
type play struct {
	*simtest.Deployment
	t      *testing.T
	script script
	setup  pipetest.Setup
	client *kafka.Client
	began  time.Time
	later  bool // processes start in the later version
	inputs int  // current number of input partitions
	lives  map[string]*life
	ends   map[time.Duration]func() error // ends of torn transactions, by the time at which they happen
	mended bool
	out    *outcome

	mu      sync.Mutex
	stopped map[string]string // by member: why one of its partitions stopped
}

// life describes the successive processes of one name.
type life struct {
	*simtest.Member
	deaths []death // deaths of the current and later lives, in order
	due    time.Duration
	over   bool   // the process was asked to stop for good
	at     int32  // partition that produced last
	now    *death // death that ends the current life
	disk   *vfs.MemFS

	mu   sync.Mutex
	runs map[int32]bool // partitions with a running task
}

// works records whether the process works on a partition.
func (l *life) works(partition int32, is bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.runs[partition] = is
}

func newPlay(t *testing.T, s script) *play {
	p := &play{
		t: t, script: s, inputs: s.partitions,
		lives: map[string]*life{}, ends: map[time.Duration]func() error{}, stopped: map[string]string{},
		out: &outcome{script: s, deleted: map[place][]entry{}, counts: map[string]int{}},
	}
	// An Apache Kafka broker does not compact the newest records, aborted openings among them.
	p.Deployment = simtest.NewWith(t, simtest.Options{Brokers: s.brokers, Seed: s.seed, CompactEvery: time.Hour})
	p.client = p.Client()
	p.setup = pipetest.NewSetup()
	states := p.setup.States()
	if s.clock != nil {
		states = statesByClock
	}
	p.setup = p.setup.With(pipetest.Blind{States: states, Second: s.second, Owed: s.owed})
	p.setup.Config.CommitInterval = s.interval
	p.setup.Model.Settings = fmt.Sprintf("OPERATOR=blind\nMAX_RECORD_BYTES=%d\n", maxValue)
	if s.whole {
		p.setup = p.setup.WholeTopic()
		p.setup.Config.OtherSequencer = s.writer == other
	}
	p.setup.Model.Events.MaxBytes = maxValue
	if s.memory {
		p.setup.Config.Memory = 1 // the smallest possible memory
	}
	if s.clock != nil {
		p.prepareClock()
	} else if err := p.setup.Prepare(t.Context(), p.client, s.partitions); err != nil {
		t.Fatal(err)
	}
	for _, topic := range p.topics() {
		for partition := range p.partitionsOf(topic) {
			p.move(topic, partition, int(partition))
		}
	}
	p.began = time.Now()
	return p
}

// topics lists all topics of the deployment that the service uses.
func (p *play) topics() []string {
	c := p.setup.Config
	all := []string{c.Input, c.Decisions, c.Second, c.Verdicts, c.Changelog, c.Order}
	return slices.DeleteFunc(all, func(topic string) bool { return topic == "" })
}

// partitionsOf returns the number of partitions of a topic.
func (p *play) partitionsOf(topic string) int32 {
	if p.script.whole && topic != p.setup.Config.Input {
		return 1
	}
	return int32(p.inputs)
}

func (p *play) move(topic string, partition int32, to int) {
	if err := p.MoveLeader(topic, partition, int32(to%p.script.brokers)); err != nil {
		p.t.Fatal(err)
	}
}

func (p *play) now() time.Duration { return time.Since(p.began) }

// run plays the script, ends all faults, and waits until everything is committed.
func (p *play) run() {
	if p.script.clock == nil {
		p.start("a")
	}
	if p.script.whole && p.script.writer != owner {
		p.start(orderer)
	}
	moments := p.script.moments()
	for _, m := range moments {
		p.wait(m.at)
		m.do(p)
	}
	p.wait(p.script.span)
	p.Mend()
	p.mended = true
	p.await()
	if p.script.clock != nil {
		p.wait(p.script.until)
	}
	p.out.ended = p.now()
	for _, name := range slices.Sorted(maps.Keys(p.lives)) {
		p.stop(name)
	}
	p.out.requests, p.out.effects = p.Requests(), p.Effects()
	p.writeLetters()
	p.collect()
}

// moment is a single event of a script, with its time.
type moment struct {
	at time.Duration
	do func(p *play)
}

func (s script) moments() (all []moment) {
	if s.clock != nil {
		all = append(all, moment{s.clock.opens, func(p *play) { p.start("a") }})
	}
	for _, b := range s.bursts {
		all = append(all, moment{b.at, func(p *play) { p.send(b) }})
	}
	for _, f := range s.faults {
		all = append(all, moment{f.from, func(p *play) { p.Fail(f.Fault) }},
			moment{f.to, func(p *play) { p.Unfail(f.Fault) }})
	}
	for _, a := range s.acts {
		all = append(all, moment{a.at, func(p *play) { p.act(a) }})
	}
	slices.SortStableFunc(all, func(a, b moment) int { return int(a.at - b.at) })
	return slices.DeleteFunc(all, func(m moment) bool { return m.at >= s.span })
}

// look is the interval between checks for dead processes.
const look = 250 * time.Millisecond

// wait lets time pass until a moment, and restarts dead processes until then.
func (p *play) wait(until time.Duration) {
	for p.now() < until {
		next := min(until, p.now()/look*look+look)
		for at := range p.ends {
			next = min(next, max(at, p.now()))
		}
		time.Sleep(next - p.now())
		p.attend()
	}
}

// attend runs the late ends of transactions that are due, and handles processes that have ended.
func (p *play) attend() {
	for _, at := range slices.Sorted(maps.Keys(p.ends)) {
		if at <= p.now() {
			// An act may have delayed this end by more than a minute. Then the broker has aborted the transaction by
			// its timeout, and refuses the producer. Such a history is valid too.
			if err := p.ends[at](); err != nil && kafka.Classify(err) != kafka.Fenced {
				p.t.Fatal(err)
			}
			delete(p.ends, at)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(p.lives)) {
		l := p.lives[name]
		if l.over {
			continue
		}
		if why := p.whyStopped(name); strings.Contains(why, "under semantics") {
			p.later = strings.Contains(why, "computed under semantics 2") // the remedy: run the previous version
			p.out.count("a later version was refused")
			_ = l.Stop()
			p.restart(name)
			continue
		}
		select {
		case <-l.Done():
			p.ended(name, l)
		default:
		}
	}
}

func (p *play) ended(name string, l *life) {
	switch {
	case l.Alive():
		p.out.wrong("parked", "process %s has ended: %v", name, l.Wait())
		l.over = true
	case l.due == 0:
		d := l.now
		l.due = p.now() + d.pause
		p.out.count("died")
		p.out.add("died in an opening", b2i(p.out.opened() < int(p.script.streams())))
		p.out.add("died heard", b2i(d.heard && d.point == ""))
		l.disk = l.Disk()
		switch d.disk {
		case "lost":
			l.disk = simtest.NewDisk()
		case "power":
			l.disk = simtest.AfterPowerLoss(l.disk)
		}
		p.out.count("disk " + d.disk)
		if d.torn != nil {
			p.tear(l.at, *d)
		}
		fallthrough
	default:
		if p.now() >= l.due || p.mended {
			p.restart(name)
		}
	}
}

func (p *play) whyStopped(name string) string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.stopped[name]
}

// start starts the first process of a name.
func (p *play) start(name string) {
	l := &life{disk: simtest.NewDisk()}
	for _, d := range p.script.deaths {
		if d.member == name {
			l.deaths = append(l.deaths, d)
		}
	}
	p.lives[name] = l
	p.restart(name)
}

func (p *play) restart(name string) {
	l := p.lives[name]
	p.mu.Lock()
	delete(p.stopped, name)
	p.mu.Unlock()
	if l.Member != nil {
		p.out.count("started again")
		if l.Alive() {
			l.disk = l.Disk()
		}
	}
	l.due, l.now = 0, nil
	l.runs = map[int32]bool{}
	run := p.writeOrder
	if name != orderer {
		run = p.process(name, l)
	}
	l.Member = p.Start(name, l.disk, run)
	if p.mended || len(l.deaths) == 0 {
		return
	}
	l.now, l.deaths = &l.deaths[0], l.deaths[1:]
	if l.now.point != "" {
		l.KillAt(l.now.point, l.now.n)
	} else {
		l.KillAtRequest(l.now.n, l.now.heard)
	}
}

// stop asks a process to end, as SIGTERM does.
func (p *play) stop(name string) {
	l := p.lives[name]
	if l == nil || l.over {
		return
	}
	l.over = true
	if !l.Alive() {
		return
	}
	err := l.Stop()
	if err != nil && l.Alive() && !errors.Is(err, context.Canceled) && !strings.Contains(err.Error(), "under semantics") {
		p.out.wrong("parked", "process %s, told to end, says: %v", name, err)
	}
}

func (p *play) send(b burst) {
	b.partition %= int32(p.inputs) // because partition p may not exist yet
	id, input := "", p.setup.Config.Input
	if b.aborted {
		id = "sender"
	}
	producer, err := produce.New(p.t.Context(), p.client, id, time.Minute)
	if err == nil && b.aborted {
		err = producer.Begin(p.t.Context(), []kafka.TopicPartition{{Topic: input, Partition: b.partition}})
	}
	if err == nil {
		sent := batch(b.codec, b.records, time.Now().UnixMilli())
		_, err = producer.Produce(p.t.Context(), input, b.partition, sent)
	}
	if err == nil && b.aborted {
		err = producer.End(p.t.Context(), false)
	}
	if err != nil {
		p.t.Fatal(err)
	}
}

func b2i(is bool) int {
	if is {
		return 1
	}
	return 0
}
