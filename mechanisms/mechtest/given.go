package mechtest

import (
	"testing"

	"oriel/mechanisms"
	"oriel/mechanisms/audit/given"
)

// GivenStream opens a stream whose public sums are those of release, which is asked for each part in turn. Its
// Guarantee is the plan's, and says nothing.
func GivenStream(
	tb testing.TB, c mechanisms.Config, p mechanisms.Plan, release func(dst []float64, step uint64),
) *mechanisms.Stream {
	tb.Helper()
	var sums []mechanisms.Sum
	for range c.Leaf.Parts {
		sums = append(sums, given.New(release))
	}
	stream, err := mechanisms.NewStream(c, p, [32]byte{2}, sums...)
	if err != nil {
		tb.Fatal(err)
	}
	return stream
}
