package kafka

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"math/rand/v2"
	"slices"
	"testing"
)

// appended is a batch as a broker would store it: base offset and leader epoch filled in.
func appended(tb testing.TB, b *Builder, base int64, s Stamp) []byte {
	tb.Helper()
	sealed, err := b.seal(s)
	if err != nil {
		tb.Fatal(err)
	}
	batch := bytes.Clone(sealed)
	binary.BigEndian.PutUint64(batch, uint64(base))
	binary.BigEndian.PutUint32(batch[leaderEpochAt:], 7)
	return batch
}

// resum makes the checksum right after a change.
func resum(batch []byte) []byte {
	binary.BigEndian.PutUint32(batch[crcAt:], crc32.Checksum(batch[attributesAt:], castagnoli))
	return batch
}

func randomRecords(random *rand.Rand, n int) []Record {
	piece := func(limit int) []byte {
		if random.IntN(8) == 0 {
			return nil
		}
		b := make([]byte, random.IntN(limit))
		for i := range b {
			b[i] = byte(random.IntN(4)) // compressible
		}
		return b
	}
	records := make([]Record, n)
	for i := range records {
		records[i] = Record{Timestamp: 1_700_000_000_000 + random.Int64N(5000), Key: piece(20), Value: piece(300)}
		var headers []Header
		for range random.IntN(3) {
			headers = append(headers, Header{Key: fmt.Sprint("h", random.IntN(9)), Value: piece(10)})
		}
		records[i].Headers = HeadersOf(headers...)
	}
	return records
}

func build(codec Codec, records []Record) *Builder {
	b := new(Builder)
	b.Compress(codec)
	for _, r := range records {
		b.Append(r.Key, r.Value, r.Headers.List(), r.Timestamp)
	}
	return b
}

func sameRecord(a, b Record) bool {
	same := func(x, y []byte) bool { return bytes.Equal(x, y) && (x == nil) == (y == nil) }
	return a.Offset == b.Offset && a.Timestamp == b.Timestamp && a.Unreadable == b.Unreadable &&
		same(a.Key, b.Key) && same(a.Value, b.Value) &&
		slices.EqualFunc(a.Headers.List(), b.Headers.List(), func(x, y Header) bool {
			return x.Key == y.Key && same(x.Value, y.Value)
		})
}

// raw is a batch of records given as bytes, lengths included.
func raw(tb testing.TB, codec Codec, base int64, count, lastDelta int, body []byte) []byte {
	tb.Helper()
	b := build(NoCompression, []Record{{}})
	batch := appended(tb, b, base, Stamp{})[:batchHeaderLen]
	if codec != NoCompression {
		packed, err := codec.compress(nil, body)
		if err != nil {
			tb.Fatal(err)
		}
		body = packed
	}
	batch = append(batch, body...)
	batch[attributesAt+1] |= byte(codec)
	binary.BigEndian.PutUint32(batch[batchLengthAt:], uint32(len(batch)-batchPrefixLen))
	binary.BigEndian.PutUint32(batch[lastDeltaAt:], uint32(lastDelta))
	binary.BigEndian.PutUint32(batch[countAt:], uint32(count))
	return resum(batch)
}

// record is one record with a delta, n claimed and n real empty headers, and trailing bytes.
func record(delta, claimed, headers int, trailing ...byte) []byte {
	b := []byte{0}
	b = appendVarint(b, 0)
	b = appendVarint(b, int64(delta))
	b = append(b, 2, 'k', 2, 'v')
	b = appendVarint(b, int64(claimed))
	b = append(b, make([]byte, 2*headers)...)
	b = append(b, trailing...)
	return append(appendVarint(nil, int64(len(b))), b...)
}
