package kafka

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"testing"
	"testing/synctest"
	"time"

	kafkago "github.com/segmentio/kafka-go"
)

func TestClassify(t *testing.T) {
	for _, c := range []struct {
		err  error
		want Class
	}{
		{nil, 0},
		{Code(47), Fenced},
		{Code(90), Fenced},
		{Code(22), Fenced},
		{Code(25), Fenced},
		{Code(27), Fenced},
		{Code(48), Fenced},
		{fmt.Errorf("%w: %w", ErrBroken, Code(90)), Fenced},
		{fmt.Errorf("%w: %w", ErrBroken, io.EOF), Unknown},
		{fmt.Errorf("%w: %w", ErrBroken, context.DeadlineExceeded), Unknown},
		{fmt.Errorf("%w: %w", ErrBroken, Code(45)), Unknown},
		{Code(14), Retry},
		{Code(15), Retry},
		{Code(16), Retry},
		{Code(51), Retry},
		{Code(6), Retry},
		{Code(88), Retry},
		{io.ErrUnexpectedEOF, Retry},
		{context.Canceled, Retry},
		{Code(10), Fatal},
		{Code(29), Fatal},
		{Code(35), Fatal},
		{Code(1), Fatal},
		{ErrOffsetOutOfRange, Fatal},
		{ErrTopicExists, Fatal},
		{ErrTopicRecreated, Fatal},
		{ErrTruncated, Fatal},
		{Code(100), Retry},
		{Code(103), Retry},
		{ErrFormat, Fatal},
		{fmt.Errorf("kafka: x: %w", errVersion), Fatal},
		{fmt.Errorf("%w: %w", errUsage, ErrCorrupt), Fatal},
	} {
		if got := Classify(c.err); got != c.want {
			t.Errorf("%v: %v, want %v", c.err, got, c.want)
		}
	}
}

func TestBrokenProducerStaysBroken(t *testing.T) {
	for _, c := range []struct {
		err  error
		want Class
	}{
		{Code(90), Fenced},
		{Code(10), Fatal},
		{Code(59), Unknown},
		{io.EOF, Unknown},
		{fmt.Errorf("%w (last: %w)", context.DeadlineExceeded, Code(16)), Unknown},
	} {
		p := &Producer{transactionalID: "t"}
		if got := Classify(p.fail(c.err)); got != c.want {
			t.Errorf("%v: %v, want %v", c.err, got, c.want)
		}
		p.fail(errors.New("later")) //nolint:errcheck // the first failure is the one that counts
		if got := Classify(p.Begin(t.Context(), nil)); got != c.want {
			t.Errorf("%v, then Begin: %v, want %v", c.err, got, c.want)
		}
	}
}

func TestSequenceWrapsToZero(t *testing.T) {
	target := TopicPartition{Topic: "t"}
	p := &Producer{sequence: map[TopicPartition]int32{target: 1<<31 - 3}}
	p.advance(target, 5)
	if s, _ := p.stamp(target); s.Sequence != 2 {
		t.Fatalf("sequence %d, want 2", s.Sequence)
	}
}

func TestBackoffGrowsWithJitterAndHonoursContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), 30*time.Millisecond)
		defer cancel()
		pause, waits := (&Client{config: Config{Jitter: rand.N[time.Duration]}}).pauses(), 0
		for pause.Wait(ctx) == nil {
			waits++
		}
		// 2, 4, 8, 16, 32 ms, each at least half: 3 waits are sure to fit, 5 never do.
		if waits < 3 || waits > 4 {
			t.Fatalf("%d waits in 30 ms", waits)
		}
		if pause.next <= firstPause || pause.next > lastPause {
			t.Fatalf("next pause %v", pause.next)
		}
	})
}

func TestConfigReportsEveryProblem(t *testing.T) {
	if _, err := New(Config{}); err == nil {
		t.Fatal("no brokers accepted")
	}
	_, err := New(Config{Brokers: []string{"one", "two:1", ":3"}})
	var joined interface{ Unwrap() []error }
	if !errors.As(err, &joined) || len(joined.Unwrap()) != 2 {
		t.Fatalf("%v, want two problems", err)
	}
}

func TestCallToAnUnreachableClusterEndsWithContext(t *testing.T) {
	heard := make(chan error, 100)
	c, err := New(Config{Brokers: []string{"127.0.0.1:1"}, OnRetry: func(_ string, err error) {
		select {
		case heard <- err:
		default:
		}
	}})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
	defer cancel()
	for name, call := range map[string]func() error{
		"describe": func() error { _, err := c.Describe(ctx, "t"); return err },
		"bounds":   func() error { _, err := c.Bounds(ctx, "t", 0); return err },
		"producer": func() error { _, err := c.NewProducer(ctx, "t", time.Second); return err },
		"fetch":    func() error { _, err := c.NewReader("t", 0, 0, ReaderOptions{}).Fetch(ctx); return err },
	} {
		if err := call(); !errors.Is(err, context.DeadlineExceeded) || Classify(err) != Retry {
			t.Errorf("%s: %v (%v)", name, err, Classify(err))
		}
	}
	if err := <-heard; errors.Is(err, kafkago.UnknownTopicOrPartition) {
		t.Errorf("unreachable brokers were reported as %v", err)
	}
}
