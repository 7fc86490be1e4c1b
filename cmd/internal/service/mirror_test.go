package service_test

import (
	"testing"
	"time"

	"oriel/cmd/internal/servicetest"
	"oriel/pipeline/pipetest/logtest"
)

// mirror replaces the topics of f with their contents in a mirror of the cluster: recreated topics with the committed
// records only. Offsets become smaller, because transaction markers are not copied. The input has no markers, so the
// group's offset stays the same.
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
		f.deleteTopic(topic)
		f.CreateTopic(topic, 1, settings)
		if err := logtest.Send(f.Ctx(), f.Client, topic, 0, committed...); err != nil {
			f.T.Fatal(err)
		}
	}
	f.commitOffset(taken)
}

// TestADeploymentDoesNotGoOnInAMirror checks that a deployment refuses to continue in a mirror. A mirror has the
// records but neither the topics' ids nor the transactions' offsets, so nothing proves that its newest state is the
// newest of the deployment. Another deployment may start from the last decision in the mirror, with noise of its
// own: even under the same key, it must not draw the same noise.
func TestADeploymentDoesNotGoOnInAMirror(t *testing.T) {
	t.Parallel()
	const before, all = 100, 130
	f := servedWith(t, forgetting(), before)
	f.mirror(before)

	f.Refused(map[string]string{"ORIEL_STATE_DIR": t.TempDir()}, "made again", "ORIEL_NAME")

	next := f.next(f.end(), map[string]string{"ORIEL_MASTER_KEY_FILE": f.Env["ORIEL_MASTER_KEY_FILE"]})
	next.Must("topics")
	running := next.Start(nil, "run")
	next.AwaitTaken(time.Minute, before)
	f.Send(0, servicetest.Events(before, all-before)...)
	next.AwaitTaken(time.Minute, all)
	running.Terminate()
	next.CheckHistory(0, all-before)
}
