package kafka

import (
	"context"
	"errors"
	"fmt"
	"io"
	"testing"
)

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
