package pipeline

import (
	"bytes"
	"context"
	"fmt"
	"time"

	"oriel/pipeline/kafka"
	"oriel/state"
)

// open starts the partition's first incarnation. Anything left of an earlier one means that a state was lost: then
// nothing may start from zero in silence. known says that the local store has, or may have had, a state.
//
// A stream that owes decisions before its first record is opened in two transactions: first its secret alone, then
// these decisions (decideFirst). A stream that owes none is opened in one, because nothing of it can be read: where
// that one is cut off, a new secret contradicts nothing.
func (t *task) open(ctx context.Context, o *ownedPartition, e endOffsets, incarnationKey []byte, known bool) error {
	s := t.service
	const lost = "the state of this partition is lost: "
	const remedy = "Restore the changelog topic, or open a new deployment under another ORIEL_NAME; its privacy loss adds to the old one's for events that both read"
	if len(o.view.values) > 1 { // beyond the manifest
		return t.lost(lost+"the changelog holds records that this master key's names do not explain", remedy)
	}
	if sent, err := t.sentOpening(ctx, o, e, incarnationKey); err != nil || sent {
		return err
	}
	released, err := t.released(ctx, e)
	switch {
	case err != nil:
		return err
	case released:
		return t.lost(lost+"decisions were released, but the changelog has no state", remedy)
	case known:
		return t.lost(lost+"the local store holds a state of it, or was damaged, but the changelog has none", remedy+
			"; if this partition was really never opened, empty ORIEL_STATE_DIR")
	case e.group != -1:
		return t.lost(lost+"the group has committed an offset, but the changelog has no state", remedy)
	}
	start, plan, err := t.start(ctx)
	if err != nil {
		return err
	}
	inc := state.NewIncarnation(state.Incarnation{
		Stream: t.stream, Cluster: s.topics.Cluster, Topic: s.topics.Input.ID, Partition: t.partition,
		Config: s.model.Settings, Params: plan, Start: start,
	})
	if o.sealer, err = inc.Sealer(); err != nil {
		return fmt.Errorf("pipeline: partition %d: %w", t.partition, err)
	}
	key := inc.InitialKey(state.NewSecret())
	if o.stream, err = OpenStream(s.model, plan, key, o.people, t.stream, inc.ID); err != nil {
		return &StopError{
			Partition: t.partition, Reason: "the plan does not prove the configured guarantee",
			Remedy: "Correct the settings that the cause names", Cause: err,
		}
	}
	o.incarnation = inc.ID
	at := state.Position{Topic: s.topics.Input.ID, Next: start, LeaderEpoch: -1, Semantics: s.model.Semantics}
	if _, owed := o.stream.Due(0); owed > 0 {
		at.Owes = true
	} else {
		(&Walk{Stream: o.stream}).Start()
	}
	g := s.newSegment(kafka.NewPool())
	g.position, g.sealed = at, o.sealer.Seal(nil, at, o.stream.AppendState(nil))
	s.listener.opening(t.partition, start)
	opening := state.Record{Key: incarnationKey, Value: inc.Seal(s.master)}
	if err := t.commitOpening(ctx, o, g, opening); err != nil || !at.Owes {
		return err
	}
	return t.decideFirst(ctx, o)
}

// commitOpening commits an opening, and returns when the changelog shows it as committed: BEFORE anything that follows
// from its secret is sent. An acknowledgement is not enough, because a coordinator that crashes behind it may never
// tell the changelog. The records would then be aborted by the next owner, and the broker may delete them.
func (t *task) commitOpening(ctx context.Context, o *ownedPartition, g *segment, opening ...state.Record) error {
	if err := t.commit(ctx, o, g, opening...); err != nil {
		return err
	}
	s, p := t.service, t.partition
	b, err := s.client.ReadableEnd(ctx, s.topics.Changelog.Name, p)
	if err != nil {
		return fmt.Errorf("pipeline: partition %d: bounds of the changelog: %w", p, err)
	}
	shown := b.Stable >= o.view.last
	if shown {
		shown, err = kafka.HasRecord(ctx, s.client, s.topics.Changelog, p, o.view.last-1, o.view.last, false)
	}
	if err == nil && !shown {
		err = fmt.Errorf("pipeline: partition %d: the opening was acknowledged, and the changelog does not show it as committed", p)
	}
	return err
}

