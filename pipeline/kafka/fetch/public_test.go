package fetch

import (
	"bytes"
	"fmt"
	"maps"
	"math/rand/v2"
	"reflect"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"oriel/mechanisms/mechtest/tiertest"
	"oriel/pipeline/kafka/memory"
	"oriel/pipeline/kafka/records"
	"oriel/pipeline/kafka/records/recordstest"
	"oriel/pipeline/kafka/wire"
)

// framed is the public part of a record batch: its codec, and the length of each record.
type framed struct {
	codec   records.Codec
	lengths []int
}

func times(n, length int) []int { return slices.Repeat([]int{length}, n) }

// shape makes the bytes of a record from its key on, with a given length. It returns nil if that is impossible.
type shape func(bytes int, from *noise) []byte

// noise produces bytes that do not compress.
type noise struct {
	random *rand.Rand
	pool   []byte
	at     int
}

func newNoise(seed uint64) *noise {
	n := &noise{random: rand.New(rand.NewPCG(seed, seed)), pool: make([]byte, 2<<20)}
	for i := range n.pool {
		n.pool[i] = byte(n.random.Uint32())
	}
	return n
}

// next returns bytes of noise, which repeat only after two MiB.
func (n *noise) next(bytes int) []byte {
	if n.at+bytes > len(n.pool) {
		n.at = 0
	}
	n.at += bytes
	return n.pool[n.at-bytes : n.at]
}

// exactly builds records with more and more noise until one has exactly this many bytes.
func exactly(bytes int, from *noise, build func(noise []byte) []byte) []byte {
	most := bytes - len(build(nil))
	for n := most; n >= max(0, most-4); n-- {
		if b := build(from.next(n)); len(b) == bytes {
			return b
		}
	}
	return nil
}

// contents are kinds of records of equal length with different contents, some of them undecodable.
func contents() map[string]shape {
	parts := func(key []byte, value []byte, count int, headers ...byte) []byte {
		made := wire.AppendNullable(make([]byte, 0, len(key)+len(value)+len(headers)+16), key)
		return append(wire.AppendVarint(wire.AppendNullable(made, value), int64(count)), headers...)
	}
	of := func(build func(noise []byte) []byte) shape {
		return func(bytes int, from *noise) []byte { return exactly(bytes, from, build) }
	}
	none := []byte{}
	return map[string]shape{
		"value":           of(func(noise []byte) []byte { return parts(nil, noise, 0) }),
		"empty key":       of(func(noise []byte) []byte { return parts(none, noise, 0) }),
		"key":             of(func(noise []byte) []byte { return parts([]byte("user"), noise, 0) }),
		"null value":      of(func(noise []byte) []byte { return parts(noise, nil, 0) }),
		"an empty header": of(func(noise []byte) []byte { return parts(nil, noise, 1, 0, 0) }),
		"1023 headers":    of(func(noise []byte) []byte { return parts(nil, noise, 1023, make([]byte, 2046)...) }),
		"1024 headers":    of(func(noise []byte) []byte { return parts(nil, noise, 1024, make([]byte, 2048)...) }),
		"a long header": of(func(noise []byte) []byte {
			return parts(none, nil, 1, wire.AppendNullable([]byte{2, 'h'}, noise)...)
		}),
		"a long name": of(func(noise []byte) []byte {
			return parts(none, nil, 1, append(wire.AppendNullable(nil, noise), 1)...)
		}),
		"1025 headers":      of(func(noise []byte) []byte { return parts(nil, noise, 1025, make([]byte, 2050)...) }),
		"keyed, unreadable": of(func(noise []byte) []byte { return parts([]byte("user"), noise, 1) }),
		"unreadable":        of(func(noise []byte) []byte { return parts(nil, noise, 1) }),
		"trailing bytes":    of(func(noise []byte) []byte { return parts(none, nil, 0, append(noise, 7)...) }),
		"no key to find":    of(func(noise []byte) []byte { return append([]byte{0xfe, 0xff, 0xff, 0x7f}, noise...) }),
	}
}

