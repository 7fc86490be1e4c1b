package kafka

import (
	"context"
	"errors"
	"testing"
	"time"

	kafkago "github.com/segmentio/kafka-go"
)

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
