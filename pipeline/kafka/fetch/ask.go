package fetch

import (
	"context"
	"errors"
	"fmt"

	kafkago "github.com/segmentio/kafka-go"
	"github.com/segmentio/kafka-go/protocol"

	"oriel/pipeline/kafka"
	"oriel/pipeline/kafka/records"
	"oriel/pipeline/kafka/topics"
)

// ask gets the next answer from the leader.
func (r *Reader) ask(ctx context.Context) error {
	timeout := r.options.MaxWait + kafka.AttemptTimeout
	return r.client.Retry(ctx, "fetch "+kafka.PartitionName(r.topic, r.partition), func(ctx context.Context) error {
		if err := r.identify(ctx); err != nil {
			return err
		}
		a, err := r.receive(ctx, timeout)
		if err == nil {
			err = kafka.CodeError(a.code)
		}
		switch {
		case errors.Is(err, kafkago.OffsetOutOfRange):
			return r.outside(ctx)
		case unknownTopic(err):
			return r.missing(ctx, err)
		case err != nil:
			return err
		case a.id != r.id:
			a.records.Release()
			return fmt.Errorf("kafka: answer for topic id %x to a request for %x", a.id, r.id)
		}
		if loss := r.lost(&a); loss != nil {
			a.records.Release()
			return r.doubt.Verdict(loss)
		}
		r.answer, r.at = a, 0
		r.pinned = true
		r.doubt.Clear()
		if len(r.aborted) > 1024 {
			r.aborted = map[int64]bool{} // replaced, because clear keeps a map's memory
		}
		clear(r.aborted)
		return nil
	})
}

// lost returns the loss that an answer shows besides its error codes; or nil.
func (r *Reader) lost(a *fetchResponse) error {
	if a.diverged {
		return fmt.Errorf("%w: offset %d of epoch %d is not in it", kafka.ErrTruncated, r.offset-1, r.epoch)
	}
	if epoch := records.EpochOf(a.records.B); epoch >= 0 && epoch < r.epoch {
		return fmt.Errorf("%w: epoch %d at offset %d, after epoch %d", kafka.ErrTruncated, epoch, r.offset, r.epoch)
	}
	return nil
}

// identify looks up the topic id, if it is unknown.
func (r *Reader) identify(ctx context.Context) error {
	if !r.spoken {
		if err := r.client.CheckVersion(ctx, protocol.Fetch, fetchVersion); err != nil {
			return err
		}
		r.spoken = true
	}
	if r.id != [16]byte{} {
		return nil
	}
	cluster, err := topics.Describe(ctx, r.client, r.topic)
	if err != nil {
		return err
	}
	topic, ok := cluster.Topics[r.topic]
	if !ok {
		return kafkago.UnknownTopicOrPartition
	}
	r.id = topic.ID
	return nil
}

// unknownTopic reports whether a broker answered that it does not know the topic or its id.
func unknownTopic(err error) bool {
	var code kafka.Code
	if !errors.As(err, &code) {
		return false
	}
	switch code {
	case kafkago.UnknownTopicOrPartition, kafkago.UnknownTopicID, kafkago.InconsistentTopicID:
		return true
	default:
		return false
	}
}

// missing handles the answer that a topic is unknown: it returns cause if a retry may succeed, or ErrTopicRecreated if
// the topic was deleted.
func (r *Reader) missing(ctx context.Context, cause error) error {
	cluster, err := topics.Describe(ctx, r.client, r.topic)
	if err != nil {
		return err
	}
	topic, found := cluster.Topics[r.topic]
	switch {
	case found && topic.ID == r.id:
		r.doubt.Clear() // the broker has not received the topic's id yet
		return cause
	case !r.pinned:
		r.id = [16]byte{} // nothing was read under this id, so look it up again
		return cause
	case found:
		return r.doubt.Verdict(fmt.Errorf("%w: id %x, was %x", kafka.ErrTopicRecreated, topic.ID, r.id))
	}
	return r.doubt.Verdict(fmt.Errorf("%w: id %x is gone", kafka.ErrTopicRecreated, r.id))
}

// outside finds out why an offset was refused. A broker that does not know the last epoch read also refuses offsets
// that its log has.
func (r *Reader) outside(ctx context.Context) error {
	if r.epoch >= 0 {
		b, err := topics.BoundsOf(ctx, r.client, r.topic, r.partition)
		if err != nil {
			return err
		}
		if b.Start <= r.offset && r.offset <= b.High {
			return r.doubt.Verdict(fmt.Errorf("%w: offset %d, and no epoch %d in it", kafka.ErrTruncated, r.offset, r.epoch))
		}
	}
	return r.doubt.Verdict(fmt.Errorf("%w: offset %d", kafka.ErrOffsetOutOfRange, r.offset))
}
