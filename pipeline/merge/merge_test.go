package merge_test

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"oriel/mechanisms/mechtest/tiertest"
	"oriel/pipeline/kafka"
	"oriel/pipeline/kafka/fetch"
	"oriel/pipeline/kafka/memory"
	"oriel/pipeline/kafka/records"
	"oriel/pipeline/merge"
	"oriel/pipeline/order"
	"oriel/pipeline/pipetest/logtest"
)

// TestReaderMatchesReferenceModel compares Readers with the reference model on random inputs, by both rules. They have
// every codec, aborted transactions and markers, times of producers and of brokers, and order records that repeat, go
// back, cut batches, come from a clock that is ahead, or are foreign. Each input is read once by a single Reader, and
// once by several Readers, each of which continues where the previous one stopped.
func TestReaderMatchesReferenceModel(t *testing.T) {
	t.Parallel()
	for _, byClock := range []bool{false, true} {
		for _, size := range []int{1, 100_000, 1 << 30} {
			t.Run(fmt.Sprintf("by clock %t, budget %d", byClock, size), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					random := rand.New(rand.NewPCG(uint64(size), 1))
					e := newSimulatedEnv(t, 5)
					e.log.ByClock, e.budget = byClock, memory.NewBudget(size)
					for range tiertest.Runs(40, 400) {
						e.grow(random, 5)
					}
					e.matches(random)
				})
			})
		}
	}
}

// matches compares Readers with the reference model.
func (e *env) matches(random *rand.Rand) {
	e.Helper()
	model := e.model()
	w := &walk{at: e.first()}
	source := e.open(w.at)
	w.end(e, source, model)
	source.Close()

	w = &walk{at: e.first()}
	for w.at.Next < model.at.Next {
		source := e.open(w.at)
		w.until(e, source, min(model.at.Next, w.at.Next+1+random.Int64N(model.at.Next/5)))
		source.Close()
	}
	source = e.open(w.at)
	w.end(e, source, model)
	source.Close()
	if held, oversize := e.budget.Held(); held != 0 || oversize {
		e.Fatalf("%d bytes are held in the end, oversize: %t", held, oversize)
	}
}

// grow appends records to some partitions, and order records to the order log.
func (e *env) grow(random *rand.Rand, partitions int32) {
	for range random.IntN(6) {
		p, values := random.Int32N(partitions), make([]string, 1+random.IntN(20))
		for i := range values {
			values[i] = fmt.Sprint(random.IntN(1000))
			if random.IntN(50) == 0 {
				values[i] = strings.Repeat("x", random.IntN(200_000))
			}
		}
		switch random.IntN(3) {
		case 0:
			e.transact(p, random.IntN(2) == 0, values...)
		default:
			codecs := []records.Codec{records.NoCompression, records.Gzip, records.LZ4, records.Zstd}
			e.send(p, codecs[random.IntN(len(codecs))], values...)
		}
		time.Sleep(time.Duration(random.IntN(700)) * time.Millisecond)
	}
	if random.IntN(5) == 0 {
		kind := []string{"CreateTime", "LogAppendTime"}[random.IntN(2)]
		e.check(logtest.Alter(e.Context(), e.client, names.Input, map[string]string{"message.timestamp.type": kind}))
	}
	log := e.log
	if random.IntN(8) == 0 {
		log.Key[0]++ // signs with a foreign key
	}
	var entries []order.Entry
	for p := range partitions {
		end := e.end(p)
		if random.IntN(3) == 0 {
			end -= random.Int64N(10)
		}
		if end > 0 && random.IntN(4) > 0 {
			entries = append(entries, order.Entry{Partition: p, End: end, Epoch: int32(random.IntN(8) / 7)})
		}
	}
	e.close(log, max(0, ended()-random.Int64N(3)+random.Int64N(5)/4), entries...)
}

// next calls Fetch until a Batch has records or moves the position, and lets w take the Batch.
func (e *env) next(w *walk, r *merge.Reader) error {
	e.Helper()
	for {
		b, err := r.Fetch(e.Context())
		if err != nil {
			return err
		}
		w.take(e, b)
		found := b.Order != nil
		b.Release()
		if found {
			return nil
		}
	}
}

