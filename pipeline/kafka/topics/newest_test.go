package topics

import (
	"slices"
	"testing"
)

// TestTheNewestAnswerCounts checks that of several answers about a partition the one of the latest leader counts, and
// of one leader's answers the largest end.
func TestTheNewestAnswerCounts(t *testing.T) {
	ends := []End{
		{Partition: 1, Offset: 90, Epoch: 3},
		{Partition: 0, Offset: 10, Epoch: 0},
		{Partition: 1, Offset: 70, Epoch: 5},
		{Partition: 2, Offset: 4, Epoch: 1},
		{Partition: 2, Offset: 6, Epoch: 1},
		{Partition: 1, Offset: 80, Epoch: 4},
	}
	want := []End{{0, 10, 0}, {1, 70, 5}, {2, 6, 1}}
	if got := newest(ends); !slices.Equal(got, want) {
		t.Errorf("ends %v, want %v", got, want)
	}
}
