package fetch

import (
	"bytes"
	"encoding/binary"
	"errors"
	"math/rand/v2"
	"runtime"
	"slices"
	"testing"

	"oriel/mechanisms/mechtest/tiertest"
	"oriel/pipeline/kafka"
	"oriel/pipeline/kafka/records"
	"oriel/pipeline/kafka/records/recordstest"
	"oriel/pipeline/kafka/wire"
)

func TestOnlyWhatCannotBeReadIsUnreadable(t *testing.T) {
	good := func(delta int) []byte { return rawRecord(delta, 0, 0) }
	for name, c := range map[string]struct {
		records   [][]byte
		lastDelta int
		offsets   string // offset deltas as letters, a = 0; capitals are unreadable
	}{
		"as it should be":            {[][]byte{good(0), good(1)}, 1, "ab"},
		"trailing bytes":             {[][]byte{good(0), rawRecord(1, 0, 0, 9), good(2)}, 2, "aBc"},
		"headers claimed, not there": {[][]byte{good(0), rawRecord(1, 1, 0), good(2)}, 2, "aBc"},
		"negative header count":      {[][]byte{good(0), rawRecord(1, -1, 0), good(2)}, 2, "aBc"},
		"too many headers":           {[][]byte{rawRecord(0, records.MaxHeaders+1, records.MaxHeaders+1), good(1)}, 1, "Ab"},
		"as many as allowed":         {[][]byte{rawRecord(0, records.MaxHeaders, records.MaxHeaders), good(1)}, 1, "ab"},
		"empty":                      {[][]byte{good(0), {0}, good(2)}, 2, "aBc"},
		"wrong delta":                {[][]byte{good(0), good(5), good(2)}, 2, "aBc"},
		"delta again":                {[][]byte{good(0), good(0), good(2)}, 2, "aBc"},
		"negative length":            {[][]byte{good(0), {1}, good(2), good(3)}, 3, "aBCD"},
		"length beyond the batch":    {[][]byte{good(0), {100}, good(2), good(3)}, 3, "aBCD"},
		"length without end":         {[][]byte{good(0), bytes.Repeat([]byte{0x80}, 12), good(2)}, 2, "aBC"},
		"compacted":                  {[][]byte{good(1), rawRecord(3, 0, 0, 9), good(6)}, 9, "bDg"},
		"compacted, wrong delta":     {[][]byte{good(1), good(9), good(6)}, 9, "bCg"},
		"compacted, length lost":     {[][]byte{good(1), {1}, good(6)}, 9, "bCD"},
		"compacted, all lost":        {[][]byte{{1}, good(6)}, 9, "AB"},
	} {
		for _, codec := range []records.Codec{records.NoCompression, records.Zstd} {
			batch := rawBatch(t, codec, 50, len(c.records), c.lastDelta, bytes.Join(c.records, nil))
			for from := int64(50); from <= int64(50+c.lastDelta); from++ {
				r := local(from, batch)
				got, err := drain(r)
				if err != nil || r.offset != int64(50+c.lastDelta)+1 {
					t.Fatalf("%s: next %d, %v", name, r.offset, err)
				}
				shown := ""
				for i, g := range got {
					letter := 'a' + rune(g.Offset-50)
					if g.Unreadable {
						letter -= 'a' - 'A'
					}
					if g.Unreadable != (g.Value == nil) || g.Unreadable && g.Headers.Len() != 0 {
						t.Fatalf("%s: %+v", name, g)
					}
					if own := c.records[min(len(got)-1, i)]; from == 50 && g.Length > 0 && len(own) > 5 && string(g.Key) != "k" {
						t.Errorf("%s: a key that can be read is %q", name, g.Key)
					}
					shown += string(letter)
				}
				want := ""
				for _, letter := range c.offsets {
					if int64(letter|0x20-'a')+50 >= from {
						want += string(letter)
					}
				}
				if shown != want {
					t.Fatalf("%s, %s, from %d: %s, want %s", name, codec, from, shown, want)
				}
			}
		}
	}
}

// TestUnreadableRecordsKeepTheirTimestamps checks that the timestamp of a record is read even if its key, value and
// headers cannot be, because the timestamp is public.
func TestUnreadableRecordsKeepTheirTimestamps(t *testing.T) {
	record := func(late int64, delta int, rest ...byte) []byte {
		b := wire.AppendVarint(wire.AppendVarint([]byte{0}, late), int64(delta))
		b = append(b, rest...)
		return append(wire.AppendVarint(nil, int64(len(b))), b...)
	}
	body := slices.Concat(
		record(500, 0, 2, 'k', 2, 'v', 0), record(700, 1, 2, 'k', 2, 'v', 9), record(600, 2, 99),
		record(800, 3, 2, 'k', 2, 'v', 0, 7),
	)
	got, err := drain(local(50, rawBatch(t, records.NoCompression, 50, 4, 3, body)))
	if err != nil || len(got) != 4 {
		t.Fatalf("%d records, %v", len(got), err)
	}
	for i, want := range []int64{500, 700, 600, 800} {
		if got[i].Unreadable != (i > 0) || got[i].Timestamp-got[0].Timestamp != want-500 {
			t.Errorf("record %d: %+v", i, got[i])
		}
	}
}

