package pipeline

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"oriel/operators"
	"oriel/operators/loss"
	"oriel/pipeline/kafka/fetch"
	"oriel/pipeline/kafka/records"
	"oriel/pipeline/streams"
	"oriel/pipeline/transaction"
	"oriel/schemas/event"
	"oriel/state"
)

// sayings returns kinds of records that differ only in contents: their offsets and lengths are equal.
func sayings() map[string]func(i int) records.Record {
	valid := []byte(`{"cost":[1]}`)
	all := map[string]func(i int) records.Record{
		"valid":      func(int) records.Record { return records.Record{Value: valid} },
		"malformed":  func(int) records.Record { return records.Record{Value: []byte(`{`)} },
		"too large":  func(int) records.Record { return records.Record{Value: make([]byte, 101)} },
		"null":       func(int) records.Record { return records.Record{} },
		"null, key":  func(int) records.Record { return records.Record{Key: []byte("user")} },
		"empty":      func(int) records.Record { return records.Record{Key: []byte{}, Value: []byte{}} },
		"unreadable": func(int) records.Record { return records.Record{Unreadable: true} },
		"headers": func(int) records.Record {
			return records.Record{Value: valid, Headers: records.HeadersOf(make([]records.Header, records.MaxHeaders)...)}
		},
		"late": func(int) records.Record {
			return records.Record{Public: records.Public{Timestamp: 1 << 50}, Value: valid}
		},
	}
	each := []string{"headers", "null", "unreadable", "valid", "null, key", "malformed", "late"}
	all["mixed"] = func(i int) records.Record { return all[each[i%len(each)]](i) }
	all["one"] = func(i int) records.Record {
		if i == 7 {
			return all["unreadable"](i)
		}
		return all["valid"](i)
	}
	return all
}

// feed describes the public side of a computer's input: the number and sizes of Batches, and the speed of the brokers.
type feed struct {
	lengths [][]int // lengths of the records in each Batch
	gap     int64   // number of offsets without a record after each Batch
	pause   time.Duration
	commit  time.Duration // duration of a commit
	input   int
	memory  int
	stop    time.Duration // time when work ends; 0: after the last Batch
	ahead   bool          // whether events are decoded ahead
}

// openStream opens a stream whose operator has two topics.
func openStream(t *testing.T) *streams.Stream {
	t.Helper()
	body, _ := loss.Body("linear", 1)
	s, err := streams.OpenStream(streams.Model{
		Events:  event.Config{Body: body, Dimension: 1, MaxBytes: 100, Features: event.FeatureConfig{Norm: "none"}},
		Learner: testLearner{testOperator{output: &operators.Output{}}},
	}, nil, [32]byte{}, [32]byte{}, "0", [16]byte{})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// closes returns the transactions that a computer hands over: the size and time of each, and their ends.
func (f feed) closes(t *testing.T, say func(i int) records.Record) (all []string, ends []int64) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		s, at := openStream(t), state.Position{Next: 10, LeaderEpoch: 3}
		work, stop := context.WithCancel(t.Context())
		defer stop()
		pool := records.NewPool()
		filled, free := make(chan *transaction.Transaction), make(chan *transaction.Transaction, 2)
		for range cap(free) {
			free <- transaction.New(pool, false)
		}
		sealer, err := state.NewIncarnation(state.Incarnation{Stream: "0"}).Sealer()
		if err != nil {
			t.Fatal(err)
		}
		c := &computer{
			Builder:  transaction.NewBuilder(s, 0, at, sealer, nil),
			interval: 100 * time.Millisecond, filled: filled, free: free, memory: f.memory, input: f.input,
		}
		batches := make(chan fetched, batchesAhead)
		read := batches
		if f.ahead {
			ahead, err := s.NewAhead()
			if err != nil {
				t.Fatal(err)
			}
			read, batches = decodeAhead(work, new(sync.WaitGroup), ahead)
		}
		began := time.Now()
		go func() {
			defer close(read)
			next, i := at.Next, 0
			for _, lengths := range f.lengths {
				b := &fetch.Batch{From: next, LeaderEpoch: 3}
				for _, length := range lengths {
					r := say(i)
					r.Public = records.Public{Offset: next, LeaderEpoch: 3, Length: length}
					b.Records = append(b.Records, r)
					next, i = next+1, i+1
				}
				next += f.gap
				b.Next, b.Stable = next, next
				read <- fetched{Batch: b}
				time.Sleep(f.pause)
			}
		}()
		if f.stop > 0 {
			time.AfterFunc(f.stop, stop)
		}
		done := make(chan error)
		go func() {
			err := c.run(work, batches)
			close(filled)
			done <- err
		}()
		for tx := range filled {
			ends = append(ends, tx.Position.Next)
			decisions := tx.Decisions[0].Bytes() + tx.Decisions[1].Bytes()
			all = append(all, fmt.Sprintf("%v: to %d, %d records of %d bytes, %d bytes of decisions, %d of rows, %d of state",
				time.Since(began), tx.Position.Next, tx.Records, tx.Taken, decisions, tx.Rows.Bytes(), len(tx.Sealed)))
			time.Sleep(f.commit)
			tx.Reset()
			free <- tx
		}
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
	return all, ends
}

