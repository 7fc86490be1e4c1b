package deployment

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"oriel/pipeline/kafka"
	"oriel/pipeline/kafka/topics"
)

// durable returns valid settings of a topic of three replicas.
func durable(more map[string]string) map[string]string {
	settings := map[string]string{
		"cleanup.policy": "delete", "min.insync.replicas": "2", "unclean.leader.election.enable": "false",
		"max.message.bytes": "8388608", "retention.ms": "-1", "retention.bytes": "-1",
	}
	maps.Copy(settings, more)
	return settings
}

// cleanup returns the cleanup policy that a role's topic must have.
func cleanup(role string) string {
	if role == "changelog" || role == "descriptor" {
		return "compact"
	}
	return "delete"
}

// foundAs describes a topic of each role, as CheckTopics finds it.
func foundAs(name string, more map[string]string) describedTopic {
	for _, r := range roles {
		if r.name == name {
			partitions := Config{}.partitions(r, topics.Topic{Partitions: 4})
			return describedTopic{
				role: r, topic: topics.Topic{Name: "t." + name, Partitions: partitions, Replication: 3}, settings: durable(more),
			}
		}
	}
	panic("BUG: no role " + name)
}

// TestEveryTopicIsChecked checks each topic, the input included: it is refused if the loss of one broker could lose
// acknowledged records, or if its policy would delete records that are needed. The message must have the topic, the
// setting, its value and the required value.
func TestEveryTopicIsChecked(t *testing.T) {
	all := []string{"input", "decision", "second decision", "verdict", "changelog", "order", "dead-letter", "descriptor"}
	ours := all[1:]
	inTransactions := []string{"decision", "second decision", "verdict", "changelog"}
	appended := []string{"input", "verdict", "order", "dead-letter"}
	for _, c := range []struct {
		roles          []string
		setting, value string
		want           string // text of the refusal; "": accepted
		risk           bool   // ORIEL_ALLOW_SINGLE_REPLICA makes it accepted
		input          map[string]string
	}{
		{roles: all, setting: "min.insync.replicas", value: "1", want: "2", risk: true},
		{roles: all, setting: "unclean.leader.election.enable", value: "true", want: "false", risk: true},
		{roles: appended, setting: "cleanup.policy", value: "compact", want: "delete"},
		{roles: appended, setting: "cleanup.policy", value: "compact,delete", want: "delete"},
		{roles: []string{"changelog", "descriptor"}, setting: "cleanup.policy", value: "delete", want: "compact"},
		{roles: []string{"changelog", "descriptor"}, setting: "cleanup.policy", value: "compact,delete", want: "compact"},
		{roles: []string{"changelog", "decision"}, setting: "cleanup.policy", value: "compact"},
		{roles: append(inTransactions, "order"), setting: "max.message.bytes", value: "1048575", want: "1048576"},
		{roles: inTransactions, setting: "max.message.bytes", value: "1048576"},
		{roles: []string{"input", "dead-letter"}, setting: "max.message.bytes", value: "1000"},
		{roles: []string{"verdict", "order"}, setting: "retention.ms", value: "1000", want: "-1"},
		{roles: []string{"order"}, setting: "retention.bytes", value: "0", want: "-1"},
		{roles: []string{"order"}, setting: "message.timestamp.type", value: "CreateTime", want: "LogAppendTime"},
		{
			roles: []string{"verdict"}, setting: "retention.ms", value: "1000", want: "2000",
			input: map[string]string{"retention.ms": "2000"},
		},
		{
			roles: []string{"verdict"}, setting: "retention.ms", value: "2000", input: map[string]string{"retention.ms": "2000"},
		},
		{roles: []string{"verdict"}, setting: "retention.ms", value: "-1", input: map[string]string{"retention.ms": "2000"}},
		{
			roles: []string{"verdict"}, setting: "retention.bytes", value: "1000000", want: "-1",
			input: map[string]string{"retention.bytes": "1000"},
		},
		{roles: append(ours, "input"), setting: "retention.ms", value: "-1"},
		{roles: []string{"second decision"}, setting: "compression.type", value: "lz4", want: "producer"},
		{roles: []string{"second decision"}, setting: "compression.type", value: "gzip", want: "producer"},
		{roles: []string{"second decision"}, setting: "compression.type", value: "uncompressed"},
		{roles: append(ours, "input"), setting: "compression.type", value: "producer"},
		{roles: []string{"input", "decision", "verdict", "changelog"}, setting: "compression.type", value: "zstd"},
	} {
		for _, name := range c.roles {
			own := foundAs(name, map[string]string{"cleanup.policy": cleanup(name)})
			input := foundAs("input", c.input)
			if errs := checkTopic(Config{}, input, own); c.input == nil && errs != nil {
				t.Fatalf("%s: a good topic is refused: %v", name, errs)
			}
			own.settings[c.setting] = c.value
			label := fmt.Sprintf("%s topic with %s=%s", name, c.setting, c.value)
			for _, accept := range []bool{false, true} {
				errs := checkTopic(Config{SingleReplica: accept}, input, own)
				if c.want == "" || accept && c.risk {
					if errs != nil {
						t.Errorf("%s, risk accepted %t: refused: %v", label, accept, errs)
					}
					continue
				}
				if len(errs) != 1 {
					t.Errorf("%s, risk accepted %t: %d problems: %v", label, accept, len(errs), errs)
					continue
				}
				for _, text := range []string{
					fmt.Sprintf("%s topic %q has %s=%s, want %s", name, "t."+name, c.setting, c.value, c.want),
					"--add-config " + c.setting + "=" + c.want,
				} {
					if !strings.Contains(errs[0].Error(), text) {
						t.Errorf("%s: the message does not say %q: %v", label, text, errs[0])
					}
				}
				if c.risk != strings.Contains(errs[0].Error(), "ORIEL_ALLOW_SINGLE_REPLICA") {
					t.Errorf("%s: what accepts it is not said, or does not: %v", label, errs[0])
				}
			}
		}
	}
	// For a missing input the message must not advise about the verdict topic.
	if errs := checkTopic(
		Config{}, describedTopic{}, foundAs("verdict", map[string]string{"retention.ms": "1000"}),
	); errs != nil {
		t.Errorf("verdicts without an input: %v", errs)
	}
	for _, name := range all {
		own := foundAs(name, map[string]string{"cleanup.policy": cleanup(name)})
		own.topic.Replication = 2
		if errs := checkTopic(Config{}, foundAs("input", nil), own); len(errs) != 1 || !strings.Contains(errs[0].Error(), fmt.Sprintf("%s topic %q has 2 replicas, want 3", name, "t."+name)) {
			t.Errorf("%s topic of two replicas: %v", name, errs)
		}
		if errs := checkTopic(Config{SingleReplica: true}, foundAs("input", nil), own); errs != nil {
			t.Errorf("%s topic of two replicas, risk accepted: %v", name, errs)
		}
	}
}

