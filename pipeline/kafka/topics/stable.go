package topics

import (
	"cmp"
	"context"
	"errors"
	"maps"
	"slices"
	"sync"
	"time"

	kafkago "github.com/segmentio/kafka-go"

	"oriel/pipeline/kafka"
)

// End is the end, or the start, of a partition, as its leader reports it.
type End struct {
	Partition int32
	Offset    int64 // stable end, or high watermark, exclusive
	Epoch     int32 // epoch of the leader that answered
}

// StableEnds looks up the stable ends of all partitions of a topic, repeatedly. A call of Look takes one request to
// each broker that leads some of them. A second request to the same broker asks for the topic's id, because the first
// request only names the topic, but a recreated topic has another id. StableEnds is not safe for concurrent use.
type StableEnds struct {
	client *kafka.Client
	topic  Topic
	at     int64 // which end to ask for: kafkago.LastOffset, or FirstOffset
	level  kafkago.IsolationLevel

	leaders []leader               // leader of each partition; nil before the first lookup
	asked   map[int32]chan leading // brokers whose answers are due
	asking  sync.WaitGroup
	doubt   kafka.Doubt // the topic was deleted or recreated, until it is confirmed
}

// leading is the answer of a broker, for the partitions that it leads.
type leading struct {
	ends    []End
	moved   []int32  // partitions that the broker does not lead
	leaders []leader // leaders of all partitions according to the broker
	err     error
}

// NewStableEnds returns a StableEnds of the topic with topic's id. Partitions may be added to the topic later.
func NewStableEnds(c *kafka.Client, topic Topic) *StableEnds {
	return &StableEnds{
		client: c, topic: topic, at: kafkago.LastOffset, level: kafkago.ReadCommitted,
		asked: map[int32]chan leading{}, doubt: c.Doubt(),
	}
}

// NewHighEnds returns a StableEnds that looks up high watermarks instead of stable ends.
func NewHighEnds(c *kafka.Client, topic Topic) *StableEnds {
	s := NewStableEnds(c, topic)
	s.level = kafkago.ReadUncommitted
	return s
}

// Starts looks up the starts of a topic's partitions once, in the way of Look.
func Starts(ctx context.Context, c *kafka.Client, topic Topic, patience time.Duration) ([]End, error) {
	ctx, cancel := context.WithCancel(ctx)
	s := NewStableEnds(c, topic)
	defer func() { cancel(); s.Wait() }()
	s.at = kafkago.FirstOffset
	return s.Look(ctx, patience)
}

// Forget makes the next Look ask for the leaders again.
func (s *StableEnds) Forget() { s.leaders = nil }

// Wait waits for requests in progress. It must be called when the contexts of all calls of Look have ended.
func (s *StableEnds) Wait() { s.asking.Wait() }

// Look returns the ends that leaders have answered, ascending by partition. It leaves out partitions without a leader;
// if a leader is new, the next Look asks it. It also leaves out partitions of a broker that takes longer than patience;
// a later Look returns its answer. Besides an error it may return the ends of brokers that have answered. An error that
// is not kafka.Transient is final.
func (s *StableEnds) Look(ctx context.Context, patience time.Duration) ([]End, error) {
	if s.leaders == nil {
		if err := s.findLeaders(ctx); err != nil {
			return nil, err
		}
	}
	waited := s.ask(ctx)
	patient, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	var ends []End
	var failed error
	for _, broker := range slices.Sorted(maps.Keys(s.asked)) {
		if a, ok := receive(patient, s.asked[broker], slices.Contains(waited, broker)); ok {
			delete(s.asked, broker)
			ends, failed = append(ends, a.ends...), errors.Join(failed, s.learn(a))
		}
	}
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	return newest(ends), failed
}

// receive returns an answer that has arrived. If wait is set, it waits for the answer until ctx ends.
func receive(ctx context.Context, answers <-chan leading, wait bool) (a leading, ok bool) {
	select {
	case a = <-answers:
		return a, true
	default:
	}
	if !wait {
		return leading{}, false
	}
	select {
	case a = <-answers:
		return a, true
	case <-ctx.Done():
		return leading{}, false
	}
}

