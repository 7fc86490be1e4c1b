package kafka

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/segmentio/kafka-go/compress"
	"github.com/segmentio/kafka-go/protocol"
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

// local is a Reader over bytes in memory, as if they were the answer to a fetch at offset.
func local(offset int64, wire []byte, aborted ...abortedTxn) *Reader {
	c := &Client{}
	r := c.NewReader("t", 0, offset, ReaderOptions{})
	buf := c.buffers.get(len(wire))
	buf.b = append(buf.b, wire...)
	r.answer = fetchResponse{start: 0, stable: 1 << 40, high: 1 << 40, aborted: aborted, records: buf}
	return r
}

// plenty is room for any answer.
func plenty(bytes int) *buffer { return new(bufferPool).get(min(bytes, keepBytes)) }

// drain takes Batches until the bytes are used up.
func drain(r *Reader) (records []Record, err error) {
	for r.answer.records != nil || !r.cursor.done() {
		b := new(Batch)
		err = r.fill(context.Background(), b)
		records = append(records, b.Records...)
		if err != nil {
			r.drop()
			return records, err
		}
	}
	return records, nil
}

func sameRecord(a, b Record) bool {
	same := func(x, y []byte) bool { return bytes.Equal(x, y) && (x == nil) == (y == nil) }
	return a.Offset == b.Offset && a.Timestamp == b.Timestamp && a.Unreadable == b.Unreadable &&
		same(a.Key, b.Key) && same(a.Value, b.Value) &&
		slices.EqualFunc(a.Headers.List(), b.Headers.List(), func(x, y Header) bool {
			return x.Key == y.Key && same(x.Value, y.Value)
		})
}

func TestDecoderReturnsWhatBuilderTook(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 1))
	for codec := NoCompression; codec <= Zstd; codec++ {
		for range 20 {
			want := randomRecords(random, 1+random.IntN(200))
			base := random.Int64N(1 << 40)
			b := build(codec, want)
			if b.Count() != len(want) {
				t.Fatalf("count %d, want %d", b.Count(), len(want))
			}
			got, err := drain(local(base, appended(t, b, base, Stamp{})))
			if err != nil || len(got) != len(want) {
				t.Fatalf("%s: %d records of %d, %v", codec, len(got), len(want), err)
			}
			for i := range got {
				want[i].Offset = base + int64(i)
				if !sameRecord(got[i], want[i]) || got[i].LeaderEpoch != 7 {
					t.Fatalf("%s: record %d is %+v, want %+v", codec, i, got[i], want[i])
				}
			}
		}
	}
}

// TestRecordSetReadsWhatBuilderWrites and the one after it hold the codec against kafka-go's.
func TestRecordSetReadsWhatBuilderWrites(t *testing.T) {
	random := rand.New(rand.NewPCG(2, 2))
	for codec := NoCompression; codec <= Zstd; codec++ {
		want := randomRecords(random, 50)
		batch := appended(t, build(codec, want), 0, Stamp{ProducerID: 5, Epoch: 6, Sequence: 7, Transactional: true})
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
			if got := fromReference(t, r); !sameRecord(got, want[i]) {
				t.Fatalf("%s: record %d is %+v, want %+v", codec, i, got, want[i])
			}
		}
		if _, err := set.Records.ReadRecord(); !errors.Is(err, io.EOF) {
			t.Fatalf("%s: more records: %v", codec, err)
		}
	}
}

func TestDecoderReadsWhatRecordSetWrites(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 3))
	for codec := NoCompression; codec <= Zstd; codec++ {
		want := randomRecords(random, 50)
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
		binary.BigEndian.PutUint32(batch[leaderEpochAt:], 0)
		got, err := drain(local(0, batch))
		if err != nil || len(got) != len(want) {
			t.Fatalf("%s: %d records, %v", codec, len(got), err)
		}
		for i := range got {
			want[i].Offset = int64(i)
			if !sameRecord(got[i], want[i]) {
				t.Fatalf("%s: record %d is %+v, want %+v", codec, i, got[i], want[i])
			}
		}
	}
}

func fromReference(t *testing.T, r *protocol.Record) Record {
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
	var headers []Header
	for _, h := range r.Headers {
		headers = append(headers, Header{Key: h.Key, Value: h.Value})
	}
	return Record{
		Public: Public{Offset: r.Offset}, Timestamp: r.Time.UnixMilli(), Key: read(r.Key), Value: read(r.Value),
		Headers: HeadersOf(headers...),
	}
}

func TestStampIsInTheBatch(t *testing.T) {
	b := build(NoCompression, []Record{{Value: []byte("v")}})
	h, err := parseBatchHeader(appended(t, b, 9, Stamp{ProducerID: 1 << 40, Epoch: 3, Sequence: 8, Transactional: true}),
		false)
	if err != nil {
		t.Fatal(err)
	}
	if h.producer != 1<<40 || h.producerEpoch != 3 || h.sequence != 8 || !h.transactional() || h.control() ||
		h.next() != 10 {
		t.Fatalf("header %+v", h)
	}
}

func TestBuilderAllocatesNothingOnceGrown(t *testing.T) {
	b := new(Builder)
	key, value, headers := []byte("key"), make([]byte, 300), []Header{{Key: "h", Value: []byte("v")}}
	work := func() {
		b.Reset()
		for i := range 100 {
			b.Append(key, value, headers, int64(i))
		}
		if _, err := b.seal(Stamp{}); err != nil {
			t.Fatal(err)
		}
	}
	work()
	if n := testing.AllocsPerRun(50, work); n != 0 {
		t.Fatalf("%v allocations a batch", n)
	}
}
