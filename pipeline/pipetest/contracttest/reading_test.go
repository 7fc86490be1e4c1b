package contracttest

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"oriel/pipeline/kafka"
	"oriel/pipeline/kafka/fetch"
	"oriel/pipeline/kafka/produce"
	"oriel/pipeline/kafka/records"
	"oriel/pipeline/kafka/topics"
	"oriel/pipeline/pipetest/logtest"
)

// committedFromEveryOffset writes committed, aborted and plain batches of several producers in turn. It compares the
// records that a reader returns from each offset with the records written.
func committedFromEveryOffset(e *env) {
	topic := e.topic(1, nil)
	var want []string
	a, b, plain := e.producer(e.name("txn")), e.producer(e.name("txn")), e.producer("")
	parts := []kafka.TopicPartition{{Topic: topic}}
	send := func(p *produce.Producer, values ...string) {
		e.Helper()
		_, err := p.Produce(e.ctx, topic, 0, batch(values...))
		e.check(err)
	}
	e.transact(a, topic, false, "aborted", "aborted") // at the start of the log
	e.transact(a, topic, true, "c1", "c2", "c3")
	e.check(a.Begin(e.ctx, parts))
	e.check(b.Begin(e.ctx, parts))
	send(a, "aborted")
	send(b, "c4", "c5")
	send(plain, "c6")
	send(a, "aborted")
	e.check(a.End(e.ctx, false))
	send(b, "c7")
	e.transact(a, topic, true, "c8")
	e.check(b.End(e.ctx, true))
	for range 3 {
		e.transact(b, topic, false, "aborted") // only control records lie between the two
	}
	e.transact(a, topic, true, "c9")
	e.transact(b, topic, false, "aborted") // at the end of the log
	for i := 1; i <= 9; i++ {
		want = append(want, fmt.Sprintf("c%d", i))
	}
	all := e.log(e.c, topic, 0, fetch.Options{})
	if got := values(all); got != strings.Join(want, " ") {
		e.Fatalf("committed log is %q, want %q", got, strings.Join(want, " "))
	}
	for offset := int64(0); offset <= e.bounds(topic).High; offset++ {
		var rest []string
		for _, r := range all {
			if r.Offset >= offset {
				rest = append(rest, string(r.Value))
			}
		}
		for _, limit := range []int{1, 200, 0} {
			if got := values(e.log(e.c, topic, offset, fetch.Options{MaxBytes: limit})); got != strings.Join(rest, " ") {
				e.Fatalf("from offset %d by %d bytes: %q, want %q", offset, limit, got, strings.Join(rest, " "))
			}
		}
	}
	for _, r := range e.log(e.c, topic, 0, fetch.Options{Uncommitted: true}) {
		if len(r.Key) != 1 {
			e.Fatalf("control record at offset %d among the uncommitted", r.Offset)
		}
	}
}

func everyCodec(e *env) {
	topic := e.topic(1, nil)
	p := e.producer("")
	random := rand.New(rand.NewPCG(1, 2))
	now := time.Now().UnixMilli()
	var want []records.Record
	for _, codec := range []records.Codec{records.NoCompression, records.Gzip, records.Snappy, records.LZ4, records.Zstd} {
		b := new(records.Builder)
		b.Compress(codec)
		for i := range 300 {
			r := records.Record{Public: records.Public{Timestamp: now + random.Int64N(2000) - 1000}}
			switch i % 4 {
			case 0:
				r.Value = []byte{}
				r.Headers = records.HeadersOf(
					records.Header{Key: "null"}, records.Header{Key: "empty", Value: []byte{}}, records.Header{Value: []byte("v")},
				)
			case 1:
				r.Key = []byte{}
			case 2:
				r.Key, r.Value = []byte("key"), bytes.Repeat([]byte("repeated "), random.IntN(2000))
			case 3:
				r.Value = make([]byte, random.IntN(3000))
				for j := range r.Value {
					r.Value[j] = byte(random.Uint32())
				}
			}
			b.Append(r.Key, r.Value, r.Headers.List(), r.Timestamp)
			r.Offset = int64(len(want))
			want = append(want, r)
		}
		_, err := p.Produce(e.ctx, topic, 0, b)
		e.check(err)
	}
	got := e.log(e.c, topic, 0, fetch.Options{})
	if len(got) != len(want) {
		e.Fatalf("%d records, want %d", len(got), len(want))
	}
	for i, g := range got {
		g.LeaderEpoch = 0
		if !equal(g, want[i]) {
			e.Fatalf("record %d came back different", i)
		}
	}
}

