package deployment

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"oriel/pipeline/kafka"
	"oriel/pipeline/kafka/topics"
	"oriel/pipeline/notice"
)

// describedTopic is a topic with its settings, as the cluster describes them.
type describedTopic struct {
	role     role
	topic    topics.Topic
	settings map[string]string
}

// wrong returns the error of a setting: its value, the value that it must have, and why.
func (f describedTopic) wrong(setting, want, why string) *notice.StopError {
	return stop(
		fmt.Sprintf("%s topic %q has %s=%s, want %s: %s", f.role.name, f.topic.Name, setting, f.settings[setting], want, why),
		fmt.Sprintf("Alter it: kafka-configs.sh --alter --entity-type topics --entity-name %s --add-config %s=%s",
			f.topic.Name, setting, want))
}

// checkDiskless refuses a topic whose records brokers keep in an object store alone (KIP-1150). Such topics support no
// transactions and no compaction, and a loss of input records could not be detected.
func checkDiskless(f describedTopic) []error {
	if f.settings["diskless.enable"] != "true" {
		return nil
	}
	return []error{stop(
		fmt.Sprintf("%s topic %q is diskless (diskless.enable=true), so that it takes no transactions", f.role.name, f.topic.Name),
		fmt.Sprintf("A topic cannot be changed in this: name one that is kept on the brokers' disks with %s", f.role.setting))}
}

// number returns a setting that is a whole number, or the value otherwise if the broker does not report the setting.
// otherwise must be the broker's default.
func (f describedTopic) number(setting string, otherwise int64) int64 {
	n, err := strconv.ParseInt(f.settings[setting], 10, 64)
	if err != nil {
		return otherwise
	}
	return n
}

// checkDurable refuses a topic if the loss of one broker can lose acknowledged records. The input matters most, because
// the privacy guarantee depends on its log.
func checkDurable(f describedTopic) []error {
	var errs []error
	refuse := func(e *notice.StopError) {
		e.Remedy += ", or accept the risk with ORIEL_ALLOW_SINGLE_REPLICA=true"
		errs = append(errs, e)
	}
	if f.topic.Replication < 3 {
		refuse(fewReplicas(fmt.Sprintf("%s topic %q", f.role.name, f.topic.Name), f.topic.Replication))
	}
	if f.number("min.insync.replicas", 1) < 2 {
		refuse(f.wrong("min.insync.replicas", "2", "one broker alone could acknowledge a record, and then lose the record"))
	}
	if f.settings["unclean.leader.election.enable"] == "true" {
		refuse(f.wrong("unclean.leader.election.enable", "false",
			"acknowledged records may vanish and others take their offsets"))
	}
	return errs
}

// checkBatches refuses a topic that does not accept the batches of a transaction, because they would be refused for
// ever.
func checkBatches(f describedTopic) []error {
	if f.number("max.message.bytes", largestBatch) >= largestBatch {
		return nil
	}
	return []error{f.wrong("max.message.bytes", strconv.Itoa(largestBatch),
		"a transaction may need a larger batch, which would be refused for ever")}
}

func checkInput(_, own describedTopic) []error {
	if !own.compacted() {
		return nil
	}
	return []error{own.wrong("cleanup.policy", "delete",
		"the input topic is compacted, so records may vanish between an attempt and its repetition, "+
			"and the repetition would be a second history")}
}

// checkDecisions accepts every cleanup policy: for example, a compacted topic is a table of each stream's newest
// decision.
func checkDecisions(_, own describedTopic) []error { return checkBatches(own) }

// checkSecond also refuses a topic whose batches brokers compress. A decision of the second topic may answer a record.
// All answers have one length, but a compressed batch has a length that depends on the answers. Oriel compresses none.
func checkSecond(_, own describedTopic) []error {
	errs := checkBatches(own)
	switch own.settings["compression.type"] {
	case "", "producer", "uncompressed":
	default:
		errs = append(errs, own.wrong("compression.type", "producer",
			"the sizes of compressed batches would depend on the events that decisions answer"))
	}
	return errs
}

