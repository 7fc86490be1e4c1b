package kafka

import (
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"io"
	"math"
	"slices"

	"github.com/segmentio/kafka-go/protocol"
)

// MaxBatchBytes bounds a record batch, on the wire and decompressed. The records of a larger one are Unreadable. It decides
// which records take a null place, so it is a constant and no setting. 64 MiB holds what the default limit of a topic
// (1 MiB) decompresses to at 64:1; a larger value only costs memory.
const MaxBatchBytes = 64 << 20

const fetchVersion = 11

// answer is the part of a Fetch answer that belongs to the one partition asked for.
type answer struct {
	code                int16
	start, stable, high int64
	aborted             []abortedTxn // by first offset
	records             *buffer      // whole batches, perhaps a cut one at the end; nil if the code is not 0
	headerOnly          bool         // records is one header; its body was beyond the limit, and its checksum holds
}

// abortedTxn says that batches of a producer from an offset up to its next control record were aborted.
type abortedTxn struct{ producer, first int64 }

func (c *Client) newFetch(topic string, partition int32, offset int64, o ReaderOptions, into *answer) *leaderCall {
	be := binary.BigEndian
	body := be.AppendUint32(nil, ^uint32(0)) // not a replica
	body = be.AppendUint32(body, uint32(o.MaxWait.Milliseconds()))
	body = be.AppendUint32(body, 1) // answer as soon as there is anything
	// The partition's own limit decides. The embedded broker leaves out the aborted transactions of an answer that meets this
	// limit first, which would show their records.
	body = be.AppendUint32(body, math.MaxInt32)
	if o.Uncommitted {
		body = append(body, 0)
	} else {
		body = append(body, 1)
	}
	body = be.AppendUint32(body, 0)          // no session
	body = be.AppendUint32(body, ^uint32(0)) // and none wanted
	body = be.AppendUint32(body, 1)
	body = appendString(body, topic)
	body = be.AppendUint32(body, 1)
	body = be.AppendUint32(body, uint32(partition))
	body = be.AppendUint32(body, ^uint32(0)) // any leader epoch
	body = be.AppendUint64(body, uint64(offset))
	body = be.AppendUint64(body, ^uint64(0)) // not a replica's log start
	body = be.AppendUint32(body, uint32(o.MaxBytes))
	body = be.AppendUint32(body, 0) // nothing to forget
	body = appendString(body, "")   // no rack
	req := &leaderCall{call: c.newCall(protocol.Fetch, fetchVersion, false, body), topic: topic, partition: partition}
	req.read = func(r io.Reader, remaining int) error {
		a, err := readFetch(r, remaining, &c.buffers, MaxBatchBytes)
		*into = a
		return err
	}
	return req
}

// readFetch reads a Fetch 11 answer of remaining bytes for one partition. Everything it allocates is bounded by what has
// arrived and by limit.
func readFetch(r io.Reader, remaining int, pool *bufferPool, limit int) (answer, error) {
	f := frame{r: r, remaining: remaining}
	a := answer{start: -1, stable: -1, high: -1}
	head := f.next(14)
	if head.err != nil {
		return a, head.err
	}
	head.int32() // throttle
	a.code = head.int16()
	head.int32() // session
	if topics := head.int32(); topics == 0 && a.code != 0 {
		return a, nil
	} else if topics != 1 {
		return a, errShort
	}
	name := f.next(2)
	f.next(int(name.int16()))
	part := f.next(4 + 4 + 2 + 8 + 8 + 8 + 4)
	if n := part.int32(); n != 1 && part.err == nil {
		return a, errShort
	}
	part.int32() // partition
	if code := part.int16(); code != 0 {
		a.code = code
	}
	a.high, a.stable, a.start = part.int64(), part.int64(), part.int64()
	aborted := int64(max(part.int32(), 0))
	if part.err != nil || 16*aborted > int64(f.remaining) {
		return a, errShort
	}
	list := f.next(int(16 * aborted))
	for range aborted {
		a.aborted = append(a.aborted, abortedTxn{producer: list.int64(), first: list.int64()})
	}
	slices.SortFunc(a.aborted, func(x, y abortedTxn) int {
		if x.first < y.first {
			return -1
		}
		return 1
	})
	last := f.next(8)
	last.int32() // preferred replica
	size := int(max(last.int32(), 0))
	if last.err != nil || size > f.remaining {
		return a, errShort
	}
	if a.code != 0 {
		return a, nil
	}
	a.records = pool.get()
	return a, f.records(&a, size, limit)
}

// frame takes pieces off an answer that is still arriving.
type frame struct {
	r         io.Reader
	remaining int
}

func (f *frame) next(n int) *wireReader {
	if n < 0 || n > f.remaining {
		return &wireReader{err: errShort}
	}
	b := make([]byte, n)
	if _, err := io.ReadFull(f.r, b); err != nil {
		return &wireReader{err: fmt.Errorf("kafka: receive: %w", err)}
	}
	f.remaining -= n
	return &wireReader{b: b}
}

// records reads size bytes of batches. A first batch beyond limit is checked and let go while it arrives; other batches
// beyond limit are left for the next request, which starts with them.
func (f *frame) records(a *answer, size, limit int) error {
	buf := a.records
	if size > limit {
		if err := f.fill(buf, batchHeaderLen); err != nil {
			return err
		}
		length := int64(int32(binary.BigEndian.Uint32(buf.b[batchLengthAt:]))) + batchPrefixLen
		if length > int64(limit) {
			if length > int64(size) {
				return errShort
			}
			sum := crc32.Checksum(buf.b[attributesAt:], castagnoli)
			chunk := make([]byte, 64<<10)
			for left := int(length) - batchHeaderLen; left > 0; {
				n := min(left, len(chunk))
				if _, err := io.ReadFull(f.r, chunk[:n]); err != nil {
					return fmt.Errorf("kafka: receive: %w", err)
				}
				sum = crc32.Update(sum, castagnoli, chunk[:n])
				left -= n
			}
			if sum != binary.BigEndian.Uint32(buf.b[crcAt:]) {
				return ErrCorrupt
			}
			a.headerOnly = true
			return nil
		}
		size = limit
	}
	return f.fill(buf, size)
}

// fill reads until buf holds size bytes, growing with what arrives.
func (f *frame) fill(buf *buffer, size int) error {
	for len(buf.b) < size {
		if len(buf.b) == cap(buf.b) {
			buf.b = slices.Grow(buf.b, min(size-len(buf.b), max(len(buf.b), 1<<20)))
		}
		n, err := io.ReadFull(f.r, buf.b[len(buf.b):min(cap(buf.b), size)])
		buf.b = buf.b[:len(buf.b)+n]
		if err != nil {
			return fmt.Errorf("kafka: receive: %w", err)
		}
	}
	return nil
}
