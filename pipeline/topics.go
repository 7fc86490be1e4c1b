package pipeline

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"strconv"

	"oriel/pipeline/kafka"
)

// Topics are the described topics of a deployment; one that a use does not name is zero.
type Topics struct {
	Cluster                                           string
	Input, Decisions, Verdicts, Changelog, DeadLetter kafka.Topic
}

// same tells whether o describes the same topics; how often they are replicated may change.
func (t Topics) same(o Topics) bool {
	for _, r := range roles {
		r.described(&t).Replication, r.described(&o).Replication = 0, 0
	}
	return t == o
}

// CreateInput makes the input topic with a partition count, durable like ours. One that exists must have that count.
func CreateInput(ctx context.Context, client *kafka.Client, c Config, partitions int, made func(topic string)) error {
	cluster, err := client.Describe(ctx, c.Input)
	if err != nil {
		return fmt.Errorf("pipeline: describe topics: %w", err)
	}
	if topic, exists := cluster.Topics[c.Input]; exists {
		if topic.Partitions != partitions {
			return stop(
				fmt.Sprintf("input topic %q exists and has %d partitions, not %d", c.Input, topic.Partitions, partitions),
				"Leave the count out, or give the one it has")
		}
		return nil
	}
	return create(ctx, client, c, cluster, c.Input, partitions, nil, made)
}

// CreateTopics makes the topics of a deployment that are missing, with the input's partition count, and tells each one
// through made. Existing topics are left as they are; CheckTopics says what is wrong with them.
func CreateTopics(ctx context.Context, client *kafka.Client, c Config, made func(topic string)) error {
	used := usedBy(ByService | ByLetters)
	if err := errors.Join(c.validateTopics(ByService | ByLetters)...); err != nil {
		return err
	}
	cluster, err := describe(ctx, client, c, used)
	if err != nil {
		return err
	}
	input, ok := cluster.Topics[c.Input]
	if !ok {
		return missingInput(c.Input)
	}
	settings, err := client.Settings(ctx, c.Input)
	if err != nil {
		return fmt.Errorf("pipeline: settings of %s: %w", c.Input, err)
	}
	for _, r := range used {
		name := r.topic(&c)
		if _, exists := cluster.Topics[name]; exists || r.settings == nil {
			continue
		}
		if err := create(ctx, client, c, cluster, name, input.Partitions, r.settings(settings), made); err != nil {
			return err
		}
	}
	return nil
}

// create makes one topic as durable as the cluster allows, if that is enough.
func create(
	ctx context.Context, client *kafka.Client, c Config, cluster kafka.Cluster,
	name string, partitions int, settings map[string]string, made func(string),
) error {
	replication := min(3, cluster.Brokers)
	if replication < 3 && !c.SingleReplica {
		e := fewReplicas("the cluster", cluster.Brokers)
		e.Remedy = "Use 3 brokers, or accept the risk with ORIEL_ALLOW_SINGLE_REPLICA=true"
		return e
	}
	all := map[string]string{
		"min.insync.replicas":            strconv.Itoa(max(1, replication-1)),
		"unclean.leader.election.enable": "false",
	}
	maps.Copy(all, settings)
	err := client.CreateTopic(ctx, name, partitions, replication, all)
	if err != nil && !errors.Is(err, kafka.ErrTopicExists) {
		return fmt.Errorf("pipeline: create %s: %w", name, err)
	}
	made(name)
	return nil
}

func describe(ctx context.Context, client *kafka.Client, c Config, used []role) (kafka.Cluster, error) {
	names := make([]string, len(used))
	for i, r := range used {
		names[i] = r.topic(&c)
	}
	cluster, err := client.Describe(ctx, names...)
	if err != nil {
		return cluster, fmt.Errorf("pipeline: describe topics: %w", err)
	}
	return cluster, nil
}

// CheckTopics describes the topics that a use names and refuses settings under which a guarantee would not hold. It
// reports every problem at once.
func CheckTopics(ctx context.Context, client *kafka.Client, c Config, use Use) (Topics, error) {
	errs := c.validateTopics(use)
	if errs != nil {
		return Topics{}, errors.Join(errs...)
	}
	used := usedBy(use)
	cluster, err := describe(ctx, client, c, used)
	if err != nil {
		return Topics{}, err
	}
	topics := Topics{Cluster: cluster.ID}
	var input found
	for _, r := range used {
		name := r.topic(&c)
		topic, exists := cluster.Topics[name]
		if !exists {
			errs = append(errs, missing(r, name))
			continue
		}
		*r.described(&topics) = topic
		own := found{role: r, topic: topic}
		if own.settings, err = client.Settings(ctx, name); err != nil {
			return Topics{}, fmt.Errorf("pipeline: settings of %s: %w", name, err)
		}
		if r.settings == nil {
			input = own
		}
		errs = append(errs, checkTopic(c, input, own)...)
	}
	return topics, errors.Join(errs...)
}

// checkTopic finds everything that is wrong with one topic beside a given input, which is zero if it does not exist.
func checkTopic(c Config, input, own found) []error {
	var errs []error
	if want := input.topic.Partitions; own.topic.Partitions != want && want > 0 {
		errs = append(errs, stop(
			fmt.Sprintf("%s topic %q has %d partitions, the input %q has %d",
				own.role.name, own.topic.Name, own.topic.Partitions, c.Input, want),
			"Give both the same number; partitions added to an input later need the same number added to each topic of ours, "+
				"and `oriel topics` again"))
	}
	if !c.SingleReplica {
		errs = append(errs, checkDurable(own)...)
	}
	return append(errs, own.role.check(input, own)...)
}

func stop(reason, remedy string) *StopError {
	return &StopError{Partition: -1, Reason: reason, Remedy: remedy}
}

func missing(r role, topic string) error {
	if r.settings == nil {
		return missingInput(topic)
	}
	return stop(fmt.Sprintf("%s topic %q does not exist", r.name, topic), "Run `oriel topics` with this configuration once")
}

func missingInput(topic string) error {
	return stop(fmt.Sprintf("input topic %q does not exist", topic),
		"Create it, with the partition count that you want to keep, or correct ORIEL_INPUT_TOPIC")
}

func fewReplicas(what string, replicas int) *StopError {
	return stop(fmt.Sprintf("%s has %d replicas, want 3: one lost broker could take acknowledged records with it", what, replicas),
		"Reassign its partitions to 3 brokers (kafka-reassign-partitions.sh)")
}
