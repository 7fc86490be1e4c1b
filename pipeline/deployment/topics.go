package deployment

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"

	"oriel/pipeline/kafka"
	"oriel/pipeline/kafka/topics"
	"oriel/pipeline/notice"
)

// Topics are the described topics of a deployment; the zero Topic for topics that a command does not use.
type Topics struct {
	Cluster string

	Input, Decisions, Second, Verdicts, Changelog, Order, DeadLetter, Descriptor topics.Topic
}

// Outputs are the topics of decisions of a deployment, in the order of operators.Decision.Output.
func (t Topics) Outputs() []topics.Topic {
	if t.Second.Name == "" {
		return []topics.Topic{t.Decisions}
	}
	return []topics.Topic{t.Decisions, t.Second}
}

// Read lists the partitions of the input that the stream of partition p of the outputs reads.
func (t Topics) Read(c Config, p int32) []int32 {
	if !c.WholeTopic() {
		return []int32{p}
	}
	all := make([]int32, t.Input.Partitions)
	for i := range all {
		all[i] = int32(i)
	}
	return all
}

// Covered returns how many streams of the input have a partition in each topic of the service.
func (t Topics) Covered(c Config) int32 {
	covered := c.Streams(t.Input)
	for _, r := range c.usedBy(ByService) {
		if !r.single {
			covered = min(covered, r.described(&t).Partitions)
		}
	}
	return int32(covered)
}

// Continues refuses a later description t if one of its topics was recreated since o. Replication factors may change,
// and partitions may be added.
func (t Topics) Continues(o Topics) error {
	if t.Cluster != o.Cluster {
		return stop("the brokers are of another cluster than the one that this process started with",
			"Correct ORIEL_BROKERS, and start the process again")
	}
	for _, r := range roles {
		later, before := r.described(&t), r.described(&o)
		if later.Name == before.Name && later.ID == before.ID && later.Partitions >= before.Partitions {
			continue
		}
		reason := fmt.Sprintf("%s topic %q was deleted and made again since this process started", r.name, before.Name)
		switch {
		case r.without != nil:
			return r.without(r, reason)
		case r.uses&ByLetters != 0 && r.lost != "":
			return stop(reason, "Start the process again: it goes on. Letters that were not written are lost with the old topic, "+
				"and nothing else is")
		}
		return stop(reason, "Start the process again; it names the loss and the remedy")
	}
	return nil
}

// CreateInput makes the input topic with a number of partitions, as durable as the output topics. An existing topic
// must have this number of partitions. A topic that this deployment has read before is not created again, because its
// offsets would number other records. With steps by the clock brokers set the times of its records. done is called with
// a description of the created topic.
func CreateInput(ctx context.Context, client *kafka.Client, c Config, partitions int, done func(what string)) error {
	cluster, err := topics.Describe(ctx, client, c.Input, c.Changelog)
	if err != nil {
		return fmt.Errorf("pipeline: describe topics: %w", err)
	}
	if topic, exists := cluster.Topics[c.Input]; exists {
		if topic.Partitions != partitions {
			return stop(
				fmt.Sprintf("input topic %q exists and has %d partitions, not %d", c.Input, topic.Partitions, partitions),
				"Leave the number of partitions out, or give the number that the topic has")
		}
		return nil
	}
	if used, err := everOpened(ctx, client, cluster.Topics[c.Changelog]); err != nil || used {
		return errors.Join(err, missingInput(c.Input, used))
	}
	var settings map[string]string
	if c.StepDelay > 0 { // steps by the clock
		settings = map[string]string{timestampType: appendTime}
	}
	return create(ctx, client, c, cluster, c.Input, partitions, settings, done)
}

