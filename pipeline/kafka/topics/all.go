package topics

import (
	"context"
	"errors"
	"fmt"
	"sync"

	kafkago "github.com/segmentio/kafka-go"
	"github.com/segmentio/kafka-go/protocol"

	"oriel/pipeline/kafka"
	"oriel/pipeline/kafka/wire"
)

// answer is a leader's answer for a partition: an offset and its leader epoch.
type answer struct {
	partition int32
	code      int16
	epoch     int32
	offset    int64
}

// looks are the requests that each leader gets for all of its partitions, in order.
type looks struct {
	calls []func(parts []partitionEpoch) kafka.Call
	parse func(r *wire.Reader, each func(answer))
}

// BoundsOfAll is BoundsOf of several partitions, in their order, under the topic's id. It takes three requests to each
// broker that leads some of the partitions.
func BoundsOfAll(ctx context.Context, c *kafka.Client, topic Topic, partitions []int32) ([]Bounds, error) {
	look := func(at int64, level kafkago.IsolationLevel) func(parts []partitionEpoch) kafka.Call {
		return func(parts []partitionEpoch) kafka.Call {
			return c.NewCall(protocol.ListOffsets, listOffsetsVersion, false, listOffsets(topic.Name, at, level, parts))
		}
	}
	found, err := askAll(ctx, c, topic, "bounds", partitions, looks{
		calls: []func([]partitionEpoch) kafka.Call{
			look(kafkago.FirstOffset, kafkago.ReadCommitted), look(kafkago.LastOffset, kafkago.ReadCommitted),
			look(kafkago.LastOffset, kafkago.ReadUncommitted),
		},
		parse: func(r *wire.Reader, each func(answer)) {
			parseListOffsets(r, func(a answer) {
				if a.code == 0 && a.offset < 0 {
					a.code = int16(kafkago.OffsetNotAvailable)
				}
				each(a)
			})
		},
	})
	if err != nil {
		return nil, err
	}
	all := make([]Bounds, len(partitions))
	for i, p := range partitions {
		all[i] = Bounds{Start: found[0][p].offset, Stable: found[1][p].offset, High: found[2][p].offset}
	}
	return all, nil
}

// Epoch is a leader epoch of a partition.
type Epoch struct{ Partition, Epoch int32 }

// EpochsBefore asks for leader epochs, under the topic's id, and returns the answers in their order. It takes one
// request to each broker that leads some of the partitions, and one more for each further epoch of a partition.
func EpochsBefore(ctx context.Context, c *kafka.Client, topic Topic, asked []Epoch) ([]EpochBefore, error) {
	all := make([]EpochBefore, len(asked))
	for left := asked; len(left) > 0; {
		epochs := map[int32]int32{} // because a request may name each partition only once
		var partitions []int32
		var rest []Epoch
		for _, e := range left {
			if epoch, met := epochs[e.Partition]; met {
				if epoch != e.Epoch {
					rest = append(rest, e)
				}
				continue
			}
			epochs[e.Partition] = e.Epoch
			partitions = append(partitions, e.Partition)
		}
		found, err := askAll(ctx, c, topic, "epochs", partitions, looks{
			calls: []func([]partitionEpoch) kafka.Call{func(parts []partitionEpoch) kafka.Call {
				of := make([]int32, len(parts))
				for i, p := range parts {
					of[i] = epochs[p.partition]
				}
				return c.NewCall(protocol.OffsetForLeaderEpoch, epochEndsVersion, false, epochEnds(topic.Name, parts, of))
			}},
			parse: parseEpochEnds,
		})
		if err != nil {
			return nil, err
		}
		for i, e := range asked {
			if epoch, met := epochs[e.Partition]; met && epoch == e.Epoch {
				all[i] = found[0][e.Partition].before()
			}
		}
		left = rest
	}
	return all, nil
}

// askAll asks the leaders of partitions until each has answered, under the topic's id. Each broker is asked for the
// topic's id again after its answers, because by then it knows whether the topic was recreated. askAll returns the
// answers to each call, by partition.
func askAll(
	ctx context.Context, c *kafka.Client, topic Topic, what string, partitions []int32, l looks,
) (found []map[int32]answer, err error) {
	found = make([]map[int32]answer, len(l.calls))
	for i := range found {
		found[i] = map[int32]answer{}
	}
	doubt := c.Doubt()
	err = c.Retry(ctx, what+" of topic "+topic.Name, func(ctx context.Context) error {
		cluster, err := Describe(ctx, c, topic.Name)
		if err == nil {
			err = topic.same(cluster)
		}
		if err == nil {
			err = askLeaders(ctx, c, topic, cluster.leaders[topic.Name], partitions, l, found)
		}
		if errors.Is(err, kafka.ErrTopicRecreated) {
			return doubt.Verdict(err)
		}
		return err
	})
	return found, err
}

// askLeaders asks each leader once, all in parallel, for the partitions that have no answer yet, and notes the answers.
// The error is the first error of a partition that still has no answer.
func askLeaders(
	ctx context.Context, c *kafka.Client, topic Topic, leaders []leader, partitions []int32, l looks,
	found []map[int32]answer,
) error {
	last := found[len(found)-1]
	parts := map[int32][]partitionEpoch{}
	failed := map[int32]error{}
	for _, p := range partitions {
		_, done := last[p]
		switch {
		case done:
		case int(p) >= len(leaders) || leaders[p].broker < 0:
			failed[p] = kafka.Code(kafkago.LeaderNotAvailable)
		default:
			parts[leaders[p].broker] = append(parts[leaders[p].broker], partitionEpoch{p, leaders[p].epoch})
		}
	}
	var asking sync.WaitGroup
	var mu sync.Mutex
	for broker, parts := range parts {
		asking.Go(func() {
			answers, err := l.ask(ctx, c, topic, broker, parts)
			mu.Lock()
			defer mu.Unlock()
			for _, p := range parts {
				if failed[p.partition] = err; err == nil {
					failed[p.partition] = note(found, answers, p.partition)
				}
			}
		})
	}
	asking.Wait()
	for _, p := range partitions {
		if err := failed[p]; err != nil {
			return fmt.Errorf("partition %d: %w", p, err)
		}
	}
	return nil
}

// note copies the answers for a partition to found if none is missing and none is an error.
func note(found, answers []map[int32]answer, p int32) error {
	for _, of := range answers {
		a, ok := of[p]
		if !ok {
			return kafka.Code(kafkago.UnknownTopicOrPartition)
		}
		if a.code != 0 {
			return kafka.CodeError(a.code)
		}
	}
	for i, of := range answers {
		found[i][p] = of[p]
	}
	return nil
}

// ask sends a broker all looks, then a request for the topic's id.
func (l looks) ask(
	ctx context.Context, c *kafka.Client, topic Topic, broker int32, parts []partitionEpoch,
) ([]map[int32]answer, error) {
	answers := make([]map[int32]answer, len(l.calls))
	for i, call := range l.calls {
		of := map[int32]answer{} // owned by the connection until RoundTrip returns
		req := &kafka.BrokerCall{Call: call(parts), Node: broker}
		req.Complete(func(r *wire.Reader) { l.parse(r, func(a answer) { of[a.partition] = a }) })
		if _, err := c.RoundTrip(ctx, kafka.AttemptTimeout, req); err != nil {
			return nil, err
		}
		answers[i] = of
	}
	_, err := topic.confirm(ctx, c, broker)
	return answers, err
}
