package takeover

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"time"

	"oriel/pipeline/changelog"
	"oriel/pipeline/deployment"
	"oriel/pipeline/kafka/fetch"
	"oriel/pipeline/kafka/group"
	"oriel/pipeline/kafka/topics"
	"oriel/pipeline/notice"
	"oriel/pipeline/streams"
	"oriel/pipeline/transaction"
	"oriel/state"
	"oriel/state/keys"
)

// open starts the partition's first incarnation. Any trace of an earlier incarnation means that a state was lost: then
// open fails, because a stream must not silently start from zero. known reports that the local store has, or may have
// had, a state.
//
// A stream that owes decisions before its first record is opened in two transactions: first only its secret, then these
// decisions. The secret determines them, so it must be committed BEFORE the first of them is sent. In one transaction,
// a process that died between the decisions and the changelog would leave decisions that anyone can read, and no secret
// to make them again. A stream that owes no decisions is opened in one transaction. If the process dies during it, a
// new secret is harmless, because no record made with the old one can be read.
func (t *takeOver) open(ctx context.Context, known bool) error {
	const lost = "the state of this partition is lost: "
	const remedy = "Restore the changelog topic, or open a new deployment under another ORIEL_NAME; its privacy loss adds to the old one's for events that both read"
	if t.Log.Opened(t.keys) {
		return t.lost(lost+"the changelog holds records that this master key's names do not explain", remedy)
	}
	if sent, err := t.sentOpening(ctx); err != nil || sent {
		return err
	}
	released, err := t.released(ctx)
	switch {
	case err != nil:
		return err
	case released:
		return t.lost(lost+"decisions were released, but the changelog has no state", remedy)
	case known:
		return t.lost(lost+"the local store holds a state of this partition, or was damaged, but the changelog has no state", remedy+
			"; if this partition was really never opened, empty ORIEL_STATE_DIR")
	case slices.ContainsFunc(t.ends.group, func(o group.Offset) bool { return o.Offset != -1 }):
		return t.lost(lost+"the group has committed an offset, but the changelog has no state", remedy)
	}
	start, err := t.begin(ctx)
	if err != nil {
		return err
	}
	params, err := t.Model.Learner.Params()
	if err != nil {
		return &notice.StopError{
			Partition: t.partition, Reason: "no plan fits the configuration",
			Remedy: "Correct the settings that the cause names", Cause: err, Public: true,
		}
	}
	inc := state.NewIncarnation(state.Incarnation{
		Stream: t.name, Cluster: t.Topics.Cluster, Topic: t.Topics.Input.ID, Partition: t.partition,
		Config: t.Model.Settings, Params: params, Start: start, Order: t.Start,
	})
	if t.Sealer, err = inc.Sealer(); err != nil {
		return fmt.Errorf("pipeline: partition %d: %w", t.partition, err)
	}
	if t.Start != nil {
		t.Model.First = t.Start.Slot
	}
	t.Stream, err = streams.OpenStream(t.Model, params, inc.InitialKey(keys.NewSecret()), t.keys.Users, t.name, inc.ID)
	if err != nil {
		return &notice.StopError{
			Partition: t.partition, Reason: "the plan does not prove the configured guarantee",
			Remedy: "Correct the settings that the cause names", Cause: err, Public: true,
		}
	}
	at := state.Position{
		Topic: t.Topics.Input.ID, Next: start, LeaderEpoch: -1, Semantics: t.Model.Semantics, Order: t.Start.Clone(),
	}
	if at.Step = t.Stream.Base(); !t.Config.Begin.IsZero() {
		at.Order.Slot-- // the slot of all records before the first step
	}
	if _, owed := t.Stream.Due(0); owed > 0 {
		at.Owes = true
	} else {
		(&streams.Walk{Stream: t.Stream}).Start()
	}
	t.Listener.Opening(t.partition, start)
	opening := t.newTransaction()
	opening.Opening = []state.Record{{Key: t.keys.Incarnation, Value: inc.Seal(t.Master)}}
	opening.Position, opening.Sealed = at, t.Sealer.Seal(nil, at, t.Stream.AppendState(nil))
	opening.Offsets = transaction.OffsetsAt(t.partition, at)
	t.mustCommit(opening)
	if at.Owes {
		b := transaction.NewBuilder(t.Stream, t.partition, at, t.Sealer, t.Users)
		b.Transaction, b.Now = t.newTransaction(), time.Now().UnixMilli()
		b.KeepsNewest = t.Listener.Decided != nil
		b.Start()
		b.Close()
		t.mustCommit(b.Transaction)
	}
	return nil
}

