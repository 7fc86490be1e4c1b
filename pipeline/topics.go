package pipeline

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"oriel/pipeline/kafka"
)

// Topics are the described topics of a deployment.
type Topics struct {
	Cluster                                 string
	Input, Decisions, Changelog, DeadLetter kafka.Topic
	letterLimit                             int // largest dead letter that its topic takes, bytes
}

// same tells whether o describes the same topics; how often they are replicated may change.
func (t Topics) same(o Topics) bool {
	for _, topics := range []*Topics{&t, &o} {
		topics.letterLimit = 0
		topics.Input.Replication, topics.Decisions.Replication = 0, 0
		topics.Changelog.Replication, topics.DeadLetter.Replication = 0, 0
	}
	return t == o
}

// letterMargin is how much larger a dead letter may be than the record it keeps (formats §5): its own headers, and a batch
// around it. leastLetters is room for a record that is cut.
const (
	letterMargin = 64 << 10
	leastLetters = 256 << 10
)

// output is a topic of ours and the settings that Oriel needs of it.
type output struct {
	name     string
	settings map[string]string
}

// outputs lists the topics that CreateTopics makes. The changelog is compacted often, because a start reads all of it.
func (c Config) outputs(inputMaxBytes int) []output {
	return []output{
		{c.Decisions, map[string]string{"cleanup.policy": "delete", "max.message.bytes": "8388608"}},
		{c.Changelog, map[string]string{
			"cleanup.policy": "compact", "segment.bytes": "67108864", "segment.ms": "600000",
			"min.cleanable.dirty.ratio": "0.1", "max.message.bytes": "8388608",
		}},
		{c.DeadLetter, map[string]string{
			"cleanup.policy": "delete", "max.message.bytes": strconv.Itoa(max(inputMaxBytes, 1<<20) + letterMargin),
		}},
	}
}

// CreateTopics makes the topics of a deployment that are missing, with the input's partition count, and tells each one
// through made. Existing topics are left as they are; CheckTopics says what is wrong with them.
func CreateTopics(ctx context.Context, client *kafka.Client, c Config, made func(topic string)) error {
	cluster, err := client.Describe(ctx, c.Input, c.Decisions, c.Changelog, c.DeadLetter)
	if err != nil {
		return fmt.Errorf("pipeline: describe topics: %w", err)
	}
	input, ok := cluster.Topics[c.Input]
	if !ok {
		return missingInput(c.Input)
	}
	settings, err := client.Settings(ctx, c.Input)
	if err != nil {
		return fmt.Errorf("pipeline: settings of %s: %w", c.Input, err)
	}
	replication := min(3, cluster.Brokers)
	if replication < 3 && !c.SingleReplica {
		return fewReplicas("the cluster", cluster.Brokers)
	}
	inputMax, _ := strconv.Atoi(settings["max.message.bytes"])
	for _, o := range c.outputs(inputMax) {
		if _, exists := cluster.Topics[o.name]; exists {
			continue
		}
		o.settings["min.insync.replicas"] = strconv.Itoa(max(1, replication-1))
		o.settings["unclean.leader.election.enable"] = "false"
		if err := client.CreateTopic(ctx, o.name, input.Partitions, replication, o.settings); err != nil && !errors.Is(err, kafka.ErrTopicExists) {
			return fmt.Errorf("pipeline: create %s: %w", o.name, err)
		}
		made(o.name)
	}
	return nil
}

