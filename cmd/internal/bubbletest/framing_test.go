package bubbletest

import (
	"bytes"
	"testing"
	"time"

	"oriel/pipeline/kafka/produce"
	"oriel/pipeline/kafka/records"
)

// framing describes how a producer sends a burst: the number of records in a batch, and the codec. Like sizes, it is
// public.
type framing struct {
	batch int
	codec records.Codec
}

// sendFramed appends records in a framing that does not depend on their contents.
func (d bubble) sendFramed(p int32, f framing, records []records.Record) {
	d.T.Helper()
	producer, err := produce.New(d.T.Context(), d.Client, "", time.Minute)
	if err != nil {
		d.T.Fatal(err)
	}
	for len(records) > 0 {
		n := min(f.batch, len(records))
		b := batchOf(f.codec, records[:n], time.Now())
		if _, err := producer.Produce(d.T.Context(), d.Env["ORIEL_INPUT_TOPIC"], p, b); err != nil {
			d.T.Fatal(err)
		}
		records = records[n:]
		// the pause separates batches, because a waiting fetch could otherwise find one batch or two
		time.Sleep(time.Microsecond)
	}
}

// batchOf builds a batch. A record's timestamp is relative to now, ms.
func batchOf(codec records.Codec, list []records.Record, now time.Time) *records.Builder {
	b := new(records.Builder)
	b.Compress(codec)
	for _, r := range list {
		b.Append(r.Key, r.Value, r.Headers.List(), now.UnixMilli()+r.Timestamp)
	}
	return b
}

// recordBytes returns the size of a record at the first place in a batch, bytes.
func recordBytes(r records.Record) int {
	return batchOf(records.NoCompression, []records.Record{r}, time.UnixMilli(0)).Bytes() - records.HeaderLen
}

// room fills one field of a record with white space, so that an event stays valid.
type room func(r records.Record, filling []byte) records.Record

// filledTo returns the record, filled by room to this size.
func filledTo(t *testing.T, r records.Record, size int, room room) records.Record {
	t.Helper()
	most := size - recordBytes(room(r, nil))
	for n := most; n >= max(0, most-8); n-- {
		if full := room(r, bytes.Repeat([]byte{' '}, n)); recordBytes(full) == size {
			return full
		}
	}
	t.Fatalf("no record of %d bytes: key of %d, value of %d, %d headers", size, len(r.Key), len(r.Value), r.Headers.Len())
	return r
}

func inValue(r records.Record, filling []byte) records.Record {
	r.Value = append(bytes.Clone(r.Value), filling...)
	return r
}

func inKey(r records.Record, filling []byte) records.Record {
	r.Key = append(bytes.Clone(r.Key), filling...)
	return r
}

func inHeader(r records.Record, filling []byte) records.Record {
	r.Headers = records.HeadersOf(append(r.Headers.List(), records.Header{Key: "filling", Value: filling})...)
	return r
}

// ofHeaders returns the record with n empty headers.
func ofHeaders(n int, r records.Record) records.Record {
	r.Headers = records.HeadersOf(make([]records.Header, n)...)
	return r
}
