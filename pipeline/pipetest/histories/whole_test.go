package histories

import (
	"context"
	"math/rand/v2"
	"slices"
	"time"

	"oriel/pipeline"
	"oriel/pipeline/changelog"
	"oriel/pipeline/deployment"
	"oriel/pipeline/kafka"
	"oriel/pipeline/kafka/produce"
	"oriel/pipeline/kafka/records"
	"oriel/pipeline/kafka/topics"
	"oriel/pipeline/order"
	"oriel/pipeline/pipetest/simtest"
)

// writer selects the processes that append to the order log of a whole topic.
type writer int

const (
	owner writer = iota // the owner of the stream
	both                // the owner, and a process of `oriel order`
	other               // only a process of `oriel order`
)

// orderer is the name of the process that only appends to the order log.
const orderer = "o"

// streams returns the number of streams of the deployment.
func (s script) streams() int32 {
	if s.whole {
		return 1
	}
	return int32(s.partitions)
}

// streamOf returns the stream of an input partition.
func (s script) streamOf(partition int32) int32 {
	if s.whole {
		return 0
	}
	return partition
}

// mostAdded bounds the number of partitions that are added to an input while it is read.
const mostAdded = 2

// writeWhole makes the input one stream and adds partitions to it. It also draws faults of the order log, and of a
// process that writes it.
func (s *script) writeWhole(random *rand.Rand) {
	s.whole, s.partitions, s.writer = true, 2+random.IntN(3), pick(random, owner, owner, both, other)
	for i := range s.bursts {
		s.bursts[i].partition = int32(random.IntN(s.partitions + mostAdded))
	}
	for range random.IntN(6) { // bursts at the same time, so that one order record has several partitions
		like := s.bursts[random.IntN(len(s.bursts))]
		like.at += within(random, 0, 50*time.Millisecond)
		like.partition, like.aborted = int32(random.IntN(s.partitions+mostAdded)), random.IntN(10) == 0
		like.records = nil
		for range 1 + random.IntN(8) {
			like.records = append(like.records, record(random))
		}
		s.bursts = append(s.bursts, like)
	}
	slices.SortStableFunc(s.bursts, func(a, b burst) int { return int(a.at - b.at) })
	for i := range s.acts {
		if s.acts[i].partition = 0; s.acts[i].topic == "trips" {
			s.acts[i].partition = int32(random.IntN(s.partitions))
		}
	}
	s.writeOrderActs(random)
	s.writeOrderFaults(random)
	if s.writer != owner && random.IntN(3) == 0 {
		s.deaths = append(s.deaths, death{
			member: orderer, n: 1 + random.IntN(60), heard: random.IntN(2) == 0, pause: within(random, 0, 3*time.Second),
			disk: "kept",
		})
	}
}

func (s *script) writeOrderActs(random *rand.Rand) {
	add := func(one int, a act) {
		if random.IntN(one) == 0 {
			a.at = within(random, 0, span)
			s.acts = append(s.acts, a)
		}
	}
	for range mostAdded {
		add(6, act{what: "add"})
	}
	for range 2 {
		add(3, act{what: "move", topic: "late.order"})
		add(3, act{what: "forge", share: random.Float64()})
	}
	add(4, act{what: "retain", topic: "late.order", share: random.Float64()})
	slices.SortStableFunc(s.acts, func(a, b act) int { return int(a.at - b.at) })
}