// equal compares records; nil and empty values differ.
func equal(a, b records.Record) bool {
	same := func(x, y []byte) bool { return bytes.Equal(x, y) && (x == nil) == (y == nil) }
	return a.Offset == b.Offset && a.LeaderEpoch == b.LeaderEpoch && a.Timestamp == b.Timestamp &&
		a.Unreadable == b.Unreadable && same(a.Key, b.Key) && same(a.Value, b.Value) &&
		slices.EqualFunc(a.Headers.List(), b.Headers.List(), func(x, y records.Header) bool {
			return x.Key == y.Key && same(x.Value, y.Value)
		})
}

// appendTimes appends records with times of the producer to a topic whose times are the broker's, and again after the
// topic's setting was changed.
func appendTimes(e *env) {
	const setting = "message.timestamp.type"
	topic := e.topic(1, map[string]string{setting: "LogAppendTime"})
	p, before, sent := e.producer("append times"), time.Now(), time.Now().Add(-time.Minute).UnixMilli()
	add := func() {
		e.check(p.Begin(e.ctx, []kafka.TopicPartition{{Topic: topic}}))
		for _, codec := range []records.Codec{records.NoCompression, records.Zstd} {
			var b records.Builder
			b.Compress(codec)
			for i := range int64(3) {
				b.Append(nil, []byte("v"), nil, sent+i)
			}
			_, err := p.Produce(e.ctx, topic, 0, &b)
			e.check(err)
		}
		e.check(p.End(e.ctx, true))
	}
	add()
	e.check(logtest.Alter(e.ctx, e.c, topic, map[string]string{setting: "CreateTime"}))
	for appended := true; appended; {
		e.settle(topic)
		end := e.bounds(topic).High
		add()
		appended = e.log(e.c, topic, end, fetch.Options{})[0].Appended // brokers learn of the setting a little later
	}
	after := time.Now()
	all := e.log(e.c, topic, 0, fetch.Options{})
	for i, r := range all {
		at := time.UnixMilli(r.Timestamp)
		switch {
		case i < 6 != r.Appended && (i < 6 || i >= len(all)-6):
			e.Fatalf("record %d: appended: %t", i, r.Appended)
		case r.Appended && (at.Before(before.Add(-time.Second)) || at.After(after.Add(time.Second))):
			e.Fatalf("record %d was appended at %v, between %v and %v", i, at, before, after)
		case r.Appended && i%3 > 0 && r.Timestamp != all[i-1].Timestamp:
			e.Fatalf("record %d has another time than its batch", i)
		case !r.Appended && r.Timestamp != sent+int64(i%3):
			e.Fatalf("record %d has the time %d, was sent with %d", i, r.Timestamp, sent+int64(i%3))
		}
	}
}

func largeRecords(e *env) {
	topic := e.topic(1, map[string]string{"max.message.bytes": "6000000"})
	p := e.producer("")
	for i, size := range []int{900_000, 10, 5_000_000, 10} {
		b := new(records.Builder)
		b.Append(nil, bytes.Repeat([]byte{byte('a' + i)}, size), nil, time.Now().UnixMilli())
		_, err := p.Produce(e.ctx, topic, 0, b)
		e.check(err)
	}
	got := e.log(e.c, topic, 0, fetch.Options{MaxBytes: 1000})
	if len(got) != 4 || len(got[0].Value) != 900_000 || len(got[2].Value) != 5_000_000 || got[3].Value[9] != 'd' {
		e.Fatalf("%d records came back, or with other sizes", len(got))
	}
	b := new(records.Builder)
	b.Append(nil, make([]byte, 7_000_000), nil, 0)
	_, err := p.Produce(e.ctx, topic, 0, b)
	e.wantClass("record beyond the topic's limit", err, kafka.Fatal)
}

