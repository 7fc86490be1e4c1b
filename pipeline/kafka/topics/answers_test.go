package topics

import (
	"testing"

	"oriel/pipeline/kafka/wire"
)

// FuzzTopicAnswers fuzzes the parsers of raw answers. They must never panic, and must allocate no more than the input's
// size.
func FuzzTopicAnswers(f *testing.F) {
	f.Add([]byte{0, 0, 0, 0, 2, 0, 0, 0, 1, 2, 'h', 0, 0, 0, 1, 0, 0, 2, 'c', 0, 0, 0, 1, 1, 0})
	f.Fuzz(func(t *testing.T, b []byte) {
		for _, parse := range []func(*wire.Reader){
			func(r *wire.Reader) {
				n := 0
				if parseListOffsets(r, func(answer) { n++ }); n > len(b)/26 {
					t.Fatalf("%d offsets in %d bytes", n, len(b))
				}
			},
			func(r *wire.Reader) {
				n := 0
				if parseEpochEnds(r, func(answer) { n++ }); n > len(b)/18 {
					t.Fatalf("%d epochs in %d bytes", n, len(b))
				}
			},
			func(r *wire.Reader) { parseDeleteRecords(r) },
			func(r *wire.Reader) {
				cluster, _ := parseMetadata(r)
				if r.Err == nil && len(cluster.Topics) > len(b)/25 {
					t.Fatalf("%d topics in %d bytes", len(cluster.Topics), len(b))
				}
			},
		} {
			parse(&wire.Reader{B: b})
		}
	})
}
