package pipeline

import (
	"context"
	"errors"
	"fmt"
	"strconv"

	"oriel/pipeline/kafka"
	"oriel/state"
)

// ownedPartition is a partition after take-over: fenced, restored, and proved to be continued where the last owner
// committed.
type ownedPartition struct {
	producer    *kafka.Producer
	sealer      *state.Sealer
	stateKey    []byte
	people      [32]byte // secret under which users are remembered
	stream      *Stream
	incarnation [16]byte
	start       int64          // offset of the input at which the incarnation begins
	sealing     bool           // every version that can open the deployment seals verdicts
	position    state.Position // of the committed state
	sealed      []byte         // the committed state
	view        *changelog
}

// endOffsets are where the partitions that a transaction touches end, every transaction on them decided.
type endOffsets struct {
	decisions           []kafka.Bounds // by output
	verdicts, changelog kafka.Bounds
	group               int64 // committed offset, −1 for none
}

// takeOver makes this task the partition's only owner and restores its state, or opens its first incarnation. It
// fetches events only to repeat a transaction that has ended in some topics and not in others.
//
//	fence       no earlier owner can write any more, and what it left open is ended (takeover.go)
//	load        the committed state, from the changelog and the local store (changelog.go)
//	open        without a state: the first incarnation, if there never was one (open.go)
//	reconcile   with one: compare decisions, verdicts and group offset with it (transactionstatus.go), bring all to one end (repair.go)
func (t *task) takeOver(ctx context.Context) (*ownedPartition, error) {
	s := t.service
	producer, e, err := t.fence(ctx)
	if err != nil {
		return nil, err
	}
	view, known, err := t.load(ctx, e.changelog)
	if err != nil {
		return nil, err
	}
	if successor := view.values[string(state.EndedKey())]; successor != nil {
		return nil, t.stop(fmt.Sprintf("this deployment is over: %q goes on after it", successor),
			"Stop it for good; two that run beside each other would release events twice")
	}
	stored, configured := view.values[string(state.ManifestKey())], manifestText(s.config, s.model)
	manifest, err := openManifest(stored, t.partition, configured, s.master)
	if err != nil {
		return nil, err
	}
	o := &ownedPartition{
		producer: producer, view: view, stateKey: manifest.NameKey.Key(state.KindState, t.stream),
		people: manifest.NameKey.Users(), sealing: alwaysSeals(manifest),
	}
	incarnationKey := manifest.NameKey.Key(state.KindIncarnation, t.stream)
	incarnation := view.values[string(incarnationKey)]
	sealed, err := view.sealed(o.stateKey)
	if err != nil {
		return nil, unsealing(t.partition, err)
	}
	switch {
	case incarnation != nil && sealed != nil:
		err = t.restore(ctx, o, e, incarnation, sealed)
	case incarnation == nil && sealed == nil:
		err = t.open(ctx, o, e, incarnationKey, known)
	default:
		err = t.lost("the changelog holds an incarnation without its state, or a state without its incarnation",
			"Restore the changelog topic and its compaction settings, or open a new deployment under another ORIEL_NAME")
	}
	if err != nil {
		return nil, err
	}
	if err := s.store.Replace(t.partition, view.records(s.topics.Changelog.ID)); err != nil {
		return nil, fmt.Errorf("pipeline: partition %d: local state: %w", t.partition, err)
	}
	view.letGo()
	s.listener.Reached(t.partition, PointRestored)
	return o, nil
}

func (t *task) stop(reason, remedy string) error {
	return &StopError{Partition: t.partition, Reason: reason, Remedy: remedy}
}

// lost is a stop for something that brokers say is gone.
func (t *task) lost(reason, remedy string) error {
	return &StopError{Partition: t.partition, Reason: reason, Remedy: remedy, Loss: true}
}

