package service_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"oriel/cmd/internal/servicetest"
	"oriel/pipeline/kafka"
	"oriel/pipeline/kafka/group"
	"oriel/pipeline/kafka/produce"
)

// served returns a deployment that has consumed 50 events of one partition and stopped.
func served(t *testing.T) *fixture {
	t.Helper()
	return servedWith(t, nil, 50)
}

// servedWith returns a deployment with additional settings that has consumed this many events of one partition and
// stopped.
func servedWith(t *testing.T, more map[string]string, events int) *fixture {
	t.Helper()
	f := newFixture(t, 1, more)
	f.Must("topics")
	f.Send(0, servicetest.Events(0, events)...)
	p := f.Start(nil, "run")
	f.AwaitTaken(time.Minute, int64(events))
	p.Terminate()
	return f
}

func TestRefuseChangedConfigurationAndKey(t *testing.T) {
	t.Parallel()
	f := served(t)
	f.Refused(map[string]string{"ORIEL_EPSILON": "2"}, "EPSILON", "ORIEL_NAME")
	f.Refused(map[string]string{"ORIEL_WINDOW": "128"}, "WINDOW")
	wrong := filepath.Join(t.TempDir(), "wrong.key")
	servicetest.WriteKey(t, wrong, 9)
	f.Refused(map[string]string{"ORIEL_MASTER_KEY_FILE": wrong}, "master key", "ORIEL_MASTER_KEY_FILE")
	if err := os.Chmod(wrong, 0o644); err != nil {
		t.Fatal(err)
	}
	f.Refused(map[string]string{"ORIEL_MASTER_KEY_FILE": wrong}, "ORIEL_MASTER_KEY_FILE")
	two := f.Start(map[string]string{"ORIEL_EPSILON": "2"}, "topics")
	if two.Finish(time.Minute) || !strings.Contains(two.Output(), "EPSILON") {
		t.Errorf("two configurations under one name were accepted: %s", two.Output())
	}
	f.goesOn(50)
}

func TestRefuseLostState(t *testing.T) {
	t.Parallel()
	f := served(t)
	// the local copy is not needed, because the changelog has everything
	if err := os.RemoveAll(f.Env["ORIEL_STATE_DIR"]); err != nil {
		t.Fatal(err)
	}
	f.goesOn(50)
	lost := map[string]string{"ORIEL_CHANGELOG_TOPIC": f.Name + ".other"}
	f.Refused(lost, "does not exist", "is lost")
	if p := f.Start(lost, "topics"); p.Finish(time.Minute) || !strings.Contains(p.Output(), "is lost") {
		t.Errorf("`oriel topics` makes a changelog in the place of a lost one: %s", p.Output())
	}
	f.CreateTopic(lost["ORIEL_CHANGELOG_TOPIC"], 1,
		map[string]string{"cleanup.policy": "compact", "max.message.bytes": "8388608"})
	// it makes the topics anew, as a person would by hand, and says what `oriel run` says
	if p := f.Start(lost, "topics"); p.Finish(time.Minute) || !strings.Contains(p.Output(), "is lost") {
		t.Errorf("`oriel topics` does not say that the state is lost: %s", p.Output())
	}
	f.Refused(lost, "lost")
	if err := os.RemoveAll(f.Env["ORIEL_STATE_DIR"]); err != nil {
		t.Fatal(err)
	}
	f.Refused(lost, "lost")
	f.goesOn(60)
}

// TestRefuseToOpenAgainWhatTheLocalStoreKnows recreates every topic and the group. Then only the local store shows that
// the decisions on the events were already released.
func TestRefuseToOpenAgainWhatTheLocalStoreKnows(t *testing.T) {
	t.Parallel()
	f := served(t)
	fresh := map[string]string{"ORIEL_GROUP": f.Name + ".group2"}
	for _, kind := range []string{"changelog", "decision", "verdicts"} {
		fresh["ORIEL_"+strings.ToUpper(kind)+"_TOPIC"] = f.Name + "." + kind + "2"
	}
	if p := f.Start(fresh, "topics"); !p.Finish(time.Minute) {
		t.Fatal(p.Output())
	}
	f.Refused(fresh, "local store", "ORIEL_NAME")
	f.goesOn(50)
}

// TestRefuseTopicsOfAnotherName checks that a deployment refuses the topics of a deployment with another name.
// Transactional ids contain the name, so services under two names would not fence each other.
func TestRefuseTopicsOfAnotherName(t *testing.T) {
	t.Parallel()
	f := served(t)
	f.Refused(map[string]string{
		"ORIEL_NAME": f.Name + "x", "ORIEL_GROUP": f.Name + "x", "ORIEL_STATE_DIR": filepath.Join(t.TempDir(), "other"),
		"ORIEL_CHANGELOG_TOPIC": f.Topic("changelog"), "ORIEL_DECISION_TOPIC": f.Topic("decisions"),
		"ORIEL_VERDICTS_TOPIC": f.Topic("verdicts"),
	}, "NAME")
	f.goesOn(50)
}

