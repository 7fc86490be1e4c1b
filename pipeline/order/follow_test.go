package order_test

import (
	"context"
	"errors"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"oriel/pipeline/embedded"
	"oriel/pipeline/kafka"
	"oriel/pipeline/kafka/fetch"
	"oriel/pipeline/kafka/produce"
	"oriel/pipeline/kafka/records"
	"oriel/pipeline/kafka/topics"
	"oriel/pipeline/order"
	"oriel/pipeline/pipetest/brokertest"
	"oriel/pipeline/pipetest/logtest"
	"oriel/pipeline/pipetest/simtest"
	"oriel/state"
)

// env is an order log on a broker that only this test uses.
type env struct {
	testing.TB
	address string // of the broker; "" in a bubble
	client  *kafka.Client
	topic   topics.Topic
	log     order.Log
	start   *state.Ordered
}

func newEnv(t testing.TB) *env { return newEnvAt(t, brokertest.Embedded(t, embedded.Options{}).Addr()) }

func newEnvAt(t testing.TB, address string) *env {
	client := brokertest.Client(t, address, kafka.Config{DoubtFor: time.Second})
	return (&env{TB: t, address: address, client: client}).with()
}

// newSimulatedEnv is for tests that wait. It must be called in a bubble of testing/synctest, whose clock advances when
// all goroutines wait.
func newSimulatedEnv(t testing.TB) *env {
	return (&env{TB: t, client: simtest.New(t).Client()}).with()
}

// with creates the order log.
func (e *env) with() *env {
	e.start = &state.Ordered{LeaderEpoch: -1}
	e.topic = e.createWith("late.order", 1, map[string]string{"message.timestamp.type": "LogAppendTime"})
	e.log = order.Log{Key: [32]byte{1}, Topic: e.topic.ID, Input: [16]byte{3}}
	return e
}

func (e *env) create(name string, partitions int) topics.Topic {
	e.Helper()
	return e.createWith(name, partitions, nil)
}

func (e *env) createWith(name string, partitions int, settings map[string]string) topics.Topic {
	e.Helper()
	if err := topics.Create(e.Context(), e.client, name, partitions, 1, settings); err != nil {
		e.Fatal(err)
	}
	cluster, err := topics.Describe(e.Context(), e.client, name)
	if err != nil {
		e.Fatal(err)
	}
	return cluster.Topics[name]
}

// put appends values as one batch.
func (e *env) put(values ...[]byte) {
	e.Helper()
	var b records.Builder
	for _, v := range values {
		b.Append(nil, v, nil, 0)
	}
	if _, err := produce.Append(e.Context(), e.client, e.topic.Name, 0, &b); err != nil {
		e.Fatal(err)
	}
}

// record returns an order record that closes all slots that have ended.
func (e *env) record(entries ...order.Entry) []byte {
	return e.log.Append(nil, order.Record{Slot: time.Now().Unix() - 1, Entries: entries})
}

func (e *env) ahead(at *state.Ordered) ([]order.Range, error) {
	return e.log.Ahead(e.Context(), e.client, e.topic, at, e.start)
}

func TestAheadReturnsTheOrderedRanges(t *testing.T) {
	t.Parallel()
	e := newEnv(t)
	other := e.log
	other.Key[0]++
	e.put(e.record(order.Entry{Partition: 0, End: 5}, order.Entry{Partition: 2, End: 7}))
	e.put(
		e.record(order.Entry{Partition: 0, End: 9}, order.Entry{Partition: 1, End: 4, Epoch: 2}),
		other.Append(nil, order.Record{Entries: []order.Entry{{Partition: 0, End: 1000, Epoch: 1}}}),
		nil,
		[]byte("no order record"),
	)
	e.put(e.record(order.Entry{Partition: 0, End: 10, Epoch: 1}, order.Entry{Partition: 1, End: 6, Epoch: 1}))
	e.put(e.record(order.Entry{Partition: 0, End: 11, Epoch: 2}, order.Entry{Partition: 0 + 2, End: 8}))
	for name, c := range map[string]struct {
		at   *state.Ordered
		want []order.Range
	}{
		"from the start": {
			e.start,
			[]order.Range{{0, 0, 9, 0}, {2, 0, 8, 0}, {1, 0, 4, 2}, {0, 9, 10, 1}, {0, 10, 11, 2}},
		},
		"inside of a record": {
			&state.Ordered{LeaderEpoch: -1, Parts: []state.OrderedPart{{Partition: 0, Next: 3, End: 5}}},
			[]order.Range{{0, 3, 9, 0}, {2, 0, 8, 0}, {1, 0, 4, 2}, {0, 9, 10, 1}, {0, 10, 11, 2}},
		},
		"behind a record": {
			&state.Ordered{Next: 5, LeaderEpoch: 0, Parts: []state.OrderedPart{
				{Partition: 0, Next: 9, End: 9}, {Partition: 1, Next: 4, End: 4, Ordered: 2}, {Partition: 2, Next: 7, End: 7},
			}},
			[]order.Range{{0, 9, 10, 1}, {0, 10, 11, 2}, {2, 7, 8, 0}},
		},
		"at the end": {&state.Ordered{Next: 7, LeaderEpoch: -1}, nil},
	} {
		if got, err := e.ahead(c.at); err != nil || !slices.Equal(got, c.want) {
			t.Errorf("%s: %v, %v, want %v", name, got, err, c.want)
		}
	}
	f := e.log.Follow(e.client, e.topic, e.start, e.start)
	defer f.Close()
	for f.At().Next < 7 {
		if _, high, err := f.Read(t.Context()); err != nil || high != 7 {
			t.Fatalf("high %d, %v", high, err)
		}
	}
	if f.Refused != 3 || f.Void != 0 {
		t.Errorf("%d records refused, want 3; %d void, want none", f.Refused, f.Void)
	}
}