// TestReaderWaitsForTheOrder checks that a Reader waits for records that are not ordered yet, and for ordered records
// that the partition does not have yet.
func TestReaderWaitsForTheOrder(t *testing.T) {
	t.Parallel()
	e := newEnv(t, 2, nil)
	w := &walk{at: e.first()}
	r := e.open(w.at)
	defer r.Close()
	e.send(1, records.NoCompression, "a", "b", "c")
	for range 2 {
		b, err := r.Fetch(t.Context())
		e.check(err)
		if b.Partition != -1 || b.From+b.Shift != 0 || b.Next != b.From || b.Stable != b.Next || b.Order != nil {
			t.Fatalf("a Batch where nothing is ordered: %+v", *b)
		}
		b.Release()
	}
	e.order(e.log, order.Entry{Partition: 1, End: 2})
	b, err := r.Fetch(t.Context())
	for ; err == nil && b.Order == nil; b, err = r.Fetch(t.Context()) { // a busy broker may answer too early
		b.Release()
	}
	e.check(err)
	if b.Order.Done == nil || b.Partition != 1 || len(b.Records) != 2 || b.Stable-b.Next != 1 || b.Start+b.Shift != 0 {
		t.Fatalf("the first Batch: %+v of order %+v", *b, *b.Order)
	}
	w.take(t, b)
	b.Release()
	if b, err = r.Fetch(t.Context()); err != nil || b.From+b.Shift != 2 || b.Stable != b.Next {
		t.Fatalf("a record is not ordered: %+v, %v", *b, err)
	}
	b.Release()
	e.send(0, records.NoCompression, "d")
	e.order(e.log, order.Entry{Partition: 0, End: 1}, order.Entry{Partition: 1, End: 3})
	w.end(e, r, e.model())
}

// TestReaderTakesNoOtherRecordsThanWereOrdered checks the epochs of ranges. A range names the epoch of the leader that
// reported its end. Records of a later epoch below the end of the range have replaced lost ones, so the Reader must
// fail.
func TestReaderTakesNoOtherRecordsThanWereOrdered(t *testing.T) {
	t.Parallel()
	e := newEnv(t, 1, nil)
	e.send(0, records.NoCompression, "of the first epoch")
	e.move(names.Input, 0, 0)
	e.move(names.Input, 0, 1)
	e.send(0, records.NoCompression, "of the third epoch")
	bounds, err := logtest.Read(t.Context(), e.client, names.Input, 0, 0, fetch.Options{})
	e.check(err)
	first, third := bounds[0].LeaderEpoch, bounds[1].LeaderEpoch
	if third < first+2 {
		t.Fatalf("epochs %d and %d", first, third)
	}
	for _, last := range []int32{third, third - 1} {
		e.order(e.log, order.Entry{Partition: 0, End: 1, Epoch: first + 1}) // a leader that has not appended any record
		e.order(e.log, order.Entry{Partition: 0, End: 2, Epoch: last})
		w := &walk{at: e.first()}
		if last < third {
			w.at.Order.Next = 2
		}
		r := e.open(w.at)
		err := e.next(w, r)
		if err == nil {
			err = e.next(w, r)
		}
		r.Close()
		if truncated := errors.Is(err, kafka.ErrTruncated); truncated != (last < third) || !truncated && err != nil {
			t.Errorf("a record of epoch %d in a range of epoch %d: %v", third, last, err)
		}
	}
}

// TestReaderFailsIfOrderedRecordsAreMissing checks that a Reader fails if the input ends below the end of a range.
func TestReaderFailsIfOrderedRecordsAreMissing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := newSimulatedEnv(t, 2)
		e.send(0, records.NoCompression, "a", "b")
		e.order(e.log, order.Entry{Partition: 0, End: 3})
		w := &walk{at: e.first()}
		r := e.open(w.at)
		defer r.Close()
		e.check(e.next(w, r))
		if err := e.next(w, r); !errors.Is(err, kafka.ErrTruncated) || w.at.Next != 2 {
			t.Errorf("at merged offset %d: %v, want ErrTruncated", w.at.Next, err)
		}
	})
}