func TestRefuseForeignStateDirectory(t *testing.T) {
	t.Parallel()
	f := served(t)
	other := newFixture(t, 1, map[string]string{"ORIEL_STATE_DIR": f.Env["ORIEL_STATE_DIR"]})
	other.Must("topics")
	other.Refused(nil, "ORIEL_STATE_DIR")
	f.goesOn(50)
}

func TestRefuseResetOffsets(t *testing.T) {
	t.Parallel()
	f := served(t)
	f.commitOffset(10)
	f.Refused(nil, "offsets were reset", "50")
	f.commitOffset(50)
	f.goesOn(50)
}

// commitOffset sets the group's offset, as an administrator can while the group is empty.
func (f *fixture) commitOffset(offset int64) {
	f.T.Helper()
	producer, err := produce.New(f.Ctx(), f.Client, f.Name+"-admin", time.Minute)
	if err != nil {
		f.T.Fatal(err)
	}
	// The broker commits a transaction only if it contains a partition.
	if err := producer.Begin(f.Ctx(), []kafka.TopicPartition{{Topic: f.Topic("verdicts")}}); err != nil {
		f.T.Fatal(err)
	}
	if err := producer.CommitOffset(
		f.Ctx(), group.Membership{Group: f.Name, Generation: -1}, f.Env["ORIEL_INPUT_TOPIC"], 0, offset,
	); err != nil {
		f.T.Fatal(err)
	}
	if err := producer.End(f.Ctx(), true); err != nil {
		f.T.Fatal(err)
	}
}

func TestRefuseCompactedInput(t *testing.T) {
	t.Parallel()
	f := newFixture(t, 1, nil)
	f.Env["ORIEL_INPUT_TOPIC"] = f.Name + ".compacted"
	f.CreateTopic(f.Env["ORIEL_INPUT_TOPIC"], 1, map[string]string{"cleanup.policy": "compact"})
	p := f.Start(nil, "topics")
	if p.Finish(time.Minute) || !strings.Contains(p.Output(), "compacted") {
		t.Errorf("a compacted input was accepted: %s", p.Output())
	}
}

func TestRefuseSettingsAllAtOnceAndUnknownOnes(t *testing.T) {
	f := newFixture(t, 1, map[string]string{
		"ORIEL_EPSILON": "-1", "ORIEL_WINDOW": "100", "ORIEL_CLIPP": "1", "ORIEL_STREAM_KEYS": "a", "ORIEL_BATCH": "many",
	})
	p := f.Start(nil, "run")
	if p.Finish(time.Minute) {
		t.Fatal("bad settings were accepted")
	}
	for _, want := range []string{
		"ORIEL_EPSILON", "ORIEL_WINDOW", "128", "ORIEL_CLIPP", "ORIEL_STREAM_KEYS", "ORIEL_BATCH",
	} {
		if !strings.Contains(p.Output(), want) {
			t.Errorf("the message does not name %s: %s", want, p.Output())
		}
	}
}

// TestRefuseAnInputMadeAgainUnderTheService recreates the input while the service runs. The new topic has other records
// at the same offsets; none of them may enter a decision of the old incarnation.
func TestRefuseAnInputMadeAgainUnderTheService(t *testing.T) {
	t.Parallel()
	f := newFixture(t, 1, nil)
	f.Must("topics")
	f.Send(0, servicetest.Events(0, 50)...)
	p := f.Start(nil, "run")
	f.AwaitTaken(time.Minute, 50)
	f.deleteTopic(f.Env["ORIEL_INPUT_TOPIC"])
	f.CreateTopic(f.Env["ORIEL_INPUT_TOPIC"], 1, nil)
	f.Send(0, servicetest.Events(0, 200)...)
	if p.Finish(time.Minute) {
		t.Error("the service ended well")
	}
	if !strings.Contains(p.Output(), "made again") {
		t.Errorf("the message does not say why: %s", p.Output())
	}
	f.CheckHistory(0, 50)
}

// TestRefuseLostDecisions checks that the service refuses to start if published decisions are lost. It must neither
// recreate them nor begin a second history.
func TestRefuseLostDecisions(t *testing.T) {
	t.Parallel()
	f := served(t)
	f.deleteTopic(f.Topic("decisions"))
	for _, command := range []string{"topics", "run"} {
		p := f.Start(nil, command)
		if p.Finish(time.Minute) || !strings.Contains(p.Output(), f.Topic("decisions")) ||
			!strings.Contains(p.Output(), "ORIEL_NAME") {
			t.Errorf("%s does not say that the decisions are lost: %s", command, p.Output())
		}
	}
}
