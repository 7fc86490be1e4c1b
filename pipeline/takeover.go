package pipeline

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	"oriel/pipeline/kafka"
	"oriel/state"
)

// owned is a partition after take-over: fenced, restored, and proved to be continued where the last owner committed.
type owned struct {
	producer *kafka.Producer
	sealer   *state.Sealer
	stateKey []byte
	people   [32]byte // secret under which users are remembered
	stream   *Stream
	position state.Position // of the committed state
	view     *changelog
}

// takeOver makes this task the partition's only owner and restores its state, or opens its first incarnation
// (formats §6). It never fetches an event.
func (t *task) takeOver(ctx context.Context) (*owned, error) {
	s := t.service
	producer, err := s.client.NewProducer(ctx, transactionalID(s.config.Name, s.topics.Input.ID, t.partition), transactionTimeout)
	if err != nil {
		return nil, fmt.Errorf("pipeline: partition %d: %w", t.partition, err)
	}
	s.listener.reached(t.partition, PointFenced)
	local, err := s.store.Load(t.partition)
	known := len(local) > 0 || s.store.SetAside() != nil // this process, or one before it, has had a state of the partition
	if errors.Is(err, state.ErrCorrupt) {
		s.listener.note(t.partition, "the local state is damaged; it is set aside and restored from the changelog")
		local, known = nil, true
	} else if err != nil {
		return nil, fmt.Errorf("pipeline: partition %d: local state: %w", t.partition, err)
	}
	bounds, err := stableEnd(ctx, s.client, s.topics.Changelog.Name, t.partition)
	if err != nil {
		return nil, err
	}
	view, err := readChangelog(ctx, s.client, s.topics.Changelog, t.partition, bounds, local)
	if err != nil {
		return nil, err
	}
	manifest, err := openManifest(view.values[string(state.ManifestKey())], t.partition, manifestText(s.config, s.model), s.master)
	if err != nil {
		return nil, err
	}
	o := &owned{producer: producer, view: view, stateKey: manifest.NameKey.Key(state.KindState, t.stream), people: manifest.NameKey.Users()}
	incarnationKey := manifest.NameKey.Key(state.KindIncarnation, t.stream)
	incarnation := view.values[string(incarnationKey)]
	sealed, err := view.sealed(o.stateKey)
	if err != nil {
		return nil, unsealing(t.partition, err)
	}
	switch {
	case incarnation != nil && sealed != nil:
		err = t.restore(ctx, o, incarnation, sealed)
	case incarnation == nil && sealed == nil:
		err = t.open(ctx, o, incarnationKey, known)
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
	s.listener.reached(t.partition, PointRestored)
	return o, nil
}

func (t *task) stop(reason, remedy string) error {
	return &StopError{Partition: t.partition, Reason: reason, Remedy: remedy}
}

// lost is a stop for something that brokers say is gone.
func (t *task) lost(reason, remedy string) error {
	return &StopError{Partition: t.partition, Reason: reason, Remedy: remedy, Loss: true}
}

// restore continues the incarnation at its committed state and checks that the input still has what comes next.
func (t *task) restore(ctx context.Context, o *owned, record, sealed []byte) error {
	s := t.service
	at, err := openSealed(s.model, s.master, t.partition, record, sealed)
	if err != nil {
		return err
	}
	inc := at.incarnation
	if inc.Cluster != s.topics.Cluster || inc.Topic != s.topics.Input.ID || inc.Partition != t.partition || inc.Stream != t.stream {
		return t.stop("the state belongs to another input: its cluster, topic id or partition differs from the input topic's",
			"The input topic was recreated or mirrored: open a new deployment under another ORIEL_NAME")
	}
	o.sealer, o.stream, o.position = at.sealer, at.stream, at.position
	return t.checkInput(ctx, o.position)
}

// What is said of an input that lost what the state has taken.
const (
	truncated       = "the input was truncated below what the state has taken"
	truncatedRemedy = "Acknowledged events were lost on the brokers; open a new deployment under another ORIEL_NAME"
)

// checkInput refuses to go on when the input or the group does not continue where the state ends.
func (t *task) checkInput(ctx context.Context, at state.Position) error {
	s, next := t.service, at.Next
	group, err := s.client.CommittedOffset(ctx, s.config.Group, s.config.Input, t.partition)
	if err != nil {
		return fmt.Errorf("pipeline: partition %d: group offset: %w", t.partition, err)
	}
	if group != -1 && group != next {
		return t.lost(fmt.Sprintf("offsets were reset: the group stands at %d, the state at %d", group, next),
			fmt.Sprintf("Events cannot be taken twice or left out. Stop all members and set the offset back: kafka-consumer-groups.sh --group %s --topic %s:%d --reset-offsets --to-offset %d --execute",
				s.config.Group, s.config.Input, t.partition, next))
	}
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
		case known >= 0:
			end = min(end, known)
		}
	}
	if end < next {
		return t.lost(fmt.Sprintf("the input was truncated: what the state has taken ends at %d, the state stands at %d", end, next), truncatedRemedy)
	}
	return nil
}

