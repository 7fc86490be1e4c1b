package kafka

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	kafkago "github.com/segmentio/kafka-go"
)

const (
	// batchRecords ends a Batch: a few hundred bytes of bookkeeping per record, however small a hostile producer makes them.
	batchRecords = 1 << 15

	// batchHold ends a Batch after the record batch that brings its decompressed bytes to this.
	batchHold = 8 << 20

	// corruptLimit is how often in a row damaged bytes are blamed on the connection.
	corruptLimit = 5
)

// ReaderOptions tune a Reader; the zero value is ready.
type ReaderOptions struct {
	Uncommitted bool          // also records of open and aborted transactions; never control records
	MaxBytes    int           // of one answer, unless its first batch is larger. 0: 1 MiB
	MaxWait     time.Duration // how long the broker waits for anything to arrive. 0: 500 ms
}

func (o ReaderOptions) withDefaults() ReaderOptions {
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
	client    *Client
	topic     string
	partition int32
	options   ReaderOptions
	offset    int64 // of the next record wanted

	answer  answer // in hand; its records are nil when used up
	at      int    // next batch in answer.records
	corrupt int    // in a row

	aborted  map[int64]bool // producers whose batches are being skipped
	cursor   cursor         // in the batch before at
	plain    *buffer        // what cursor's records alias, if decompressed
	unpacker unpacker
}

// NewReader starts at offset, which Fetch checks.
func (c *Client) NewReader(topic string, partition int32, offset int64, o ReaderOptions) *Reader {
	return &Reader{
		client: c, topic: topic, partition: partition, options: o.withDefaults(), offset: offset,
		aborted: map[int64]bool{},
	}
}

// Batch is what one Fetch found. Records and all they hold are valid until Release.
type Batch struct {
	Records []Record
	From    int64 // where this Fetch started: the Next of the one before
	Next    int64 // after everything seen, records or not: where a reader that takes over starts
	Start   int64 // of the log, as of this answer
	Stable  int64
	High    int64

	headers []Header
	held    []*buffer
}

var batches = sync.Pool{New: func() any { return new(Batch) }}

// Release gives the memory of the Batch back. The Batch must not be used after it.
func (b *Batch) Release() {
	for _, h := range b.held {
		h.release()
	}
	clear(b.Records)
	clear(b.headers)
	clear(b.held)
	*b = Batch{Records: b.Records[:0], headers: b.headers[:0], held: b.held[:0]}
	batches.Put(b)
}

func (b *Batch) hold(buf *buffer) {
	if n := len(b.held); n > 0 && b.held[n-1] == buf {
		return
	}
	buf.retain()
	b.held = append(b.held, buf)
}

// Fetch returns the records that follow, waiting up to MaxWait for some. A Batch without records is no end: its Next may
// have moved over control records and aborted transactions. After an error the Reader still stands where it stood.
func (r *Reader) Fetch(ctx context.Context) (*Batch, error) {
	if r.answer.records == nil && r.cursor.done() {
		if err := r.ask(ctx); err != nil {
			return nil, err
		}
	}
	b, _ := batches.Get().(*Batch)
	b.From = r.offset
	b.Start, b.Stable, b.High = r.answer.start, r.answer.stable, r.answer.high
	err := r.fill(b)
	b.Next = r.offset
	if err == nil {
		r.corrupt = 0
		return b, nil
	}
	r.drop()
	if len(b.Records) > 0 {
		return b, nil // what came before is whole; the next call meets the error again
	}
	b.Release()
	err = fmt.Errorf("kafka: fetch %s: %w", place(r.topic, r.partition), err)
	if errors.Is(err, ErrFormat) {
		return nil, err
	}
	if r.corrupt++; r.corrupt >= corruptLimit {
		return nil, fmt.Errorf("%w after %d attempts: %w", errUsage, r.corrupt, err)
	}
	if r.client.config.OnRetry != nil {
		r.client.config.OnRetry("fetch", err)
	}
	return r.Fetch(ctx)
}

