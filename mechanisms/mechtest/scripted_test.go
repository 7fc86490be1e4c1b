package mechtest_test

import (
	"slices"
	"testing"

	"oriel/mechanisms"
	"oriel/mechanisms/mechtest"
	"oriel/mechanisms/noise"
)

// TestScriptedSumShowsItsLines checks that a scripted sum releases its lines independent of its input, and can be
// restored to any line.
func TestScriptedSumShowsItsLines(t *testing.T) {
	lines := [][]float64{{1, 2}, {3, 4}, {5, 6}}
	sum := mechtest.NewScripted(func(dst []float64, step uint64) { copy(dst, lines[step-1]) })
	c := mechtest.Config(2)
	stream, err := mechanisms.NewStream(c, mechtest.Plan(t, c), [32]byte{1}, sum)
	if err != nil {
		t.Fatal(err)
	}
	start := stream.AppendState(nil)
	for range 2 {
		for i, line := range lines {
			stream.Add(noise.Identity{Offset: int64(i)}, []float64{float64(i), -1})
			if stream.Close(); !slices.Equal(stream.Sum(0), line) ||
				sum.Steps() != uint64(i+1) {
				t.Errorf("line %d: %v", i, stream.Sum(0))
			}
		}
		if err := stream.Restore(start); err != nil {
			t.Fatal(err)
		}
	}
	if err := sum.Restore([]byte{1}); err == nil {
		t.Error("a state of one byte")
	}
}