// open starts the partition's first incarnation. Anything left of an earlier one means that a state was lost: then
// nothing may start from zero in silence. known says that the local store has, or may have had, a state.
func (t *task) open(ctx context.Context, o *owned, incarnationKey []byte, known bool) error {
	s := t.service
	group, err := s.client.CommittedOffset(ctx, s.config.Group, s.config.Input, t.partition)
	if err != nil {
		return fmt.Errorf("pipeline: partition %d: group offset: %w", t.partition, err)
	}
	released, err := hasRecords(ctx, s.client, s.topics.Decisions, t.partition)
	if err != nil {
		return err
	}
	const lost = "the state of this partition is lost: "
	const remedy = "Restore the changelog topic, or open a new deployment under another ORIEL_NAME; its privacy loss adds to the old one's for events that both read"
	switch {
	case len(o.view.values) > 1: // beyond the manifest
		return t.lost(lost+"the changelog holds records that this master key's names do not explain", remedy)
	case released:
		return t.lost(lost+"decisions were released, but the changelog has no state", remedy)
	case known:
		return t.lost(lost+"the local store holds a state of it, or was damaged, but the changelog has none", remedy+
			"; if this partition was really never opened, empty ORIEL_STATE_DIR")
	case group != -1:
		return t.lost(lost+"the group has committed an offset, but the changelog has no state", remedy)
	}
	bounds, err := s.client.Bounds(ctx, s.config.Input, t.partition)
	if err != nil {
		return fmt.Errorf("pipeline: partition %d: bounds of the input: %w", t.partition, err)
	}
	start := bounds.Start
	if s.config.Start == StartLatest {
		start = bounds.Stable
	}
	plan, err := s.model.Plan()
	if err != nil {
		return &StopError{Partition: t.partition, Reason: "no plan fits the configuration", Remedy: "Correct the settings that the cause names", Cause: err}
	}
	inc := state.NewIncarnation(state.Incarnation{
		Stream: t.stream, Cluster: s.topics.Cluster, Topic: s.topics.Input.ID, Partition: t.partition,
		Config: s.model.Settings, Plan: plan, Start: start,
	})
	if o.sealer, err = inc.Sealer(); err != nil {
		return fmt.Errorf("pipeline: partition %d: %w", t.partition, err)
	}
	key := inc.InitialKey(state.NewSecret())
	if o.stream, err = OpenStream(s.model, plan, key, o.people, t.stream, inc.ID); err != nil {
		return &StopError{Partition: t.partition, Reason: "the plan does not prove the configured guarantee", Remedy: "Correct the settings that the cause names", Cause: err}
	}
	g := &segment{position: state.Position{Topic: s.topics.Input.ID, Next: start, LeaderEpoch: -1}}
	o.stream.Start(func(line []byte) { g.decide([]byte(t.stream), line, time.Now().UnixMilli()) })
	g.sealed = o.sealer.Seal(nil, g.position, o.stream.AppendState(nil))
	return t.commit(ctx, o, g, state.Record{Key: incarnationKey, Value: inc.Seal(s.master)})
}

// hasRecords tells whether any record was ever readable in the partition, committed or not.
func hasRecords(ctx context.Context, client *kafka.Client, topic kafka.Topic, p int32) (bool, error) {
	bounds, err := client.Bounds(ctx, topic.Name, p)
	if err != nil {
		return false, fmt.Errorf("pipeline: bounds of %s partition %d: %w", topic.Name, p, err)
	}
	if bounds.Start > 0 {
		return true, nil // deleted by retention
	}
	reader := client.NewReader(topic.Name, p, 0, kafka.ReaderOptions{ID: topic.ID, Uncommitted: true, MaxBytes: 64 << 10, MaxWait: 100 * time.Millisecond})
	for next := int64(0); next < bounds.High; {
		batch, err := reader.Fetch(ctx)
		if err != nil {
			return false, fmt.Errorf("pipeline: read %s partition %d: %w", topic.Name, p, err)
		}
		found := len(batch.Records) > 0
		next = batch.Next
		batch.Release()
		if found {
			return true, nil
		}
	}
	return false, nil
}

func streamName(partition int32) string { return strconv.Itoa(int(partition)) }
