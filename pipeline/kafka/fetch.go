package kafka

import (
	"cmp"
	"encoding/binary"
	"io"
	"math"
	"slices"

	"github.com/segmentio/kafka-go/protocol"
)

// fetchVersion is the first that asks by topic id (Kafka 3.1): a topic made again under an old name is refused by the
// broker.
const fetchVersion = 13

// fetchResponse is the part of a Fetch response that belongs to the one partition asked for.
type fetchResponse struct {
	code                int16
	id                  [16]byte // of the topic
	start, stable, high int64
	aborted             []abortedTxn // by first offset
	records             *buffer      // whole batches, perhaps a cut one at the end; nil if the code is not 0
	headerOnly          bool         // records is one header; its body was beyond the limit, and its checksum holds
	refused             int          // bytes of records there was no room for; then there are none
	diverged            bool         // the log does not hold what was read last
}

// abortedTxn says that batches of a producer from an offset up to its next control record were aborted.
type abortedTxn struct{ producer, first int64 }

// newFetch asks the leader of an epoch.
func (r *Reader) newFetch(leader int32, d *delivery) *leaderCall {
	be := binary.BigEndian
	body := be.AppendUint32(nil, ^uint32(0)) // not a replica
	body = be.AppendUint32(body, uint32(r.options.MaxWait.Milliseconds()))
	body = be.AppendUint32(body, 1) // answer as soon as there is anything
	// The partition's own limit decides. The embedded broker leaves out the aborted transactions of an answer that
	// meets this limit first, which would show their records.
	body = be.AppendUint32(body, math.MaxInt32)
	if r.options.Uncommitted {
		body = append(body, 0)
	} else {
		body = append(body, 1)
	}
	body = be.AppendUint32(body, 0)          // no session
	body = be.AppendUint32(body, ^uint32(0)) // and none wanted
	body = append(body, 2)                   // one topic
	body = append(body, r.id[:]...)
	body = append(body, 2) // one partition
	body = be.AppendUint32(body, uint32(r.partition))
	body = be.AppendUint32(body, uint32(leader))
	body = be.AppendUint64(body, uint64(r.offset))
	body = be.AppendUint32(body, uint32(r.epoch)) // of what was read last
	body = be.AppendUint64(body, ^uint64(0))      // not a replica's log start
	body = be.AppendUint32(body, uint32(r.options.MaxBytes))
	body = append(body, 0, 0, 1, 1, 0) // tags of partition and topic; nothing to forget; no rack; tags
	c := r.client
	req := &leaderCall{call: c.newCall(protocol.Fetch, fetchVersion, true, body), topic: r.topic, partition: r.partition}
	req.read = func(from io.Reader, remaining int) error {
		a, err := readFetch(from, remaining, d.room, MaxBatchBytes)
		d.put(a)
		return err
	}
	return req
}

// readFetch reads a Fetch 13 answer of remaining bytes for one partition. Everything it allocates is bounded by what
// has arrived, by limit and, beyond keepBytes, by what room gives; room gives nil when there is none now.
func readFetch(r io.Reader, remaining int, room func(bytes int) *buffer, limit int) (fetchResponse, error) {
	f := newFrame(r, remaining)
	a := fetchResponse{start: -1, stable: -1, high: -1}
	f.tags()
	head := f.next(10)
	head.int32() // throttle
	a.code = head.int16()
	topics := f.array()
	if topics == 0 && a.code != 0 && f.err == nil {
		return a, nil
	}
	id := f.next(16)
	copy(a.id[:], id.b)
	if partitions := f.array(); f.err == nil && (topics != 1 || partitions != 1) {
		return a, errShort
	}
	part := f.next(30)
	part.int32() // partition
	if code := part.int16(); code != 0 {
		a.code = code
	}
	a.high, a.stable, a.start = part.int64(), part.int64(), part.int64()
	for n := f.array(); n > 0 && f.err == nil; n-- {
		entry := f.next(16)
		a.aborted = append(a.aborted, abortedTxn{producer: entry.int64(), first: entry.int64()})
		f.tags()
	}
	slices.SortFunc(a.aborted, func(x, y abortedTxn) int { return cmp.Compare(x.first, y.first) })
	f.next(4) // preferred replica
	size := f.array()
	if f.err == nil && size > f.remaining {
		f.err = errShort
	}
	if f.err != nil || a.code != 0 {
		return a, f.err
	}
	if size == 0 {
		a.diverged = f.tags() // an answer that says so has no records
	}
	if f.err == nil {
		a.readRecords(&f, size, limit, room)
	}
	return a, f.err
}

// readRecords reads size bytes of batches. A first batch beyond limit is checked and let go while it arrives; other batches
// beyond limit are left for the next request, which starts with them. So are all when there is no room for them.
func (a *fetchResponse) readRecords(f *frame, size, limit int, room func(bytes int) *buffer) {
	var head []byte
	beyond := false
	if size > limit {
		head = make([]byte, batchHeaderLen)
		if !f.read(head) {
			return
		}
		length := wholeLength(head)
		if beyond = length > int64(limit); beyond && length > int64(size) {
			f.err = errShort
			return
		}
		if size = limit; beyond {
			size = batchHeaderLen
			checkRest(f, head, int(length)-batchHeaderLen)
		}
	}
	buf := room(size)
	if buf == nil {
		a.refused = size
		return
	}
	buf.b = append(buf.b, head...)
	fill(f, buf, size)
	a.records, a.headerOnly = buf, beyond && f.err == nil
}

// checkRest reads the rest of the batch that head begins and keeps nothing but its checksum.
func checkRest(f *frame, head []byte, rest int) {
	sum := newChecksum(head)
	chunk := make([]byte, 64<<10)
	for rest > 0 {
		piece := chunk[:min(rest, len(chunk))]
		if !f.read(piece) {
			return
		}
		sum.add(piece)
		rest -= len(piece)
	}
	if !sum.holds() {
		f.err = ErrCorrupt
	}
}

// fill reads until buf holds size bytes, growing with what arrives.
func fill(f *frame, buf *buffer, size int) {
	for len(buf.b) < size {
		if len(buf.b) == cap(buf.b) {
			grown := make([]byte, len(buf.b), min(size, 2*cap(buf.b)))
			copy(grown, buf.b)
			buf.b = grown
		}
		end := len(buf.b)
		if !f.read(buf.b[end:min(cap(buf.b), size)]) {
			return
		}
		buf.b = buf.b[:min(cap(buf.b), size)]
	}
}
