package records_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"math/rand/v2"
	"testing"

	"github.com/segmentio/kafka-go/protocol"

	"oriel/pipeline/kafka/records"
	"oriel/pipeline/kafka/records/recordstest"
)

// TestRecordSetReadsWhatBuilderWrites tests the builder against kafka-go's reader.
func TestRecordSetReadsWhatBuilderWrites(t *testing.T) {
	random := rand.New(rand.NewPCG(2, 2))
	for codec := records.NoCompression; codec <= records.Zstd; codec++ {
		want := recordstest.Random(random, 50)
		batch := recordstest.Appended(t, recordstest.Build(codec, want), 0,
			records.Stamp{ProducerID: 5, Epoch: 6, Sequence: 7, Transactional: true})
		framed := binary.BigEndian.AppendUint32(nil, uint32(len(batch)))
		var set protocol.RecordSet
		if _, err := set.ReadFrom(bytes.NewReader(append(framed, batch...))); err != nil {
			t.Fatal(err)
		}
		for i := range want {
			r, err := set.Records.ReadRecord()
			if err != nil {
				t.Fatalf("%s: record %d: %v", codec, i, err)
			}
			want[i].Offset = int64(i)
			if got := fromReference(t, r); !recordstest.Same(got, want[i]) {
				t.Fatalf("%s: record %d is %+v, want %+v", codec, i, got, want[i])
			}
		}
		if _, err := set.Records.ReadRecord(); !errors.Is(err, io.EOF) {
			t.Fatalf("%s: more records: %v", codec, err)
		}
	}
}

func fromReference(t *testing.T, r *protocol.Record) records.Record {
	t.Helper()
	read := func(b protocol.Bytes) []byte {
		if b == nil {
			return nil
		}
		v, err := protocol.ReadAll(b)
		if err != nil {
			t.Fatal(err)
		}
		return append([]byte{}, v...)
	}
	var headers []records.Header
	for _, h := range r.Headers {
		headers = append(headers, records.Header{Key: h.Key, Value: h.Value})
	}
	return records.Record{
		Public: records.Public{Offset: r.Offset, Timestamp: r.Time.UnixMilli()}, Key: read(r.Key), Value: read(r.Value),
		Headers: records.HeadersOf(headers...),
	}
}

func TestStampIsInTheBatch(t *testing.T) {
	b := recordstest.Build(records.NoCompression, []records.Record{{Value: []byte("v")}})
	h, err := records.ParseHeader(recordstest.Appended(t, b, 9,
		records.Stamp{ProducerID: 1 << 40, Epoch: 3, Sequence: 8, Transactional: true}),
		false)
	if err != nil {
		t.Fatal(err)
	}
	if h.Producer != 1<<40 || h.ProducerEpoch != 3 || h.Sequence != 8 || !h.Transactional() || h.Control() ||
		h.Next() != 10 {
		t.Fatalf("header %+v", h)
	}
}

func TestBuilderAllocatesNothingAtItsFullSize(t *testing.T) {
	b := new(records.Builder)
	key, value, headers := []byte("key"), make([]byte, 300), []records.Header{{Key: "h", Value: []byte("v")}}
	work := func() {
		b.Reset()
		for i := range 100 {
			b.Append(key, value, headers, int64(i))
		}
		if _, err := b.Seal(records.Stamp{}); err != nil {
			t.Fatal(err)
		}
	}
	work()
	if n := testing.AllocsPerRun(50, work); n != 0 {
		t.Fatalf("%v allocations a batch", n)
	}
}