func (s *script) writeOrderFaults(random *rand.Rand) {
	for range pick(random, 0, 0, 1, 1, 2) {
		f := fault{from: within(random, 0, span-time.Second)}
		f.to = f.from + within(random, 200*time.Millisecond, 6*time.Second)
		f.Kind = pick(random,
			simtest.Kind{API: "Produce", Topic: "late.order"}, simtest.Kind{API: "Produce", Topic: "late.order"},
			simtest.Kind{API: "Fetch", Topic: "late.order"}, simtest.Kind{API: "ListOffsets", Topic: "trips"},
			simtest.Kind{Member: orderer},
		)
		f.Kind.Partition = simtest.AnyPartition
		switch random.IntN(4) {
		case 0: // the answer was lost, so the same record is sent again
			f.Count, f.Effect = 1+random.IntN(3), simtest.Lost
		case 1: // a paused process appends a stale record
			f.Count, f.Effect = 1+random.IntN(3), simtest.Late(within(random, time.Second, 20*time.Second))
		case 2:
			f.Count, f.Effect = -1, simtest.Late(within(random, time.Millisecond, 900*time.Millisecond))
		default:
			f.Count, f.Effect = -1, pick(random, append(codes, simtest.Lost, simtest.Cut)...)
		}
		s.faults = append(s.faults, f)
	}
}

// writeOrder runs the process that only appends to the order log.
func (p *play) writeOrder(ctx context.Context, m *simtest.Member) error {
	config := kafka.Config{Brokers: []string{m.Broker()}}
	m.Network(&config)
	client, err := kafka.New(config)
	if err != nil {
		return err
	}
	defer func() { _ = client.Close() }()
	d := changelog.Deployment{Client: client, Config: p.setup.Config}
	if d.Topics, err = deployment.CheckTopics(ctx, client, d.Config, deployment.ByOrder); err != nil {
		return err
	}
	like, err := p.setup.Deployment(ctx, client)
	if err != nil {
		return err
	}
	d.Master = like.Master
	say := func(text string) {
		if m.Alive() {
			p.out.say(p.now(), m.Name, text)
		}
	}
	return pipeline.OrderWriter{
		Deployment: d, Note: say, Retried: func(err error) { say("starts again: " + err.Error()) },
		Appended: func(int, int64) { p.out.count("order record of another process") },
	}.Run(ctx)
}

// addPartition gives the input one more partition.
func (p *play) addPartition() {
	if err := topics.AddPartitions(p.t.Context(), p.client, p.setup.Config.Input, p.inputs+1); err != nil {
		p.t.Fatal(err)
	}
	p.inputs++
	p.out.count("partition added")
}

// forge appends order records that must not count: foreign bytes, a record that the log has already, or the answer of a
// leader that was replaced.
func (p *play) forge(a act) {
	ctx, c := p.t.Context(), p.setup.Config
	log := p.read(place{c.Order, 0})
	d, err := p.setup.Deployment(ctx, p.client)
	if err != nil {
		p.t.Fatal(err)
	}
	is, err := d.Ordered(ctx)
	if err != nil {
		p.t.Fatal(err)
	}
	value := []byte("nobody's")
	sign := order.Log{Key: is.Key, Topic: d.Topics.Order.ID, Input: d.Topics.Input.ID}
	rule := newRule(is.Key, d.Topics.Order.ID, d.Topics.Input.ID)
	if clock := p.script.clock; clock != nil {
		if is.Start == nil {
			return
		}
		clock.begin(rule, is.Start)
	}
	for _, e := range slices.Concat(p.out.deleted[place{c.Order, 0}], log) {
		rule.take(&e.record)
	}
	switch partition := int32(a.share * float64(p.inputs)); {
	case a.share < 0.2 || len(log) == 0:
		p.out.count("order record that nobody signed")
	case a.share < 0.5:
		value = log[int(a.share*float64(len(log)))].record.Value
		p.out.count("order record again")
	case rule.epochs[partition] > 0:
		value = sign.Append(nil, order.Record{Slot: time.Now().Unix() - 1, Entries: []order.Entry{{
			Partition: partition, End: rule.ends[partition] + 3, Epoch: rule.epochs[partition] - 1,
		}}})
		p.out.count("entry of a dead epoch")
	}
	var b records.Builder
	b.Append(nil, value, nil, time.Now().UnixMilli())
	if _, err := produce.Append(ctx, p.client, c.Order, 0, &b); err != nil {
		p.t.Fatal(err)
	}
}
