package fetch

import (
	"cmp"
	"encoding/binary"
	"io"
	"math"
	"slices"

	"github.com/segmentio/kafka-go/protocol"

	"oriel/pipeline/kafka"
	"oriel/pipeline/kafka/memory"
	"oriel/pipeline/kafka/records"
	"oriel/pipeline/kafka/wire"
)

// fetchVersion is the first version that asks by topic id (Kafka 3.1), so that the broker refuses a recreated topic.
const fetchVersion = 13

// fetchResponse is the part of a Fetch response that belongs to the one partition asked for.
type fetchResponse struct {
	code                int16
	id                  [16]byte // id of the topic
	start, stable, high int64
	aborted             []abortedTxn   // sorted by first offset
	records             *memory.Buffer // complete batches, perhaps a truncated one at the end; nil if the code is not 0
	headerOnly          bool           // records is only a batch header with a valid checksum; its body exceeds the limit
	refused             int            // bytes of records for which there was no room; then there are no records
	diverged            bool           // the log does not have the records that were read before
}

// abortedTxn marks the batches of a producer from offset first up to its next control record as aborted.
type abortedTxn struct{ producer, first int64 }

// newFetch returns a fetch request with the leader's epoch.
func (r *Reader) newFetch(leader int32, d *delivery) *kafka.LeaderCall {
	be := binary.BigEndian
	body := be.AppendUint32(nil, ^uint32(0)) // replica id −1: a consumer
	body = be.AppendUint32(body, uint32(r.options.MaxWait.Milliseconds()))
	body = be.AppendUint32(body, 1) // least bytes 1: answer as soon as there is a byte
	// Only the partition's own limit must matter. If this limit were reached first, the embedded broker would leave the
	// aborted transactions out of its answer, and their records would look committed.
	body = be.AppendUint32(body, math.MaxInt32)
	if r.options.Uncommitted {
		body = append(body, 0)
	} else {
		body = append(body, 1)
	}
	body = be.AppendUint32(body, 0)          // session id 0
	body = be.AppendUint32(body, ^uint32(0)) // session epoch −1: no session
	body = append(body, 2)                   // array of one topic
	body = append(body, r.id[:]...)
	body = append(body, 2) // array of one partition
	body = be.AppendUint32(body, uint32(r.partition))
	body = be.AppendUint32(body, uint32(leader))
	body = be.AppendUint64(body, uint64(r.offset))
	body = be.AppendUint32(body, uint32(r.epoch)) // epoch of the last record read
	body = be.AppendUint64(body, ^uint64(0))      // log start −1: a consumer
	body = be.AppendUint32(body, uint32(r.options.MaxBytes))
	body = append(body, 0, 0, 1, 1, 0) // tags of partition and topic; no forgotten topics; no rack; tags
	c := r.client
	req := &kafka.LeaderCall{
		Call: c.NewCall(protocol.Fetch, fetchVersion, true, body), Topic: r.topic, Partition: r.partition,
	}
	req.Read = func(from io.Reader, remaining int) error {
		a, err := readFetch(from, remaining, d.room, records.MaxBatchBytes)
		d.put(a)
		return err
	}
	return req
}

// readFetch reads a Fetch 13 answer of remaining bytes for one partition. It allocates no more than the bytes that have
// arrived, no more than limit, and above memory.KeepBytes only buffers from room, which returns nil if there is no
// memory now.
func readFetch(r io.Reader, remaining int, room func(bytes int) *memory.Buffer, limit int) (fetchResponse, error) {
	f := wire.NewFrame(r, remaining)
	a := fetchResponse{start: -1, stable: -1, high: -1}
	f.Tags()
	head := f.Next(10)
	head.Int32() // throttle time
	a.code = head.Int16()
	topics := f.Array()
	if topics == 0 && a.code != 0 && f.Err == nil {
		return a, nil
	}
	id := f.Next(16)
	copy(a.id[:], id.B)
	if partitions := f.Array(); f.Err == nil && (topics != 1 || partitions != 1) {
		return a, wire.ErrShort
	}
	part := f.Next(30)
	part.Int32() // partition index
	if code := part.Int16(); code != 0 {
		a.code = code
	}
	a.high, a.stable, a.start = part.Int64(), part.Int64(), part.Int64()
	for n := f.Array(); n > 0 && f.Err == nil; n-- {
		entry := f.Next(16)
		a.aborted = append(a.aborted, abortedTxn{producer: entry.Int64(), first: entry.Int64()})
		f.Tags()
	}
	slices.SortFunc(a.aborted, func(x, y abortedTxn) int { return cmp.Compare(x.first, y.first) })
	f.Next(4) // preferred replica
	size := f.Array()
	if f.Err == nil && size > f.Remaining {
		f.Err = wire.ErrShort
	}
	if f.Err != nil || a.code != 0 {
		return a, f.Err
	}
	if size == 0 {
		a.diverged = f.Tags() // only an answer without records has this tag
	}
	if f.Err == nil {
		a.readRecords(&f, size, limit, room)
	}
	return a, f.Err
}

// readRecords reads size bytes of batches. If the first batch exceeds limit, it is checked and dropped while it
// arrives. Later batches beyond limit are left for the next request, which starts with them. If there is no memory, all
// batches are left.
func (a *fetchResponse) readRecords(f *wire.Frame, size, limit int, room func(bytes int) *memory.Buffer) {
	var head []byte
	beyond := false
	if size > limit {
		head = make([]byte, records.HeaderLen)
		if !f.Fill(head) {
			return
		}
		length := records.WholeLength(head)
		if beyond = length > int64(limit); beyond && length > int64(size) {
			f.Err = wire.ErrShort
			return
		}
		if size = limit; beyond {
			size = records.HeaderLen
			checkRest(f, head, int(length)-records.HeaderLen)
		}
	}
	buf := room(size)
	if buf == nil {
		a.refused = size
		return
	}
	buf.B = append(buf.B, head...)
	fill(f, buf, size)
	a.records, a.headerOnly = buf, beyond && f.Err == nil
}

// checkRest reads the remaining bytes of the batch that starts with head, and keeps only the checksum.
func checkRest(f *wire.Frame, head []byte, rest int) {
	sum := records.NewChecksum(head)
	chunk := make([]byte, 64<<10)
	for rest > 0 {
		piece := chunk[:min(rest, len(chunk))]
		if !f.Fill(piece) {
			return
		}
		sum.Add(piece)
		rest -= len(piece)
	}
	if !sum.Holds() {
		f.Err = records.ErrCorrupt
	}
}

// fill reads until buf holds size bytes. buf grows as they arrive.
func fill(f *wire.Frame, buf *memory.Buffer, size int) {
	for len(buf.B) < size {
		if len(buf.B) == cap(buf.B) {
			grown := make([]byte, len(buf.B), min(size, 2*cap(buf.B)))
			copy(grown, buf.B)
			buf.B = grown
		}
		end := len(buf.B)
		if !f.Fill(buf.B[end:min(cap(buf.B), size)]) {
			return
		}
		buf.B = buf.B[:min(cap(buf.B), size)]
	}
}
