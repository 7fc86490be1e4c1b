package kafka

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"
)

// ErrUndecided reports a partition with an open transaction, from brokers that are well. It is transient: the
// transaction is ended by its producer, by whoever takes the producer's id over, or by the broker at its timeout.
var ErrUndecided = errors.New("a transaction on it is not decided yet")

// Settle aborts an empty transaction over partitions and a group's offsets. A coordinator that crashed may have
// forgotten the commit or abort markers that it had not written yet, and taking its id over does not make up for them:
// to the coordinator that transaction is complete. The markers of this one end whatever this producer id has left open
// there. What was open is then aborted; a marker that was written stands.
func (p *Producer) Settle(ctx context.Context, parts []TopicPartition, group string) error {
	if err := p.Begin(ctx, parts); err != nil {
		return err
	}
	if err := p.addOffsets(ctx, group); err != nil {
		return err
	}
	return p.End(ctx, false)
}

// StableEnd waits until every transaction on a partition is decided, so that a read_committed reader sees it all. A
// caller that has fenced every other producer knows that nothing is appended behind this end.
func (c *Client) StableEnd(ctx context.Context, topic string, partition int32) (Bounds, error) {
	var bounds Bounds
	err := c.retry(ctx, "wait for the transactions on "+place(topic, partition), func(ctx context.Context) error {
		var err error
		if bounds, err = c.Bounds(ctx, topic, partition); err != nil {
			return err
		}
		if bounds.Stable != bounds.High {
			return fmt.Errorf("%w: %d of %d offsets are stable", ErrUndecided, bounds.Stable, bounds.High)
		}
		return nil
	})
	return bounds, err
}

// readablePatience bounds the wait of ReadableEnd for a transaction that nobody ends.
const readablePatience = 10 * time.Second

// ReadableEnd waits until every transaction that has written to a partition so far is decided; later ones may be open
// behind it. A commit is acknowledged before its markers are in the log, and until they are a read_committed reader
// sees nothing of it: whoever reads what others have committed just before has to wait for them. A transaction that
// stays open is not waited for for ever; the stable end is then before it.
func (c *Client) ReadableEnd(ctx context.Context, topic string, partition int32) (Bounds, error) {
	bounds, err := c.Bounds(ctx, topic, partition)
	patient, cancel := context.WithTimeout(ctx, readablePatience)
	defer cancel()
	written, pause := bounds.High, c.pauses()
	for err == nil && bounds.Stable < written && pause.Wait(patient) == nil {
		bounds, err = c.Bounds(ctx, topic, partition)
	}
	return bounds, cmp.Or(err, ctx.Err())
}
