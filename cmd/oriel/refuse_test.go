package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"oriel/pipeline/kafka"
)

// served is a deployment that has taken 50 events of one partition and stopped.
func served(t *testing.T) *fixture {
	t.Helper()
	f := newFixture(t, 1, nil)
	f.must("topics")
	f.send(0, events(0, 50)...)
	p := f.start(nil, "run")
	f.awaitTaken(time.Minute, 50)
	p.terminate()
	return f
}

func TestRefuseChangedConfigurationAndKey(t *testing.T) {
	t.Parallel()
	f := served(t)
	f.refused(map[string]string{"ORIEL_EPSILON": "2"}, "EPSILON", "ORIEL_NAME")
	f.refused(map[string]string{"ORIEL_WINDOW": "128"}, "WINDOW")
	wrong := filepath.Join(t.TempDir(), "wrong.key")
	writeKey(t, wrong, 9)
	f.refused(map[string]string{"ORIEL_MASTER_KEY_FILE": wrong}, "master key", "ORIEL_MASTER_KEY_FILE")
	if err := os.Chmod(wrong, 0o644); err != nil {
		t.Fatal(err)
	}
	f.refused(map[string]string{"ORIEL_MASTER_KEY_FILE": wrong}, "ORIEL_MASTER_KEY_FILE")
	two := f.start(map[string]string{"ORIEL_EPSILON": "2"}, "topics")
	if two.finish(time.Minute) || !strings.Contains(two.output(), "EPSILON") {
		t.Errorf("two configurations under one name were accepted: %s", two.output())
	}
	f.goesOn(50)
}

func TestRefuseLostState(t *testing.T) {
	t.Parallel()
	f := served(t)
	if err := os.RemoveAll(f.env["ORIEL_STATE_DIR"]); err != nil { // the changelog has everything
		t.Fatal(err)
	}
	f.goesOn(50)
	lost := map[string]string{"ORIEL_CHANGELOG_TOPIC": f.name + ".other"}
	f.refused(lost, "does not exist", "is lost")
	if p := f.start(lost, "topics"); p.finish(time.Minute) || !strings.Contains(p.output(), "is lost") {
		t.Errorf("`oriel topics` makes a changelog in the place of a lost one: %s", p.output())
	}
	f.createTopic(lost["ORIEL_CHANGELOG_TOPIC"], 1,
		map[string]string{"cleanup.policy": "compact", "max.message.bytes": "8388608"})
	if p := f.start(lost, "topics"); !p.finish(time.Minute) { // made by hand, as a brave person would
		t.Fatal(p.output())
	}
	f.refused(lost, "lost")
	if err := os.RemoveAll(f.env["ORIEL_STATE_DIR"]); err != nil {
		t.Fatal(err)
	}
	f.refused(lost, "lost")
	f.goesOn(60)
}

// TestRefuseToOpenAgainWhatTheLocalStoreKnows: with every topic and the group new, only the local store says that the
// events were released before.
func TestRefuseToOpenAgainWhatTheLocalStoreKnows(t *testing.T) {
	t.Parallel()
	f := served(t)
	fresh := map[string]string{"ORIEL_GROUP": f.name + ".group2"}
	for _, kind := range []string{"changelog", "decision", "verdicts"} {
		fresh["ORIEL_"+strings.ToUpper(kind)+"_TOPIC"] = f.name + "." + kind + "2"
	}
	if p := f.start(fresh, "topics"); !p.finish(time.Minute) {
		t.Fatal(p.output())
	}
	f.refused(fresh, "local store", "ORIEL_NAME")
	f.goesOn(50)
}

// TestRefuseTopicsOfAnotherName: the name is in the transactional ids, so that two names would not fence each other.
func TestRefuseTopicsOfAnotherName(t *testing.T) {
	t.Parallel()
	f := served(t)
	f.refused(map[string]string{
		"ORIEL_NAME": f.name + "x", "ORIEL_GROUP": f.name + "x", "ORIEL_STATE_DIR": filepath.Join(t.TempDir(), "other"),
		"ORIEL_CHANGELOG_TOPIC": f.topic("changelog"), "ORIEL_DECISION_TOPIC": f.topic("decisions"),
		"ORIEL_VERDICTS_TOPIC": f.topic("verdicts"),
	}, "NAME")
	f.goesOn(50)
}

