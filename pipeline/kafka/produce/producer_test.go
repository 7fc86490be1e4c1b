package produce

import (
	"context"
	"errors"
	"fmt"
	"io"
	"testing"

	"oriel/pipeline/kafka"
)

func TestBrokenProducerStaysBroken(t *testing.T) {
	for _, c := range []struct {
		err  error
		want kafka.Class
	}{
		{kafka.Code(90), kafka.Fenced},
		{kafka.Code(10), kafka.Fatal},
		{kafka.Code(59), kafka.Unknown},
		{io.EOF, kafka.Unknown},
		{fmt.Errorf("%w (last: %w)", context.DeadlineExceeded, kafka.Code(16)), kafka.Unknown},
	} {
		p := &Producer{transactionalID: "t"}
		if got := kafka.Classify(p.fail(c.err)); got != c.want {
			t.Errorf("%v: %v, want %v", c.err, got, c.want)
		}
		p.fail(errors.New("later")) //nolint:errcheck // the first failure is the one that counts
		if got := kafka.Classify(p.Begin(t.Context(), nil)); got != c.want {
			t.Errorf("%v, then Begin: %v, want %v", c.err, got, c.want)
		}
	}
}

func TestSequenceWrapsToZero(t *testing.T) {
	target := kafka.TopicPartition{Topic: "t"}
	p := &Producer{sequence: map[kafka.TopicPartition]int32{target: 1<<31 - 3}}
	p.advance(target, 5)
	if s, _ := p.stamp(target); s.Sequence != 2 {
		t.Fatalf("sequence %d, want 2", s.Sequence)
	}
}