// begin returns the offset at which the partition's first incarnation begins. A whole topic begins at offset 0, and
// begin sets t.Start to the corresponding position in the input.
func (t *takeOver) begin(ctx context.Context) (offset int64, err error) {
	if t.Config.WholeTopic() {
		t.Start, err = t.beginAll(ctx)
		return 0, err
	}
	bounds, err := topics.BoundsOf(ctx, t.Client, t.Config.Input, t.partition)
	if err != nil {
		return 0, fmt.Errorf("pipeline: partition %d: bounds of the input: %w", t.partition, err)
	}
	return t.first(t.partition, bounds)
}

// beginAll returns where the first incarnation of a whole topic begins in each partition and in the order log.
func (t *takeOver) beginAll(ctx context.Context) (*state.Ordered, error) {
	log, err := topics.BoundsOf(ctx, t.Client, t.Config.Order, 0)
	if err != nil {
		return nil, fmt.Errorf("pipeline: bounds of the order log: %w", err)
	}
	at := &state.Ordered{Log: t.Topics.Order.ID, Next: log.Start, LeaderEpoch: -1}
	if clock := t.Model.Clock; !clock.Counts() {
		moment := t.Config.Begin
		if moment.IsZero() {
			moment = time.Now()
		}
		at.Clock, at.Slot = true, clock.Begin(clock.Of(moment.Unix()))
	}
	inputs, err := topics.BoundsOfAll(ctx, t.Client, t.Topics.Input, t.inputs())
	if err != nil {
		return nil, fmt.Errorf("pipeline: bounds of the input: %w", err)
	}
	for p, bounds := range inputs {
		next, err := t.first(int32(p), bounds)
		if err != nil {
			return nil, err
		}
		at.Parts = append(at.Parts, state.OrderedPart{
			Partition: int32(p), Next: next, End: next, LeaderEpoch: -1, Ordered: -1,
		})
	}
	return at, nil
}

// first returns the offset at which a first incarnation begins in a partition of the input.
func (t *takeOver) first(p int32, input topics.Bounds) (int64, error) {
	offset, has := t.Config.Offsets[p]
	switch {
	case !t.Config.Begin.IsZero():
		return input.Start, nil // the slots of records say which ones are before the first step
	case t.Config.Offsets == nil && t.Config.Start == deployment.StartLatest && !t.Model.Clock.Counts():
		return input.High, nil // an open transaction, perhaps of one record, must not decide which others count
	case t.Config.Offsets == nil && t.Config.Start == deployment.StartLatest:
		return input.Stable, nil
	case t.Config.Offsets == nil:
		return input.Start, nil
	case !has:
		return 0, t.stop(fmt.Sprintf("ORIEL_START: the file has no line for partition %d of %q", p, t.Config.Input),
			"Add the line, or set ORIEL_START to earliest or latest: streams that are open stay where they are")
	case offset < input.Start || offset > input.High:
		return 0, t.lost(fmt.Sprintf("ORIEL_START: offset %d of partition %d of %q: the partition has the offsets %d to %d",
			offset, p, t.Config.Input, input.Start, input.High),
			"Name a topic whose offsets these are. If the records at the offset were deleted, correct the line: the stream then lacks them")
	}
	return offset, nil
}

// released reports whether a decision topic has, or ever had, a record.
func (t *takeOver) released(ctx context.Context) (bool, error) {
	for i, topic := range t.Topics.Outputs() {
		if has, err := deployment.EverWritten(ctx, t.Client, topic, t.partition, t.ends.decisions[i]); has || err != nil {
			return has, err
		}
	}
	return false, nil
}

// sentOpening finds an opening that was sent and then aborted in the changelog, and continues it. Its commit may have
// been acknowledged, and other parts of it may be committed. Records of a state are sent after the decisions before it,
// so these decisions are in their topic. No other incarnation can have released anything, because an opening is sent
// only if nothing was released before.
func (t *takeOver) sentOpening(ctx context.Context) (bool, error) {
	b := t.ends.changelog
	sent := changelog.NewView(t.Topics.Changelog)
	for r, err := range fetch.Records(ctx, t.Client, t.Topics.Changelog, t.partition, b.Start, b.High, true) {
		if err != nil {
			return false, err
		}
		if bytes.Equal(r.Key, t.keys.Incarnation) { // after several attempts the last record counts, complete or not
			sent = changelog.NewView(t.Topics.Changelog)
		}
		sent.Set(r.Key, r.Value)
	}
	record := sent.Value(t.keys.Incarnation)
	sealed, err := sent.Sealed(t.StateKey)
	if err != nil || record == nil || sealed == nil {
		return false, nil // incomplete, so no transaction with it was committed
	}
	t.sealed = sealed
	if err := t.restore(record); err != nil {
		return true, err
	}
	return true, t.reconcile(ctx, []state.Record{{Key: t.keys.Incarnation, Value: record}})
}