// TestTransactionsEndByPublicNumbers checks that the contents of records do not change where and when transactions
// close, nor their sizes. If only input bytes limit transactions, the lengths of records must determine where they
// close.
func TestTransactionsEndByPublicNumbers(t *testing.T) {
	const length, records = 968, 300 // a record takes 1000 bytes with its overhead
	full := slices.Repeat([]int{length}, records)
	for name, c := range map[string]struct {
		feed
		ends []int64 // expected ends of transactions, from offset 10 on; nil: runs must only agree
	}{
		"one byte below":  {feed: feed{lengths: [][]int{full}, input: 300_001}, ends: []int64{310}},
		"as many bytes":   {feed: feed{lengths: [][]int{full}, input: 300_000}, ends: []int64{310}},
		"one byte beyond": {feed: feed{lengths: [][]int{full}, input: 299_999}, ends: []int64{310}},
		"a record before": {feed: feed{lengths: [][]int{full}, input: 299_000}, ends: []int64{309, 310}},
		"over and over": {
			feed: feed{lengths: [][]int{full, full}, input: 100_000}, ends: []int64{110, 210, 310, 410, 510, 610},
		},
		"two Batches":     {feed: feed{lengths: [][]int{full, full}, input: 400_000}, ends: []int64{410, 610}},
		"offsets between": {feed: feed{lengths: [][]int{full, full}, gap: 5, input: 400_000}, ends: []int64{415, 620}},
		"lengths unknown": {feed: feed{lengths: [][]int{make([]int, records)}, input: 3200}, ends: []int64{110, 210, 310}},
		"full of decisions": {feed: feed{
			lengths: [][]int{full, full}, input: 1 << 30, memory: 25_000, commit: time.Millisecond,
		}},
		"a slow commit": {feed: feed{
			lengths: slices.Repeat([][]int{full[:40]}, 40), pause: 31 * time.Millisecond, commit: 173 * time.Millisecond,
			input: 1 << 30,
		}},
		"work ends": {feed: feed{
			lengths: slices.Repeat([][]int{full}, 10), pause: 21 * time.Millisecond, commit: 53 * time.Millisecond,
			input: 100_000, stop: 130 * time.Millisecond,
		}},
	} {
		if c.memory == 0 {
			c.memory = 1 << 30
		}
		said := sayings()
		want, ends := c.closes(t, said["valid"])
		if c.ends != nil && !slices.Equal(ends, c.ends) {
			t.Errorf("%s: transactions end at %v, want %v", name, ends, c.ends)
		}
		if c.ends == nil && len(ends) < 3 {
			t.Errorf("%s: transactions end at %v", name, ends)
		}
		for says, say := range said {
			for _, c.ahead = range []bool{false, true} {
				if got, _ := c.closes(t, say); !slices.Equal(got, want) {
					t.Errorf("%s, %s, ahead %t: %q, want %q", name, says, c.ahead, got, want)
				}
			}
		}
	}
}

// TestStopIsCheckedByCount checks that a computer looks for a stop after a fixed number of records of a Batch.
func TestStopIsCheckedByCount(t *testing.T) {
	for says, say := range sayings() {
		f := feed{
			lengths: [][]int{make([]int, 2048)}, input: 700 * records.RecordOverhead, memory: 1 << 30,
			commit: 40 * time.Millisecond, stop: 10 * time.Millisecond,
		}
		if _, ends := f.closes(t, say); !slices.Equal(ends, []int64{710, 1410, 1545}) {
			t.Errorf("%s: transactions end at %v", says, ends)
		}
	}
}