// CreateTopics makes the missing topics of a deployment, with a partition for each stream, and adds partitions to
// topics that have fewer. It calls done for each. Other faults of existing topics are left to CheckTopics. If a
// deployment has lost its changelog, CreateTopics does not make a new one.
func CreateTopics(ctx context.Context, client *kafka.Client, c Config, done func(what string)) error {
	used := c.usedBy(ByAll)
	if err := errors.Join(c.validateTopics(ByAll)...); err != nil {
		return err
	}
	cluster, err := describe(ctx, client, c, used)
	if err != nil {
		return err
	}
	if problem, err := missingTopic(ctx, client, c, used, cluster); err != nil || problem != nil {
		return errors.Join(problem, err)
	}
	input := cluster.Topics[c.Input]
	settings, err := topics.Settings(ctx, client, c.Input)
	if err != nil {
		return fmt.Errorf("pipeline: settings of %s: %w", c.Input, err)
	}
	for _, r := range slices.Backward(used[1:]) { // statuses come last, because dead letters are made of them
		name := r.topic(&c)
		topic, exists := cluster.Topics[name]
		switch {
		case !exists:
			err = create(ctx, client, c, cluster, name, c.partitions(r, input), r.settings(settings), done)
		case r.single:
		case topic.Partitions < c.Streams(input) && !c.FixedPartitions:
			err = grow(ctx, client, topic, c.Streams(input), done)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func grow(ctx context.Context, client *kafka.Client, topic topics.Topic, partitions int, done func(string)) error {
	if err := topics.AddPartitions(ctx, client, topic.Name, partitions); err != nil {
		return fmt.Errorf("pipeline: add partitions to %s: %w", topic.Name, err)
	}
	done(fmt.Sprintf("added partitions to %s: the topic had %d, and has %d like the input", topic.Name, topic.Partitions, partitions))
	return nil
}

// create makes one topic as durable as the cluster allows. It fails if the cluster allows less than required.
func create(
	ctx context.Context, client *kafka.Client, c Config, cluster topics.Cluster,
	name string, partitions int, settings map[string]string, done func(string),
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
	err := topics.Create(ctx, client, name, partitions, replication, all)
	if err != nil && !errors.Is(err, kafka.ErrTopicExists) {
		return fmt.Errorf("pipeline: create %s: %w", name, err)
	}
	done("created " + name)
	return nil
}

func describe(ctx context.Context, client *kafka.Client, c Config, used []role) (topics.Cluster, error) {
	names := make([]string, len(used))
	for i, r := range used {
		names[i] = r.topic(&c)
	}
	cluster, err := topics.Describe(ctx, client, names...)
	if err != nil {
		return cluster, fmt.Errorf("pipeline: describe topics: %w", err)
	}
	return cluster, nil
}

// DescribeTopics describes the topics of the service without any check. A topic that does not exist is zero, except for
// the input, which must exist.
func DescribeTopics(ctx context.Context, client *kafka.Client, c Config) (Topics, error) {
	used := c.usedBy(ByService)
	cluster, err := describe(ctx, client, c, used)
	if err != nil {
		return Topics{}, err
	}
	described := Topics{Cluster: cluster.ID}
	for _, r := range used {
		*r.described(&described) = cluster.Topics[r.topic(&c)]
	}
	if described.Input.Name == "" {
		return Topics{}, missingInput(c.Input, false)
	}
	return described, nil
}

// CheckTopics describes the topics that a command works with, and refuses settings under which a guarantee would not
// hold. It reports every problem at once.
func CheckTopics(ctx context.Context, client *kafka.Client, c Config, use Use) (Topics, error) {
	errs := c.validateTopics(use)
	if errs != nil {
		return Topics{}, errors.Join(errs...)
	}
	used := c.usedBy(use)
	cluster, err := describe(ctx, client, c, used)
	if err != nil {
		return Topics{}, err
	}
	problem, err := missingTopic(ctx, client, c, used, cluster)
	if err != nil {
		return Topics{}, err
	}
	if problem != nil {
		errs = append(errs, problem)
	}
	described := Topics{Cluster: cluster.ID}
	var input describedTopic
	for _, r := range used {
		name := r.topic(&c)
		topic, exists := cluster.Topics[name]
		if !exists {
			if problem == nil {
				errs = append(errs, missing(r, name))
			}
			continue
		}
		*r.described(&described) = topic
		own := describedTopic{role: r, topic: topic}
		if own.settings, err = topics.Settings(ctx, client, name); err != nil {
			return Topics{}, fmt.Errorf("pipeline: settings of %s: %w", name, err)
		}
		if r.settings == nil {
			input = own
		}
		errs = append(errs, checkTopic(c, input, own)...)
	}
	return described, errors.Join(errs...)
}

// checkTopic returns all faults of one topic. input is the described input; it is zero if the input does not exist.
func checkTopic(c Config, input, own describedTopic) []error {
	var errs []error
	if want := c.Streams(input.topic); want > 0 && own.role.settings != nil && !own.role.single {
		errs = append(errs, checkPartitions(c, want, own)...)
	}
	if !c.SingleReplica {
		errs = append(errs, checkDurable(own)...)
	}
	errs = append(errs, checkDiskless(own)...)
	return append(errs, own.role.check(input, own)...)
}

// checkPartitions refuses a topic with more partitions than there are streams. If each partition of the input is a
// stream, it also refuses a topic with fewer partitions at user level, where the guarantee requires a fixed number.
func checkPartitions(c Config, want int, own describedTopic) []error {
	reason := fmt.Sprintf("%s topic %q has %d partitions, the input %q has %d",
		own.role.name, own.topic.Name, own.topic.Partitions, c.Input, want)
	switch {
	case own.topic.Partitions > want && c.WholeTopic():
		return []error{stop(
			fmt.Sprintf("%s topic %q has %d partitions, and the one stream of ORIEL_STREAM=topic has one",
				own.role.name, own.topic.Name, own.topic.Partitions),
			fmt.Sprintf("Name a topic of its own with %s, or leave the name to ORIEL_NAME; `oriel topics` makes it. "+
				"If the deployment was opened with one stream for each partition, set ORIEL_STREAM=partition", own.role.setting))}
	case own.topic.Partitions > want:
		return []error{stop(reason,
			"Name the input that this topic was made for, or add partitions to the input until both have the same number")}
	case own.topic.Partitions < want && c.FixedPartitions:
		return []error{stop(reason,
			"With ORIEL_USER_ID the number of partitions is fixed: a user whose events go to another partition from now on "+
				"has two streams, and the printed guarantee counts one. Open a new deployment under another ORIEL_NAME, "+
				"on an input keyed by user that keeps its partitions")}
	}
	return nil
}

func stop(reason, remedy string) *notice.StopError {
	return &notice.StopError{Partition: -1, Reason: reason, Remedy: remedy}
}

func missing(r role, topic string) error {
	remedy := "Run `oriel topics` with this configuration once"
	if r.lost != "" {
		remedy += ". " + r.lost
	}
	return stop(fmt.Sprintf("%s topic %q does not exist", r.name, topic), remedy)
}

// Missing returns the error for a topic of the deployment that does not exist, with its remedy.
func (c Config) Missing(topic string) error {
	for _, r := range roles {
		if !c.lacks(r) && r.topic(&c) == topic {
			return missing(r, topic)
		}
	}
	panic("BUG: pipeline: no topic of the deployment is called " + topic)
}

func fewReplicas(what string, replicas int) *notice.StopError {
	return stop(fmt.Sprintf("%s has %d replicas, want 3: one lost broker could take acknowledged records with it", what, replicas),
		"Reassign its partitions to 3 brokers (kafka-reassign-partitions.sh)")
}
