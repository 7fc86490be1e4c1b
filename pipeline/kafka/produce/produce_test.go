package produce

import (
	"testing"

	"oriel/pipeline/kafka/wire"
)

// FuzzProduceAnswers fuzzes the parsers of raw answers. They must never panic, and must allocate no more than the
// input's size.
func FuzzProduceAnswers(f *testing.F) {
	f.Add([]byte{0, 0, 0, 0, 2, 0, 0, 0, 1, 2, 'h', 0, 0, 0, 1, 0, 0, 2, 'c', 0, 0, 0, 1, 1, 0})
	f.Fuzz(func(t *testing.T, b []byte) {
		parseProduce(&wire.Reader{B: b})
	})
}
