package fetch

import (
	"bytes"
	"encoding/binary"
	"errors"
	"hash/crc32"
	"math/rand/v2"
	"runtime"
	"testing"

	"github.com/klauspost/compress/zstd"

	"oriel/pipeline/kafka"
	"oriel/pipeline/kafka/records"
	"oriel/pipeline/kafka/records/recordstest"
)

func TestEveryFlippedBitIsNoticed(t *testing.T) {
	want := recordstest.Random(rand.New(rand.NewPCG(5, 5)), 3)
	batch := recordstest.Appended(t, recordstest.Build(records.NoCompression, want), 100, records.Stamp{})
	for bit := range 8 * len(batch) {
		// The broker sets base offset and leader epoch; the checksum does not cover them.
		if at := bit / 8; at < records.LengthAt || at >= records.LeaderEpochAt && at < records.MagicAt {
			continue
		}
		damaged := bytes.Clone(batch)
		damaged[bit/8] ^= 1 << (bit % 8)
		if got, err := drain(local(100, damaged)); err == nil || len(got) != 0 {
			t.Fatalf("bit %d flipped: %d records, error %v", bit, len(got), err)
		}
	}
}

func TestCutBatchIsLeftForTheNextAnswer(t *testing.T) {
	one := recordstest.Appended(t,
		recordstest.Build(records.NoCompression, recordstest.Random(rand.New(rand.NewPCG(6, 6)), 3)), 0, records.Stamp{})
	two := recordstest.Appended(t, recordstest.Build(records.Gzip, recordstest.Random(rand.New(rand.NewPCG(7, 7)), 3)), 3,
		records.Stamp{})
	for cut := range len(two) {
		r := local(0, append(bytes.Clone(one), two[:cut]...))
		got, err := drain(r)
		if err != nil || len(got) != 3 || r.offset != 3 {
			t.Fatalf("cut after %d bytes: %d records, next %d, %v", cut, len(got), r.offset, err)
		}
	}
	for cut := 1; cut < len(one); cut++ {
		if got, err := drain(local(0, one[:cut])); err == nil || len(got) != 0 {
			t.Fatalf("first batch cut after %d bytes: %d records, error %v", cut, len(got), err)
		}
	}
}

func TestRecordsWithoutLogIdentityAreRefused(t *testing.T) {
	batch := recordstest.Appended(t, recordstest.Build(records.NoCompression, []records.Record{{Value: []byte("v")}}), 0,
		records.Stamp{})
	noEpoch := bytes.Clone(batch)
	binary.BigEndian.PutUint32(noEpoch[records.LeaderEpochAt:], ^uint32(0))
	oldFormat := bytes.Clone(batch)
	oldFormat[records.MagicAt] = 1
	for name, b := range map[string][]byte{"leader epoch -1": noEpoch, "message format 1": oldFormat} {
		_, err := drain(local(0, b))
		if !errors.Is(err, records.ErrFormat) || kafka.Classify(err) != kafka.Fatal {
			t.Fatalf("%s: %v (%v), want ErrFormat", name, err, kafka.Classify(err))
		}
	}
}