// answerOf returns an answer with these batches; say chooses the content of each record.
func answerOf(t *testing.T, base int64, batches []framed, from *noise, say func() shape) (answer []byte) {
	t.Helper()
	plain := contents()["value"]
	for _, b := range batches {
		var body []byte
		for delta, length := range b.lengths {
			head := wire.AppendVarint([]byte{0, 0}, int64(delta))
			rest := say()(length-len(head), from)
			if rest == nil {
				rest = plain(length-len(head), from)
			}
			if len(head)+len(rest) != length {
				t.Fatalf("no record of %d bytes", length)
			}
			body = append(append(wire.AppendVarint(body, int64(length)), head...), rest...)
		}
		answer = append(answer, rawBatch(t, b.codec, base, len(b.lengths), len(b.lengths)-1, body)...)
		base += int64(len(b.lengths))
	}
	return answer
}

// ends returns where Batches of an answer must end, computed only from public numbers: before the record that exceeds
// the largest count, and after the record batch that brings the decompressed bytes to the limit.
func ends(from int64, batches []framed) (all []int64) {
	offset, count, unpacked := int64(0), 0, 0
	for _, b := range batches {
		plain := 0
		for _, length := range b.lengths {
			if plain += wire.VarintLen(int64(length)) + length; offset >= from {
				if count == batchRecords {
					all = append(all, offset)
					count, unpacked = 0, 0
				}
				count++
			}
			offset++
		}
		if b.codec != records.NoCompression && offset > from {
			unpacked += max(plain, leastHold)
		}
		if unpacked >= batchHold {
			all = append(all, offset)
			count, unpacked = 0, 0
		}
	}
	return append(all, offset)
}

// seen returns everything observable about an answer except its records: where each Batch ends, and how much of the
// budget is in use then.
func seen(t *testing.T, from int64, wire []byte, budget int) (lines []string, at []int64) {
	t.Helper()
	r := local(from, wire)
	size := 1 << 40
	if budget > 0 {
		size = budget
	}
	r.budget = memory.NewBudget(size)
	r.answer.records.Share, _ = r.budget.Try(min(cap(r.answer.records.B), size))
	var taken []*Batch
	for r.answer.records != nil || !r.cursor.Done() {
		b := new(Batch)
		if err := r.fill(t.Context(), b); err != nil {
			t.Fatal(err)
		}
		at = append(at, r.offset)
		lines = append(lines, fmt.Sprintf("%d records, next %d, %d bytes held, %d parts", len(b.Records), r.offset,
			held(r.budget), len(b.held)))
		if taken = append(taken, b); budget > 0 || len(taken) == 3 { // holds up to three Batches, like the pipeline
			taken[0].Release()
			taken = taken[1:]
		}
	}
	for _, b := range taken {
		b.Release()
		lines = append(lines, fmt.Sprintf("released: %d bytes held", held(r.budget)))
	}
	if bytes, oversize := r.budget.Held(); bytes != 0 || oversize {
		t.Fatalf("%d bytes of the budget are not given back", bytes)
	}
	return lines, at
}