// TestNoTopicIsDiskless checks that a diskless topic is refused; the setting may be present with value false.
func TestNoTopicIsDiskless(t *testing.T) {
	for _, r := range roles {
		own := foundAs(r.name, map[string]string{"cleanup.policy": cleanup(r.name), "diskless.enable": "false"})
		if errs := checkTopic(Config{}, foundAs("input", nil), own); errs != nil {
			t.Errorf("%s topic that is not diskless: %v", r.name, errs)
		}
		own.settings["diskless.enable"] = "true"
		errs := checkTopic(Config{SingleReplica: true}, foundAs("input", nil), own)
		said := fmt.Sprint(errs)
		if len(errs) != 1 || !strings.Contains(said, "is diskless") || !strings.Contains(said, r.setting) {
			t.Errorf("diskless %s topic: %v", r.name, errs)
		}
	}
}

// TestEveryTransactionNamesTheSamePartitions checks that every transaction names the same partitions, and only those of
// the service's topics.
func TestEveryTransactionNamesTheSamePartitions(t *testing.T) {
	c := Config{Input: "i", Decisions: "d", Verdicts: "v", Changelog: "c", DeadLetter: "l"}
	want := []kafka.TopicPartition{{Topic: "d", Partition: 3}, {Topic: "v", Partition: 3}, {Topic: "c", Partition: 3}}
	if got := c.TransactionParts(3, true); !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
	for _, r := range c.usedBy(ByService) {
		if r.name == "dead-letter" {
			t.Error("the service names the dead-letter topic")
		}
	}
}

// TestTransactionsNameTheSecondTopicOfADeployment checks that each transaction names the second topic's partition after
// the partition of decisions, and that a deployment without a second topic is unchanged.
func TestTransactionsNameTheSecondTopicOfADeployment(t *testing.T) {
	names := func(c Config) (names []string) {
		for _, r := range c.usedBy(ByService) {
			names = append(names, r.topic(&c))
		}
		return names
	}
	c := Config{Input: "i", Decisions: "d", Verdicts: "v", Changelog: "c", DeadLetter: "l"}
	if got := names(c); !slices.Equal(got, []string{"i", "d", "v", "c"}) {
		t.Errorf("one topic of decisions: %v", got)
	}
	if err := c.validateTopics(ByService); err != nil {
		t.Error(err)
	}
	c.Second = "s"
	want := []kafka.TopicPartition{
		{Topic: "d", Partition: 3}, {Topic: "s", Partition: 3}, {Topic: "v", Partition: 3}, {Topic: "c", Partition: 3},
	}
	if got := c.TransactionParts(3, true); !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
	if got := names(c); !slices.Equal(got, []string{"i", "d", "s", "v", "c"}) {
		t.Errorf("two topics of decisions: %v", got)
	}
	c.Second, c.Descriptor = "d", "about"
	if parts := c.TransactionParts(3, true); len(parts) != 4 {
		t.Errorf("a transaction names %v: the descriptor is no part of it", parts)
	}
	if err := fmt.Sprint(c.validateTopics(ByService)); !strings.Contains(err, `second decision topic (ORIEL_SECOND_TOPIC): same topic "d" as decision`) {
		t.Error(err)
	}
}

