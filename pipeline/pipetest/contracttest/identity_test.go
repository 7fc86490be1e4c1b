package contracttest

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"oriel/pipeline/kafka"
	"oriel/pipeline/kafka/fetch"
	"oriel/pipeline/kafka/produce"
	"oriel/pipeline/kafka/records"
	"oriel/pipeline/kafka/topics"
	"oriel/pipeline/pipetest/logtest"
)

// recreated deletes a topic under two readers, of which one was given the topic id and the other looked it up. Neither
// may return a record of the new topic with the old name.
func recreated(e *env) {
	topic := e.topic(1, nil)
	p := e.producer("")
	_, err := p.Produce(e.ctx, topic, 0, batch("old", "old"))
	e.check(err)
	cluster, err := topics.Describe(e.ctx, e.c, topic)
	e.check(err)
	options := fetch.Options{MaxWait: 20 * time.Millisecond}
	looked := fetch.NewReader(e.c, topic, 0, 1, options)
	options.ID = cluster.Topics[topic].ID
	told := fetch.NewReader(e.c, topic, 0, 1, options)
	b, err := looked.Fetch(e.ctx)
	e.check(err)
	if values(b.Records) != "old" || b.From != 1 || b.Next != 2 {
		e.Fatalf("%d records from %d to %d", len(b.Records), b.From, b.Next)
	}
	b.Release()
	e.check(logtest.Delete(e.ctx, e.c, topic))
	e.check(topics.Create(e.ctx, e.c, topic, 1, 1, nil))
	again, err := produce.New(e.ctx, e.c, "", time.Minute)
	e.check(err)
	for range 3 {
		_, err = again.Produce(e.ctx, topic, 0, batch("new", "new"))
		e.check(err)
	}
	gone := []*fetch.Reader{told, looked}
	lost := make([]error, len(gone))
	e.together(len(gone), func(i int) { lost[i] = readUntilGone(e.ctx, gone[i]) })
	for i, name := range []string{"told", "looked up"} {
		e.wantClass(name, lost[i], kafka.Fatal)
		if !errors.Is(lost[i], kafka.ErrTopicRecreated) {
			e.Fatalf("%s: %v, want ErrTopicRecreated", name, lost[i])
		}
	}
	if got := values(e.log(e.c, topic, 4, fetch.Options{})); got != "new new" {
		e.Fatalf("the new topic holds %q", got)
	}
}

// deleted deletes a topic under a reader and makes no new one.
func deleted(e *env) {
	topic := e.topic(1, nil)
	r := fetch.NewReader(e.c, topic, 0, 0, fetch.Options{MaxWait: 20 * time.Millisecond})
	b, err := r.Fetch(e.ctx)
	e.check(err)
	b.Release()
	e.check(logtest.Delete(e.ctx, e.c, topic))
	wantGone(e, "deleted", r)
	e.check(logtest.Delete(e.ctx, e.c, topic))
}

// wantGone calls Fetch until the reader returns the error that its topic is gone.
func wantGone(e *env, name string, r *fetch.Reader) {
	e.Helper()
	err := readUntilGone(e.ctx, r)
	e.wantClass(name, err, kafka.Fatal)
	if !errors.Is(err, kafka.ErrTopicRecreated) {
		e.Fatalf("%s: %v, want ErrTopicRecreated", name, err)
	}
}

// readUntilGone fetches until the reader fails, because a broker that does not know of the deletion yet may still serve
// the old log.
func readUntilGone(ctx context.Context, r *fetch.Reader) error {
	for {
		b, err := r.Fetch(ctx)
		if err != nil {
			return err
		}
		for _, record := range b.Records {
			if string(record.Value) != "old" {
				return fmt.Errorf("the reader crossed into the new topic at offset %d", record.Offset)
			}
		}
		b.Release()
	}
}

// epochs checks what brokers answer about leader epochs. It also fetches as if it had read an epoch that the log does
// not have.
func epochs(e *env) {
	topic := e.topic(1, nil)
	r := fetch.NewReader(e.c, topic, 0, 0, fetch.Options{MaxWait: time.Millisecond})
	b, err := r.Fetch(e.ctx)
	e.check(err)
	if b.LeaderEpoch != -1 {
		e.Fatalf("epoch %d before any batch", b.LeaderEpoch)
	}
	b.Release()
	e.transact(e.producer(e.name("txn")), topic, false, "aborted") // an aborted batch also starts an epoch
	high := e.settle(topic).High
	epoch := int32(-1)
	for next := int64(0); next < high; {
		b, err := r.Fetch(e.ctx)
		e.check(err)
		if b.From != next || len(b.Records) > 0 {
			e.Fatalf("%d records from %d, want none from %d", len(b.Records), b.From, next)
		}
		next, epoch = b.Next, b.LeaderEpoch
		b.Release()
	}
	if epoch < 0 {
		e.Fatalf("epoch %d after a batch", epoch)
	}
	end, err := topics.EpochEnd(e.ctx, e.c, topic, 0, epoch)
	e.check(err)
	if end != high {
		e.Fatalf("epoch %d ends at %d, want %d", epoch, end, high)
	}
	o := fetch.Options{MaxWait: time.Millisecond, LastEpoch: &epoch}
	b, err = fetch.NewReader(e.c, topic, 0, high, o).Fetch(e.ctx)
	e.check(err)
	if b.LeaderEpoch != epoch {
		e.Fatalf("epoch %d taken over, want %d", b.LeaderEpoch, epoch)
	}
	b.Release()
	toCome := epoch + 100
	o.LastEpoch = &toCome
	var unknown error
	e.together(2, func(i int) {
		if i == 0 {
			end, unknown = topics.EpochEnd(e.ctx, e.c, topic, 0, toCome)
		} else {
			_, err = fetch.NewReader(e.c, topic, 0, 1, o).Fetch(e.ctx)
		}
	})
	e.check(unknown)
	if end != -1 {
		e.Fatalf("an epoch to come ends at %d, want -1", end)
	}
	e.wantClass("epoch that the log does not have", err, kafka.Fatal)
	if !errors.Is(err, kafka.ErrTruncated) {
		e.Fatalf("epoch that the log does not have: %v, want ErrTruncated", err)
	}
}

