package produce

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	kafkago "github.com/segmentio/kafka-go"

	"oriel/pipeline/kafka"
	"oriel/pipeline/kafka/records"
)

// Producer writes batches exactly once, and in transactions if it has a transactional id. Only one goroutine may call
// Begin, CommitOffsets and End; Produce states its own rule.
//
// A call that fails without a definite answer breaks the producer: it and all later calls return ErrBroken. The next
// New with the same id ends the open transaction and takes the next epoch, so that a late batch of this producer is
// refused and cannot become part of another transaction.
type Producer struct {
	client          *kafka.Client
	transactionalID string
	timeout         time.Duration
	id              int64

	mu       sync.Mutex
	epoch    int16
	sequence map[kafka.TopicPartition]int32 // next sequence number of each partition in the current epoch
	broken   error
	open     bool // a transaction is open
}

// New takes over a transactional id: it fences every earlier producer of the id and aborts its open transaction. It
// tries until it succeeds or ctx ends. With an empty id the producer is idempotent without transactions. timeout bounds
// how long a transaction may be open at the broker, and how long one call is retried. It is at most the broker's
// transaction.max.timeout.ms (15 minutes).
func New(ctx context.Context, c *kafka.Client, transactionalID string, timeout time.Duration) (*Producer, error) {
	p := &Producer{
		client: c, transactionalID: transactionalID, timeout: timeout, sequence: map[kafka.TopicPartition]int32{}, id: -1,
		epoch: -1,
	}
	err := p.retry(ctx, "take over", p.initialise)
	if err != nil {
		return nil, err
	}
	return p, nil
}

// initialise gets an epoch from the coordinator. The first request, with id and epoch −1, fences every other producer
// of the transactional id. A later request asks for the epoch after p's own, and fails if another producer has fenced
// p.
func (p *Producer) initialise(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, kafka.AttemptTimeout)
	defer cancel()
	res, err := p.client.API().InitProducerID(ctx, &kafkago.InitProducerIDRequest{
		TransactionalID:      p.transactionalID,
		TransactionTimeoutMs: int(p.timeout.Milliseconds()),
		ProducerID:           int(p.id),
		ProducerEpoch:        int(p.epoch),
	})
	if err != nil {
		return err
	}
	if res.Error != nil {
		return res.Error
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.id, p.epoch = int64(res.Producer.ProducerID), int16(res.Producer.ProducerEpoch)
	clear(p.sequence)
	return nil
}

// epochStride is the distance of the epochs that RoundEpoch takes.
const epochStride = 4

// RoundEpoch takes epochs until the producer's epoch is a multiple of 4. It must be called right after New, for a
// producer whose epochs must not show whether an earlier one had a transaction open. An epoch of New is one later than
// that of the earlier producer, or two later if the coordinator had to abort a transaction. If the earlier producer has
// called RoundEpoch, and then End once to abort, its epoch is one later than a multiple of 4, so both become the next
// multiple.
func (p *Producer) RoundEpoch(ctx context.Context) error {
	for {
		if _, epoch := p.Identity(); epoch%epochStride == 0 {
			return nil
		}
		if err := p.retry(ctx, "take over", p.initialise); err != nil {
			return err
		}
	}
}

// Identity returns the producer id and epoch from the broker, as records in the log have them.
func (p *Producer) Identity() (id int64, epoch int16) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.id, p.epoch
}

func (p *Producer) name(operation string) string {
	if p.transactionalID == "" {
		return operation + " producer"
	}
	return operation + " producer " + p.transactionalID
}

// stamp returns the stamp of the next batch of a partition.
func (p *Producer) stamp(target kafka.TopicPartition) (records.Stamp, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.broken != nil {
		return records.Stamp{}, p.broken
	}
	transactional := p.transactionalID != ""
	if transactional && !p.open {
		return records.Stamp{}, fmt.Errorf("kafka: produce: %w: no transaction has begun", kafka.ErrUsage)
	}
	return records.Stamp{ProducerID: p.id, Epoch: p.epoch, Sequence: p.sequence[target], Transactional: transactional}, nil
}

// advance counts an acknowledged batch. Sequence numbers continue from 2³¹−1 to 0.
func (p *Producer) advance(target kafka.TopicPartition, count int32) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.sequence[target] = (p.sequence[target] + count) & 0x7fffffff
}

// fail breaks the producer. A refusal by the broker is definite, but it leaves a transaction that can only be aborted,
// which the next owner's take-over does. So a refusal breaks the producer too.
func (p *Producer) fail(err error) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.broken != nil {
		return p.broken
	}
	var code kafka.Code
	if errors.As(err, &code) && !kafka.Transient(code) && !lost(code) {
		p.broken = err
		return err
	}
	p.broken = fmt.Errorf("%w: %w", kafka.ErrBroken, err)
	return p.broken
}

func (p *Producer) check(operation string, wantOpen bool) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	switch {
	case p.broken != nil:
		return p.broken
	case p.transactionalID == "":
		return fmt.Errorf("kafka: %s: %w: producer has no transactional id", operation, kafka.ErrUsage)
	case p.open != wantOpen:
		return fmt.Errorf("kafka: %s: %w: transaction open is %t, want %t", operation, kafka.ErrUsage, p.open, wantOpen)
	}
	return nil
}

func (p *Producer) setOpen(open bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.open = open
}

// retry repeats a request to the coordinator. Without a transactional id any broker can answer it.
func (p *Producer) retry(ctx context.Context, operation string, attempt func(context.Context) error) error {
	if p.transactionalID == "" {
		return p.client.Retry(ctx, p.name(operation), attempt)
	}
	return p.client.RetryAt(ctx, kafka.CoordinatorOfTransactions(p.transactionalID), p.name(operation), attempt)
}

// do sends a request of a transaction and repeats it until it is answered. Failure breaks the producer.
func (p *Producer) do(ctx context.Context, operation string, attempt func(context.Context) error) error {
	ctx, cancel := context.WithTimeout(ctx, p.timeout)
	defer cancel()
	err := p.retry(ctx, operation, func(ctx context.Context) error {
		ctx, cancel := context.WithTimeout(ctx, kafka.AttemptTimeout)
		defer cancel()
		return attempt(ctx)
	})
	if err != nil {
		return p.fail(err)
	}
	return nil
}

// lost reports whether a broker has forgotten this producer, or remembers another state of it.
func lost(code kafka.Code) bool {
	switch code {
	case kafkago.Unknown, kafkago.OutOfOrderSequenceNumber, kafkago.UnknownProducerId, kafkago.InvalidProducerIDMapping:
		return true
	default:
		return false
	}
}
