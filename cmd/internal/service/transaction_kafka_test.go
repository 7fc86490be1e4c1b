//go:build kafka

package service_test

import (
	"fmt"
	"testing"
	"time"

	"oriel/cmd/internal/servicetest"
	"oriel/pipeline/kafka"
	"oriel/pipeline/kafka/records"
	"oriel/pipeline/kafka/topics"
	"oriel/pipeline/pipetest"
)

// TestForgottenTransactionIsEnded covers a broker that crashed and lost the markers of a transaction in one partition.
// The partition once waited through every restart. If only the changelog was freed by hand, the next commit made the
// old decisions readable, too.
func TestForgottenTransactionIsEnded(t *testing.T) {
	f, checkpoint := opened(t, nil, servicetest.Events(0, 20))
	f.Send(0, servicetest.Events(20, 10)...)
	before := map[parts]int{}
	for part, topic := range f.transactionalTopics() {
		before[part] = len(f.Read(topic, 0, true))
	}
	f.tear(0, nil)
	forgotten := pipetest.Forgotten{
		TransactionalID: fmt.Sprintf("%s/%x/0", f.Name, f.deployment().Topics.Input.ID),
		Records:         map[kafka.TopicPartition]records.Record{},
		Group:           f.Name, Input: f.Env["ORIEL_INPUT_TOPIC"], Offset: 30,
	}
	for part, topic := range f.transactionalTopics() {
		forgotten.Records[kafka.TopicPartition{Topic: topic}] = f.Read(topic, 0, true)[before[part]]
	}
	if err := forgotten.Leave(f.Ctx(), f.Env["ORIEL_BROKERS"], f.Client); err != nil {
		t.Fatal(err)
	}
	for _, topic := range f.transactionalTopics() {
		if b, err := topics.BoundsOf(f.Ctx(), f.Client, topic, 0); err != nil || b.Stable == b.High {
			t.Fatalf("%s: bounds %+v, %v: nothing hangs", topic, b, err)
		}
	}
	f.Send(0, servicetest.Events(30, 10)...)
	s := f.serve(nil, nil)
	f.AwaitTaken(time.Minute, 40)
	s.stop()
	f.wholeHistory(checkpoint, 40, 1, 1)
}

// TestForgottenTransactionOfLettersIsEnded covers the same fault for dead letters. `oriel letters` once waited, through
// every restart, for the position that the lost transaction was to commit. Readers of the dead-letter topic waited for
// the markers.
func TestForgottenTransactionOfLettersIsEnded(t *testing.T) {
	t.Parallel()
	f := newFixture(t, 1, map[string]string{"ORIEL_MAX_RECORD_BYTES": "900000"})
	f.prepare()
	bad := badRecords()
	half := len(bad) / 2
	take := func(records []records.Record, end int) {
		s := f.serve(nil, nil)
		f.Send(0, records...)
		f.AwaitTaken(time.Minute, int64(end))
		s.stop()
	}
	take(bad[:half], half)
	letters := f.Letters(0)
	forgotten := pipetest.Forgotten{
		TransactionalID: fmt.Sprintf("%s.letters/%x/0", f.Name, f.deployment().Topics.Verdicts.ID),
		Records:         map[kafka.TopicPartition]records.Record{{Topic: f.Topic("dead-letter")}: letters[0]},
		Group:           f.Name + ".letters", Input: f.Topic("verdicts"), Offset: 1,
	}
	if err := forgotten.Leave(f.Ctx(), f.Env["ORIEL_BROKERS"], f.Client); err != nil {
		t.Fatal(err)
	}
	if b, err := topics.BoundsOf(f.Ctx(), f.Client, f.Topic("dead-letter"), 0); err != nil || b.Stable == b.High {
		t.Fatalf("bounds %+v, %v: nothing hangs", b, err)
	}
	take(bad[half:], len(bad))
	f.checkLetters(0, f.Letters(0), atOffsets(0, bad), 900_000)
}
