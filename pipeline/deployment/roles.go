package deployment

import (
	"cmp"
	"fmt"
	"strconv"

	"oriel/pipeline/kafka"
	"oriel/pipeline/kafka/topics"
	"oriel/state"
)

// Use is a set of the commands that work with a topic.
type Use uint8

// The commands that name topics; `oriel topics` makes and checks them for all.
const (
	ByService Use = 1 << iota // used by oriel run
	ByLetters                 // used by oriel letters
	ByTopics                  // used only by oriel topics
	ByOrder                   // used by oriel order

	ByAll = ByService | ByLetters | ByTopics | ByOrder
)

// role is the purpose of a topic of a deployment. roles lists all of them; configuration, creation, checks and
// transactions follow it.
type role struct {
	name      string // name of the role in messages
	setting   string // environment variable that names the topic
	topic     func(*Config) string
	described func(*Topics) *topics.Topic
	uses      Use
	single    bool // the topic has one partition, however many streams there are
	optional  bool // a deployment may lack the topic

	// lost is added to the message for a missing topic that may have existed before; "" adds nothing.
	lost string

	// without returns an error for a deployment that has lost the topic after it took an event; it is nil if the
	// deployment may continue. reason tells how the loss was noticed.
	without func(r role, reason string) error

	// transactional topics are named by every transaction of the service, with records or without, because the list of
	// topics in a transaction is public and must not depend on contents. With steps by the clock, topics of decisions
	// are named exactly by the transactions that close steps, so that no other transaction leaves a mark in them.
	transactional, decides bool

	// settings returns the settings with which CreateTopics makes the topic, in addition to durability; they may depend
	// on the input's settings. It is nil for the input, which belongs to the user.
	settings func(input map[string]string) map[string]string

	// check returns an error for each setting under which a guarantee would not hold, except settings of durability.
	check func(input, own describedTopic) []error
}

// roles lists the topics of a deployment; the input comes first.
var roles = []role{
	{
		name: "input", setting: "ORIEL_INPUT_TOPIC", uses: ByService | ByLetters | ByOrder,
		topic:     func(c *Config) string { return c.Input },
		described: func(t *Topics) *topics.Topic { return &t.Input },
		check:     checkInput,
	},
	{
		name: "decision", setting: "ORIEL_DECISION_TOPIC", uses: ByService,
		transactional: true, decides: true, without: lostDecisions,
		topic:     func(c *Config) string { return c.Decisions },
		described: func(t *Topics) *topics.Topic { return &t.Decisions },
		settings:  decisionSettings,
		check:     checkDecisions,
	},
	{
		name: "second decision", setting: "ORIEL_SECOND_TOPIC", uses: ByService,
		transactional: true, decides: true, optional: true, without: lostDecisions,
		topic:     func(c *Config) string { return c.Second },
		described: func(t *Topics) *topics.Topic { return &t.Second },
		settings: func(input map[string]string) map[string]string {
			settings := decisionSettings(input)
			settings["compression.type"] = "producer"
			return settings
		},
		check: checkSecond,
	},
	{
		name: "verdict", setting: "ORIEL_VERDICTS_TOPIC", uses: ByService | ByLetters, transactional: true,
		lost: "It makes the topic; then start the processes that have ended again. If the topic was deleted, letters that were not written are " +
			"lost with it, and nothing else is: decisions and states do not depend on verdicts",
		topic:     func(c *Config) string { return c.Verdicts },
		described: func(t *Topics) *topics.Topic { return &t.Verdicts },
		settings: func(input map[string]string) map[string]string {
			return map[string]string{
				"cleanup.policy": "delete", "max.message.bytes": "8388608",
				"retention.ms": cmp.Or(input["retention.ms"], "-1"), "retention.bytes": "-1",
			}
		},
		check: checkVerdicts,
	},
	{
		name: "changelog", setting: "ORIEL_CHANGELOG_TOPIC", uses: ByService | ByLetters | ByOrder, transactional: true,
		topic:     func(c *Config) string { return c.Changelog },
		described: func(t *Topics) *topics.Topic { return &t.Changelog },
		settings: func(map[string]string) map[string]string { // compacted often, because a start reads the full topic
			return map[string]string{
				"cleanup.policy": "compact", "segment.bytes": "67108864", "segment.ms": "600000",
				"min.cleanable.dirty.ratio": "0.1", "max.message.bytes": "8388608",
			}
		},
		check: checkChangelog,
	},
	{
		name: "order", setting: "ORIEL_ORDER_TOPIC", uses: ByService | ByOrder,
		optional: true, single: true, without: lostOrder,
		topic:     func(c *Config) string { return c.Order },
		described: func(t *Topics) *topics.Topic { return &t.Order },
		settings: func(map[string]string) map[string]string { // small segments, because Kafka deletes full ones only
			return map[string]string{
				"cleanup.policy": "delete", "retention.ms": "-1", "retention.bytes": "-1", "segment.bytes": "67108864",
				"max.message.bytes": "8388608", timestampType: appendTime,
			}
		},
		check: checkOrder,
	},
	{
		name: "dead-letter", setting: "ORIEL_DEAD_LETTER_TOPIC", uses: ByLetters,
		lost:      "It makes the topic; then start the processes that have ended again. If the topic was deleted, the letters in it are lost",
		topic:     func(c *Config) string { return c.DeadLetter },
		described: func(t *Topics) *topics.Topic { return &t.DeadLetter },
		settings: func(input map[string]string) map[string]string {
			largest, _ := strconv.Atoi(input["max.message.bytes"])
			return map[string]string{
				"cleanup.policy": "delete", "max.message.bytes": strconv.Itoa(max(largest, 1<<20) + letterMargin),
			}
		},
		check: checkDeadLetter,
	},
	{
		name: "descriptor", setting: "ORIEL_DESCRIPTOR_TOPIC", uses: ByTopics, optional: true, single: true,
		topic:     func(c *Config) string { return c.Descriptor },
		described: func(t *Topics) *topics.Topic { return &t.Descriptor },
		settings: func(map[string]string) map[string]string {
			return map[string]string{"cleanup.policy": "compact", "max.message.bytes": "8388608"}
		},
		check: checkDescriptor,
	},
}

