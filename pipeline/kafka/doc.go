// Package kafka is a client of Kafka: batches in, transactions out, group membership, topic identity and
// administration.
//
// It uses kafka-go's Transport (dial, connection pool, TLS, SASL, routing). Requests that kafka-go lacks are encoded by
// franz-go's kmsg (Ask). It has its own record-batch codec, because kafka-go's producer is not transactional and its
// readers show aborted and control records. It has its own group membership for four reasons. kafka-go's ConsumerGroup
// joins without a member id, so that each abandoned join leaves a dead member. It sends no heartbeat while it rejoins.
// Its Close waits for a join in progress. And it has no static ids (group.Config.Instance), with which a restarted
// process keeps its partitions.
//
//	c, err := kafka.New(kafka.Config{Brokers: brokers})
//	r := fetch.NewReader(c, "events", 0, offset, fetch.Options{})          // read_committed, one partition
//	p, err := produce.New(ctx, c, "oriel/0", time.Minute)                  // fences every earlier owner of the id
//	batch, err := r.Fetch(ctx)                                             // records until batch.Release
//	err = p.Begin(ctx, parts)                                              // 1. the partitions the transaction touches
//	_, err = p.Produce(ctx, "decisions", 0, builder)                       // 2. acknowledged by all in-sync replicas
//	err = p.CommitOffsets(ctx, membership, "events", offsets)              // 3. refused to a stale generation
//	err = p.End(ctx, true)                                                 // 4. everything or nothing becomes visible
//
// This package is the connection: a Client with its retries, the leaders and coordinators that it asks, and the meaning
// of its errors. Its folders, from the bytes up, are wire (values of the protocol), records (record batches), memory
// (buffers and their budget), topics (their shape and ends), group (membership and offsets), produce (writing) and
// fetch (reading). Each imports only folders that stand before it in this list, and those after memory import this
// package.
//
// Callers can rely on this:
//   - A Record was checked by CRC-32C, is committed (unless Uncommitted), is no control record, and carries the leader
//     epoch of its batch. Offsets that hold no record are stepped over in Batch.Next and nowhere else.
//   - Nothing is reset: an offset outside the log is ErrOffsetOutOfRange. Nothing of another log is read: a topic made again
//     under the same name is ErrTopicRecreated, a log that lost records after they were read is ErrTruncated.
//   - None of these losses is taken from one answer. Requests name the leader epoch of the layout by which they are routed, and
//     no layout older than the newest known is followed. So a leader that was replaced without noticing answers "unknown
//     epoch". A loss is an error once it was found for ten seconds on end (Doubt), and a retry before.
//   - The end of a Batch, and the memory it holds, follow from framing and from Public of records, never from a key, a
//     header or a value (PROOF.md of the pipeline).
//   - Memory is bounded by Config.Budget for all Readers together, and for each by MaxBatchBytes, MaxHeaders and counts per
//     Batch, whatever a producer has sent. A record that is too large or does not parse is flagged Unreadable, a pure function
//     of its batch's bytes.
//   - Errors name places and codes, never keys, values or headers.
//   - Transient errors are retried with jittered back-off until ctx ends. Classify gives the meaning of all others.
//
// Callers must use one goroutine per Reader and per partition of a Producer. They must call Release for each Batch and
// Close for each Reader. Under a Budget, they must not call Fetch while they hold a Batch of another Reader. They must
// make a fresh Producer after ErrBroken. They must call Generation.Close once everything that belongs to the generation
// has stopped.
//
// Requires Kafka 3.1 or later (fetch by topic id). The embedded broker ignores the epoch of the last record read. So
// there only batches whose epoch goes back reveal a truncation. Its EpochEnd counts batches, so an epoch that
// compaction has emptied is lost.
package kafka
