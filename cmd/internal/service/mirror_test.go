package service_test

import (
	"testing"
	"time"

	"oriel/cmd/internal/servicetest"
	"oriel/pipeline/kafka/topics"
	"oriel/pipeline/pipetest"
)

// mirror turns the topics of f into what a mirror of the cluster has: the committed records alone, in topics made
// again. Offsets close up where transactions had their markers. The group's offset is taken along, as a mirror
// translates it: the input has no markers.
func (f *fixture) mirror(taken int64) {
	f.T.Helper()
	for _, topic := range []string{
		f.Env["ORIEL_INPUT_TOPIC"], f.Topic("decisions"), f.Topic("verdicts"), f.Topic("changelog"),
	} {
		committed := f.Read(topic, 0, false)
		settings := map[string]string{"cleanup.policy": "delete"}
		if topic == f.Topic("changelog") {
			settings = map[string]string{"cleanup.policy": "compact", "max.message.bytes": "8388608"}
		}
		if err := topics.Delete(f.Ctx(), f.Client, topic); err != nil {
			f.T.Fatal(err)
		}
		f.CreateTopic(topic, 1, settings)
		if err := pipetest.Send(f.Ctx(), f.Client, topic, 0, committed...); err != nil {
			f.T.Fatal(err)
		}
	}
	f.commitOffset(taken)
}

// TestADeploymentDoesNotGoOnInAMirror: a mirror has the records, and neither the ids of topics nor the offsets of
// transactions, so that nothing says whether its newest state is the newest. Another deployment goes on after the last
// decision there, with noise of its own, and the same key as before does not make it draw the same noise twice.
func TestADeploymentDoesNotGoOnInAMirror(t *testing.T) {
	t.Parallel()
	const before, all = 100, 130
	f := newFixture(t, 1, forgetting())
	f.Must("topics")
	f.Send(0, servicetest.Events(0, before)...)
	running := f.Start(nil, "run")
	f.AwaitTaken(time.Minute, before)
	running.Terminate()
	f.mirror(before)

	f.Refused(map[string]string{"ORIEL_STATE_DIR": t.TempDir()}, "made again", "ORIEL_NAME")

	next := f.after(map[string]string{"ORIEL_MASTER_KEY_FILE": f.Env["ORIEL_MASTER_KEY_FILE"]})
	next.Must("topics")
	running = next.Start(nil, "run")
	next.AwaitTaken(time.Minute, before)
	f.Send(0, servicetest.Events(before, all-before)...)
	next.AwaitTaken(time.Minute, all)
	running.Says("goes on after " + f.Name + ": from its decision of step 100, at offset 100")
	running.Terminate()
	next.CheckHistory(0, all-before)
}
