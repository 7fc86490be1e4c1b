package recordstest

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"math/rand/v2"
	"slices"
	"testing"

	"oriel/pipeline/kafka/records"
)

// Appended returns a batch as a broker would store it: with base offset and leader epoch.
func Appended(tb testing.TB, b *records.Builder, base int64, s records.Stamp) []byte {
	tb.Helper()
	sealed, err := b.Seal(s)
	if err != nil {
		tb.Fatal(err)
	}
	batch := bytes.Clone(sealed)
	binary.BigEndian.PutUint64(batch, uint64(base))
	binary.BigEndian.PutUint32(batch[records.LeaderEpochAt:], 7)
	return batch
}

// Resum corrects the checksum after a change.
func Resum(batch []byte) []byte {
	sum := crc32.Checksum(batch[records.AttributesAt:], crc32.MakeTable(crc32.Castagnoli))
	binary.BigEndian.PutUint32(batch[records.CRCAt:], sum)
	return batch
}

// Random returns n records of random but compressible content, some with headers.
func Random(random *rand.Rand, n int) []records.Record {
	piece := func(limit int) []byte {
		if random.IntN(8) == 0 {
			return nil
		}
		b := make([]byte, random.IntN(limit))
		for i := range b {
			b[i] = byte(random.IntN(4)) // few values, so that the bytes compress
		}
		return b
	}
	list := make([]records.Record, n)
	for i := range list {
		at := records.Public{Timestamp: 1_700_000_000_000 + random.Int64N(5000)}
		list[i] = records.Record{Public: at, Key: piece(20), Value: piece(300)}
		var headers []records.Header
		for range random.IntN(3) {
			headers = append(headers, records.Header{Key: fmt.Sprint("h", random.IntN(9)), Value: piece(10)})
		}
		list[i].Headers = records.HeadersOf(headers...)
	}
	return list
}

// Build puts records into a batch.
func Build(codec records.Codec, list []records.Record) *records.Builder {
	b := new(records.Builder)
	b.Compress(codec)
	for _, r := range list {
		b.Append(r.Key, r.Value, r.Headers.List(), r.Timestamp)
	}
	return b
}

// Same compares two records, except their leader epochs and lengths.
func Same(a, b records.Record) bool {
	same := func(x, y []byte) bool { return bytes.Equal(x, y) && (x == nil) == (y == nil) }
	return a.Offset == b.Offset && a.Timestamp == b.Timestamp && a.Unreadable == b.Unreadable &&
		same(a.Key, b.Key) && same(a.Value, b.Value) &&
		slices.EqualFunc(a.Headers.List(), b.Headers.List(), func(x, y records.Header) bool {
			return x.Key == y.Key && same(x.Value, y.Value)
		})
}