// decideFirst commits the decisions that the stream owes before its first record, and the state after them.
//
// BEFORE the first of them is sent, the opening must be committed: its secret decides them. Who takes the partition
// over then finds the secret, and sends the same bytes. In one transaction, a process that died between the decisions
// and the changelog would leave decisions that anybody can read, and no secret to make them again.
func (t *task) decideFirst(ctx context.Context, o *ownedPartition) error {
	c := t.newComputer(o)
	c.segment, c.now = t.service.newSegment(kafka.NewPool()), time.Now().UnixMilli()
	c.walk.Start()
	c.close()
	return t.commit(ctx, o, c.segment)
}

// start says where the partition's first incarnation begins, and its plan.
func (t *task) start(ctx context.Context) (offset int64, params []byte, err error) {
	s := t.service
	bounds, err := s.client.Bounds(ctx, s.config.Input, t.partition)
	if err != nil {
		return 0, nil, fmt.Errorf("pipeline: partition %d: bounds of the input: %w", t.partition, err)
	}
	offset = bounds.Start
	if s.config.Start == StartLatest {
		offset = bounds.Stable
	}
	var left inheritance
	if s.config.Predecessor != (Predecessor{}) {
		if left, err = t.inherit(ctx, bounds); err != nil {
			return 0, nil, err
		}
	}
	if left.exists {
		offset = left.next
	}
	if left.last != nil {
		params, err = s.model.Learner.ParamsAfter(*left.last)
	} else {
		params, err = s.model.Learner.Params()
	}
	if err != nil {
		return 0, nil, &StopError{
			Partition: t.partition, Reason: "no plan fits the configuration",
			Remedy: "Correct the settings that the cause names", Cause: err,
		}
	}
	return offset, params, nil
}

// released tells whether a topic of decisions has, or has had, a record.
func (t *task) released(ctx context.Context, e endOffsets) (bool, error) {
	for i, topic := range t.service.topics.outputs() {
		if has, err := everWritten(ctx, t.service.client, topic, t.partition, e.decisions[i]); has || err != nil {
			return has, err
		}
	}
	return false, nil
}

// sentOpening continues an opening that was sent and has been aborted in the changelog, if there is one: its commit may
// have been acknowledged, and other parts of it may stand. Records of a state are sent after the decisions before it,
// so that these are in their topic. No other incarnation can have released anything: an opening is sent only where
// nothing was released.
func (t *task) sentOpening(ctx context.Context, o *ownedPartition, e endOffsets, incarnationKey []byte) (bool, error) {
	s, b := t.service, e.changelog
	sent := &changelog{values: map[string][]byte{}}
	for r, err := range kafka.Records(ctx, s.client, s.topics.Changelog, t.partition, b.Start, b.High, true) {
		if err != nil {
			return false, err
		}
		if bytes.Equal(r.Key, incarnationKey) { // of several attempts the last one counts, whole or not
			clear(sent.values)
		}
		sent.values[string(r.Key)] = bytes.Clone(r.Value)
	}
	record := sent.values[string(incarnationKey)]
	sealed, err := sent.sealed(o.stateKey)
	if err != nil || record == nil || sealed == nil {
		return false, nil // cut short, and so not committed anywhere
	}
	for _, r := range stateRecords(o.stateKey, sealed) {
		o.view.values[string(r.Key)] = bytes.Clone(r.Value)
	}
	opening := state.Record{Key: incarnationKey, Value: record}
	return true, t.restore(ctx, o, e, record, sealed, opening)
}