// publicAnswers returns answers around each constant of the Reader: one below it, at it and one above it.
func publicAnswers() map[string][]framed {
	all := map[string][]framed{}
	for _, n := range []int{batchRecords - 1, batchRecords, batchRecords + 1} {
		all[fmt.Sprintf("%d records", n)] = []framed{
			{records.NoCompression, times(n, 40)},
			{records.NoCompression, times(3, 40)},
		}
		all[fmt.Sprintf("%d records, compressed", n)] = []framed{{records.Zstd, times(n, 40)}, {records.Zstd, times(3, 40)}}
		all[fmt.Sprintf("%d batches", n)] = slices.Repeat([]framed{{records.NoCompression, times(1, 40)}}, n)
	}
	for _, n := range []int{batchHold/leastHold - 1, batchHold / leastHold, batchHold/leastHold + 1} {
		all[fmt.Sprintf("%d small batches", n)] = slices.Repeat([]framed{{records.LZ4, times(1, 100)}}, n)
	}
	for codec := records.Gzip; codec <= records.Zstd; codec++ {
		for _, n := range []int{leastHold - 2, leastHold - 1, batchHold - 4, batchHold - 3, batchHold - 2} {
			one := framed{codec, times(1, n)}
			all[fmt.Sprintf("%s, %d bytes", codec, n)] = []framed{one, one, {records.NoCompression, times(2, 40)}, one}
		}
	}
	all["large records"] = []framed{{records.NoCompression, times(250, 4200)}, {records.NoCompression, times(250, 4200)}}
	all["room for headers"] = []framed{
		{records.NoCompression, []int{2100, 2100, 2100, 40, 2100}}, {records.NoCompression, times(5, 2100)},
	}
	all["framings"] = []framed{
		{records.NoCompression, times(900, 30)},
		{records.Gzip, times(300, 2500)},
		{records.Snappy, times(1, 900_000)},
		{records.NoCompression, times(1300, 60)},
		{records.Zstd, times(20, 70_000)},
		{records.LZ4, times(2100, 30)},
	}
	return all
}

// TestBatchesEndByPublicNumbers checks that the end of a Batch, and the memory it holds, do not depend on the content
// of records, and that they follow from the public numbers of the answer.
func TestBatchesEndByPublicNumbers(t *testing.T) {
	t.Parallel()
	shapes := contents()
	names, source := sortedNames(shapes), newNoise(41)
	some := []string{"any", "1024 headers", "unreadable"}
	answers, uncompressed := publicAnswers(), 0
	for _, name := range slices.Sorted(maps.Keys(answers)) {
		batches, last := answers[name], int64(0)
		for _, b := range batches {
			last += int64(len(b.lengths))
		}
		all, plain := some, map[int64][]string{}
		if !compressed(batches) { // tests are faster here, and more contents have equal lengths
			all = []string{"value", "any"}
			for j, content := range names { // the short form has each content with a third of the answers
				if tiertest.Runs((uncompressed+j)%3 == 0, true) {
					all = append(all, content)
				}
			}
			uncompressed++
		}
		for _, says := range all {
			answer := answerOf(t, 0, batches, source, func() shape {
				if says == "any" {
					return shapes[names[source.random.IntN(len(names))]]
				}
				return shapes[says]
			})
			for _, from := range []int64{0, last - 1} {
				if from > 0 && plain[from] != nil && !slices.Contains(some, says) {
					continue
				}
				held, got := seen(t, from, answer, 0)
				if want := ends(from, batches); !slices.Equal(got, want) {
					t.Errorf("%s from %d, %s: Batches end at %v, want %v", name, from, says, got, want)
				}
				if plain[from] == nil {
					plain[from] = held
				}
				if !compressed(batches) && !slices.Equal(held, plain[from]) {
					t.Errorf("%s from %d, %s: %q, want %q", name, from, says, held, plain[from])
				}
			}
		}
	}
}

// compressed reports whether the compressed size of batches differs from the length of their records.
func compressed(batches []framed) bool {
	return slices.ContainsFunc(batches, func(b framed) bool { return b.codec != records.NoCompression })
}

