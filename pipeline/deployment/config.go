package deployment

import (
	"errors"
	"fmt"
	"strconv"
	"time"

	"oriel/pipeline/kafka/group"
	"oriel/pipeline/kafka/topics"
)

// Offset policies for the first incarnation of a partition.
const (
	StartEarliest = "earliest"
	StartLatest   = "latest"
)

// Config names the topics of a deployment and its settings of Kafka. Without Order, partition p of Input belongs to
// partition p of the other topics. With Order, the other topics have one partition, for all partitions of Input.
type Config struct {
	Name      string // name of the deployment, a part of transactional ids. Required.
	Group     string // consumer group. Required.
	Input     string // topic of events. Required.
	Decisions string // topic of decisions. Required.
	// topic of decisions whose Output is 1. Required for an operator with a second topic, "" for any other operator
	Second    string
	Verdicts  string // topic of sealed record statuses, one byte per offset of the input. Required.
	Changelog string // topic of sealed state. Required.
	// topic of the order log, which makes the whole input one stream. "": each partition of the input is a stream
	Order string
	// the settings do not choose between one stream and several; a new deployment on several partitions must choose
	Undecided  bool
	DeadLetter string // topic of copies of invalid records. Required by `oriel letters`; the service never writes it.
	// topic of the operator's descriptor. Required for an operator that has one, "" for any other. The service never
	// uses it.
	Descriptor string
	Start      string  // earliest or latest: where a partition's first incarnation starts. Service needs it or Offsets.
	Offsets    Offsets // the starts of first incarnations, in place of Start; nil: none

	// Steps by the clock: how long after its end a step's decision is published, how long after its end a slot stays open,
	// and a moment of the first step. A zero Begin is the moment of the opening. Steps by count use none of them.
	StepDelay, StepGrace time.Duration
	Begin                time.Time
	CatchUp              bool // publish the steps of an outage of more than a day

	CommitInterval   time.Duration // time between commits of a busy partition, 1 ms to 60 s. Required.
	TransactionBytes int           // a transaction closes at this size of its input or output, 1 to 256 MiB. Required.
	Memory           Memory        // for all partitions together; a small one closes transactions earlier. 0: no bound
	SessionTimeout   time.Duration // of the group member, at least the broker's minimum (6 s). Required.
	OtherSequencer   bool          // another process appends to Order; the owner of the stream does not
	Instance         string        // static id of this process in the group, unique among live processes. "": none
	FixedPartitions  bool          // the input must keep its number of partitions: set at user level, see partitions.go
	SingleReplica    bool          // accept topics with fewer than 3 replicas or fewer than 2 in sync
}

// Validate reports every problem of a service's configuration at once, each with its field and value.
func (c Config) Validate() error {
	errs := c.validateTopics(ByService)
	for _, f := range []struct{ name, value string }{{"name", c.Name}, {"group", c.Group}} {
		if f.value == "" {
			errs = append(errs, fmt.Errorf("pipeline: %s: empty", f.name))
		}
	}
	if c.CommitInterval < time.Millisecond || c.CommitInterval > time.Minute {
		errs = append(errs, fmt.Errorf("pipeline: commit interval %v: not within 1ms..1m", c.CommitInterval))
	}
	if c.TransactionBytes < 1<<20 || c.TransactionBytes > 256<<20 {
		errs = append(errs, fmt.Errorf("pipeline: transaction bytes %d: not within 1 MiB..256 MiB", c.TransactionBytes))
	}
	if c.Memory < 0 || c.Memory > MostMemory {
		errs = append(errs, fmt.Errorf("pipeline: memory %d: not within 0..%d", c.Memory, MostMemory))
	}
	return errors.Join(errs...)
}

// TransactionTimeout bounds a transaction that stays open on the broker. A take-over aborts such a transaction at once,
// so the bound matters only if no process takes the partition over.
const TransactionTimeout = 60 * time.Second

// TransactionalID is static per deployment, input topic and partition, so that a new owner fences the old one.
func (c Config) TransactionalID(input [16]byte, partition int32) string {
	return fmt.Sprintf("%s/%x/%d", c.Name, input, partition)
}

// RebalanceTimeout is how long the group waits for a process to close its tasks and join again, and for a leader that
// died before it assigned the partitions. It must not exceed a session, because during a rebalance the group should not
// wait longer for a dead member than at other times.
func (c Config) RebalanceTimeout() time.Duration { return min(c.SessionTimeout, 10*time.Second) }

// GroupConfig configures a process's membership. Its mark distinguishes members of this deployment from others: it
// consists of the name and the input's id, like the transactional ids.
func (c Config) GroupConfig(input [16]byte) group.Config {
	g := group.Config{
		ID: c.Group, Topic: c.Input,
		SessionTimeout: c.SessionTimeout, RebalanceTimeout: c.RebalanceTimeout(),
		Mark:     fmt.Sprintf("%s/%x", c.Name, input),
		Instance: c.Instance,
	}
	if c.WholeTopic() {
		g.Topic, g.Kept = c.Order, c.Input
	}
	return g
}

// Streams is the number of streams of an input. Each stream has a partition in the output topics, counted from 0.
func (c Config) Streams(input topics.Topic) int {
	if c.WholeTopic() {
		return 1
	}
	return input.Partitions
}

// WholeTopic reports whether all partitions of the input are one stream.
func (c Config) WholeTopic() bool { return c.Order != "" }

// StreamName names the stream of a partition of the changelog: the input topic if it is one stream, otherwise the
// partition.
func (c Config) StreamName(partition int32) string {
	if c.WholeTopic() {
		return c.Input
	}
	return strconv.Itoa(int(partition))
}
