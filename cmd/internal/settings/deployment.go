package settings

import (
	"cmp"
	"time"

	"oriel/cmd/internal/score"
	"oriel/cmd/internal/settings/files"
	"oriel/cmd/internal/settings/values"
	"oriel/operators"
	"oriel/operators/setting"
	"oriel/pipeline/deployment"
)

// Values of ORIEL_STREAM and ORIEL_SEQUENCER.
const (
	wholeTopic, eachPartition    = "topic", "partition"
	ownSequencer, otherSequencer = "own", "other"
)

// transactionBytes is the size at which a transaction is closed, even if memory allows a larger one. A larger
// transaction would delay decisions and save nothing.
const transactionBytes = 32 << 20

// Deployment returns the names and intervals for the pipeline. Names that are not set are derived from the deployment's
// name. The topics that only some operators have are there if the settings were loaded with the group Operator.
func (s Settings) Deployment() deployment.Config {
	c := deployment.Config{
		Name: s.Name, Group: cmp.Or(s.Group, s.Name), Input: s.InputTopic,
		Decisions:  cmp.Or(s.DecisionTopic, s.Name+".decisions"),
		Verdicts:   cmp.Or(s.VerdictsTopic, s.Name+".verdicts"),
		Changelog:  cmp.Or(s.ChangelogTopic, s.Name+".changelog"),
		DeadLetter: cmp.Or(s.DeadLetterTopic, s.Name+".dead-letter"),
		Start:      s.Start, Offsets: s.offsets, CommitInterval: s.CommitInterval, SessionTimeout: s.SessionTimeout,
		TransactionBytes: transactionBytes, Memory: deployment.Memory(s.MemoryLimit), SingleReplica: s.SingleReplica,
		Undecided: s.Stream == "",
	}
	if s.Stream == wholeTopic {
		c.Order, c.OtherSequencer = cmp.Or(s.OrderTopic, s.Name+".order"), s.Sequencer == otherSequencer
	}
	if s.ByClock() {
		c.StepDelay, c.StepGrace, c.Begin = s.StepDelay, s.StepGrace, s.begin
	}
	operator := s.learner.Operator()
	if operator == nil {
		return c
	}
	c.FixedPartitions = s.UserID != "" && !c.WholeTopic()
	if output := operators.SecondTopicOf(operator); output != nil {
		c.Second = cmp.Or(s.SecondTopic, s.Name+"."+output.Suffix)
	}
	if s.describes(operator) {
		c.Descriptor = cmp.Or(s.DescriptorTopic, s.Name+".descriptor")
	}
	return c
}

// readStart reads the time in ORIEL_START or, if it is needed, the file of offsets that it names.
func (s *Settings) readStart(p *setting.Problems, needed bool) {
	moment, notTime := time.Parse(time.RFC3339, s.Start)
	if s.ByClock() && notTime == nil && moment.Unix() > 0 {
		s.begin = moment
		return
	}
	switch {
	case !needed || s.Start == "" || s.Start == deployment.StartLatest:
	case s.ByClock():
		p.Want("START", false, "%s: ORIEL_STEP takes latest, or a time such as 2026-11-01T00:00:00Z, because no record "+
			"may decide which step is first", values.Shown(s.Start))
	case notTime == nil:
		p.Break("START", "%s: a time, but the first step of ORIEL_BATCH records is at an offset; say earliest or latest", s.Start)
	case s.Start != deployment.StartEarliest:
		file, err := files.Read(s.Start)
		if err == nil {
			s.offsets, err = deployment.ParseOffsets(file, s.InputTopic)
		}
		if err != nil {
			p.Break("START", "%s: not earliest, latest or a file of offsets: %w", values.Shown(s.Start), err)
		}
	}
}

// checkTopics refuses names of topics that the operator does not have.
func (s Settings) checkTopics(p *setting.Problems) {
	const idle = "set, but the operator has nothing to publish there"
	operator := s.learner.Operator()
	p.Want("SECOND_TOPIC", s.SecondTopic == "" || operators.SecondTopicOf(operator) != nil, idle)
	p.Want("DESCRIPTOR_TOPIC", s.DescriptorTopic == "" || s.describes(operator), idle)
}

// describes reports whether the deployment publishes a descriptor.
func (s Settings) describes(operator operators.Operator) bool {
	return operators.DescriptorOf(operator) != nil || score.Hashes(s.EventConfig().Body)
}

// LettersDeployment returns the result of Deployment with the consumer group of `oriel letters`.
func (s Settings) LettersDeployment() deployment.Config {
	c := s.Deployment()
	c.Group = cmp.Or(s.LettersGroup, s.Name+".letters")
	return c
}
