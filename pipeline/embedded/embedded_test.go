package embedded_test

import (
	"net"
	"strconv"
	"testing"
	"time"

	"oriel/pipeline/embedded"
	"oriel/pipeline/kafka"
	"oriel/pipeline/kafka/fetch"
	"oriel/pipeline/kafka/group"
	"oriel/pipeline/kafka/produce"
	"oriel/pipeline/kafka/records"
	"oriel/pipeline/kafka/topics"
)

func start(t *testing.T, o embedded.Options) (*embedded.Broker, *kafka.Client) {
	t.Helper()
	b, err := embedded.Start(o)
	if err != nil {
		t.Fatal(err)
	}
	c, err := kafka.New(kafka.Config{Brokers: []string{b.Addr()}})
	if err != nil {
		t.Fatal(err)
	}
	return b, c
}

func TestReopenedDirectoryHasTheLogAndTheOffsets(t *testing.T) {
	ctx, dir := t.Context(), t.TempDir()
	b, c := start(t, embedded.Options{Dir: dir})
	_, text, err := net.SplitHostPort(b.Addr())
	if err != nil {
		t.Fatal(err)
	}
	port, err := strconv.Atoi(text)
	if err != nil {
		t.Fatal(err)
	}
	if err := topics.Create(ctx, c, "t", 2, 1, nil); err != nil {
		t.Fatal(err)
	}
	before, err := topics.Describe(ctx, c, "t")
	if err != nil {
		t.Fatal(err)
	}
	p, err := produce.New(ctx, c, "txn", time.Minute)
	if err != nil {
		t.Fatal(err)
	}
	if err := p.Begin(ctx, []kafka.TopicPartition{{Topic: "t", Partition: 1}}); err != nil {
		t.Fatal(err)
	}
	var batch records.Builder
	batch.Append(nil, []byte("v"), nil, time.Now().UnixMilli())
	if _, err := p.Produce(ctx, "t", 1, &batch); err != nil {
		t.Fatal(err)
	}
	if err := p.CommitOffsets(ctx, group.Membership{Group: "g", Generation: -1}, "t",
		[]group.Offset{{Partition: 1, Offset: 5}}); err != nil {
		t.Fatal(err)
	}
	if err := p.End(ctx, true); err != nil {
		t.Fatal(err)
	}
	b.Close()

	b, c = start(t, embedded.Options{Dir: dir, Port: port})
	defer b.Close()
	after, err := topics.Describe(ctx, c, "t")
	if err != nil {
		t.Fatal(err)
	}
	if after.Topics["t"] != before.Topics["t"] {
		t.Fatalf("topic is %+v, was %+v", after.Topics["t"], before.Topics["t"])
	}
	offset, err := group.CommittedOffset(ctx, c, "g", "t", 1)
	if err != nil || offset != 5 {
		t.Fatalf("offset %d, %v, want 5", offset, err)
	}
	got, err := fetch.NewReader(c, "t", 1, 0, fetch.Options{}).Fetch(ctx)
	if err != nil || len(got.Records) != 1 || string(got.Records[0].Value) != "v" {
		t.Fatalf("fetched %+v, %v", got, err)
	}
	got.Release()
}

func TestDirectoryIsRequired(t *testing.T) {
	for _, o := range []embedded.Options{{}, {Dir: t.TempDir(), Memory: true}} {
		if _, err := embedded.Start(o); err == nil {
			t.Fatalf("started with %+v", o)
		}
	}
}
