package pipetest_test

import (
	"testing"
	"testing/synctest"
	"time"

	"oriel/pipeline/notice"
	"oriel/pipeline/pipetest"
	"oriel/pipeline/pipetest/simtest"
)

// TestATakeOverAsksBrokersNotPartitions checks that opening the stream of a whole topic, or taking it over, costs a few
// requests to each broker, independent of the number of partitions.
func TestATakeOverAsksBrokersNotPartitions(t *testing.T) {
	few, many := lookedUp(t, 12), lookedUp(t, 48)
	for i, when := range []string{"opening", "take-over"} {
		if few[i] == 0 || many[i] > few[i]+2*4 { // two brokers may lead all 12 partitions
			t.Errorf("%s: %d looks at 48 partitions, %d at 12", when, many[i], few[i])
		}
	}
}

// lookedUp counts the requests for offsets, epochs and topics until the stream runs: first of a process that opens it,
// and then of one that takes it over after each partition has got events.
func lookedUp(t *testing.T, partitions int) (looks [2]int) {
	synctest.Test(t, func(t *testing.T) {
		w := newWhole(t, pipetest.NewSetup(), partitions, 3)
		for i, name := range []string{"a", "b"} {
			from := len(w.Requests())
			setup := w.setup
			setup.Listener.State = func(_ int32, state notice.TaskState) {
				if state != notice.Running {
					return
				}
				for _, r := range w.Requests()[from:] {
					switch r.API {
					case "ListOffsets", "OffsetForLeaderEpoch", "Metadata":
						looks[i]++
					}
				}
			}
			m := w.Start(name, simtest.NewDisk(), setup.Run)
			time.Sleep(time.Second)
			for p := range partitions {
				w.send(p, 2)
			}
			time.Sleep(time.Second)
			if err := m.Stop(); err != nil {
				t.Error(err)
			}
			w.groupAt(int32(partitions-1), 2*(i+1))
		}
	})
	return looks
}
