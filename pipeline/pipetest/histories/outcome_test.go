package histories

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"oriel/pipeline/changelog"
	"oriel/pipeline/deadletters"
	"oriel/pipeline/deployment"
	"oriel/pipeline/kafka"
	"oriel/pipeline/kafka/fetch"
	"oriel/pipeline/kafka/records"
	"oriel/pipeline/kafka/topics"
	"oriel/pipeline/pipetest/logtest"
	"oriel/pipeline/pipetest/simtest"
	"oriel/state"
	"oriel/state/frame"
)

// outcome holds the results of a history: its topics, requests and messages.
type outcome struct {
	script   script
	began    time.Time
	topic    [16]byte // id of the input topic
	orders   [16]byte // id of the order log
	orderKey [32]byte
	start    *state.Ordered // where the stream of a whole topic began
	due      uint64         // by the clock: the last step that must have a decision
	releases releases
	requests []simtest.Request
	effects  map[string]int
	logs     map[place][]entry // records of each topic, aborted ones included
	deleted  map[place][]entry // records that retention has deleted
	rows     map[int32][]row   // rows of record statuses by partition, aborted ones included
	ends     map[place]int64   // end of each partition of the input
	ended    time.Duration     // time at which processes were told to end
	settled  time.Duration     // time from the end of all faults until the service was at rest

	mu     sync.Mutex
	said   []string
	read   []string    // by the clock: what readers of decisions see
	worked []time.Time // times at which a process had finished a take-over
	counts map[string]int
	faults []verdict // violations that judges found
}

type place struct {
	topic     string
	partition int32
}

// entry is a record of a topic.
type entry struct {
	partition int32
	record    records.Record
	committed bool
}

// row is a decrypted row of statuses.
type row struct {
	state.StatusRow
	committed bool
}

// verdict is a fault that a judge found.
type verdict struct{ judge, text string }

func (o *outcome) wrong(judge, format string, args ...any) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.faults = append(o.faults, verdict{judge, fmt.Sprintf(format, args...)})
}

func (o *outcome) count(what string) { o.add(what, 1) }

func (o *outcome) add(what string, times int) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.counts[what] += times
}

func (o *outcome) say(at time.Duration, member, text string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.said = append(o.said, fmt.Sprintf("%v %s: %s", at, member, text))
}

// works records the time at which a process took over a partition.
func (o *outcome) works(is bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if is {
		o.worked = append(o.worked, time.Now())
	}
}

// read reads all records of a partition, with uncommitted ones.
func (p *play) read(at place) (all []entry) {
	p.t.Helper()
	committed := map[int64]bool{}
	for _, uncommitted := range []bool{false, true} {
		list, err := logtest.Read(p.t.Context(), p.client, at.topic, at.partition, -1,
			fetch.Options{Uncommitted: uncommitted})
		if err != nil {
			p.t.Fatal(err)
		}
		for _, r := range list {
			if !uncommitted {
				committed[r.Offset] = true
			} else {
				all = append(all, entry{at.partition, r, committed[r.Offset]})
			}
		}
	}
	return all
}

// standing is the position of a state.
type standing struct {
	next   int64           // next offset; −1 without a state
	record int64           // offset in the order log
	slot   int64           // slot in the order log
	parts  map[int32]int64 // offset in each partition, for a whole topic; nil for the stream of one partition
}

// in returns the state's offset in a partition of the input.
func (s standing) in(partition int32) int64 {
	if s.parts == nil {
		return s.next
	}
	return s.parts[partition]
}

// stands reads the position of a sealed state, which is not encrypted.
func stands(sealed []byte) (standing, bool) {
	if len(sealed) <= 70 || frame.Kind(sealed[1]) != frame.KindState {
		return standing{next: -1}, false
	}
	at := standing{next: int64(binary.LittleEndian.Uint64(sealed[42:]))}
	if sealed[67] > 0 {
		at.slot = int64(binary.LittleEndian.Uint64(sealed[96:]))
		at.record, at.parts = int64(binary.LittleEndian.Uint64(sealed[84:])), map[int32]int64{}
		for parts := sealed[108:][:28*binary.LittleEndian.Uint32(sealed[104:])]; len(parts) > 0; parts = parts[28:] {
			at.parts[int32(binary.LittleEndian.Uint32(parts))] = int64(binary.LittleEndian.Uint64(parts[4:]))
		}
	}
	return at, true
}