// newest sorts ends and keeps the newest one of each partition, because a late answer may come from a replaced leader.
func newest(ends []End) []End {
	slices.SortFunc(ends, func(a, b End) int {
		return cmp.Or(cmp.Compare(a.Partition, b.Partition), cmp.Compare(b.Epoch, a.Epoch), cmp.Compare(b.Offset, a.Offset))
	})
	return slices.CompactFunc(ends, func(a, b End) bool { return a.Partition == b.Partition })
}

// findLeaders asks any broker for the leaders.
func (s *StableEnds) findLeaders(ctx context.Context) error {
	cluster, err := Describe(ctx, s.client, s.topic.Name)
	if err == nil {
		err = s.topic.same(cluster)
	}
	if err != nil {
		return s.doubted(err)
	}
	s.leaders = cluster.leaders[s.topic.Name]
	return nil
}

// doubted returns err as a transient error until repeated calls have found it for long enough.
func (s *StableEnds) doubted(err error) error {
	if errors.Is(err, kafka.ErrTopicRecreated) {
		return s.doubt.Verdict(err)
	}
	return err
}

// ask sends requests to all leaders that have answered their previous request, and returns these brokers.
func (s *StableEnds) ask(ctx context.Context) (brokers []int32) {
	parts := map[int32][]partitionEpoch{}
	for p, l := range s.leaders {
		if l.broker >= 0 && s.asked[l.broker] == nil {
			parts[l.broker] = append(parts[l.broker], partitionEpoch{int32(p), l.epoch})
		}
	}
	brokers = slices.Sorted(maps.Keys(parts))
	for _, broker := range brokers {
		answer := make(chan leading, 1)
		s.asked[broker] = answer
		s.asking.Go(func() { answer <- s.askBroker(ctx, broker, parts[broker]) })
	}
	return brokers
}

// askBroker asks a leader for the ends of its partitions, and for the topic's id.
func (s *StableEnds) askBroker(ctx context.Context, broker int32, parts []partitionEpoch) leading {
	found, err := listOffsets(ctx, s.client, kafka.Node(broker), s.topic.Name, s.at, s.level, parts)
	if err != nil {
		return leading{err: err}
	}
	var a leading
	a.read(found, parts)
	described, err := s.topic.confirm(ctx, s.client, kafka.Node(broker))
	if err := cmp.Or(a.err, err); err != nil {
		return leading{err: err}
	}
	a.leaders = described.leaders[s.topic.Name]
	return a
}

// read takes the ends from the answers for partitions, which are ascending.
func (a *leading) read(answers []answer, parts []partitionEpoch) {
	for _, found := range answers {
		i, asked := slices.BinarySearchFunc(parts, found.partition, func(p partitionEpoch, partition int32) int {
			return int(p.partition) - int(partition)
		})
		switch err := kafka.CodeError(found.code); {
		case !asked:
		case err == nil:
			a.ends = append(a.ends, End{Partition: found.partition, Offset: found.offset, Epoch: parts[i].epoch})
		case kafka.Transient(err):
			a.moved = append(a.moved, found.partition)
		default:
			a.err = err
		}
	}
}

// learn records the leaders that an answer names, and returns the answer's error. A leader with an older epoch does not
// replace a newer one. If the broker refused a partition, the next Look asks the leader that it names in any case.
func (s *StableEnds) learn(a leading) error {
	if a.err != nil {
		if !errors.Is(a.err, kafka.ErrTopicRecreated) {
			s.client.Refresh()
		}
		if len(s.asked) == 0 {
			s.leaders = nil
		}
		return s.doubted(a.err)
	}
	s.doubt.Clear()
	for p, l := range a.leaders {
		switch {
		case p >= len(s.leaders):
			s.leaders = append(s.leaders, l)
		case l.epoch > s.leaders[p].epoch || slices.Contains(a.moved, int32(p)):
			s.leaders[p] = l
		}
	}
	return nil
}