// spent drains a batch as Fetch does, and releases each Batch. It returns the allocated bytes and the numbers of
// records.
func spent(t *testing.T, batch []byte) (bytes uint64, records, unreadable int) {
	t.Helper()
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	r := local(0, batch)
	for r.answer.records != nil || !r.cursor.Done() {
		b, _ := batches.Get().(*Batch)
		if err := r.fill(t.Context(), b); err != nil {
			t.Fatal(err)
		}
		for i := range b.Records {
			records++
			if b.Records[i].Unreadable {
				unreadable++
			}
		}
		if len(b.Records) > batchRecords {
			t.Fatalf("a Batch of %d records", len(b.Records))
		}
		b.Release()
	}
	runtime.ReadMemStats(&after)
	return after.TotalAlloc - before.TotalAlloc, records, unreadable
}

func TestHostileBatchesCostBoundedMemory(t *testing.T) {
	many := func(one []byte, n int) []byte { return bytes.Repeat(one, n) }
	for name, c := range map[string]struct {
		count, unreadable int
		body              []byte
	}{
		"one record of 30 million headers": {1, 1, rawRecord(0, 30_000_000, 30_000_000)},
		"records of allowed headers": {
			10_000, 9_999,
			many(rawRecord(0, records.MaxHeaders, records.MaxHeaders), 10_000),
		},
		"records of no bytes": {20_000_000, 0, nil},
		"records of zeros":    {1_000_000, 1_000_000, make([]byte, 1_000_000)},
	} {
		batch := rawBatch(t, records.Zstd, 0, c.count, c.count-1, c.body)
		made, count, unreadable := spent(t, batch)
		t.Logf("%s: %d bytes on the wire, %d MiB allocated", name, len(batch), made>>20)
		if made > tiertest.Slack*6*records.MaxBatchBytes {
			t.Errorf("%s: %d MiB allocated", name, made>>20)
		}
		if want := min(c.count, records.MaxBatchBytes/records.MinRecordLen); count != want {
			t.Errorf("%s: %d records, want %d", name, count, want)
		}
		if c.unreadable > 0 && unreadable != c.unreadable {
			t.Errorf("%s: %d unreadable, want %d", name, unreadable, c.unreadable)
		}
	}
	// Each of 500 records has as many headers as allowed, 1 024. Decoded together, they would take 20 MiB.
	var body []byte
	for delta := range 500 {
		body = append(body, rawRecord(delta, records.MaxHeaders, records.MaxHeaders)...)
	}
	made, records, unreadable := spent(t, rawBatch(t, records.NoCompression, 0, 500, 499, body))
	if records != 500 || unreadable != 0 || made > tiertest.Slack*4<<20 {
		t.Errorf("%d records, %d unreadable, %d MiB allocated for headers", records, unreadable, made>>20)
	}
}

func TestMemoryOfManyAbortedTransactions(t *testing.T) {
	wire := fetchAnswer(nil, make([]abortedTxn, 200_000)...)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	a, err := readFetch(bytes.NewReader(wire), len(wire), plenty, records.MaxBatchBytes)
	runtime.ReadMemStats(&after)
	if made := after.TotalAlloc - before.TotalAlloc; err != nil || len(a.aborted) != 200_000 ||
		made > uint64(8*len(wire)) {
		t.Fatalf("%d entries of %d bytes, %d allocated, %v", len(a.aborted), len(wire), made, err)
	}
	claim := bytes.Clone(wire[:64])
	copy(claim[59:], []byte{0xff, 0xff, 0xff, 0xff, 0x0f}) // claims four billion entries
	runtime.ReadMemStats(&before)
	_, err = readFetch(bytes.NewReader(claim), 1<<31-1, plenty, records.MaxBatchBytes)
	runtime.ReadMemStats(&after)
	if made := after.TotalAlloc - before.TotalAlloc; err == nil || made > 1<<20 {
		t.Fatalf("%d bytes allocated for a claim, %v", made, err)
	}
}

func TestDivergingAnswerIsNoticed(t *testing.T) {
	wire := fetchAnswer(nil)
	wire = append(wire[:len(wire)-3], 1, 0, 13, 0, 0, 0, 3, 0, 0, 0, 0, 0, 0, 0, 50, 0, 0, 0)
	a, err := readFetch(bytes.NewReader(wire), len(wire), plenty, records.MaxBatchBytes)
	if err != nil || !a.diverged {
		t.Fatalf("diverged is %t, %v", a.diverged, err)
	}
}

func TestEpochThatGoesBackIsTruncation(t *testing.T) {
	random := rand.New(rand.NewPCG(12, 12))
	one := recordstest.Appended(t, recordstest.Build(records.NoCompression, recordstest.Random(random, 2)), 0,
		records.Stamp{})
	two := recordstest.Appended(t, recordstest.Build(records.NoCompression, recordstest.Random(random, 2)), 2,
		records.Stamp{})
	binary.BigEndian.PutUint32(two[records.LeaderEpochAt:], 6) // an older epoch after 7
	r := local(0, append(bytes.Clone(one), two...))
	got, err := drain(r)
	if len(got) != 2 || r.offset != 2 || !errors.Is(err, kafka.ErrTruncated) || kafka.Classify(err) != kafka.Fatal {
		t.Fatalf("%d records, next %d, %v", len(got), r.offset, err)
	}
	r = local(2, two)
	r.epoch = 7
	if got, err := drain(r); len(got) != 0 || !errors.Is(err, kafka.ErrTruncated) {
		t.Fatalf("taken over: %d records, %v", len(got), err)
	}
}
