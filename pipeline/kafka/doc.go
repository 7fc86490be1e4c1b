// Package kafka speaks to Kafka: batches in, transactions out, group membership, topic identity and administration.
//
// It stands on kafka-go's Transport (dial, connection pool, TLS, SASL, routing), and brings its own record-batch codec,
// because kafka-go's producer is not transactional and its readers show aborted and control records. It brings its own
// group membership, because kafka-go's ConsumerGroup joins without a member id, so that each join that it gives up
// stays behind as a member that nobody is; because it sends no heartbeat while it rejoins; because its Close waits for
// a join in progress; and because it has no places that last (group.Config.Instance), under which a process that was
// killed goes on where it was.
//
//	c, err := kafka.New(kafka.Config{Brokers: brokers})
//	r := fetch.NewReader(c, "events", 0, offset, fetch.Options{})          // read_committed, one partition
//	p, err := produce.New(ctx, c, "oriel/0", time.Minute)                  // fences every earlier owner of the id
//	batch, err := r.Fetch(ctx)                                             // records until batch.Release
//	err = p.Begin(ctx, parts)                                              // 1. the partitions the transaction touches
//	_, err = p.Produce(ctx, "decisions", 0, builder)                       // 2. acknowledged by all in-sync replicas
//	err = p.CommitOffset(ctx, membership, "events", 0, batch.Next)         // 3. refused to a stale generation
//	err = p.End(ctx, true)                                                 // 4. everything or nothing becomes visible
//
// This package is the connection: a Client with its retries, the leaders and coordinators that it asks, and what its
// errors mean. Its folders, from the bytes up, are wire (values of the protocol), records (record batches), memory
// (buffers and their budget), topics (their shape and ends), group (membership and offsets), produce (writing) and
// fetch (reading). Each imports only folders that stand before it in this list, and those after memory this package.
//
// What callers can rely on:
//   - A Record was checked by CRC-32C, is committed (unless Uncommitted), is no control record, and carries the leader
//     epoch of its batch. Offsets that hold no record are stepped over in Batch.Next and nowhere else.
//   - Nothing is reset: an offset outside the log is ErrOffsetOutOfRange. Nothing of another log is read: a topic made again
//     under the same name is ErrTopicRecreated, a log that lost what was read before is ErrTruncated.
//   - None of these losses is taken from one answer. Requests name the leader epoch of the layout by which they are routed, and
//     no layout older than one heard of before is followed, so that a leader that was replaced without hearing of it answers
//     "unknown epoch"; a loss is an error once it was found for ten seconds on end (Doubt), and a retry before.
//   - Where a Batch ends, and what memory it holds, follows from framing and from Public of records, never from a key, a
//     header or a value (PROOF.md of the pipeline).
//   - Memory is bounded by Config.Budget for all Readers together, and for each by MaxBatchBytes, MaxHeaders and counts per
//     Batch, whatever a producer has sent; a record that lies beyond or does not parse is flagged Unreadable, a pure function
//     of its batch's bytes.
//   - Errors name places and codes, never keys, values or headers.
//   - Transient errors are retried with jittered back-off until ctx ends; Classify says what the rest means.
//
// What callers owe: one goroutine per Reader and per partition of a Producer; Release for each Batch, and Close for
// each Reader; under a Budget, no Fetch while a Batch of another Reader is held; a fresh Producer after ErrBroken;
// Generation.Close once everything that belongs to the generation has stopped.
//
// Requires Kafka 3.1 or later (fetch by topic id). The embedded broker ignores the epoch of what was read last, so
// there only batches whose epoch goes back tell of a truncation; its EpochEnd counts batches, so an epoch that
// compaction has emptied is lost.
package kafka
