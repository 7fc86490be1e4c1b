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

	"oriel/pipeline/kafka/records"
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
		{records.ErrFormat, Fatal},
		{fmt.Errorf("kafka: x: %w", errVersion), Fatal},
		{fmt.Errorf("%w: %w", ErrUsage, records.ErrCorrupt), Fatal},
	} {
		if got := Classify(c.err); got != c.want {
			t.Errorf("%v: %v, want %v", c.err, got, c.want)
		}
	}
}

func TestBackoffGrowsWithJitterAndHonoursContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), 30*time.Millisecond)
		defer cancel()
		pause, waits := (&Client{config: Config{Jitter: rand.N[time.Duration]}}).Pauses(), 0
		for pause.Wait(ctx) == nil {
			waits++
		}
		// Pauses are 2, 4, 8, 16, 32 ms, of which at least half is waited: 3 waits always fit into the time limit, 5
		// never do.
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