// TestReaderReportsTheAwaitedPartition checks the notices of a Reader while the end of a range is not stable, for
// example after a change of its leader.
func TestReaderReportsTheAwaitedPartition(t *testing.T) {
	t.Parallel()
	e := newEnv(t, 4, nil)
	other := e.log
	other.Key[0]++
	var refused []int64
	var halted []string
	w := &walk{at: e.first()}
	r := e.open(w.at)
	r.Notify(merge.Notices{
		HaltAfter: 50 * time.Millisecond,
		Halted:    func(partition int32, halts bool) { halted = append(halted, fmt.Sprint(partition, halts)) },
		Refused:   func(record int64) { refused = append(refused, record) },
	})
	producer := e.producer("open")
	e.check(producer.Begin(t.Context(), []kafka.TopicPartition{{Topic: names.Input, Partition: 2}}))
	_, err := producer.Produce(t.Context(), names.Input, 2, batch(records.NoCompression, []string{"a"}))
	e.check(err)
	e.send(3, records.NoCompression, "b")
	e.order(other, order.Entry{Partition: 1, End: 7})
	e.order(e.log, order.Entry{Partition: 2, End: 1}, order.Entry{Partition: 3, End: 1})
	for len(halted) == 0 {
		b, err := r.Fetch(t.Context())
		e.check(err)
		w.take(t, b)
		b.Release()
	}
	e.check(producer.End(t.Context(), true))
	w.end(e, r, e.model())
	r.Close()
	if !slices.Equal(halted, []string{"2 true", "2 false"}) || !slices.Equal(refused, []int64{0}) {
		t.Errorf("halted: %v; refused: %v", halted, refused)
	}
}

// TestReaderReportsVoidOrderRecords checks for how long order records are said to be void: from the first one that does
// not count to the next one that does. A record of a slot that is closed already is only late.
func TestReaderReportsVoidOrderRecords(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := newSimulatedEnv(t, 1)
		e.log.ByClock = true
		var last []time.Duration
		r := e.open(e.first())
		r.Notify(merge.Notices{Void: func(d time.Duration) { last = append(last, d.Round(time.Second)) }})
		read := func() {
			t.Helper()
			b, err := r.Fetch(t.Context())
			e.check(err)
			b.Release()
			time.Sleep(time.Second)
		}
		e.order(e.log)
		read()
		e.close(e.log, ended()-1) // late
		read()
		for range 12 {
			e.close(e.log, ended()+2) // it would close a slot that has not ended
			read()
		}
		e.close(e.log, ended()-20) // late, while others are void
		read()
		e.order(e.log)
		read()
		r.Close()
		want := []time.Duration{}
		for k := range 13 {
			want = append(want, time.Duration(k)*time.Second)
		}
		if !slices.Equal(last, append(want, 0)) {
			t.Errorf("void for %v, want %v", last, want)
		}
	})
}

// TestReaderContinuesAfterElectionsOfTheOrderLog checks that a position names the epoch of the last batch read from the
// order log. With an older epoch, the order log would seem to have lost that batch.
func TestReaderContinuesAfterElectionsOfTheOrderLog(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := newSimulatedEnv(t, 2)
		e.send(0, records.NoCompression, "a", "b")
		e.send(1, records.NoCompression, "c", "d")
		w := &walk{at: e.first()}
		for i := range int64(2) {
			e.order(e.log, order.Entry{Partition: 0, End: 1 + i}, order.Entry{Partition: 1, End: 1 + i})
			for range 2 {
				r := e.open(w.at)
				e.check(e.next(w, r))
				r.Close()
			}
			e.move(names.Order, 0, int32(i))
		}
		w.same(t, e.model())
	})
}

