package topics

import (
	"context"
	"errors"
	"fmt"
	"sync"

	kafkago "github.com/segmentio/kafka-go"

	"oriel/pipeline/kafka"
)

// look is a request that each leader gets for all of its partitions.
type look func(ctx context.Context, to kafka.Target, parts []partitionEpoch) ([]answer, error)

// BoundsOfAll is BoundsOf of several partitions, in their order, under the topic's id. It takes three requests to each
// broker that leads some of the partitions.
func BoundsOfAll(ctx context.Context, c *kafka.Client, topic Topic, partitions []int32) ([]Bounds, error) {
	ask := func(at int64, level kafkago.IsolationLevel) look {
		return func(ctx context.Context, to kafka.Target, parts []partitionEpoch) ([]answer, error) {
			return listOffsets(ctx, c, to, topic.Name, at, level, parts)
		}
	}
	found, err := askAll(ctx, c, topic, "bounds", partitions,
		ask(kafkago.FirstOffset, kafkago.ReadCommitted), ask(kafkago.LastOffset, kafkago.ReadCommitted),
		ask(kafkago.LastOffset, kafkago.ReadUncommitted))
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
		found, err := askAll(ctx, c, topic, "epochs", partitions,
			func(ctx context.Context, to kafka.Target, parts []partitionEpoch) ([]answer, error) {
				of := make([]int32, len(parts))
				for i, p := range parts {
					of[i] = epochs[p.partition]
				}
				return epochEnds(ctx, c, to, topic.Name, parts, of)
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
	ctx context.Context, c *kafka.Client, topic Topic, what string, partitions []int32, looks ...look,
) (found []map[int32]answer, err error) {
	found = make([]map[int32]answer, len(looks))
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
			err = askLeaders(ctx, c, topic, cluster.leaders[topic.Name], partitions, looks, found)
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
	ctx context.Context, c *kafka.Client, topic Topic, leaders []leader, partitions []int32, looks []look,
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
			answers, err := askLeader(ctx, c, topic, kafka.Node(broker), parts, looks)
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

// askLeader sends a broker all looks, in order, then a request for the topic's id.
func askLeader(
	ctx context.Context, c *kafka.Client, topic Topic, broker kafka.Node, parts []partitionEpoch, looks []look,
) ([]map[int32]answer, error) {
	answers := make([]map[int32]answer, len(looks))
	for i, look := range looks {
		found, err := look(ctx, broker, parts)
		if err != nil {
			return nil, err
		}
		answers[i] = map[int32]answer{}
		for _, a := range found {
			answers[i][a.partition] = a
		}
	}
	_, err := topic.confirm(ctx, c, broker)
	return answers, err
}
