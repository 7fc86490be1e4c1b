package pipetest

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"

	"oriel/pipeline/deployment"
	"oriel/pipeline/kafka"
	"oriel/pipeline/kafka/fetch"
	"oriel/pipeline/kafka/group"
	"oriel/pipeline/kafka/produce"
	"oriel/pipeline/kafka/records"
	"oriel/pipeline/kafka/topics"
	"oriel/pipeline/pipetest/logtest"
	"oriel/pipeline/transaction"
	"oriel/state"
	"oriel/state/local"
)

// Part is a part of a service's transaction. A torn transaction has ended in some parts and not in others.
type Part string

// The parts of a transaction.
const (
	Decisions Part = "decisions"
	Second    Part = "second" // decisions in the operator's second topic
	Verdicts  Part = "verdicts"
	Changelog Part = "changelog"
	Offset    Part = "offset"
)

// Parts returns the parts of the deployment's transactions.
func (s Setup) Parts() []Part {
	if s.Config.Second == "" {
		return []Part{Decisions, Verdicts, Changelog, Offset}
	}
	return []Part{Decisions, Second, Verdicts, Changelog, Offset}
}

func (s Setup) topic(p Part) string {
	return map[Part]string{
		Decisions: s.Config.Decisions, Second: s.Config.Second, Verdicts: s.Config.Verdicts,
		Changelog: s.Config.Changelog,
	}[p]
}

// Torn is a partition whose next transaction ends in some of its parts and not in others. The service is cut off when
// all records of the transaction are acknowledged (notice.PointProduced), and the test commits some of the parts
// itself.
type Torn struct {
	setup     Setup
	client    *kafka.Client
	partition int32
	topics    deployment.Topics
	before    map[Part]int64 // end of each topic before the transaction
}

// Tear must be called BEFORE the transaction is sent.
func (s Setup) Tear(ctx context.Context, client *kafka.Client, partition int32) (Torn, error) {
	return s.tear(ctx, client, partition, func(topic string) (int64, error) {
		b, err := topics.StableEnd(ctx, client, topic, partition)
		return b.High, err
	})
}

// TearOpen must be called while the transaction of a dead process is still open.
func (s Setup) TearOpen(ctx context.Context, client *kafka.Client, partition int32) (Torn, error) {
	return s.tear(ctx, client, partition, func(topic string) (int64, error) {
		b, err := topics.BoundsOf(ctx, client, topic, partition)
		return b.Stable, err
	})
}

func (s Setup) tear(
	ctx context.Context, client *kafka.Client, partition int32, before func(topic string) (int64, error),
) (Torn, error) {
	t := Torn{setup: s, client: client, partition: partition, before: map[Part]int64{}}
	var err error
	if t.topics, err = deployment.CheckTopics(ctx, client, s.Config, deployment.ByService); err != nil {
		return t, err
	}
	for _, part := range s.Parts() {
		if topic := s.topic(part); topic != "" {
			if t.before[part], err = before(topic); err != nil {
				return t, err
			}
		}
	}
	return t, nil
}

// sent returns the records of the transaction in a topic.
func (t Torn) sent(ctx context.Context, part Part) ([]records.Record, error) {
	all, err := logtest.Read(ctx, t.client, t.setup.topic(part), t.partition, -1, fetch.Options{Uncommitted: true})
	return slices.DeleteFunc(all, func(r records.Record) bool { return r.Offset < t.before[part] }), err
}

// Commit takes the partition over after the service was cut off, which aborts its transaction, and commits the given
// parts of it. If other returns a value for a record, that value is committed in its place.
func (t Torn) Commit(ctx context.Context, committed []Part, other func(part Part, r records.Record) []byte) error {
	id := t.setup.Config.TransactionalID(t.topics.Input.ID, t.partition)
	end, err := t.begin(ctx, id, t.setup.Parts(), committed, other)
	if err != nil {
		return err
	}
	return end()
}

// CommitLate must be called AFTER Commit. It commits one more part when the returned function is called, like a
// coordinator that is slow to inform one topic of the end of a transaction.
func (t Torn) CommitLate(ctx context.Context, part Part) (end func() error, err error) {
	id := fmt.Sprintf("late %s %d %d", part, t.partition, time.Now().UnixNano()) // late parts must not fence each other
	return t.begin(ctx, id, []Part{part}, []Part{part}, Whatever)
}