// TestReaderStopsWithItsOrderLog checks that a Reader fails with its order log, after it has handed out all records
// ordered before.
func TestReaderStopsWithItsOrderLog(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := newSimulatedEnv(t, 1)
		e.send(0, records.NoCompression, "a", "b")
		e.order(e.log, order.Entry{Partition: 0, End: 1})
		w := &walk{at: e.first()}
		r := e.open(w.at)
		defer r.Close()
		e.check(e.next(w, r))
		e.check(logtest.Delete(t.Context(), e.client, names.Order))
		if err := e.next(w, r); !errors.Is(err, kafka.ErrTopicRecreated) {
			t.Errorf("%v, want ErrTopicRecreated", err)
		}
		later := &walk{at: w.at}
		later.at.Order = w.at.Order.Clone()
		later.at.Order.Next = 100
		r = e.open(later.at)
		defer r.Close()
		if err := e.next(later, r); err == nil {
			t.Error("an order log that is gone is followed")
		}
	})
}

// TestMergedBatchesEndByPublicNumbers checks that the ends of Batches depend only on public numbers. Three inputs have
// records of equal lengths but other contents, some unreadable: their Batches must have the same ends.
func TestMergedBatchesEndByPublicNumbers(t *testing.T) {
	t.Parallel()
	var traces [3][]string
	for neighbour := range traces {
		random := rand.New(rand.NewPCG(8, 8))
		e := newEnv(t, 3, memory.NewBudget(64<<20))
		for range 8 {
			for p := range int32(3) {
				var b records.Builder
				for range 1 + random.IntN(300) {
					value := bytes.Repeat([]byte{byte('a' + neighbour)}, 1+random.IntN(2000))
					if neighbour == 2 {
						b.Append(value, nil, nil, 1) // the key has as many bytes as the other streams' values
					} else {
						b.Append(nil, value, nil, 1)
					}
				}
				_, err := e.producer("").Produce(t.Context(), names.Input, p, &b)
				e.check(err)
			}
			var entries []order.Entry
			for p := range int32(3) {
				entries = append(entries, order.Entry{Partition: p, End: e.end(p) - random.Int64N(50)})
			}
			e.order(e.log, entries...)
		}
		model := e.model()
		r := e.open(e.first())
		for next := int64(0); next < model.at.Next; {
			b, err := r.Fetch(t.Context())
			e.check(err)
			if next = b.Next + b.Shift; b.Order != nil {
				traces[neighbour] = append(traces[neighbour], fmt.Sprint(
					b.Partition, b.From, b.Next, len(b.Records), b.Order.Record, b.Order.End, b.Order.Done != nil))
			}
			b.Release()
		}
		r.Close()
	}
	for neighbour := 1; neighbour < len(traces); neighbour++ {
		if !slices.Equal(traces[neighbour], traces[0]) {
			t.Errorf("neighbour %d: %d Batches, want %d, or they end elsewhere",
				neighbour, len(traces[neighbour]), len(traces[0]))
		}
	}
}

// TestTheNextPartitionProceeds checks that the partition whose turn it is makes progress under a tiny memory budget,
// although each partition holds a batch that is large when decompressed.
func TestTheNextPartitionProceeds(t *testing.T) {
	t.Parallel()
	for _, size := range []int{1, 3 << 20} {
		partitions := int32(tiertest.Runs(15, 200))
		budget := memory.NewBudget(size)
		e := newEnv(t, int(partitions), budget)
		bomb := strings.Repeat("x", tiertest.Runs(1200<<10, 3<<20))
		var entries, more []order.Entry
		for p := range partitions {
			e.send(p, records.Zstd, "a", bomb, "b")
			e.send(p, records.Zstd, bomb)
			entries = append(entries, order.Entry{Partition: p, End: 2})
			more = append(more, order.Entry{Partition: p, End: 4})
		}
		e.order(e.log, entries...)
		e.order(e.log, more...)
		model := e.model()
		w := &walk{at: e.first()}
		r := e.open(w.at)
		w.end(e, r, model)
		r.Close()
		if held, oversize := budget.Held(); held != 0 || oversize {
			t.Errorf("%d bytes are held in the end, oversize: %t", held, oversize)
		}
	}
}
