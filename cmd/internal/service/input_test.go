package service_test

import (
	"strings"
	"testing"
	"time"

	"oriel/cmd/internal/servicetest"
	"oriel/pipeline/kafka/topics"
)

// TestRefuseASecondInputUnderOneName checks that a deployment refuses a second input. Transactional ids contain the
// input's id, so services on two inputs would not fence each other. Without the check, users saw a second service that
// was ready and got no events.
func TestRefuseASecondInputUnderOneName(t *testing.T) {
	t.Parallel()
	f := newFixture(t, 1, nil)
	f.Must("topics")
	f.refusesInputs()
	f.Send(0, servicetest.Events(0, 50)...)
	p := f.Start(nil, "run")
	f.AwaitTaken(time.Minute, 50)
	p.Terminate()
	f.refusesInputs()
	f.goesOn(50)
}

// refusesInputs checks that neither `oriel topics` nor `oriel run` accepts another input, and that neither writes
// anything.
func (f *fixture) refusesInputs() {
	f.T.Helper()
	other := f.Name + ".other"
	if err := topics.Create(f.Ctx(), f.Client, other, 1, 1, nil); err != nil && !strings.Contains(err.Error(), "exists") {
		f.T.Fatal(err)
	}
	before := f.ends()
	for _, command := range []string{"topics", "run"} {
		p := f.Start(map[string]string{"ORIEL_INPUT_TOPIC": other}, command)
		if p.Finish(time.Minute) {
			f.T.Fatalf("%s accepted a second input: %s", command, p.Output())
		}
		if !strings.Contains(p.Output(), "input topic") || !strings.Contains(p.Output(), "ORIEL_NAME") ||
			!strings.Contains(p.Output(), other) {
			f.T.Errorf("%s does not say why: %s", command, p.Output())
		}
	}
	if after := f.ends(); after != before {
		f.T.Errorf("the topics end at %v, and ended at %v before the refusal", after, before)
	}
}

// ends returns the end offsets of the deployment's topics once the markers of its last transaction are written. It
// waits for the markers, because a broker acknowledges a commit before it writes them.
func (f *fixture) ends() (ends [3]int64) {
	f.T.Helper()
	for i, kind := range []string{"decisions", "verdicts", "changelog"} {
		f.Await(time.Minute, "an end of "+kind+" without an open transaction", func() bool {
			bounds, err := topics.BoundsOf(f.Ctx(), f.Client, f.Topic(kind), 0)
			if err != nil {
				f.T.Fatal(err)
			}
			ends[i] = bounds.High
			return bounds.Stable == bounds.High
		})
	}
	return ends
}

// TestRefuseAnInputMadeAgainWhileStopped deletes and recreates the input while the service is stopped. `oriel topics`
// once reported such a deployment as ready.
func TestRefuseAnInputMadeAgainWhileStopped(t *testing.T) {
	t.Parallel()
	f := served(t)
	f.deleteTopic(f.Env["ORIEL_INPUT_TOPIC"])
	f.CreateTopic(f.Env["ORIEL_INPUT_TOPIC"], 1, nil)
	before := f.ends()
	for _, command := range []string{"topics", "run"} {
		p := f.Start(nil, command)
		if p.Finish(time.Minute) || !strings.Contains(p.Output(), "made again") ||
			!strings.Contains(p.Output(), "ORIEL_NAME") {
			t.Errorf("%s does not say that the input was made again: %s", command, p.Output())
		}
	}
	if after := f.ends(); after != before {
		t.Errorf("the topics end at %v, and ended at %v before the refusal", after, before)
	}
}
