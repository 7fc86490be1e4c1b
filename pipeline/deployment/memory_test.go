package deployment

import (
	"testing"

	"oriel/pipeline/kafka/records"
)

// TestSharesOfMemory checks a partition's share for transactions, which follows from the setting and the number of
// partitions, between a smallest and a largest value.
func TestSharesOfMemory(t *testing.T) {
	const most = 32 << 20
	beside := func(bytes int) Memory { return Memory(records.MaxBatchBytes + bytes) }
	for _, c := range []struct {
		memory     Memory
		partitions int
		want       int
	}{
		{0, 7, 2 * most},                            // without a bound each transaction may have its largest size
		{beside(3 << 20), 1, 2 << 20},               // transactions get two thirds
		{beside(3 << 20), 2, 1 << 20},               // partitions share the two thirds equally
		{beside(3 << 20), 0, 2 << 20},               // before partitions are known, as for one
		{beside(3 << 20), 16, 2 * leastTransaction}, // the most partitions that each get leastTransaction
		{beside(3 << 20), 17, 2 * leastTransaction}, // with more partitions each still gets leastTransaction
		{beside(3 << 20), 15, 2 << 20 / 15},
		{beside(96<<20 - 3), 1, 2*most - 2}, // just below the largest size
		{beside(96 << 20), 1, 2 * most},
		{beside(99 << 20), 1, 2 * most},
		{records.MaxBatchBytes - 1, 1, 2 * leastTransaction},
	} {
		if got := c.memory.Transactions(c.partitions, most); got != c.want {
			t.Errorf("%d bytes, %d partitions: %d for transactions, want %d", c.memory, c.partitions, got, c.want)
		}
	}
	if Memory(0).Fetching() != nil {
		t.Error("a budget without a bound")
	}
}
