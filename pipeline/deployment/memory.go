package deployment

import (
	"oriel/pipeline/kafka/memory"
	"oriel/pipeline/kafka/records"
)

// Memory is the greatest number of bytes that a process may hold in data that was fetched or computed and not yet
// committed, all partitions together. It decides when events are fetched and where transactions close, both by public
// sizes. It never decides the content of a decision, nor which record takes its place as a null event.
//
// Memory is first reduced by one record batch of the largest size. A third of the rest is for fetched and decompressed
// batches: Readers wait for their share of it, and large batches take turns (memory.Budget). Two thirds are for
// transactions, in equal shares for all partitions, so that the place where one closes does not depend on the others.
// The transaction that is being computed takes over the memory of the one before it, as that is acknowledged.
type Memory int

const (
	// LeastMemory leaves room for transactions of a few MiB beside the largest batch.
	LeastMemory Memory = 80 << 20

	// MostMemory is more than any machine has; sums with it do not overflow.
	MostMemory Memory = 1 << 40

	// processMemory is the memory of the rest of a process: the local store's tables, connections, garbage, and 6 MiB
	// of events that are decoded ahead.
	processMemory = 46 << 20

	// partitionMemory is the memory of a partition beside batches and transactions: goroutines, decoder and encoder,
	// records of fetched batches.
	partitionMemory = 1 << 20

	// stateCopies is the number of copies of a state in memory: the stream, the sealed state, two transactions with
	// their requests, the store and its log.
	stateCopies = 8

	// leastTransaction is a size at which a transaction is worth its ten or so requests, even with very many
	// partitions.
	leastTransaction = 64 << 10
)

// Fetching returns the budget that all Readers of the process share.
func (m Memory) Fetching() *memory.Budget {
	if m == 0 {
		return nil
	}
	return memory.NewBudget(int(max(0, m-records.MaxBatchBytes) / 3))
}

// Joining returns the budget of Fetching in two halves, for a process that reads records of one topic, inner, while it
// holds records of another, outer.
func (m Memory) Joining() (outer, inner *memory.Budget) {
	if m == 0 {
		return nil, nil
	}
	half := int(max(0, m-records.MaxBatchBytes) / 6)
	return memory.NewBudget(half), memory.NewBudget(half)
}

// Transactions returns the bytes that a partition has for two transactions, the one that is computed and the one that
// commits, if the process has so many partitions.
func (m Memory) Transactions(partitions, most int) int {
	if m == 0 {
		return 2 * most
	}
	share := int(max(0, m-records.MaxBatchBytes)) / 3 * 2 / max(partitions, 1)
	return min(max(share, 2*leastTransaction), 2*most)
}

// Limit returns the memory limit for the Go runtime, for a process with so many partitions, whose states have so many
// bytes together.
func (m Memory) Limit(partitions, states int) int64 {
	return int64(m) + processMemory + int64(partitions)*partitionMemory + int64(states)*stateCopies
}

// FetchBytes is the size of one fetch: some thousands of events, so that a commit interval holds several fetches and
// the buffers of a partition stay within a few MiB.
const FetchBytes = 1 << 20