// manyHeaders checks that a record with too many headers is unreadable, and that its neighbours stay readable.
func manyHeaders(e *env) {
	topic := e.topic(1, nil)
	b := new(records.Builder)
	b.Compress(records.Zstd)
	for i, n := range []int{0, records.MaxHeaders, records.MaxHeaders + 1, 2} {
		b.Append(nil, []byte(number(i)), make([]records.Header, n), time.Now().UnixMilli())
	}
	_, err := e.producer("").Produce(e.ctx, topic, 0, b)
	e.check(err)
	list := e.log(e.c, topic, 0, fetch.Options{})
	if len(list) != 4 || list[1].Headers.Len() != records.MaxHeaders || list[3].Headers.Len() != 2 {
		e.Fatalf("%d records, or with other headers", len(list))
	}
	for i, r := range list {
		if r.Unreadable != (i == 2) || (r.Value == nil) != r.Unreadable || r.Offset != int64(i) {
			e.Fatalf("record %d at offset %d: unreadable is %t", i, r.Offset, r.Unreadable)
		}
	}
}

// partitionsAdded checks that a topic keeps its id and its records when partitions are added. A request for as many
// partitions as it has, or fewer, must change nothing.
func partitionsAdded(e *env) {
	topic := e.topic(1, nil)
	e.transact(e.producer(e.name("txn")), topic, true, "a")
	shape := func() topics.Topic {
		cluster, err := topics.Describe(e.ctx, e.c, topic)
		e.check(err)
		return cluster.Topics[topic]
	}
	before := shape()
	for _, total := range []int{3, 3, 2} {
		e.check(topics.AddPartitions(e.ctx, e.c, topic, total))
		if got := shape(); got.ID != before.ID || got.Partitions != 3 {
			e.Fatalf("%+v after %d partitions were asked for, it was %+v", got, total, before)
		}
	}
	e.wantLog(topic, "a")
	e.check(logtest.Send(e.ctx, e.c, topic, 2, records.Record{Value: []byte("b")}))
	ctx, cancel := context.WithTimeout(e.ctx, time.Second)
	defer cancel()
	if err := topics.AddPartitions(ctx, e.c, e.name("missing"), 2); err == nil {
		e.Fatal("a topic that does not exist has grown")
	}
}

func altered(e *env) {
	topic := e.topic(1, map[string]string{"max.message.bytes": "5000", "retention.ms": "100000000"})
	p := e.producer(e.name("txn"))
	e.transact(p, topic, true, "a")
	e.transact(p, topic, true, "b")
	e.settle(topic)
	e.check(logtest.Alter(e.ctx, e.c, topic, map[string]string{"max.message.bytes": "6000"}))
	settings, err := topics.Settings(e.ctx, e.c, topic)
	// The controller answers before each broker has the new settings.
	for wait := 0; err == nil && settings["max.message.bytes"] == "5000" && wait < 1000; wait++ {
		time.Sleep(10 * time.Millisecond)
		settings, err = topics.Settings(e.ctx, e.c, topic)
	}
	e.check(err)
	if settings["max.message.bytes"] != "6000" || settings["retention.ms"] != "100000000" {
		e.Fatalf("settings %v", settings)
	}
	e.check(p.Begin(e.ctx, []kafka.TopicPartition{{Topic: topic}}))
	if _, err := p.Produce(e.ctx, topic, 0, batch(strings.Repeat("x", 5900))); err != nil {
		e.Fatalf("a batch below the limit: %v", err)
	}
	if _, err := p.Produce(e.ctx, topic, 0, batch(strings.Repeat("x", 6000))); !kafka.TooLarge(err) {
		e.Fatalf("a batch above the limit: %v", err)
	}
	e.check(topics.DeleteRecords(e.ctx, e.c, topic, 0, 2))
	if b := e.bounds(topic); b.Start != 2 {
		e.Fatalf("bounds %+v after records were deleted", b)
	}
	b, err := fetch.NewReader(e.c, topic, 0, 2, fetch.Options{MaxWait: time.Millisecond}).Fetch(e.ctx)
	e.check(err)
	if len(b.Records) != 1 || string(b.Records[0].Value) != "b" {
		e.Fatalf("after the deletion: %+v", b)
	}
	b.Release()
	if err := topics.DeleteRecords(e.ctx, e.c, topic, 0, 1<<40); !errors.Is(err, kafka.Code(1)) { // OFFSET_OUT_OF_RANGE
		e.Fatalf("records beyond the end: %v", err)
	}
}
