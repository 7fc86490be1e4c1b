package takeover

import (
	"context"
	"errors"
	"fmt"

	"oriel/pipeline/changelog"
	"oriel/pipeline/deployment"
	"oriel/pipeline/kafka"
	"oriel/pipeline/kafka/group"
	"oriel/pipeline/kafka/produce"
	"oriel/pipeline/kafka/records"
	"oriel/pipeline/kafka/topics"
	"oriel/pipeline/notice"
	"oriel/pipeline/streams"
	"oriel/pipeline/transaction"
	"oriel/state"
	"oriel/state/frame"
	"oriel/state/keys"
)

// Ports are the parts of the process that a take-over uses.
type Ports struct {
	Client   *kafka.Client
	Config   deployment.Config
	Topics   deployment.Topics
	Model    streams.Model
	Master   *keys.MasterKey
	Store    state.Store       // local copies of the changelog; the take-over only reads them
	Users    streams.UserIndex // the process's user index, to which the take-over adds users of events taken again
	Listener notice.Listener   // every function must be set, except Decided and Published
}

// Owned is a partition after take-over: earlier owners are fenced, and the stream is at the end of their last
// transaction.
type Owned struct {
	Producer *produce.Producer // brokers refuse all earlier producers of the partition
	Log      *changelog.View   // the changelog's committed values
	StateKey []byte            // key of the state's records in the changelog
	Sealer   *state.Sealer
	Stream   *streams.Stream
	Position state.Position // the stream's position AFTER Due
	Start    *state.Ordered // start of a whole topic's stream; nil for the stream of one partition
	OrderKey [32]byte       // authenticates order records

	// Due holds the transactions that complete the work of earlier owners: an opening, first decisions, or the missing
	// parts of a transaction that was committed in only some topics. The owner must commit them in order BEFORE it
	// fetches the first event. Due is nearly always empty.
	Due []*transaction.Transaction
}

// takeOver is the state of one running take-over. Its steps fill the fields from top to bottom.
type takeOver struct {
	Ports
	Owned
	partition int32
	examines  *Examination   // what Examine asks for; nil: a take-over
	name      string         // name of the stream
	ends      endOffsets     // set by fence
	keys      changelog.Keys // set by load

	// The fields below describe the incarnation, once restore or open has set it.
	incarnation [16]byte
	start       int64  // input offset where the incarnation begins
	sealed      []byte // the committed state, sealed
}

// endOffsets holds the end offsets of the partitions that a transaction writes to, after every transaction on them has
// ended.
type endOffsets struct {
	decisions           []topics.Bounds // bounds of each output topic
	verdicts, changelog topics.Bounds
	group               []group.Offset // the group's offset for each input partition of the stream
}

// Run makes the caller the partition's only owner and restores its stream, or opens its first incarnation:
//
//	fence      no earlier owner can write any more, and its open transactions are ended
//	load       the committed records, from the changelog and the local store
//	open       without a state: the first incarnation, if there never was one (open.go)
//	reconcile  with a state: compare verdicts (inspect.go), decisions (decisions.go) and group offset (group.go) with it,
//	           check that the input continues it (checks.go), and build the transaction that brings all to one end
//	           (repair.go)
//
// Run itself commits no records of the deployment: the owner must commit Owned.Due. Run fetches events only to repeat a
// transaction that has ended in some topics and not in others.
func Run(ctx context.Context, ports Ports, partition int32) (*Owned, error) {
	t := &takeOver{Ports: ports, partition: partition, name: ports.Config.StreamName(partition)}
	if err := t.fence(ctx); err != nil {
		return nil, err
	}
	return t.take(ctx)
}

// take makes all steps of Run after fence.
func (t *takeOver) take(ctx context.Context) (*Owned, error) {
	known, err := t.load(ctx)
	if err != nil {
		return nil, err
	}
	record := t.Log.Value(t.keys.Incarnation)
	t.sealed, err = t.Log.Sealed(t.StateKey)
	if err != nil {
		return nil, changelog.CannotOpen(t.partition, err)
	}
	switch {
	case record != nil && t.sealed != nil:
		if err = t.restore(record); err == nil {
			err = t.reconcile(ctx, nil)
		}
	case record == nil && t.sealed == nil:
		err = t.open(ctx, known)
	default:
		err = t.lost("the changelog holds an incarnation without its state, or a state without its incarnation",
			"Restore the changelog topic and its compaction settings, or open a new deployment under another ORIEL_NAME")
	}
	if err == nil {
		err = t.checkOutage()
	}
	if err != nil {
		return nil, err
	}
	owned := t.Owned // drops parts that only the take-over needs, for example a copy of the state
	return &owned, nil
}