// standing returns the position of a stream's committed state.
func (p *play) standing(partition int32) standing {
	p.t.Helper()
	d, err := p.setup.Deployment(p.t.Context(), p.client)
	if err != nil {
		p.t.Fatal(err)
	}
	bounds, err := topics.BoundsOf(p.t.Context(), p.client, p.setup.Config.Changelog, partition)
	if err != nil {
		p.t.Fatal(err)
	}
	at := standing{next: -1}
	all := fetch.Records(p.t.Context(), p.client, d.Topics.Changelog, partition, bounds.Start, bounds.Stable, false)
	for r, err := range all {
		if err != nil {
			p.t.Fatal(err)
		}
		if later, is := stands(r.Value); is {
			at = later
		}
	}
	return at
}

// collect reads the results of the history.
func (p *play) collect() {
	o := p.out
	o.logs, o.rows = map[place][]entry{}, map[int32][]row{}
	d, err := p.setup.Deployment(p.t.Context(), p.client)
	if err != nil {
		p.t.Fatal(err)
	}
	o.topic, o.began, o.ends = d.Topics.Input.ID, p.began, map[place]int64{}
	for partition := range p.partitionsOf(p.setup.Config.Input) {
		b, err := topics.BoundsOf(p.t.Context(), p.client, p.setup.Config.Input, partition)
		if err != nil {
			p.t.Fatal(err)
		}
		o.ends[place{p.setup.Config.Input, partition}] = b.Stable
	}
	if p.script.whole {
		is, err := d.Ordered(p.t.Context())
		if err != nil {
			p.t.Fatal(err)
		}
		o.orders, o.orderKey, o.start = d.Topics.Order.ID, is.Key, is.Start
	}
	for _, topic := range append(p.topics(), p.setup.Config.DeadLetter) {
		for partition := range p.partitionsOf(topic) {
			at := place{topic, partition}
			all := slices.Concat(o.deleted[at], p.read(at))
			slices.SortStableFunc(all, func(a, b entry) int { return int(a.record.Offset - b.record.Offset) })
			o.logs[at] = slices.CompactFunc(all, func(a, b entry) bool { return a.record.Offset == b.record.Offset })
		}
	}
	if clock := p.script.clock; clock != nil && clock.calm {
		p.readDecisions()
	}
	for partition := range p.script.streams() {
		p.openRows(d, partition)
	}
}

func (p *play) openRows(d changelog.Deployment, partition int32) {
	inc, err := d.Incarnation(p.t.Context(), partition)
	if err != nil {
		p.out.wrong("stuck", "%v", err)
		return
	}
	sealer, err := inc.Sealer()
	if err != nil {
		p.t.Fatal(err)
	}
	for _, e := range p.out.logs[place{p.setup.Config.Verdicts, partition}] {
		opened, err := sealer.OpenStatuses(e.record.Value)
		if err != nil {
			if e.committed {
				p.out.wrong("rows", "%v", err)
			}
			continue // the state of an aborted opening
		}
		p.out.rows[partition] = append(p.out.rows[partition], row{opened, e.committed})
	}
}

// writeLetters runs `oriel letters` until all dead letters are written. The script determines the requests at which it
// dies.
func (p *play) writeLetters() {
	run := func(ctx context.Context, m *simtest.Member) error {
		config := kafka.Config{Brokers: []string{m.Broker()}}
		m.Network(&config)
		client, err := kafka.New(config)
		if err != nil {
			return err
		}
		defer func() { _ = client.Close() }()
		d, err := p.lettersDeployment(ctx, client)
		if err != nil {
			return err
		}
		return deadletters.New(d, deadletters.Options{Once: true}).Run(ctx)
	}
	for _, n := range p.script.letters {
		m := p.Start("letters", simtest.NewDisk(), run)
		m.KillAtRequest(n, n%2 == 0)
		time.Sleep(10 * time.Second)
		p.out.add("letters killed", b2i(!m.Alive()))
		m.Kill()
	}
	m := p.Start("letters", simtest.NewDisk(), run)
	select {
	case <-m.Done():
		if err := m.Wait(); err != nil {
			p.out.wrong("letters", "%v", err)
		}
	case <-time.After(2 * time.Minute):
		p.out.wrong("letters", "not written within two minutes")
		m.Kill()
	}
}

func (p *play) lettersDeployment(ctx context.Context, client *kafka.Client) (changelog.Deployment, error) {
	d, err := p.setup.Deployment(ctx, client)
	if err != nil {
		return d, err
	}
	d.Config.Group = "late.letters"
	var failed error
	d.Topics, failed = deployment.CheckTopics(ctx, client, d.Config, deployment.ByLetters)
	return d, errors.Join(err, failed)
}
