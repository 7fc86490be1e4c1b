package kafka_test

import (
	"context"
	"errors"
	"testing"
	"time"

	kafkago "github.com/segmentio/kafka-go"

	"oriel/pipeline/kafka"
	"oriel/pipeline/kafka/fetch"
	"oriel/pipeline/kafka/produce"
	"oriel/pipeline/kafka/topics"
)

func TestCallToAnUnreachableClusterEndsWithContext(t *testing.T) {
	retried := make(chan error, 100)
	c, err := kafka.New(kafka.Config{Brokers: []string{"127.0.0.1:1"}, OnRetry: func(_ string, err error) {
		select {
		case retried <- err:
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
		"describe": func() error { _, err := topics.Describe(ctx, c, "t"); return err },
		"bounds":   func() error { _, err := topics.BoundsOf(ctx, c, "t", 0); return err },
		"producer": func() error { _, err := produce.New(ctx, c, "t", time.Second); return err },
		"fetch":    func() error { _, err := fetch.NewReader(c, "t", 0, 0, fetch.Options{}).Fetch(ctx); return err },
	} {
		if err := call(); !errors.Is(err, context.DeadlineExceeded) || kafka.Classify(err) != kafka.Retry {
			t.Errorf("%s: %v (%v)", name, err, kafka.Classify(err))
		}
	}
	if err := <-retried; errors.Is(err, kafkago.UnknownTopicOrPartition) {
		t.Errorf("unreachable brokers were reported as %v", err)
	}
}