// checkVerdicts requires that a status is kept at least as long as its record.
func checkVerdicts(input, own describedTopic) []error {
	errs := checkBatches(own)
	if own.compacted() {
		errs = append(errs, own.wrong("cleanup.policy", "delete", "rows have no key, so that brokers would refuse them"))
	}
	const why = "`oriel letters` could lose verdicts of records that the input still has"
	want, has := input.number("retention.ms", -1), own.number("retention.ms", -1)
	if input.settings != nil && has >= 0 && (want < 0 || has < want) {
		errs = append(errs, own.wrong("retention.ms", strconv.FormatInt(want, 10), why))
	}
	if own.number("retention.bytes", -1) >= 0 {
		errs = append(errs, own.wrong("retention.bytes", "-1", why))
	}
	return errs
}

func checkChangelog(_, own describedTopic) []error {
	errs := checkBatches(own)
	if policy, known := own.settings["cleanup.policy"]; known && policy != "compact" {
		errs = append(errs, own.wrong("cleanup.policy", "compact", "the state would be deleted"))
	}
	return errs
}

// The setting of a topic that says who sets the times of its records, and its value for the broker.
const (
	timestampType = "message.timestamp.type"
	appendTime    = "LogAppendTime"
)

// AdviseTimes returns advice about the times of an input that is one stream, or "".
func AdviseTimes(ctx context.Context, client *kafka.Client, c Config) (advice string, err error) {
	if !c.WholeTopic() {
		return "", nil
	}
	settings, err := topics.Settings(ctx, client, c.Input)
	if err != nil || settings[timestampType] == appendTime {
		return "", err
	}
	return fmt.Sprintf("input topic %q has %s=%s, so nothing says when a record came: a backlog is read partition by partition, and with steps by the "+
		"clock all records of an outage are in the step in which it ends. With %s each record is in the hour in which it came; alter it: "+
		"kafka-configs.sh --alter --entity-type topics --entity-name %s --add-config %s=%s",
		c.Input, timestampType, settings[timestampType], appendTime, c.Input, timestampType, appendTime), nil
}

// checkOrder requires that the order of events is kept: the service itself deletes the part that it no longer needs. It
// requires the broker's time in order records, because records without this time do not count.
func checkOrder(_, own describedTopic) []error {
	errs := checkBatches(own)
	if own.topic.Partitions > 1 {
		errs = append(errs, stop(
			fmt.Sprintf("order topic %q has %d partitions, and an order is one sequence", own.topic.Name, own.topic.Partitions),
			"Name a topic of its own with ORIEL_ORDER_TOPIC; `oriel topics` makes it"))
	}
	if own.compacted() {
		errs = append(errs, own.wrong("cleanup.policy", "delete",
			"records of the order have no key, so that brokers would refuse them, and none could be trimmed"))
	}
	if kind, known := own.settings[timestampType]; known && kind != appendTime {
		errs = append(errs, own.wrong(timestampType, appendTime,
			"an order record counts only with the broker's time, so that a writer whose clock is ahead orders nothing"))
	}
	for _, setting := range []string{"retention.ms", "retention.bytes"} {
		if own.number(setting, -1) >= 0 {
			errs = append(errs, own.wrong(setting, "-1",
				"the order of events that were not taken could be deleted, and another order would be a second history"))
		}
	}
	return errs
}

// checkDescriptor requires that the topic's one record is kept.
func checkDescriptor(_, own describedTopic) []error {
	if policy, known := own.settings["cleanup.policy"]; known && policy != "compact" {
		return []error{own.wrong("cleanup.policy", "compact", "the descriptor's record would be deleted, and readers that come later would find no descriptor")}
	}
	return nil
}

// checkDeadLetter accepts every max.message.bytes, because letters are truncated to it.
func checkDeadLetter(_, own describedTopic) []error {
	if !own.compacted() {
		return nil
	}
	return []error{own.wrong("cleanup.policy", "delete",
		"brokers would refuse letters of records without a key, and drop others")}
}

func (f describedTopic) compacted() bool {
	return strings.Contains(f.settings["cleanup.policy"], "compact")
}