// TestOneTopicHasOneRole checks the message for two settings that name one topic.
func TestOneTopicHasOneRole(t *testing.T) {
	c := Config{Input: "i", Decisions: "d", Verdicts: "d", Changelog: "", DeadLetter: "i"}
	texts := func(use Use) string { return fmt.Sprint(c.validateTopics(use)) }
	for _, want := range []string{`verdict topic (ORIEL_VERDICTS_TOPIC): same topic "d" as decision`, "changelog topic (ORIEL_CHANGELOG_TOPIC): empty"} {
		if !strings.Contains(texts(ByService), want) {
			t.Errorf("%q is not said: %s", want, texts(ByService))
		}
	}
	if !strings.Contains(texts(ByLetters), `dead-letter topic (ORIEL_DEAD_LETTER_TOPIC): same topic "i" as input`) {
		t.Error(texts(ByLetters))
	}
}

// TestCreatedTopicsPassTheChecks checks that topics made by CreateTopics pass CheckTopics, for all settings of the
// input.
func TestCreatedTopicsPassTheChecks(t *testing.T) {
	for _, input := range []map[string]string{
		nil, {"retention.ms": "1000"}, {"retention.ms": "-1", "max.message.bytes": "20000000"}, {"retention.bytes": "5"},
	} {
		in := foundAs("input", input)
		in.topic.Partitions = 4
		for _, r := range roles[1:] {
			made := r.settings(in.settings)
			if strings.HasSuffix(r.name, "decision") && (made["retention.ms"] != "-1" || made["retention.bytes"] != "-1") {
				t.Errorf("%s topic: the newest decision of a quiet stream is deleted: %v", r.name, made)
			}
			if r.name == "second decision" && made["compression.type"] != "producer" {
				t.Errorf("%s topic: brokers may compress it: %v", r.name, made)
			}
			own := foundAs(r.name, made)
			if errs := checkTopic(Config{}, in, own); errs != nil {
				t.Errorf("input %v: %v", input, errs)
			}
		}
	}
}

// TestAWholeTopicHasOnePartitionOfEach checks that each output topic has one partition, even if the input has more or
// gets more later. At user level partitions may be added to the input too.
func TestAWholeTopicHasOnePartitionOfEach(t *testing.T) {
	c := Config{Input: "i", Decisions: "d", Second: "s", Verdicts: "v", Changelog: "c", Order: "o", FixedPartitions: true}
	described := Topics{Input: topics.Topic{Partitions: 12}}
	for _, r := range c.usedBy(ByService)[1:] {
		own := foundAs(r.name, map[string]string{"cleanup.policy": cleanup(r.name)})
		own.topic.Partitions = c.partitions(r, described.Input)
		if own.topic.Partitions != 1 {
			t.Errorf("%s topic is made with %d partitions", r.name, own.topic.Partitions)
		}
		*r.described(&described) = own.topic
		for _, partitions := range []int{0, 1, 12} { // with 0 partitions the input is missing
			input := foundAs("input", nil)
			input.topic.Partitions = partitions
			if errs := checkTopic(c, input, own); errs != nil {
				t.Errorf("input of %d partitions: %v", partitions, errs)
			}
			if errs := checkTopic(c, input, input); errs != nil {
				t.Errorf("input of %d partitions: %v", partitions, errs)
			}
		}
		own.topic.Partitions = 12
		errs := checkTopic(c, foundAs("input", nil), own)
		want := fmt.Sprintf("%s topic %q has 12 partitions, and ", r.name, own.topic.Name)
		if len(errs) != 1 || !strings.Contains(errs[0].Error(), want) || !strings.Contains(errs[0].Error(), r.setting) {
			t.Errorf("%s topic of 12 partitions: %v", r.name, errs)
		}
	}
	if n := described.Covered(c); n != 1 {
		t.Errorf("%d streams are covered", n)
	}
	if described.Decisions.Partitions = 0; described.Covered(c) != 0 {
		t.Error("a stream without a partition of decisions is covered")
	}
	want := []kafka.TopicPartition{{Topic: "d"}, {Topic: "s"}, {Topic: "v"}, {Topic: "c"}}
	if got := c.TransactionParts(0, true); !slices.Equal(got, want) {
		t.Errorf("a transaction names %v, want %v", got, want)
	}
}

// TestMembersOfAWholeTopicShareItsOrder checks that the group assigns the order log to a member and keeps its offsets
// of the input.
func TestMembersOfAWholeTopicShareItsOrder(t *testing.T) {
	c := Config{Name: "n", Group: "g", Input: "i", Order: "o"}
	if g := c.GroupConfig([16]byte{7}); g.Topic != "o" || g.Kept != "i" {
		t.Errorf("shares %q, keeps %q", g.Topic, g.Kept)
	}
	if c.Order = ""; c.GroupConfig([16]byte{7}).Topic != "i" || c.GroupConfig([16]byte{7}).Kept != "" {
		t.Errorf("%+v", c.GroupConfig([16]byte{7}))
	}
	if name := c.StreamName(3); name != "3" {
		t.Errorf("the stream of partition 3 is called %q", name)
	}
	if c.Order = "o"; c.StreamName(0) != "i" {
		t.Errorf("the stream of the topic is called %q", c.StreamName(0))
	}
}
