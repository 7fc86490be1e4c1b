package pipetest_test

import (
	"testing"
	"testing/synctest"
	"time"

	"oriel/pipeline/pipetest"
	"oriel/pipeline/pipetest/simtest"
)

// TestATakeOverAsksBrokersNotPartitions: to open the stream of a whole topic and to take it over costs a few requests to
// each broker, however many partitions the topic has.
func TestATakeOverAsksBrokersNotPartitions(t *testing.T) {
	few, many := lookedUp(t, 3), lookedUp(t, 40)
	for i, when := range []string{"opening", "take-over"} {
		if few[i] == 0 || many[i] > few[i]+2*brokersAsked { // a look of the Sequencer more
			t.Errorf("%s: %d looks at 40 partitions, %d at 3", when, many[i], few[i])
		}
	}
}

const brokersAsked = 3

// lookedUp counts the requests for offsets, epochs and topics of a process that opens a stream, and of one that takes it
// over once each partition has events.
func lookedUp(t *testing.T, partitions int) (looks [2]int) {
	synctest.Test(t, func(t *testing.T) {
		w := newWhole(t, pipetest.NewSetup(), partitions, brokersAsked)
		for i, name := range []string{"a", "b"} {
			from := len(w.Requests())
			m := w.Start(name, simtest.NewDisk(), w.setup.Run)
			time.Sleep(500 * time.Millisecond)
			for _, r := range w.Requests()[from:] {
				switch r.API {
				case "ListOffsets", "OffsetForLeaderEpoch", "Metadata":
					if r.Member == name {
						looks[i]++
					}
				}
			}
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
