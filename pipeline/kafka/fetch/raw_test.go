package fetch

import (
	"encoding/binary"
	"testing"

	"oriel/pipeline/kafka/records"
	"oriel/pipeline/kafka/records/recordstest"
	"oriel/pipeline/kafka/wire"
)

// rawBatch returns a batch whose records are given as bytes, lengths included.
func rawBatch(tb testing.TB, codec records.Codec, base int64, count, lastDelta int, body []byte) []byte {
	tb.Helper()
	b := recordstest.Build(records.NoCompression, []records.Record{{}})
	batch := recordstest.Appended(tb, b, base, records.Stamp{})[:records.HeaderLen]
	if codec != records.NoCompression {
		packed, err := codec.Compress(nil, body)
		if err != nil {
			tb.Fatal(err)
		}
		body = packed
	}
	batch = append(batch, body...)
	batch[records.AttributesAt+1] |= byte(codec)
	binary.BigEndian.PutUint32(batch[records.LengthAt:], uint32(len(batch)-records.PrefixLen))
	binary.BigEndian.PutUint32(batch[records.LastDeltaAt:], uint32(lastDelta))
	binary.BigEndian.PutUint32(batch[records.CountAt:], uint32(count))
	return recordstest.Resum(batch)
}

// rawRecord returns the bytes of a record with an offset delta, claimed and actual numbers of empty headers, and
// trailing bytes.
func rawRecord(delta, claimed, headers int, trailing ...byte) []byte {
	b := []byte{0}
	b = wire.AppendVarint(b, 0)
	b = wire.AppendVarint(b, int64(delta))
	b = append(b, 2, 'k', 2, 'v')
	b = wire.AppendVarint(b, int64(claimed))
	b = append(b, make([]byte, 2*headers)...)
	b = append(b, trailing...)
	return append(wire.AppendVarint(nil, int64(len(b))), b...)
}
