package embedded_test

import (
	"net"
	"strconv"
	"testing"
	"time"

	"oriel/pipeline/embedded"
	"oriel/pipeline/kafka"
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
	if err := c.CreateTopic(ctx, "t", 2, 1, nil); err != nil {
		t.Fatal(err)
	}
	before, err := c.Describe(ctx, "t")
	if err != nil {
		t.Fatal(err)
	}
	p, err := c.NewProducer(ctx, "txn", time.Minute)
	if err != nil {
		t.Fatal(err)
	}
	if err := p.Begin(ctx, []kafka.TopicPartition{{Topic: "t", Partition: 1}}); err != nil {
		t.Fatal(err)
	}
	var batch kafka.Builder
	batch.Append(nil, []byte("v"), nil, time.Now().UnixMilli())
	if _, err := p.Produce(ctx, "t", 1, &batch); err != nil {
		t.Fatal(err)
	}
	if err := p.CommitOffset(ctx, kafka.Membership{Group: "g", Generation: -1}, "t", 1, 5); err != nil {
		t.Fatal(err)
	}
	if err := p.End(ctx, true); err != nil {
		t.Fatal(err)
	}
	b.Close()

	b, c = start(t, embedded.Options{Dir: dir, Port: port})
	defer b.Close()
	after, err := c.Describe(ctx, "t")
	if err != nil {
		t.Fatal(err)
	}
	if after.Topics["t"] != before.Topics["t"] {
		t.Fatalf("topic is %+v, was %+v", after.Topics["t"], before.Topics["t"])
	}
	offset, err := c.CommittedOffset(ctx, "g", "t", 1)
	if err != nil || offset != 5 {
		t.Fatalf("offset %d, %v, want 5", offset, err)
	}
	got, err := c.NewReader("t", 1, 0, kafka.ReaderOptions{}).Fetch(ctx)
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