// ask gets the next answer from the leader.
func (r *Reader) ask(ctx context.Context) error {
	timeout := r.options.MaxWait + attemptTimeout
	return r.client.retry(ctx, "fetch "+place(r.topic, r.partition), func(ctx context.Context) error {
		var a answer
		req := r.client.newFetch(r.topic, r.partition, r.offset, r.options, &a)
		if _, err := r.client.roundTrip(ctx, timeout, req); err != nil {
			return err
		}
		if Code(a.code) == kafkago.OffsetOutOfRange {
			return fmt.Errorf("%w: offset %d", ErrOffsetOutOfRange, r.offset)
		}
		if a.code != 0 {
			return codeError(a.code)
		}
		r.answer, r.at = a, 0
		clear(r.aborted)
		return nil
	})
}

// fill moves records from the answer to b, until either is full or used up.
func (r *Reader) fill(b *Batch) error {
	hold := 0
	for {
		for !r.cursor.done() {
			if len(b.Records) == batchRecords {
				return nil
			}
			if err := r.take(b); err != nil {
				return err
			}
		}
		if h := r.cursor.header; h.length > 0 {
			r.offset = max(r.offset, h.next())
			hold += r.endBatch()
		}
		if r.answer.records == nil || hold >= batchHold {
			return nil
		}
		if err := r.openBatch(); err != nil {
			if errors.Is(err, errPartial) && r.at > 0 {
				err = nil
			}
			r.endAnswer()
			return err
		}
	}
}

// take moves one record.
func (r *Reader) take(b *Batch) error {
	b.Records = append(b.Records, Record{})
	n := len(b.Records) - 1
	var err error
	b.headers, err = r.cursor.next(&b.Records[n], b.headers)
	if err != nil {
		b.Records = b.Records[:n]
		return err
	}
	if b.Records[n].Offset < r.offset { // an answer starts with the batch that holds the offset asked for
		b.Records = b.Records[:n]
		return nil
	}
	r.offset = b.Records[n].Offset + 1
	switch {
	case r.plain != nil:
		b.hold(r.plain)
	case r.answer.records != nil && !b.Records[n].Unreadable:
		b.hold(r.answer.records)
	}
	return nil
}

// endBatch forgets the batch that is used up and returns how much it decompressed to.
func (r *Reader) endBatch() int {
	r.cursor = cursor{}
	if r.plain == nil {
		return 0
	}
	n := len(r.plain.b)
	r.plain.release()
	r.plain = nil
	return n
}

func (r *Reader) endAnswer() {
	if r.answer.records != nil {
		r.answer.records.release()
		r.answer.records = nil
	}
}

// drop forgets everything in hand.
func (r *Reader) drop() {
	r.endBatch()
	r.endAnswer()
}

// openBatch puts the cursor on the next batch of the answer, or leaves it done for one that holds nothing for the caller.
func (r *Reader) openBatch() error {
	wire := r.answer.records.b[r.at:]
	if len(wire) == 0 {
		if r.at == 0 {
			r.endAnswer()
			return nil
		}
		return errPartial
	}
	h, err := parseBatchHeader(wire, r.answer.headerOnly)
	if err != nil {
		return err
	}
	body := wire[batchHeaderLen:min(h.length, len(wire))]
	r.at += min(h.length, len(wire))
	skip := cursor{header: h, index: h.count}
	for len(r.answer.aborted) > 0 && r.answer.aborted[0].first < h.next() {
		r.aborted[r.answer.aborted[0].producer] = true
		r.answer.aborted = r.answer.aborted[1:]
	}
	switch {
	case h.control():
		if abortMarker(h, body) {
			delete(r.aborted, h.producer)
		}
		r.cursor = skip
		return nil
	case h.next() <= r.offset, h.transactional() && r.aborted[h.producer]:
		r.cursor = skip
		return nil
	}
	r.cursor = newCursor(h, body)
	r.cursor.broken = r.answer.headerOnly
	if h.codec() == NoCompression || r.cursor.broken {
		return nil
	}
	plain := r.client.buffers.get()
	plain.b, err = r.unpacker.unpack(h.codec(), plain.b, body, MaxBatchBytes)
	if err != nil {
		plain.release()
		r.cursor.body, r.cursor.broken = nil, true
		return nil
	}
	r.plain = plain
	r.cursor.body = plain.b
	return nil
}