// CheckTopics describes the topics of a deployment and refuses settings under which a guarantee would not hold. It
// reports every problem at once.
func CheckTopics(ctx context.Context, client *kafka.Client, c Config) (Topics, error) {
	names := []string{c.Input, c.Decisions, c.Changelog, c.DeadLetter}
	cluster, err := client.Describe(ctx, names...)
	if err != nil {
		return Topics{}, fmt.Errorf("pipeline: describe topics: %w", err)
	}
	var errs []error
	settings := map[string]map[string]string{}
	for _, name := range names {
		topic, ok := cluster.Topics[name]
		switch {
		case !ok && name == c.Input:
			errs = append(errs, missingInput(name))
			continue
		case !ok:
			errs = append(errs, stop(fmt.Sprintf("topic %q does not exist", name), "Run `oriel topics` with this configuration once"))
			continue
		}
		if settings[name], err = client.Settings(ctx, name); err != nil {
			return Topics{}, fmt.Errorf("pipeline: settings of %s: %w", name, err)
		}
		if want := cluster.Topics[c.Input].Partitions; topic.Partitions != want && want > 0 {
			errs = append(errs, stop(fmt.Sprintf("topic %q has %d partitions, the input %q has %d", name, topic.Partitions, c.Input, want),
				"Give both the same number; partitions added to an input later need the same number added to each topic of ours, and `oriel topics` again"))
		}
		if !c.SingleReplica && name != c.Input {
			if insync, _ := strconv.Atoi(settings[name]["min.insync.replicas"]); topic.Replication < 3 || insync < 2 {
				errs = append(errs, fewReplicas(fmt.Sprintf("topic %q", name), topic.Replication))
			}
		}
	}
	errs = append(errs, checkPolicies(c, settings)...)
	return Topics{
		letterLimit: letterLimit(settings[c.DeadLetter]["max.message.bytes"]),
		Cluster:     cluster.ID, Input: cluster.Topics[c.Input], Decisions: cluster.Topics[c.Decisions],
		Changelog: cluster.Topics[c.Changelog], DeadLetter: cluster.Topics[c.DeadLetter],
	}, errors.Join(errs...)
}

// letterLimit is the largest dead letter that a topic takes, with room for our headers and the batch around it.
func letterLimit(maxMessageBytes string) int {
	limit, err := strconv.Atoi(maxMessageBytes)
	if err != nil {
		limit = 1 << 20 // a broker's default
	}
	return limit - letterMargin/2
}

func checkPolicies(c Config, settings map[string]map[string]string) []error {
	var errs []error
	if strings.Contains(settings[c.Input]["cleanup.policy"], "compact") {
		errs = append(errs, stop(fmt.Sprintf("input topic %q is compacted: records may vanish between an attempt and its repetition, and the repetition would be a second history", c.Input),
			"Set cleanup.policy=delete on the input topic"))
	}
	for _, name := range []string{c.Input, c.Decisions, c.Changelog, c.DeadLetter} {
		if settings[name]["unclean.leader.election.enable"] == "true" && !c.SingleReplica {
			errs = append(errs, stop(fmt.Sprintf("topic %q allows unclean leader election: acknowledged records may vanish and others take their offsets", name),
				"Set unclean.leader.election.enable=false on it, or accept the risk with ORIEL_ALLOW_SINGLE_REPLICA=true"))
		}
	}
	if policy, ok := settings[c.Changelog]["cleanup.policy"]; ok && policy != "compact" {
		errs = append(errs, stop(fmt.Sprintf("changelog topic %q has cleanup.policy=%s: the state would be deleted", c.Changelog, policy),
			"Set cleanup.policy=compact on it"))
	}
	input, errInput := strconv.Atoi(settings[c.Input]["max.message.bytes"])
	letter, errLetter := strconv.Atoi(settings[c.DeadLetter]["max.message.bytes"])
	if need := max(input+letterMargin, leastLetters); errInput == nil && errLetter == nil && letter < need {
		errs = append(errs, stop(fmt.Sprintf("dead-letter topic %q has max.message.bytes=%d: a record of the input (limit %d) and its reason may not fit", c.DeadLetter, letter, input),
			fmt.Sprintf("Set it to at least %d", need)))
	}
	return errs
}

func stop(reason, remedy string) *StopError {
	return &StopError{Partition: -1, Reason: reason, Remedy: remedy}
}

func missingInput(topic string) error {
	return stop(fmt.Sprintf("input topic %q does not exist", topic), "Create it, with the partition count that you want to keep, or correct ORIEL_INPUT_TOPIC")
}

func fewReplicas(what string, replicas int) error {
	return stop(fmt.Sprintf("%s has %d replicas: an acknowledged record could be lost with one broker", what, replicas),
		"Use 3 replicas and min.insync.replicas=2, or accept the risk with ORIEL_ALLOW_SINGLE_REPLICA=true")
}