func sortedNames(shapes map[string]shape) (names []string) {
	for name := range shapes {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

// TestHeldMemoryIsPublic checks for each budget that Batches end at the same offsets and hold the same memory, if
// batches also compress to the same lengths. A budget that is too small ends Batches early.
func TestHeldMemoryIsPublic(t *testing.T) {
	shapes := contents()
	var batches []framed
	for codec := records.NoCompression; codec <= records.Zstd; codec++ {
		batches = append(batches, framed{codec, times(30, 3000)}, framed{codec, times(2, 40_000)})
	}
	source := newNoise(42)
	for _, budget := range []int{1, 100_000, 300_000, 3 << 20} {
		build := func(says ...string) []byte {
			at := 0
			return answerOf(t, 0, batches, source, func() shape {
				at++
				return shapes[says[at%len(says)]]
			})
		}
		first := build("value")
		want, _ := seen(t, 0, first, budget)
		if early := budget < 3<<20; early != (len(want) > 2) {
			t.Errorf("budget %d: %d Batches", budget, len(want))
		}
		compared := 0
		for _, says := range [][]string{
			{"value"},
			{"null value"},
			{"key", "empty key"},
			{"an empty header", "value"},
			{"a long header"},
			{"unreadable"},
			{"trailing bytes"},
			{"no key to find"},
			{"unreadable", "value"},
		} {
			answer := build(says...)
			if len(answer) != len(first) {
				continue // compressed to another length, so brokers would frame it otherwise
			}
			compared++
			if got, _ := seen(t, 0, answer, budget); !slices.Equal(got, want) {
				t.Errorf("budget %d, %v: %q, want %q", budget, says, got, want)
			}
		}
		if compared < 6 {
			t.Errorf("budget %d: %d answers of equal length", budget, compared)
		}
	}
}

// TestEveryRecordHoldsItsAnswer checks that offset, epoch and length of a record are public, whether it can be decoded
// or not. A Batch of one record keeps the memory of the answer until Release, even if the record cannot be decoded.
func TestEveryRecordHoldsItsAnswer(t *testing.T) {
	source := newNoise(43)
	for says, say := range contents() {
		r := local(0, answerOf(t, 0, []framed{{records.NoCompression, times(1, 3000)}}, source, func() shape { return say }))
		r.budget = memory.NewBudget(1 << 20)
		r.answer.records.Share, _ = r.budget.Try(4096)
		b := new(Batch)
		if err := r.fill(t.Context(), b); err != nil || len(b.Records) != 1 {
			t.Fatalf("%s: %d records, %v", says, len(b.Records), err)
		}
		if public := (records.Public{LeaderEpoch: 7, Length: 3000}); b.Records[0].Public != public {
			t.Errorf("%s: %+v is public, want %+v", says, b.Records[0].Public, public)
		}
		if r.Close(); held(r.budget) != 4096 {
			t.Errorf("%s: %d bytes are held, want 4096", says, held(r.budget))
		}
		if b.Release(); held(r.budget) != 0 {
			t.Errorf("%s: %d bytes are held after Release", says, held(r.budget))
		}
	}
}

// TestWaitingForMemoryIsPublic checks that a Reader which waits for memory gets it, and sends its next Fetch, at times
// that do not depend on the contents of another Reader's records.
func TestWaitingForMemoryIsPublic(t *testing.T) {
	const size = 1 << 20
	batches := []framed{{records.NoCompression, times(60, 4200)}, {records.NoCompression, times(3, 4200)}}
	shapes, source := contents(), newNoise(44)
	names := sortedNames(shapes)
	for _, says := range append(names, "any") {
		answer := answerOf(t, 0, batches, source, func() shape {
			if says == "any" {
				return shapes[names[source.random.IntN(len(names))]]
			}
			return shapes[says]
		})
		synctest.Test(t, func(t *testing.T) {
			began, served := time.Now(), time.Duration(0)
			r := local(0, answer)
			r.budget = memory.NewBudget(size)
			r.answer.records.Share, _ = r.budget.Try(size)
			var done sync.WaitGroup
			done.Go(func() {
				s, err := r.budget.Take(t.Context(), 1)
				if err != nil {
					t.Error(err)
				}
				served = time.Since(began)
				s.Release()
			})
			for r.answer.records != nil || !r.cursor.Done() {
				b := new(Batch)
				if err := r.fill(t.Context(), b); err != nil {
					t.Fatal(err)
				}
				time.Sleep(time.Millisecond) // simulates work on the Batch
				b.Release()
			}
			done.Wait()
			if served != time.Millisecond {
				t.Errorf("%s: memory is there after %v, want 1ms", says, served)
			}
		})
	}
}

// TestHeadersAreWalkedInPlace checks that headers come back as they were built, and that reading them allocates
// nothing.
func TestHeadersAreWalkedInPlace(t *testing.T) {
	list := []records.Header{
		{Key: "null"}, {Key: "empty", Value: []byte{}}, {Value: []byte("v")}, {Key: "null", Value: []byte("2")},
	}
	var b records.Builder
	b.Append([]byte("k"), []byte("v"), list, 1)
	b.Append([]byte("k"), []byte("v"), nil, 1)
	read, err := drain(local(0, recordstest.Appended(t, &b, 0, records.Stamp{})))
	if err != nil || len(read) != 2 {
		t.Fatalf("%d records, %v", len(read), err)
	}
	for _, h := range []records.Headers{read[0].Headers, records.HeadersOf(list...), read[0].Headers.Clone()} {
		got := h.List()
		if h.Len() != len(list) || len(got) != len(list) {
			t.Fatalf("%d headers, %d in the list, want %d", h.Len(), len(got), len(list))
		}
		for i := range got {
			if got[i].Key != list[i].Key || !bytes.Equal(got[i].Value, list[i].Value) ||
				(got[i].Value == nil) != (list[i].Value == nil) {
				t.Errorf("header %d is %+v, want %+v", i, got[i], list[i])
			}
		}
	}
	for _, h := range []records.Headers{read[1].Headers, records.HeadersOf(), {}} {
		if h.Len() != 0 || h.List() != nil || !reflect.ValueOf(h).IsZero() {
			t.Errorf("no headers are %+v", h)
		}
	}
	sum := 0
	if n := testing.AllocsPerRun(100, func() {
		for name, value := range read[0].Headers.All() {
			if string(name) == "null" {
				sum += len(value)
			}
		}
	}); n != 0 {
		t.Errorf("a walk over headers makes %v allocations", n)
	}
	if sum != 101 {
		t.Errorf("%d bytes of values are found, want 101", sum)
	}
	for range read[0].Headers.All() {
		break // an iteration may stop early
	}
}

// TestRoomFollowsFromSizes checks that the reservation for an answer follows from the size of the previous answer, and
// that the memory for a decompressed batch follows from sizes, step by step up to the limit.
func TestRoomFollowsFromSizes(t *testing.T) {
	const most = 1 << 20
	for bytes, want := range map[int]int{
		0: 0, 1: memory.LeastBytes, memory.LeastBytes / 2: memory.LeastBytes, memory.LeastBytes/2 + 1: 2 * memory.LeastBytes,
		most/2 - 1: most, most / 2: most,
		most - 1: most, most: most, most + 1: most + 1, 3 * most: 3 * most,
	} {
		if got := expected(bytes, most); got != want {
			t.Errorf("after %d bytes %d are reserved, want %d", bytes, got, want)
		}
	}
	for bytes, want := range map[int]int{
		0: memory.LeastBytes, memory.LeastBytes: memory.LeastBytes, memory.LeastBytes + 1: 2 * memory.LeastBytes,
		memory.KeepBytes - 1: memory.KeepBytes, memory.KeepBytes: memory.KeepBytes,
		memory.KeepBytes + 1: memory.KeepBytes + 1, memory.LargeBytes: memory.LargeBytes,
	} {
		if got := memory.CapacityFor(bytes); got != want {
			t.Errorf("a buffer for %d bytes has room for %d, want %d", bytes, got, want)
		}
	}
	for room, want := range map[int]int{
		memory.LeastBytes: unpackStep * memory.LeastBytes, memory.KeepBytes / unpackStep: memory.KeepBytes,
		memory.KeepBytes / 2: memory.KeepBytes,
		memory.KeepBytes:     memory.LargeBytes, memory.LargeBytes - 1: memory.LargeBytes,
		memory.LargeBytes: records.MaxBatchBytes,
	} {
		if got := nextRoom(room); got != want {
			t.Errorf("room of %d bytes is followed by %d, want %d", room, got, want)
		}
	}
}
