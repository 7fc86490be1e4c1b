//go:build kafka

package main

import (
	"fmt"
	"testing"
	"time"

	"oriel/pipeline/kafka"
	"oriel/pipeline/pipetest"
)

// TestForgottenTransactionIsEnded: a broker that crashed had forgotten the markers of a partition; it hung through
// every restart, and when somebody freed the changelog only, the next commit made the old decisions readable, too.
func TestForgottenTransactionIsEnded(t *testing.T) {
	f, checkpoint := opened(t, nil, events(0, 20))
	f.send(0, events(20, 10)...)
	before := map[parts]int{}
	for part, topic := range f.transactionalTopics() {
		before[part] = len(f.read(topic, 0, true))
	}
	f.tear(0, nil)
	forgotten := pipetest.Forgotten{
		TransactionalID: fmt.Sprintf("%s/%x/0", f.name, f.deployment().Topics.Input.ID),
		Records:         map[kafka.TopicPartition]kafka.Record{},
		Group:           f.name, Input: f.env["ORIEL_INPUT_TOPIC"], Offset: 30,
	}
	for part, topic := range f.transactionalTopics() {
		forgotten.Records[kafka.TopicPartition{Topic: topic}] = f.read(topic, 0, true)[before[part]]
	}
	if err := forgotten.Leave(f.ctx(), f.env["ORIEL_BROKERS"], f.client); err != nil {
		t.Fatal(err)
	}
	for _, topic := range f.transactionalTopics() {
		if b, err := f.client.Bounds(f.ctx(), topic, 0); err != nil || b.Stable == b.High {
			t.Fatalf("%s: bounds %+v, %v: nothing hangs", topic, b, err)
		}
	}
	f.send(0, events(30, 10)...)
	s := f.serve(nil, nil)
	f.awaitTaken(time.Minute, 40)
	s.stop()
	f.wholeHistory(checkpoint, 40, 1, 1)
}

// TestForgottenLettersAreEnded: letters waited for ever for the place that such a transaction was to commit, through
// every restart, and readers of the dead-letter topic for its markers.
func TestForgottenLettersAreEnded(t *testing.T) {
	t.Parallel()
	f := newFixture(t, 1, map[string]string{"ORIEL_MAX_RECORD_BYTES": "900000"})
	f.prepare()
	bad := badRecords()
	half := len(bad) / 2
	take := func(records []kafka.Record, end int) {
		s := f.serve(nil, nil)
		f.send(0, records...)
		f.awaitTaken(time.Minute, int64(end))
		s.stop()
	}
	take(bad[:half], half)
	letters := f.letters(0)
	forgotten := pipetest.Forgotten{
		TransactionalID: fmt.Sprintf("%s.letters/%x/0", f.name, f.deployment().Topics.Verdicts.ID),
		Records:         map[kafka.TopicPartition]kafka.Record{{Topic: f.topic("dead-letter")}: letters[0]},
		Group:           f.name + ".letters", Input: f.topic("verdicts"), Offset: 1,
	}
	if err := forgotten.Leave(f.ctx(), f.env["ORIEL_BROKERS"], f.client); err != nil {
		t.Fatal(err)
	}
	if b, err := f.client.Bounds(f.ctx(), f.topic("dead-letter"), 0); err != nil || b.Stable == b.High {
		t.Fatalf("bounds %+v, %v: nothing hangs", b, err)
	}
	take(bad[half:], len(bad))
	f.checkLetters(0, f.letters(0), at(0, bad), 900_000)
}
