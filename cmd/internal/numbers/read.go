package numbers

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"oriel/pipeline/kafka"
	"oriel/pipeline/kafka/fetch"
	"oriel/pipeline/kafka/topics"
	"oriel/schemas/decision"
	"oriel/schemas/text"
)

// maxLine bounds the length of a line in a file of decisions, bytes.
const maxLine = 64 << 20

// ErrUntimed reports decisions without a time. Unlike a topic, a file has no record timestamps that could replace it.
var ErrUntimed = errors.New("a decision without a time, because no record of its step has a timestamp: a file does not say " +
	"when it was published; read its topic")

// Collection takes decisions and their times, ms, and writes the rows of a query.
type Collection interface {
	Add(d decision.Decision, ms int64) error
	Write(w io.Writer, format string, q Query) error
	Mixed() time.Duration
	Odd(last time.Duration) (warnings []string)
}

// AddLines takes decisions from a file of JSON lines, in the format of `oriel tail --raw`.
func AddLines(c Collection, r io.Reader) error {
	for line, err := range text.NewLines(r, maxLine).All() {
		if err != nil {
			return err
		}
		if len(line.Value) == 0 {
			continue
		}
		d, err := decision.Parse(line.Value)
		if err == nil && d.Time() == decision.NoTime {
			err = ErrUntimed
		}
		if err == nil {
			err = c.Add(d, d.Time())
		}
		if err != nil {
			return fmt.Errorf("line %d: %w", line.Number+1, err)
		}
	}
	return nil
}

// Descriptor returns the newest descriptor in a topic.
func Descriptor(ctx context.Context, client *kafka.Client, name string) (newest []byte, err error) {
	err = readTopic(ctx, client, name, func(value []byte, _ int64) error {
		newest = bytes.Clone(value)
		return nil
	})
	if err == nil && newest == nil {
		err = fmt.Errorf("topic %q holds no descriptor: `oriel topics` publishes it", name)
	}
	return newest, err
}

// AddTopic reads the committed decisions of a topic. A decision without a time gets the timestamp of its record, which
// is the time of the commit.
func AddTopic(ctx context.Context, client *kafka.Client, name string, c Collection, problems io.Writer) error {
	warned := false
	return readTopic(ctx, client, name, func(value []byte, timestamp int64) error {
		d, err := decision.Parse(value)
		if err != nil {
			return err
		}
		at := d.Time()
		if at == decision.NoTime {
			if at = timestamp; at < 0 {
				return errors.New("a decision without a time, in a record without a timestamp")
			}
			if !warned {
				warned = true
				_, _ = fmt.Fprintln(problems, "some decisions have no time, because no record of their steps has a timestamp: they count when they were published")
			}
		}
		return c.Add(d, at)
	})
}

// readTopic reads all committed records of a topic, one partition after another.
func readTopic(
	ctx context.Context, client *kafka.Client, name string, take func(value []byte, timestamp int64) error,
) error {
	topic, err := topics.Find(ctx, client, name)
	if err != nil {
		return err
	}
	for p := range int32(topic.Partitions) {
		bounds, err := topics.BoundsOf(ctx, client, name, p)
		if err != nil {
			return err
		}
		for r, err := range fetch.Records(ctx, client, topic, p, bounds.Start, bounds.Stable, false) {
			if err == nil {
				err = take(r.Value, r.Timestamp)
			}
			if err != nil {
				return fmt.Errorf("%s, partition %d, offset %d: %w", name, p, r.Offset, err)
			}
		}
	}
	return nil
}
