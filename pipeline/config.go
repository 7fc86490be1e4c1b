package pipeline

import (
	"errors"
	"fmt"
	"time"

	"oriel/operators"
)

// Offset policies for the first incarnation of a partition.
const (
	StartEarliest = "earliest"
	StartLatest   = "latest"
)

// Config says what a deployment reads, writes and keeps. Topic partition p of Input belongs to partition p of the
// others.
type Config struct {
	Name      string // of the deployment; part of transactional ids. Required.
	Group     string // consumer group. Required.
	Input     string // topic of events. Required.
	Decisions string // topic of decisions. Required.
	// topic of decisions whose Output is 1. Required by an operator with a second topic, "" for any other.
	Second     string
	Verdicts   string // topic of sealed verdicts, a byte an offset of the input. Required.
	Changelog  string // topic of sealed state. Required.
	DeadLetter string // topic of records that took their place as null events. Required by `oriel letters`; the service never names it.
	// topic of the operator's descriptor. Required where it has one, "" for any other; the service never names it.
	Descriptor string
	Start      string // earliest or latest: where a partition's first incarnation starts. Required by Service.
	After      Former // the deployment that this one goes on after; zero: none

	CommitInterval   time.Duration // time between commits of a busy partition, 1 ms to 60 s. Required.
	TransactionBytes int           // a transaction closes at so many bytes of input, or of output, 1 to 256 MiB. Required.
	Memory           Memory        // of all partitions together; transactions close at less output for it. 0: no bound
	SessionTimeout   time.Duration // of the group member, at least the broker's minimum (6 s). Required.
	Instance         string        // this process's place in the group, its own at every start. "": none that lasts
	FixedPartitions  bool          // the input must keep its partitions: set at user level, see grown.go
	SingleReplica    bool          // accept topics with fewer than 3 replicas or fewer than 2 in sync
}

// fits refuses a configuration that names topics for another operator: a decision must never go to a topic that its
// readers were not given for it.
func (c Config) fits(m Model) error {
	operator := m.Learner.Operator()
	if (c.Second != "") != (operators.SecondTopicOf(operator) != nil) {
		return fmt.Errorf("pipeline: second decision topic %q: an operator with a second output needs one, any other must have none", c.Second)
	}
	if _, ok := operator.(operators.Successor); c.After != (Former{}) && !ok {
		return errors.New("pipeline: after: the operator's streams start from nothing")
	}
	return nil
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
	if c.After != (Former{}) {
		errs = append(errs, c.After.validate(c))
	}
	return errors.Join(errs...)
}