// begin sends parts of the transaction under an id, in a new transaction over some parts; end commits it.
func (t Torn) begin(
	ctx context.Context, id string, over, parts []Part, other func(part Part, r records.Record) []byte,
) (end func() error, err error) {
	producer, err := produce.New(ctx, t.client, id, time.Minute)
	if err != nil {
		return nil, err
	}
	var places []kafka.TopicPartition
	for _, part := range over {
		if _, sent := t.before[part]; sent {
			places = append(places, kafka.TopicPartition{Topic: t.setup.topic(part), Partition: t.partition})
		}
	}
	if err := producer.Begin(ctx, places); err != nil {
		return nil, err
	}
	for _, part := range parts {
		if err := t.commit(ctx, producer, part, other); err != nil {
			return nil, err
		}
	}
	return func() error { return producer.End(ctx, true) }, nil
}

func (t Torn) commit(ctx context.Context, producer *produce.Producer, part Part,
	other func(part Part, r records.Record) []byte,
) error {
	c := t.setup.Config
	if part == Offset {
		end, err := t.end(ctx)
		if err != nil {
			return err
		}
		return producer.CommitOffsets(ctx, group.Membership{Group: c.Group, Generation: -1}, c.Input, end)
	}
	sent, err := t.sent(ctx, part)
	for _, r := range sent {
		var b records.Builder
		if value := other(part, r); value != nil {
			r.Value = value
		}
		b.Append(r.Key, r.Value, r.Headers.List(), r.Timestamp)
		_, failed := producer.Produce(ctx, t.setup.topic(part), t.partition, &b)
		err = errors.Join(err, failed)
	}
	return err
}

// ErrNoState means that a transaction to be torn had not sent its state, so that no coordinator can have committed it.
var ErrNoState = errors.New("pipetest: a torn transaction without a state")

// end returns where the transaction ends in the input, from the sealed state, which is not encrypted there.
func (t Torn) end(ctx context.Context) ([]group.Offset, error) {
	sent, err := t.sent(ctx, Changelog)
	if err != nil || len(sent) == 0 {
		return nil, errors.Join(err, ErrNoState)
	}
	sealed := sent[len(sent)-1].Value
	if !t.setup.Config.WholeTopic() {
		return []group.Offset{{Partition: t.partition, Offset: int64(binary.LittleEndian.Uint64(sealed[42:]))}}, nil
	}
	var note string
	if byClock := sealed[67] == 2; byClock {
		note = transaction.SlotNote(int64(binary.LittleEndian.Uint64(sealed[96:])))
	}
	var end []group.Offset
	count, parts := binary.LittleEndian.Uint32(sealed[104:]), sealed[108:]
	for ; count > 0; count, parts = count-1, parts[28:] {
		end = append(end, group.Offset{
			Partition: int32(binary.LittleEndian.Uint32(parts)), Offset: int64(binary.LittleEndian.Uint64(parts[4:])),
			Note: note,
		})
	}
	return end, nil
}

// Follow writes the changelog records that a dead process has sent to its local store, as if their commit had been
// acknowledged.
func (t Torn) Follow(ctx context.Context, disk *vfs.MemFS) error {
	identity := state.Identity{Cluster: t.topics.Cluster, Name: t.setup.Config.Name, Topic: t.topics.Input.ID}
	store, err := local.Options{FS: disk}.Open("state", identity)
	if err != nil {
		return err
	}
	sent, err := t.sent(ctx, Changelog)
	if err == nil && len(sent) == 0 {
		err = ErrNoState
	}
	if err != nil {
		return errors.Join(err, store.Close())
	}
	var records []state.Record
	next := t.before[Changelog]
	for _, r := range sent {
		records, next = append(records, state.Record{Key: r.Key, Value: r.Value}), r.Offset+1
	}
	position := binary.LittleEndian.AppendUint64(t.topics.Changelog.ID[:], uint64(next))
	records = append(records, state.Record{Key: []byte("changelog"), Value: position})
	return errors.Join(store.Follow(t.partition, records), store.Close())
}

// Whatever keeps every record's value, for Commit.
func Whatever(Part, records.Record) []byte { return nil }