// bomb returns a batch whose count records decompress to size zero bytes each.
func bomb(tb testing.TB, count, size int) []byte {
	tb.Helper()
	one := new(records.Builder)
	one.Append(nil, make([]byte, size), nil, 0)
	whole := recordstest.Appended(tb, one, 0, records.Stamp{})
	batch, body := whole[:records.HeaderLen:records.HeaderLen], whole[records.HeaderLen:]
	var packed bytes.Buffer
	w, err := zstd.NewWriter(&packed)
	if err != nil {
		tb.Fatal(err)
	}
	for range count {
		if _, err := w.Write(body); err != nil {
			tb.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		tb.Fatal(err)
	}
	batch[records.AttributesAt+1] |= byte(records.Zstd)
	batch = append(batch, packed.Bytes()...)
	binary.BigEndian.PutUint32(batch[records.LeaderEpochAt:], 0)
	binary.BigEndian.PutUint32(batch[records.LengthAt:], uint32(len(batch)-records.PrefixLen))
	binary.BigEndian.PutUint32(batch[records.LastDeltaAt:], uint32(count-1))
	binary.BigEndian.PutUint32(batch[records.CountAt:], uint32(count))
	return recordstest.Resum(batch)
}

func TestBombBecomesUnreadableRecordsInBoundedMemory(t *testing.T) {
	const count = 24 * batchRecords // 49 152 records of 8 KiB: 400 MB
	batch := bomb(t, count, 8<<10)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	r := local(0, batch)
	got := 0
	for range count / batchRecords {
		b := new(Batch)
		if err := r.fill(t.Context(), b); err != nil {
			t.Fatal(err)
		}
		for _, record := range b.Records {
			if !record.Unreadable || record.Offset != int64(got) || record.Value != nil {
				t.Fatalf("record %d: offset %d, unreadable is %t, value of %d bytes", got, record.Offset, record.Unreadable,
					len(record.Value))
			}
			got++
		}
	}
	runtime.ReadMemStats(&after)
	if got != count || r.offset != count {
		t.Fatalf("%d records, next %d", got, r.offset)
	}
	if made := after.TotalAlloc - before.TotalAlloc; made > 3*records.MaxBatchBytes {
		t.Fatalf("%d MiB were allocated", made>>20)
	}
}

func TestWhatFollowsAMalformedRecordIsUnreadable(t *testing.T) {
	list := recordstest.Random(rand.New(rand.NewPCG(8, 8)), 5)
	b := recordstest.Build(records.NoCompression, list[:2])
	third := b.Bytes()
	for _, r := range list[2:] {
		b.Append(r.Key, r.Value, r.Headers.List(), r.Timestamp)
	}
	batch := recordstest.Appended(t, b, 10, records.Stamp{})
	batch[third] = 1 // a record of length −1
	for _, from := range []int64{10, 11, 13} {
		r := local(from, recordstest.Resum(bytes.Clone(batch)))
		got, err := drain(r)
		if err != nil || len(got) != int(15-from) || r.offset != 15 {
			t.Fatalf("from %d: %d records, next %d, %v", from, len(got), r.offset, err)
		}
		for _, g := range got {
			if g.Unreadable != (g.Offset >= 12) {
				t.Fatalf("record %d: unreadable is %t", g.Offset, g.Unreadable)
			}
		}
	}
}

func TestBatchBeyondTheLimitIsCheckedAndLetGo(t *testing.T) {
	big := new(records.Builder)
	for range 4 {
		big.Append(nil, make([]byte, 1000), nil, 0)
	}
	batch := recordstest.Appended(t, big, 20, records.Stamp{})
	answerWith := func(batch []byte) (fetchResponse, error) {
		wire := fetchAnswer(batch)
		return readFetch(bytes.NewReader(wire), len(wire), plenty, 2000)
	}
	a, err := answerWith(batch)
	if err != nil || !a.headerOnly || len(a.records.B) != records.HeaderLen {
		t.Fatalf("header only is %t, %v", a.headerOnly, err)
	}
	r := local(20, nil)
	r.answer = a
	got, err := drain(r)
	if err != nil || len(got) != 4 || !got[3].Unreadable || got[3].Offset != 23 || r.offset != 24 {
		t.Fatalf("%d records, next %d, %v", len(got), r.offset, err)
	}
	batch[3000] ^= 1
	if _, err := answerWith(batch); !errors.Is(err, records.ErrCorrupt) {
		t.Fatalf("damaged: %v, want ErrCorrupt", err)
	}
}

// fetchAnswer returns a Fetch 13 answer for one partition, without the correlation id.
func fetchAnswer(records []byte, aborted ...abortedTxn) []byte {
	be := binary.BigEndian
	b := make([]byte, 11) // no tags, throttle time, code and session
	b = append(b, 2)
	b = append(b, make([]byte, 16)...)
	b = append(b, 2)
	b = append(b, make([]byte, 6)...)
	for range 3 {
		b = be.AppendUint64(b, 1000)
	}
	b = binary.AppendUvarint(b, uint64(len(aborted)+1))
	for _, a := range aborted {
		b = be.AppendUint64(b, uint64(a.producer))
		b = be.AppendUint64(b, uint64(a.first))
		b = append(b, 0)
	}
	b = be.AppendUint32(b, ^uint32(0))
	b = binary.AppendUvarint(b, uint64(len(records)+1))
	b = append(b, records...)
	return append(b, 0, 0, 0)
}

func TestAbortedIsFilteredByProducerUpToItsMarker(t *testing.T) {
	var wire []byte
	next := int64(0)
	add := func(producer int64, transactional bool, value string) {
		b := recordstest.Build(records.NoCompression, []records.Record{{Value: []byte(value)}})
		wire = append(wire,
			recordstest.Appended(t, b, next, records.Stamp{ProducerID: producer, Transactional: transactional})...)
		next++
	}
	marker := func(producer int64, kind byte) {
		b := recordstest.Build(records.NoCompression, []records.Record{{Key: []byte{0, 0, 0, kind}, Value: make([]byte, 6)}})
		batch := recordstest.Appended(t, b, next, records.Stamp{ProducerID: producer, Transactional: true})
		batch[records.AttributesAt+1] |= records.ControlBit
		batch = recordstest.Resum(batch)
		wire = append(wire, batch...)
		next++
	}
	add(1, true, "aborted")
	add(2, true, "kept 1")
	add(1, false, "kept 2")
	marker(1, 0)
	add(1, true, "kept 3")
	marker(2, 1)
	marker(1, 1)
	got, err := drain(local(0, wire, abortedTxn{producer: 1, first: 0}))
	if err != nil || len(got) != 3 || crc32.ChecksumIEEE(got[2].Value) != crc32.ChecksumIEEE([]byte("kept 3")) {
		t.Fatalf("%d records, %v", len(got), err)
	}
}

// TestDamageIsCountedByAnswers checks that a damaged answer counts once towards corruptLimit, whichever of its bytes
// are damaged. An undamaged answer must reset the count.
func TestDamageIsCountedByAnswers(t *testing.T) {
	whole := recordstest.Appended(t, recordstest.Build(records.NoCompression, []records.Record{
		{
			Key: []byte("key"), Value: []byte("value"),
			Headers: records.HeadersOf(records.Header{Key: "h", Value: []byte("v")}),
		}, {},
	}), 0, records.Stamp{})
	for at := records.CRCAt; at < len(whole); at++ {
		damaged := bytes.Clone(whole)
		damaged[at] ^= 1
		r := local(0, damaged)
		r.corrupt = corruptLimit - 1
		if _, err := r.Fetch(t.Context()); !errors.Is(err, kafka.ErrUsage) || !errors.Is(err, records.ErrCorrupt) {
			t.Fatalf("byte %d is damaged: %v", at, err)
		}
		if again(t, damaged, corruptLimit-2) != corruptLimit-1 {
			t.Fatalf("byte %d is damaged: it is not counted once", at)
		}
	}
	r := local(0, whole)
	r.corrupt = corruptLimit - 1
	if b, err := r.Fetch(t.Context()); err != nil || len(b.Records) != 2 || r.corrupt != 0 {
		t.Errorf("%d damaged answers are counted after a whole one, %v", r.corrupt, err)
	}
}

// again reads a damaged answer after before other damaged answers, and returns the count at the next request.
func again(t *testing.T, damaged []byte, before int) (counted int) {
	t.Helper()
	r := local(0, damaged)
	r.client = unconnected(kafka.Config{OnRetry: func(string, error) { panic("asks again") }})
	r.corrupt = before
	defer func() { _, counted = recover(), r.corrupt }()
	_, err := r.Fetch(t.Context())
	t.Errorf("it is not asked for again: %v", err)
	return 0
}
