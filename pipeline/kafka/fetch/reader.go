package fetch

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"oriel/pipeline/kafka"
	"oriel/pipeline/kafka/memory"
	"oriel/pipeline/kafka/records"
)

// corruptLimit is the number of consecutive damaged answers that may come from the connection; after more the log
// counts as damaged.
const corruptLimit = 5

// Options tune a Reader; the zero value is ready.
type Options struct {
	Uncommitted bool          // also read records of open and aborted transactions; never control records
	MaxBytes    int           // bytes of one answer; a larger first batch exceeds it. 0: 1 MiB
	MaxWait     time.Duration // how long the broker waits for the first byte. 0: 500 ms

	// ID is the topic's id. Records of another topic under the same name are never returned: ErrTopicRecreated. Zero:
	// the id of the topic at the first Fetch.
	ID [16]byte

	// LastEpoch is the Batch.LeaderEpoch with which an earlier reader stopped at this offset. If the log has lost
	// records that the earlier reader had read, the broker reports it (ErrTruncated). Nil or -1: unknown. NewReader
	// copies it.
	LastEpoch *int32

	// Whole refuses a log in which an offset between two others has no record: ErrHole. With Uncommitted set, only
	// compaction makes such holes.
	Whole bool

	// Budget bounds this Reader's batches. Nil: Config.Budget. A caller that holds a Batch of one Reader while it waits
	// for another Reader must give each its own Budget.
	Budget *memory.Budget
}

func (o Options) withDefaults() Options {
	if o.MaxBytes <= 0 {
		o.MaxBytes = 1 << 20
	}
	if o.MaxWait <= 0 {
		o.MaxWait = 500 * time.Millisecond
	}
	return o
}

// Reader reads one partition in order. It is not safe for concurrent use.
type Reader struct {
	client    *kafka.Client
	topic     string
	partition int32
	options   Options
	budget    *memory.Budget
	offset    int64 // offset of the next record to return
	epoch     int32 // leader epoch of the last batch read, or −1

	id     [16]byte    // id of the topic; zero before it is looked up
	pinned bool        // the caller has set id, or a fetch by this id has succeeded
	spoken bool        // the broker supports fetchVersion
	doubt  kafka.Doubt // losses that answers show, until they are confirmed

	answer  fetchResponse // the current answer; its records are nil once used up
	at      int           // position in answer.records of the next batch
	corrupt int           // number of consecutive corrupt answers
	expect  int           // expected bytes of records in the next answer, from the last one

	aborted map[int64]bool // producers whose batches are skipped, as part of aborted transactions
	cursor  records.Cursor // reads the records of the batch before at
	packed  []byte         // compressed records of the batch before at, until there is room to decompress them
	plain   *memory.Buffer // decompressed records that cursor's records alias, or nil
	made    int            // decompressed bytes of the last batch

	hurried bool // TryFetch: the Reader must not wait for memory
}

// NewReader returns a Reader that starts at offset; Fetch checks the offset.
func NewReader(c *kafka.Client, topic string, partition int32, offset int64, o Options) *Reader {
	r := &Reader{
		client: c, topic: topic, partition: partition, options: o.withDefaults(), offset: offset, epoch: -1,
		budget: cmp.Or(o.Budget, c.Budget()), doubt: c.Doubt(),
		id: o.ID, pinned: o.ID != [16]byte{}, aborted: map[int64]bool{},
	}
	if o.LastEpoch != nil {
		r.epoch = max(*o.LastEpoch, -1)
		c.NoteEpoch(kafka.TopicPartition{Topic: topic, Partition: partition}, r.epoch)
	}
	return r
}

// Close frees the Reader's memory. Batches that it returned stay valid until their Release.
func (r *Reader) Close() { r.drop() }

// Holds reports whether the Reader itself holds memory, not counting the Batches that it returned.
func (r *Reader) Holds() bool { return r.answer.records != nil || r.plain != nil }

// Fetch returns the next records, and waits up to MaxWait for them. A Batch without records does not mean the end of
// the log: its Next may have skipped control records and aborted transactions. If Next equals From, there is no record
// to read up to the end for read_committed. After an error the Reader has not moved.
func (r *Reader) Fetch(ctx context.Context) (*Batch, error) { return r.fetch(ctx, false) }

// TryFetch is Fetch for a caller that must not wait for memory: it returns memory.ErrNoRoom where Fetch would wait. The
// Reader keeps its current answer; Close frees it.
func (r *Reader) TryFetch(ctx context.Context) (*Batch, error) { return r.fetch(ctx, true) }