// decisionSettings returns the settings of topics of decisions. All decisions are kept: with a retention time, a stream
// without events for longer would lose all its decisions, and a new consumer would find no model. Topics with another
// policy are accepted.
func decisionSettings(map[string]string) map[string]string {
	return map[string]string{
		"cleanup.policy": "delete", "retention.ms": "-1", "retention.bytes": "-1", "max.message.bytes": "8388608",
	}
}

// letterMargin is the additional size of a dead letter: its own headers, and the batch around it.
const letterMargin = 64 << 10

// largestBatch is the size that the topics of a transaction must accept: one batch of decisions, or one part of a
// state, with the framing around it.
const largestBatch = state.MaxValue + 64<<10

// usedBy lists the roles that a command works with, the input first, without roles for which the deployment has no
// topic.
func (c Config) usedBy(use Use) []role {
	var used []role
	for _, r := range roles {
		if r.uses&use != 0 && !c.lacks(r) {
			used = append(used, r)
		}
	}
	return used
}

// partitions is the number of partitions with which CreateTopics makes a topic.
func (c Config) partitions(r role, input topics.Topic) int {
	if r.single {
		return 1
	}
	return c.Streams(input)
}

func (c Config) lacks(r role) bool { return r.optional && r.topic(&c) == "" }

// Rights are the rights that a user needs on a topic, by their names in ACLs.
type Rights struct {
	Topic  string
	Rights []string
}

// ServiceRights lists the rights that the user of `oriel run` needs, topic by topic, the input first.
func (c Config) ServiceRights() []Rights {
	var all []Rights
	for _, r := range c.usedBy(ByService) {
		rights := []string{"READ"}
		switch {
		case r.transactional:
			rights = append(rights, "WRITE")
		case r.single: // the order log; the service deletes records that no stream needs
			rights = append(rights, "WRITE", "DELETE")
		}
		all = append(all, Rights{r.topic(&c), append(rights, "DESCRIBE_CONFIGS")})
	}
	return all
}

// validateTopics reports topics without a name, and topics with two roles.
func (c Config) validateTopics(use Use) []error {
	var errs []error
	taken := map[string]string{}
	for _, r := range c.usedBy(use) {
		topic := r.topic(&c)
		other, twice := taken[topic]
		switch {
		case topic == "":
			errs = append(errs, fmt.Errorf("pipeline: %s topic (%s): empty", r.name, r.setting))
		case twice:
			errs = append(errs, fmt.Errorf("pipeline: %s topic (%s): same topic %q as %s", r.name, r.setting, topic, other))
		}
		taken[topic] = r.name
	}
	return errs
}

// TransactionParts lists those partitions of Config.TransactionParts that exist.
func (t Topics) TransactionParts(p int32) []kafka.TopicPartition {
	var parts []kafka.TopicPartition
	for _, r := range roles {
		if topic := r.described(&t); r.transactional && int(p) < topic.Partitions {
			parts = append(parts, kafka.TopicPartition{Topic: topic.Name, Partition: p})
		}
	}
	return parts
}

// TransactionParts lists the partitions that a transaction of partition p names. decides reports whether it names
// topics of decisions.
func (c Config) TransactionParts(p int32, decides bool) []kafka.TopicPartition {
	var parts []kafka.TopicPartition
	for _, r := range roles {
		if r.transactional && (decides || !r.decides) && !c.lacks(r) {
			parts = append(parts, kafka.TopicPartition{Topic: r.topic(&c), Partition: p})
		}
	}
	return parts
}
