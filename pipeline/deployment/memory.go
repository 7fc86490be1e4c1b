package deployment

import (
	"oriel/pipeline/kafka/memory"
	"oriel/pipeline/kafka/records"
)

// Memory is how many bytes a process may hold in what it has fetched and computed and not yet committed, all partitions
// together. It decides when events are fetched and where transactions close, both by public sizes; never what a
// decision says, nor which record takes its place as a null event.
//
// A third of what is left beside one record batch of the largest size is for fetched and decompressed batches; Readers
// wait for their share of it, and the large ones take turns (memory.Budget). Two thirds are for transactions, the same
// for each partition, so that where one closes does not depend on what the others do: the one that is computed takes
// the memory of the one before it, as that is acknowledged.
type Memory int

const (
	// LeastMemory keeps room for transactions of a few MiB beside the largest batch.
	LeastMemory Memory = 80 << 20

	// MostMemory is more than any machine has; sums with it do not overflow.
	MostMemory Memory = 1 << 40

	// processMemory is what the rest of a process takes: the local store's tables, connections, garbage, and 6 MiB of
	// events that are decoded ahead.
	processMemory = 46 << 20

	// partitionMemory is what a partition takes beside batches and transactions: goroutines, decoder and encoder,
	// records of fetched batches.
	partitionMemory = 1 << 20

	// stateCopies is how often a state is in memory: the stream, what is sealed, two transactions with their
	// requests, the store and its log.
	stateCopies = 8

	// leastTransaction keeps the requests of a transaction, some ten, worth their while when there are very many
	// partitions.
	leastTransaction = 64 << 10
)

// Fetching is the bound for all Readers of the process.
func (m Memory) Fetching() *memory.Budget {
	if m == 0 {
		return nil
	}
	return memory.NewBudget(int(max(0, m-records.MaxBatchBytes) / 3))
}

// Joining is Fetching in two halves, for a process that reads records of one topic, inner, while it holds some of
// another, outer.
func (m Memory) Joining() (outer, inner *memory.Budget) {
	if m == 0 {
		return nil, nil
	}
	half := int(max(0, m-records.MaxBatchBytes) / 6)
	return memory.NewBudget(half), memory.NewBudget(half)
}

// Transactions are the bytes of those of a partition, the one that is computed and the one that commits, when the
// process has so many partitions.
func (m Memory) Transactions(partitions, most int) int {
	if m == 0 {
		return 2 * most
	}
	share := int(max(0, m-records.MaxBatchBytes)) / 3 * 2 / max(partitions, 1)
	return min(max(share, 2*leastTransaction), 2*most)
}

// Limit is what the memory of the Go runtime may grow to when the process has partitions with states of so many bytes
// together.
func (m Memory) Limit(partitions, states int) int64 {
	return int64(m) + processMemory + int64(partitions)*partitionMemory + int64(states)*stateCopies
}

// FetchBytes is what one fetch asks for: some thousands of events, so that a commit interval holds several fetches and
// a partition's buffers stay within a few MiB.
const FetchBytes = 1 << 20