func compacted(e *env) {
	topic := e.topic(1, map[string]string{
		"cleanup.policy": "compact", "min.cleanable.dirty.ratio": "0.001", "segment.bytes": "1048576",
		"min.compaction.lag.ms": "0", "max.compaction.lag.ms": "1000", "segment.ms": "1000", "delete.retention.ms": "0",
	})
	p := e.producer("")
	const keys, rounds = 50, 40
	last := map[string]int64{}
	for round := range rounds {
		b := new(records.Builder)
		for k := range keys {
			last[number(k)] = int64(round*keys + k)
			b.Append([]byte(number(k)), bytes.Repeat([]byte(number(round)), 200), nil, time.Now().UnixMilli())
		}
		_, err := p.Produce(e.ctx, topic, 0, b)
		e.check(err)
	}
	for {
		// The active segment is never cleaned, so each round appends another record, which starts a new segment when
		// the active one is old enough.
		b := new(records.Builder)
		b.Append([]byte("roll"), []byte("roll"), nil, time.Now().UnixMilli())
		_, err := p.Produce(e.ctx, topic, 0, b)
		e.check(err)
		// The embedded broker advances the log's start when its first records are deleted, even while it is read; Kafka
		// does not.
		records, err := e.tryLog(e.c, topic, e.bounds(topic).Start, fetch.Options{})
		if errors.Is(err, kafka.ErrOffsetOutOfRange) {
			continue
		}
		e.check(err)
		found := map[string]int64{}
		for i, r := range records {
			if i > 0 && r.Offset <= records[i-1].Offset {
				e.Fatalf("offset %d after %d", r.Offset, records[i-1].Offset)
			}
			found[string(r.Key)] = r.Offset
		}
		for key, offset := range last {
			if found[key] != offset {
				e.Fatalf("last record of key %s at offset %d, want %d", key, found[key], offset)
			}
		}
		if len(records) < keys*rounds {
			return
		}
		select {
		case <-e.ctx.Done():
			e.Fatal("the broker did not compact")
		case <-time.After(500 * time.Millisecond):
		}
	}
}

func identity(e *env) {
	topic, missing := e.topic(3, map[string]string{"retention.ms": "-1"}), e.name("missing")
	first, err := topics.Describe(e.ctx, e.c, topic, missing)
	e.check(err)
	got := first.Topics[topic]
	if got.ID == [16]byte{} || got.Name != topic || got.Partitions != 3 || got.Replication != 1 {
		e.Fatalf("described as %+v", got)
	}
	if _, ok := first.Topics[missing]; ok || first.ID == "" || first.Brokers < 1 || len(first.Topics) != 1 {
		e.Fatalf("cluster described as %+v", first)
	}
	second, err := topics.Describe(e.ctx, e.c, topic)
	e.check(err)
	if second.Topics[topic] != got || second.ID != first.ID {
		e.Fatalf("described as %+v, then as %+v", first, second)
	}
	e.wantClass("create again", topics.Create(e.ctx, e.c, topic, 3, 1, nil), kafka.Fatal)
	if err := topics.Create(e.ctx, e.c, topic, 3, 1, nil); !errors.Is(err, kafka.ErrTopicExists) {
		e.Fatalf("create again: %v, want ErrTopicExists", err)
	}
	settings, err := topics.Settings(e.ctx, e.c, topic)
	e.check(err)
	if settings["retention.ms"] != "-1" || settings["cleanup.policy"] != "delete" || settings["max.message.bytes"] == "" {
		e.Fatalf("settings %v", settings)
	}
	e.transact(e.producer(e.name("txn")), topic, true, "a")
	for _, r := range e.log(e.c, topic, 0, fetch.Options{}) {
		if r.LeaderEpoch < 0 {
			e.Fatalf("leader epoch %d", r.LeaderEpoch)
		}
	}
	groupID := e.name("group")
	e.check(logtest.AlterOffset(e.ctx, e.c, groupID, topic, 0, 1))
	if got := e.committed(groupID, topic); got != 1 {
		e.Fatalf("offset %d, want 1", got)
	}
}

func outOfRange(e *env) {
	topic := e.topic(1, nil)
	e.transact(e.producer(e.name("txn")), topic, true, "a")
	e.settle(topic)
	offsets := []int64{-1, 3, 1 << 40}
	refused := make([]error, len(offsets))
	e.together(len(offsets), func(i int) {
		_, refused[i] = fetch.NewReader(e.c, topic, 0, offsets[i], fetch.Options{}).Fetch(e.ctx)
	})
	for i, err := range refused {
		if !errors.Is(err, kafka.ErrOffsetOutOfRange) {
			e.Fatalf("offset %d: %v, want ErrOffsetOutOfRange", offsets[i], err)
		}
		e.wantClass("out of range", err, kafka.Fatal)
	}
	b, err := fetch.NewReader(e.c, topic, 0, 2, fetch.Options{MaxWait: time.Millisecond}).Fetch(e.ctx)
	e.check(err)
	if len(b.Records) != 0 || b.Next != 2 || b.High != 2 || b.Stable != 2 || b.Start != 0 {
		e.Fatalf("at the end of the log: %+v", b)
	}
	b.Release()
}
