package fetch

import (
	"bytes"
	"encoding/binary"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/segmentio/kafka-go/compress"
	"github.com/segmentio/kafka-go/protocol"

	"oriel/pipeline/kafka/records"
	"oriel/pipeline/kafka/records/recordstest"
)

func TestDecoderReturnsWhatBuilderTook(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 1))
	for codec := records.NoCompression; codec <= records.Zstd; codec++ {
		for range 20 {
			want := recordstest.Random(random, 1+random.IntN(200))
			base := random.Int64N(1 << 40)
			b := recordstest.Build(codec, want)
			if b.Count() != len(want) {
				t.Fatalf("count %d, want %d", b.Count(), len(want))
			}
			got, err := drain(local(base, recordstest.Appended(t, b, base, records.Stamp{})))
			if err != nil || len(got) != len(want) {
				t.Fatalf("%s: %d records of %d, %v", codec, len(got), len(want), err)
			}
			for i := range got {
				want[i].Offset = base + int64(i)
				if !recordstest.Same(got[i], want[i]) || got[i].LeaderEpoch != 7 {
					t.Fatalf("%s: record %d is %+v, want %+v", codec, i, got[i], want[i])
				}
			}
		}
	}
}

// TestDecoderReadsWhatRecordSetWrites compares the decoder with kafka-go's writer.
func TestDecoderReadsWhatRecordSetWrites(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 3))
	for codec := records.NoCompression; codec <= records.Zstd; codec++ {
		want := recordstest.Random(random, 50)
		reference := make([]protocol.Record, len(want))
		for i, r := range want {
			reference[i] = protocol.Record{
				Time: time.UnixMilli(r.Timestamp), Key: protocol.NewBytes(r.Key),
				Value: protocol.NewBytes(r.Value),
			}
			for _, h := range r.Headers.List() {
				reference[i].Headers = append(reference[i].Headers, protocol.Header{Key: h.Key, Value: h.Value})
			}
		}
		set := protocol.RecordSet{
			Version: 2, Attributes: protocol.Attributes(compress.Compression(codec)),
			Records: protocol.NewRecordReader(reference...),
		}
		var out bytes.Buffer
		if _, err := set.WriteTo(&out); err != nil {
			t.Fatal(err)
		}
		batch := out.Bytes()[4:]
		binary.BigEndian.PutUint32(batch[records.LeaderEpochAt:], 0)
		got, err := drain(local(0, batch))
		if err != nil || len(got) != len(want) {
			t.Fatalf("%s: %d records, %v", codec, len(got), err)
		}
		for i := range got {
			want[i].Offset = int64(i)
			if !recordstest.Same(got[i], want[i]) {
				t.Fatalf("%s: record %d is %+v, want %+v", codec, i, got[i], want[i])
			}
		}
	}
}