func TestRefuseForeignStateDirectory(t *testing.T) {
	t.Parallel()
	f := served(t)
	other := newFixture(t, 1, map[string]string{"ORIEL_STATE_DIR": f.env["ORIEL_STATE_DIR"]})
	other.must("topics")
	other.refused(nil, "ORIEL_STATE_DIR")
	f.goesOn(50)
}

func TestRefuseResetOffsets(t *testing.T) {
	t.Parallel()
	f := served(t)
	f.commitOffset(10)
	f.refused(nil, "offsets were reset", "50")
	f.commitOffset(50)
	f.goesOn(50)
}

// commitOffset sets the group's offset as an administrator would while the group is empty.
func (f *fixture) commitOffset(offset int64) {
	f.t.Helper()
	producer, err := f.client.NewProducer(f.ctx(), f.name+"-admin", time.Minute)
	if err != nil {
		f.t.Fatal(err)
	}
	// Every transaction needs a partition of its own to be committed on.
	if err := producer.Begin(f.ctx(), []kafka.TopicPartition{{Topic: f.topic("verdicts")}}); err != nil {
		f.t.Fatal(err)
	}
	if err := producer.CommitOffset(
		f.ctx(), kafka.Membership{Group: f.name, Generation: -1}, f.env["ORIEL_INPUT_TOPIC"], 0, offset,
	); err != nil {
		f.t.Fatal(err)
	}
	if err := producer.End(f.ctx(), true); err != nil {
		f.t.Fatal(err)
	}
}

func TestRefuseCompactedInput(t *testing.T) {
	t.Parallel()
	f := newFixture(t, 1, nil)
	f.env["ORIEL_INPUT_TOPIC"] = f.name + ".compacted"
	f.createTopic(f.env["ORIEL_INPUT_TOPIC"], 1, map[string]string{"cleanup.policy": "compact"})
	p := f.start(nil, "topics")
	if p.finish(time.Minute) || !strings.Contains(p.output(), "compacted") {
		t.Errorf("a compacted input was accepted: %s", p.output())
	}
}

func TestRefuseSettingsAllAtOnceAndUnknownOnes(t *testing.T) {
	f := newFixture(t, 1, map[string]string{
		"ORIEL_EPSILON": "-1", "ORIEL_WINDOW": "100", "ORIEL_CLIPP": "1", "ORIEL_STREAM_KEYS": "a", "ORIEL_BATCH": "many",
	})
	p := f.start(nil, "run")
	if p.finish(time.Minute) {
		t.Fatal("bad settings were accepted")
	}
	for _, want := range []string{
		"ORIEL_EPSILON", "ORIEL_WINDOW", "128", "ORIEL_CLIPP", "ORIEL_STREAM_KEYS", "ORIEL_BATCH",
	} {
		if !strings.Contains(p.output(), want) {
			t.Errorf("the message does not name %s: %s", want, p.output())
		}
	}
}

// TestRefuseAnInputMadeAgainUnderTheService: the new topic has other records under the same offsets, and none of them
// may become a decision of the old incarnation.
func TestRefuseAnInputMadeAgainUnderTheService(t *testing.T) {
	t.Parallel()
	f := newFixture(t, 1, nil)
	f.must("topics")
	f.send(0, events(0, 50)...)
	p := f.start(nil, "run")
	f.awaitTaken(time.Minute, 50)
	if err := f.client.DeleteTopic(f.ctx(), f.env["ORIEL_INPUT_TOPIC"]); err != nil {
		t.Fatal(err)
	}
	f.createTopic(f.env["ORIEL_INPUT_TOPIC"], 1, nil)
	f.send(0, events(0, 200)...)
	if p.finish(time.Minute) {
		t.Error("the service ended well")
	}
	if !strings.Contains(p.output(), "made again") {
		t.Errorf("the message does not say why: %s", p.output())
	}
	f.checkHistory(0, 50)
}