func (r *Reader) fetch(ctx context.Context, hurried bool) (*Batch, error) {
	r.hurried = hurried
	fresh := r.answer.records == nil && r.cursor.Done()
	if fresh {
		if err := r.ask(ctx); err != nil {
			return nil, err
		}
	}
	b, _ := batches.Get().(*Batch)
	b.From, b.Partition = r.offset, r.partition
	b.Start, b.Stable, b.High = r.answer.start, r.answer.stable, r.answer.high
	err := r.fill(ctx, b)
	b.Next, b.LeaderEpoch = r.offset, r.epoch
	if err == nil {
		r.corrupt = 0
		if b.Next == b.From && !fresh { // the previous answer is used up, but more records may follow
			b.Release()
			return r.fetch(ctx, hurried)
		}
		return b, nil
	}
	if errors.Is(err, memory.ErrNoRoom) { // b is empty then
		b.Release()
		return nil, err
	}
	r.drop()
	if b.Next > b.From {
		return b, nil // the records before the error are complete; the next call returns the error
	}
	b.Release()
	err = fmt.Errorf("kafka: fetch %s: %w", kafka.PartitionName(r.topic, r.partition), err)
	if errors.Is(err, records.ErrFormat) || errors.Is(err, kafka.ErrTruncated) || errors.Is(err, kafka.ErrHole) ||
		ctx.Err() != nil {
		return nil, err
	}
	if r.corrupt++; r.corrupt >= corruptLimit {
		return nil, fmt.Errorf("%w after %d attempts: %w", kafka.ErrUsage, r.corrupt, err)
	}
	r.client.OnRetry("fetch", err)
	return r.fetch(ctx, hurried)
}

// fill moves records from the answer to b, until b is full or the answer is used up. It waits for memory to decompress
// only while b is empty, because otherwise b would hold memory that other Readers may need.
func (r *Reader) fill(ctx context.Context, b *Batch) error {
	hold := 0
	for {
		if r.packed != nil {
			if ok, err := r.unpack(ctx, len(b.Records) == 0 && !(r.hurried && r.offset > b.From)); !ok {
				return err
			}
		}
		for !r.cursor.Done() {
			if len(b.Records) == batchRecords {
				return nil
			}
			r.take(b)
		}
		if h := r.cursor.Header; h.Length > 0 {
			r.offset = max(r.offset, h.Next())
			hold += r.endBatch()
		}
		if r.answer.records == nil || hold >= batchHold {
			return nil
		}
		if err := r.openBatch(b); err != nil {
			if errors.Is(err, records.ErrPartial) && r.at > 0 {
				err = nil
			}
			r.endAnswer()
			return err
		}
	}
}

// take moves one record. The Batch holds the memory of the record's batch, whether the record can be decoded or not.
func (r *Reader) take(b *Batch) {
	b.Records = append(b.Records, records.Record{})
	n := len(b.Records) - 1
	at := r.cursor.Next(&b.Records[n])
	if at.Offset < r.offset { // an answer starts with the batch that holds the offset
		b.Records[n] = records.Record{}
		b.Records = b.Records[:n]
		return
	}
	r.offset = at.Offset + 1
	if r.plain != nil {
		b.hold(r.plain)
	} else {
		b.hold(r.answer.records)
	}
}

// endBatch drops the batch that is used up and returns its decompressed size.
func (r *Reader) endBatch() int {
	r.cursor, r.packed = records.Cursor{}, nil
	if r.plain == nil {
		return 0
	}
	n := max(len(r.plain.B), leastHold)
	r.plain.Release()
	r.plain = nil
	return n
}

func (r *Reader) endAnswer() {
	if r.answer.records != nil {
		r.answer.records.Release()
		r.answer.records = nil
	}
}

// drop frees the answer and the decompressed batch.
func (r *Reader) drop() {
	r.endBatch()
	r.endAnswer()
}

// openBatch moves the cursor to the next batch of the answer. A batch without records for the caller is done at once. b
// notes its epoch.
func (r *Reader) openBatch(b *Batch) error {
	wire := r.answer.records.B[r.at:]
	if len(wire) == 0 {
		if r.at == 0 {
			r.endAnswer()
			return nil
		}
		return records.ErrPartial
	}
	h, err := records.ParseHeader(wire, r.answer.headerOnly)
	if err != nil {
		return err
	}
	if h.LeaderEpoch < r.epoch {
		return fmt.Errorf("%w: epoch %d at offset %d, after epoch %d", kafka.ErrTruncated, h.LeaderEpoch, h.Base, r.epoch)
	}
	if h.LeaderEpoch > r.epoch {
		r.epoch = h.LeaderEpoch
		r.client.NoteEpoch(kafka.TopicPartition{Topic: r.topic, Partition: r.partition}, r.epoch)
	}
	if r.options.Whole && (h.Base > r.offset || h.Compacted()) {
		return fmt.Errorf("%w: offset %d, or some up to %d", kafka.ErrHole, r.offset, h.Next()-1)
	}
	b.enter(Epoch{h.Base, h.LeaderEpoch})
	body := wire[records.HeaderLen:min(h.Length, len(wire))]
	r.at += min(h.Length, len(wire))
	skip := records.Skipped(h)
	for len(r.answer.aborted) > 0 && r.answer.aborted[0].first < h.Next() {
		r.aborted[r.answer.aborted[0].producer] = true
		r.answer.aborted = r.answer.aborted[1:]
	}
	switch {
	case h.Control():
		if records.AbortMarker(h, body) {
			delete(r.aborted, h.Producer)
		}
		r.cursor = skip
		return nil
	case h.Next() <= r.offset, h.Transactional() && r.aborted[h.Producer]:
		r.cursor = skip
		return nil
	}
	r.cursor = records.NewCursor(h, body)
	r.cursor.Lost = r.answer.headerOnly
	if h.Codec() != records.NoCompression && !r.cursor.Lost {
		r.cursor.Body, r.packed = nil, body
	}
	return nil
}