// fence ends the ownership of everybody else. When it returns, the last transaction has an outcome in each topic,
// though not always the same in all: see transactionStatus.
func (t *task) fence(ctx context.Context) (*kafka.Producer, endOffsets, error) {
	var e endOffsets
	s, p := t.service, t.partition
	failed := func(err error) (*kafka.Producer, endOffsets, error) {
		return nil, e, fmt.Errorf("pipeline: partition %d: %w", p, err)
	}
	producer, err := s.client.NewProducer(ctx, transactionalID(s.config.Name, s.topics.Input.ID, p), transactionTimeout)
	if err != nil {
		return failed(err)
	}
	s.listener.Reached(p, PointFenced)
	if err := producer.Settle(ctx, s.config.parts(p), s.config.Group); err != nil {
		return failed(err)
	}
	for _, topic := range s.topics.outputs() {
		b, err := s.client.StableEnd(ctx, topic.Name, p)
		if err != nil {
			return failed(err)
		}
		e.decisions = append(e.decisions, b)
	}
	if e.verdicts, err = s.client.StableEnd(ctx, s.config.Verdicts, p); err != nil {
		return failed(err)
	}
	if e.changelog, err = s.client.StableEnd(ctx, s.config.Changelog, p); err != nil {
		return failed(err)
	}
	if e.group, err = s.client.CommittedOffset(ctx, s.config.Group, s.config.Input, p); err != nil {
		return failed(err)
	}
	return producer, e, nil
}

// load gives the committed records of the partition, and whether the local store has, or may have had, any of it.
func (t *task) load(ctx context.Context, bounds kafka.Bounds) (view *changelog, known bool, err error) {
	s := t.service
	local, err := s.store.Load(t.partition)
	known = len(local) > 0 || s.store.SetAside() != nil // this process, or one before it, has had a state of the partition
	if errors.Is(err, state.ErrCorrupt) {
		s.listener.Note(t.partition, "the local state is damaged; it is set aside and restored from the changelog")
		local, known = nil, true
	} else if err != nil {
		return nil, false, fmt.Errorf("pipeline: partition %d: local state: %w", t.partition, err)
	}
	view, err = readChangelog(ctx, s.client, s.topics.Changelog, t.partition, bounds, local)
	return view, known, err
}

// restore continues the incarnation at its committed state. extra are records that the changelog must have beside it.
func (t *task) restore(
	ctx context.Context, o *ownedPartition, e endOffsets, record, sealed []byte, extra ...state.Record,
) error {
	s := t.service
	at, err := openSealed(s.model, s.master, t.partition, record, sealed)
	if err != nil {
		return err
	}
	inc := at.incarnation
	if inc.Cluster != s.topics.Cluster || inc.Topic != s.topics.Input.ID || inc.Partition != t.partition ||
		inc.Stream != t.stream {
		return t.stop("the state belongs to another input: its cluster, topic id or partition differs from the input topic's",
			"The input topic was recreated or mirrored: open a new deployment under another ORIEL_NAME")
	}
	o.sealer, o.stream, o.incarnation = at.sealer, at.stream, inc.ID
	o.position, o.sealed, o.start = at.position, sealed, inc.Start
	return t.reconcile(ctx, o, e, extra)
}

// What is said of an input that lost what the state has taken.
const (
	truncated       = "the input was truncated below what the state has taken"
	truncatedRemedy = "Acknowledged events were lost on the brokers; open a new deployment under another ORIEL_NAME"
)

// checkInput refuses to go on when the input does not continue where the state ends, or does not reach to an end that
// was taken before.
func (t *task) checkInput(ctx context.Context, at state.Position, taken int64) error {
	s, next := t.service, at.Next
	bounds, err := s.client.Bounds(ctx, s.config.Input, t.partition)
	if err != nil {
		return fmt.Errorf("pipeline: partition %d: bounds of the input: %w", t.partition, err)
	}
	if bounds.Start > next {
		return t.lost(fmt.Sprintf("events were deleted before they were taken: the input starts at %d, the state needs %d", bounds.Start, next),
			"Open a new deployment under another ORIEL_NAME, and keep events longer than the longest outage")
	}
	end := bounds.High
	if at.LeaderEpoch >= 0 {
		known, err := s.client.EpochEnd(ctx, s.config.Input, t.partition, at.LeaderEpoch)
		switch {
		case errors.Is(err, kafka.ErrTruncated):
			return &StopError{Partition: t.partition, Reason: truncated, Remedy: truncatedRemedy, Cause: err, Loss: true}
		case err != nil:
			return fmt.Errorf("pipeline: partition %d: epoch of the input: %w", t.partition, err)
		case known >= 0 && known < next:
			end = min(end, known) // what follows is of another history
		}
	}
	if end < taken {
		return t.lost(fmt.Sprintf("the input was truncated: what is left of what was taken ends at %d, and events were taken up to %d", end, taken), truncatedRemedy)
	}
	return nil
}

func streamName(partition int32) string { return strconv.Itoa(int(partition)) }
