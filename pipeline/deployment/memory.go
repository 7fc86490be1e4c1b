package deployment

import (
	"oriel/pipeline/kafka/memory"
	"oriel/pipeline/kafka/records"
)

// Memory is the largest number of bytes of data that a process may hold fetched or computed but not committed, over all
// partitions. It determines when events are fetched and where transactions close, both by public sizes. It never
// affects the content of a decision, nor which records become null events.
//
// One record batch of the largest size is subtracted first. A third of the remainder is for fetched and decompressed
// batches: Readers wait for their share of it, and large batches take turns (memory.Budget). Two thirds are for
// transactions, in equal shares for all partitions, so that the end of a transaction does not depend on other
// partitions. While a transaction is being computed, it takes over the memory of the previous one as brokers
// acknowledge it.
type Memory int

const (
	// LeastMemory leaves room for transactions of a few MiB in addition to the largest batch.
	LeastMemory Memory = 80 << 20

	// MostMemory is more than any machine has; sums with it do not overflow.
	MostMemory Memory = 1 << 40

	// processMemory is the other memory of a process: the local store's tables, connections, garbage, and 6 MiB of
	// events decoded ahead of the walk.
	processMemory = 46 << 20

	// partitionMemory is the memory of a partition without batches and transactions: goroutines, decoder and encoder,
	// records of fetched batches.
	partitionMemory = 1 << 20

	// stateCopies is the number of copies of a state in memory: the stream, the sealed state, two transactions with
	// their requests, the store and its log.
	stateCopies = 8

	// leastTransaction is the size from which on a transaction is worth its ten or so requests. A share is never
	// smaller, even with very many partitions.
	leastTransaction = 64 << 10
)

// Fetching returns the budget that all Readers of a process share.
func (m Memory) Fetching() *memory.Budget {
	if m == 0 {
		return nil
	}
	return memory.NewBudget(int(max(0, m-records.MaxBatchBytes) / 3))
}

// Joining returns two budgets, each half of Fetching. They are for a process that reads records of one topic (inner)
// while it holds records of another (outer).
func (m Memory) Joining() (outer, inner *memory.Budget) {
	if m == 0 {
		return nil, nil
	}
	half := int(max(0, m-records.MaxBatchBytes) / 6)
	return memory.NewBudget(half), memory.NewBudget(half)
}

// Transactions returns the bytes that each of the process's partitions has for two transactions together: the one being
// computed and the one being committed.
func (m Memory) Transactions(partitions, most int) int {
	if m == 0 {
		return 2 * most
	}
	share := int(max(0, m-records.MaxBatchBytes)) / 3 * 2 / max(partitions, 1)
	return min(max(share, 2*leastTransaction), 2*most)
}

// Limit returns the memory limit for the Go runtime, for a process with this number of partitions, whose states have
// this total size in bytes, and whose users in periods take this many bytes.
func (m Memory) Limit(partitions, states, users int) int64 {
	return int64(m) + processMemory + int64(partitions)*partitionMemory + int64(states)*stateCopies + int64(users)
}

// FetchBytes is the size of one fetch: some thousands of events, so that a commit interval holds several fetches and
// the buffers of a partition stay within a few MiB.
const FetchBytes = 1 << 20