// fence ends the ownership of all other processes. When it returns, the last transaction has ended in each topic,
// although possibly committed in some and aborted in others (see transactionStatus).
func (t *takeOver) fence(ctx context.Context) (err error) {
	p := t.partition
	defer func() {
		if err != nil {
			err = fmt.Errorf("pipeline: partition %d: %w", p, err)
		}
	}()
	if t.Producer, err = produce.New(
		ctx, t.Client, t.Config.TransactionalID(t.Topics.Input.ID, p), deployment.TransactionTimeout,
	); err != nil {
		return err
	}
	t.Listener.Reached(p, notice.PointFenced)
	if !t.Model.Clock.Counts() {
		if err = t.Producer.RoundEpoch(ctx); err != nil { // BEFORE Settle, which leaves a marker among the decisions
			return err
		}
	}
	if err = t.Producer.Settle(ctx, t.Config.TransactionParts(p, true), t.Config.Group); err != nil {
		return err
	}
	for _, topic := range t.Topics.Outputs() {
		b, err := t.end(ctx, topic.Name, p)
		if err != nil {
			return err
		}
		t.ends.decisions = append(t.ends.decisions, b)
	}
	if t.ends.verdicts, err = t.end(ctx, t.Config.Verdicts, p); err != nil {
		return err
	}
	if t.ends.changelog, err = t.end(ctx, t.Config.Changelog, p); err != nil {
		return err
	}
	if err = t.describeInput(ctx); err != nil {
		return err
	}
	t.ends.group, err = group.CommittedOffsets(ctx, t.Client, t.Config.Group, t.Config.Input, t.inputs())
	return err
}

// describeInput counts the partitions of a whole topic again. Some may have been added since the process started, and
// earlier owners may have taken events of them.
func (t *takeOver) describeInput(ctx context.Context) error {
	if !t.Config.WholeTopic() {
		return nil
	}
	cluster, err := topics.Describe(ctx, t.Client, t.Config.Input)
	if found := cluster.Topics[t.Config.Input]; found.ID == t.Topics.Input.ID {
		t.Topics.Input.Partitions = max(t.Topics.Input.Partitions, found.Partitions)
	}
	return err
}

// load reads the committed records of the partition. It reports whether the local store has, or may have had, a state
// of the partition.
func (t *takeOver) load(ctx context.Context) (known bool, err error) {
	local, err := t.Store.Load(t.partition)
	known = changelog.HasState(local) || t.Store.MayHaveLost() // this process or an earlier one had a state
	if errors.Is(err, frame.ErrCorrupt) {
		t.Listener.Note(t.partition, "the local state is damaged; the process sets the files aside and restores the state from the changelog", "")
		local, known = nil, true
	} else if err != nil {
		return false, fmt.Errorf("pipeline: partition %d: local state: %w", t.partition, err)
	}
	if t.Log, err = changelog.Read(ctx, t.Client, t.Topics.Changelog, t.partition, t.ends.changelog, local); err != nil {
		return false, err
	}
	if err := t.Log.Lasting(t.partition); err != nil {
		return false, err
	}
	t.keys, err = t.Log.Keys(t.partition, t.Config, t.Model, t.Master)
	t.StateKey, t.OrderKey = t.keys.State, t.keys.Order
	if err == nil {
		t.Model, err = t.Log.ModelOf(t.Model, t.keys, t.Config, t.partition)
	}
	return known, err
}

// restore sets the stream to the sealed state of an incarnation.
func (t *takeOver) restore(record []byte) error {
	saved, err := t.Log.OpenSaved(t.Model, t.Master, t.partition, record, t.sealed)
	if err != nil {
		return err
	}
	inc := saved.Incarnation
	if inc.Cluster != t.Topics.Cluster || inc.Topic != t.Topics.Input.ID || inc.Partition != t.partition ||
		inc.Stream != t.name {
		return t.stop("the state belongs to another input: its cluster, topic id or partition differs from the input topic's",
			"The input topic was recreated or mirrored: open a new deployment under another ORIEL_NAME")
	}
	t.Sealer, t.Stream, t.Position = saved.Sealer, saved.Stream, saved.Position
	t.incarnation, t.start, t.Start = inc.ID, inc.Start, inc.Order
	return nil
}

// newTransaction returns an empty transaction with its own memory pool.
func (t *takeOver) newTransaction() *transaction.Transaction {
	return transaction.New(records.NewPool())
}

// mustCommit appends a transaction to Owned.Due, the transactions that the owner must commit.
func (t *takeOver) mustCommit(tx *transaction.Transaction) {
	t.Due, t.Position = append(t.Due, tx), tx.Position
}

func (t *takeOver) stop(reason, remedy string) error {
	return &notice.StopError{Partition: t.partition, Reason: reason, Remedy: remedy}
}

// lost returns the error that stops the stream because brokers have lost something.
func (t *takeOver) lost(reason, remedy string) error {
	return &notice.StopError{Partition: t.partition, Reason: reason, Remedy: remedy, Loss: true}
}