// TestAnOpenTransactionOfAnotherWriterStopsNoReader checks that a writer without the key cannot block readers of the
// order log with an open transaction.
func TestAnOpenTransactionOfAnotherWriterStopsNoReader(t *testing.T) {
	t.Parallel()
	e := newEnv(t)
	p, err := produce.New(t.Context(), e.client, "stranger", time.Minute)
	if err != nil {
		t.Fatal(err)
	}
	if err := p.Begin(t.Context(), []kafka.TopicPartition{{Topic: e.topic.Name}}); err != nil {
		t.Fatal(err)
	}
	var b records.Builder
	b.Append(nil, e.record(order.Entry{Partition: 3, End: 1}), nil, 0) // a record copied to another offset
	if _, err := p.Produce(t.Context(), e.topic.Name, 0, &b); err != nil {
		t.Fatal(err)
	}
	e.put(e.record(order.Entry{Partition: 0, End: 5}))
	want := []order.Range{{3, 0, 1, 0}, {0, 0, 5, 0}}
	if got, err := e.ahead(e.start); err != nil || !slices.Equal(got, want) {
		t.Errorf("open: %v, %v, want %v", got, err, want)
	}
	if err := p.End(t.Context(), false); err != nil {
		t.Fatal(err)
	}
	if got, err := e.ahead(e.start); err != nil || !slices.Equal(got, want) {
		t.Errorf("aborted: %v, %v, want %v", got, err, want)
	}
}

// TestAheadRefusesALogThatWasCompacted checks that a log is refused if its policy was compact for a short time between
// two checks of the topic.
func TestAheadRefusesALogThatWasCompacted(t *testing.T) {
	t.Parallel()
	e := newEnvAt(t, brokertest.Embedded(t, embedded.Options{CompactEvery: 50 * time.Millisecond}).Addr())
	for end := int64(1); end < 5; end++ {
		var b records.Builder
		b.Append([]byte{byte(min(end, 2))}, e.record(order.Entry{Partition: 0, End: end}), nil, time.Now().UnixMilli())
		if _, err := produce.Append(t.Context(), e.client, e.topic.Name, 0, &b); err != nil {
			t.Fatal(err)
		}
	}
	second := &state.Ordered{Next: 1, LeaderEpoch: -1}
	if got, err := e.ahead(second); err != nil || len(got) != 1 {
		t.Fatalf("before: %v, %v", got, err)
	}
	policy := func(policy string) {
		t.Helper()
		err := logtest.Alter(t.Context(), e.client, e.topic.Name, map[string]string{"cleanup.policy": policy})
		if err != nil {
			t.Fatal(err)
		}
	}
	policy("compact")
	for has := true; has; {
		var err error
		if has, err = fetch.HasRecord(t.Context(), e.client, e.topic, 0, 1, 2, true); err != nil {
			t.Fatal(err)
		}
	}
	policy("delete")
	if got, err := e.ahead(second); !errors.Is(err, kafka.ErrHole) {
		t.Errorf("%v, %v, want %v", got, err, kafka.ErrHole)
	}
}

func TestAheadRefusesALogThatLostWhatWasRead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := newSimulatedEnv(t)
		for end := int64(1); end < 4; end++ {
			e.put(e.record(order.Entry{Partition: 0, End: end}))
		}
		check := func(name string, want error) {
			t.Helper()
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			defer cancel()
			if got, err := e.log.Ahead(ctx, e.client, e.topic, e.start, e.start); !errors.Is(err, want) {
				t.Errorf("%s: %v, %v, want %v", name, got, err, want)
			}
		}
		if err := topics.DeleteRecords(t.Context(), e.client, e.topic.Name, 0, 1); err != nil {
			t.Fatal(err)
		}
		check("trimmed", kafka.ErrOffsetOutOfRange)
		if err := logtest.Delete(t.Context(), e.client, e.topic.Name); err != nil {
			t.Fatal(err)
		}
		e.create(e.topic.Name, 1)
		e.put([]byte("any"))
		check("made again", kafka.ErrTopicRecreated)
	})
}

func TestUnknownFormatStopsTheFollower(t *testing.T) {
	t.Parallel()
	e := newEnv(t)
	e.put(e.log.Sign([]byte{2}))
	if got, err := e.ahead(e.start); !errors.Is(err, order.ErrFormat) {
		t.Errorf("%v, %v, want ErrFormat", got, err)
	}
}
