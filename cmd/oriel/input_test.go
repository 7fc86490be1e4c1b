package main

import (
	"strings"
	"testing"
	"time"

	"oriel/pipeline/kafka"
	"oriel/state"
)

// TestRefuseASecondInputUnderOneName: transactional ids are made of the input's id, so that nothing would fence; users
// saw a second service that was ready and got no events.
func TestRefuseASecondInputUnderOneName(t *testing.T) {
	t.Parallel()
	f := newFixture(t, 1, nil)
	f.must("topics")
	f.refusesInputs()
	f.send(0, events(0, 50)...)
	p := f.start(nil, "run")
	f.awaitTaken(time.Minute, 50)
	p.terminate()
	f.refusesInputs()
	f.goesOn(50)
}

// TestRefuseASecondInputOfAnEarlierVersion: its manifests name no input; the incarnation does.
func TestRefuseASecondInputOfAnEarlierVersion(t *testing.T) {
	t.Parallel()
	f := newFixture(t, 1, nil)
	f.must("topics")
	changelog := f.topic("changelog")
	found := f.read(changelog, 0, false)
	master, err := state.LoadMasterKey(f.env["ORIEL_MASTER_KEY_FILE"])
	if err != nil {
		t.Fatal(err)
	}
	manifest, err := state.OpenManifest(found[0].Value, master)
	if err != nil || manifest.Input.Name != f.env["ORIEL_INPUT_TOPIC"] {
		t.Fatalf("manifest of %+v, %v", manifest.Input, err)
	}
	if err := f.client.DeleteTopic(f.ctx(), changelog); err != nil {
		t.Fatal(err)
	}
	f.createTopic(changelog, 1, map[string]string{"cleanup.policy": "compact", "max.message.bytes": "8388608"})
	producer, err := f.client.NewProducer(f.ctx(), "", time.Minute)
	if err != nil {
		t.Fatal(err)
	}
	var b kafka.Builder
	manifest.Semantics, manifest.Input = 1, state.Input{}
	b.Append(state.ManifestKey(), manifest.Seal(master), nil, time.Now().UnixMilli())
	if _, err := producer.Produce(f.ctx(), changelog, 0, &b); err != nil {
		t.Fatal(err)
	}
	f.must("topics")
	f.send(0, events(0, 50)...)
	p := f.start(nil, "run")
	f.awaitTaken(time.Minute, 50)
	p.terminate()
	f.refusesInputs()
	f.goesOn(50)
}

// refusesInputs checks that neither `oriel topics` nor `oriel run` takes another input, and that neither writes
// anything.
func (f *fixture) refusesInputs() {
	f.t.Helper()
	other := f.name + ".other"
	if err := f.client.CreateTopic(f.ctx(), other, 1, 1, nil); err != nil && !strings.Contains(err.Error(), "exists") {
		f.t.Fatal(err)
	}
	before := f.ends()
	for _, command := range []string{"topics", "run"} {
		p := f.start(map[string]string{"ORIEL_INPUT_TOPIC": other}, command)
		if p.finish(time.Minute) {
			f.t.Fatalf("%s accepted a second input: %s", command, p.output())
		}
		if !strings.Contains(p.output(), "input topic") || !strings.Contains(p.output(), "ORIEL_NAME") ||
			!strings.Contains(p.output(), other) {
			f.t.Errorf("%s does not say why: %s", command, p.output())
		}
	}
	if after := f.ends(); after != before {
		f.t.Errorf("the topics end at %v, and ended at %v before the refusal", after, before)
	}
}

// ends are where the topics of a deployment end, when the markers of its last transaction are written: a broker
// answers a commit before that.
func (f *fixture) ends() (ends [3]int64) {
	f.t.Helper()
	for i, kind := range []string{"decisions", "verdicts", "changelog"} {
		f.await(time.Minute, "an end of "+kind+" without an open transaction", func() bool {
			bounds, err := f.client.Bounds(f.ctx(), f.topic(kind), 0)
			if err != nil {
				f.t.Fatal(err)
			}
			ends[i] = bounds.High
			return bounds.Stable == bounds.High
		})
	}
	return ends
}

// TestRefuseAnInputMadeAgainWhileStopped: `oriel topics` said that the deployment was ready.
func TestRefuseAnInputMadeAgainWhileStopped(t *testing.T) {
	t.Parallel()
	f := served(t)
	if err := f.client.DeleteTopic(f.ctx(), f.env["ORIEL_INPUT_TOPIC"]); err != nil {
		t.Fatal(err)
	}
	f.createTopic(f.env["ORIEL_INPUT_TOPIC"], 1, nil)
	before := f.ends()
	for _, command := range []string{"topics", "run"} {
		p := f.start(nil, command)
		if p.finish(time.Minute) || !strings.Contains(p.output(), "made again") ||
			!strings.Contains(p.output(), "ORIEL_NAME") {
			t.Errorf("%s does not say that the input was made again: %s", command, p.output())
		}
	}
	if after := f.ends(); after != before {
		t.Errorf("the topics end at %v, and ended at %v before the refusal", after, before)
	}
}
