package group

import (
	"testing"

	"oriel/pipeline/kafka/wire"
)

// FuzzGroupAnswers fuzzes the parsers of raw answers. They must never panic, and must allocate no more than the input's
// size.
func FuzzGroupAnswers(f *testing.F) {
	f.Add([]byte{0, 0, 0, 0, 2, 0, 0, 0, 1, 2, 'h', 0, 0, 0, 1, 0, 0, 2, 'c', 0, 0, 0, 1, 1, 0})
	f.Fuzz(func(t *testing.T, b []byte) {
		for _, parse := range []func(*wire.Reader){
			func(r *wire.Reader) { parseOffsetFetch(r, []int32{0, 1}) },
			func(r *wire.Reader) { parseJoin(r, "t") },
			func(r *wire.Reader) { parseSync(r, "t") },
			func(r *wire.Reader) { parseLeave(r) },
			func(r *wire.Reader) { parseDescribeGroup(r, "t") },
		} {
			parse(&wire.Reader{B: b})
		}
	})
}
