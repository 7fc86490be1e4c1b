package produce

import (
	"context"
	"errors"
	"fmt"

	kafkago "github.com/segmentio/kafka-go"

	"oriel/pipeline/kafka"
	"oriel/pipeline/kafka/group"
)

// codeNotAttempted is the answer for other partitions when one is refused (OPERATION_NOT_ATTEMPTED; kafka-go has
// another name for the number).
const codeNotAttempted = kafka.Code(55)

// Begin opens a transaction over the given partitions. The broker refuses batches for other partitions.
func (p *Producer) Begin(ctx context.Context, parts []kafka.TopicPartition) error {
	if err := p.check("begin", false); err != nil {
		return err
	}
	req := &kafkago.AddPartitionsToTxnRequest{
		TransactionalID: p.transactionalID,
		ProducerID:      int(p.id),
		ProducerEpoch:   int(p.epoch),
		Topics:          make(map[string][]kafkago.AddPartitionToTxn, len(parts)),
	}
	for _, tp := range parts {
		req.Topics[tp.Topic] = append(req.Topics[tp.Topic], kafkago.AddPartitionToTxn{Partition: int(tp.Partition)})
	}
	err := p.do(ctx, "begin", func(ctx context.Context) error {
		res, err := p.client.API().AddPartitionsToTxn(ctx, req)
		if err != nil {
			return err
		}
		var refused error
		for _, tp := range parts { // slice order, because a message must not depend on map order
			for _, partition := range res.Topics[tp.Topic] {
				if partition.Error != nil && (refused == nil || errors.Is(refused, codeNotAttempted)) {
					refused = fmt.Errorf("topic %s: %w", tp.Topic, partition.Error)
				}
			}
		}
		return refused
	})
	if err == nil {
		p.setOpen(true)
	}
	return err
}

// CommitOffsets makes a group's offsets in partitions of a topic part of the transaction, each with its note. If the
// group has begun another generation, it waits until the member has joined it, and commits under that one. A member
// that is no longer in the group is refused (Fenced).
func (p *Producer) CommitOffsets(ctx context.Context, m group.Membership, topic string, offsets []group.Offset) error {
	commits := make([]kafkago.TxnOffsetCommit, len(offsets))
	for i, o := range offsets {
		commits[i] = kafkago.TxnOffsetCommit{Partition: int(o.Partition), Offset: o.Offset, Metadata: o.Note}
	}
	if err := p.check("commit offset", true); err != nil {
		return err
	}
	if err := p.addOffsets(ctx, m.Group); err != nil {
		return err
	}
	return p.do(ctx, "commit offset", func(ctx context.Context) error {
		err := p.commitOffsets(ctx, m, topic, commits)
		for errors.Is(err, kafkago.IllegalGeneration) {
			var renewed bool
			if m, renewed = m.Renewed(ctx); !renewed {
				break
			}
			err = p.commitOffsets(ctx, m, topic, commits)
		}
		return err
	})
}

func (p *Producer) commitOffsets(
	ctx context.Context, m group.Membership, topic string, commits []kafkago.TxnOffsetCommit,
) error {
	res, err := p.client.API().TxnOffsetCommit(ctx, &kafkago.TxnOffsetCommitRequest{
		TransactionalID: p.transactionalID,
		GroupID:         m.Group,
		ProducerID:      int(p.id),
		ProducerEpoch:   int(p.epoch),
		GenerationID:    int(m.Generation),
		MemberID:        m.Member,
		Topics:          map[string][]kafkago.TxnOffsetCommit{topic: commits},
	})
	if err != nil {
		return err
	}
	for _, partitions := range res.Topics {
		for _, partition := range partitions {
			if partition.Error != nil {
				return fmt.Errorf("topic %s: %w", topic, partition.Error)
			}
		}
	}
	return nil
}

// addOffsets names a group's offsets as part of the transaction.
func (p *Producer) addOffsets(ctx context.Context, group string) error {
	return p.do(ctx, "add offsets", func(ctx context.Context) error {
		res, err := p.client.API().AddOffsetsToTxn(ctx, &kafkago.AddOffsetsToTxnRequest{
			TransactionalID: p.transactionalID,
			ProducerID:      int(p.id),
			ProducerEpoch:   int(p.epoch),
			GroupID:         group,
		})
		if err != nil {
			return err
		}
		return res.Error
	})
}

// End commits or aborts. If a commit gets no answer, it is unknown whether it was done (ErrBroken). An abort also takes
// the next epoch, so that a late batch of the aborted transaction is refused.
func (p *Producer) End(ctx context.Context, commit bool) error {
	if err := p.check("end", true); err != nil {
		return err
	}
	err := p.do(ctx, "end", func(ctx context.Context) error {
		res, err := p.client.API().EndTxn(ctx, &kafkago.EndTxnRequest{
			TransactionalID: p.transactionalID,
			ProducerID:      int(p.id),
			ProducerEpoch:   int(p.epoch),
			Committed:       commit,
		})
		if err != nil {
			return err
		}
		return res.Error
	})
	if err != nil {
		return err
	}
	p.setOpen(false)
	if commit {
		return nil
	}
	return p.do(ctx, "renew", p.initialise)
}

// Settle aborts an empty transaction over partitions and a group's offsets. A coordinator that crashed may have
// forgotten the commit or abort markers that it had not written yet. Taking the id over does not write the missing
// markers, because to the coordinator the transaction is complete. The markers of Settle's transaction end everything
// that this producer id has left open on the partitions: open records are aborted, but a marker that was written stays
// valid.
func (p *Producer) Settle(ctx context.Context, parts []kafka.TopicPartition, group string) error {
	if err := p.Begin(ctx, parts); err != nil {
		return err
	}
	if err := p.addOffsets(ctx, group); err != nil {
		return err
	}
	return p.End(ctx, false)
}
