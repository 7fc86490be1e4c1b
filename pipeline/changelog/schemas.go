package changelog

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"oriel/pipeline/deployment"
	"oriel/pipeline/kafka"
	"oriel/pipeline/kafka/fetch"
	"oriel/pipeline/kafka/group"
	"oriel/pipeline/kafka/produce"
	"oriel/pipeline/kafka/topics"
	"oriel/pipeline/notice"
	"oriel/pipeline/order"
	"oriel/pipeline/streams"
	"oriel/state"
)

// Events may name their writer's schema by its registry id. They are decoded by frozen schemas: one record per stream,
// in the stream's partition of the changelog. FreezeSchemas writes the record before the stream is opened, and
// AddSchemas extends it. A service reads the record only when it takes a partition over.

// Schemas returns the schemas that are frozen for the stream of partition p; or nil without a record.
func (view *View) Schemas(keys Keys, c deployment.Config, p int32) (state.Schemas, error) {
	record := view.Value(keys.Schemas)
	if record == nil {
		return nil, nil
	}
	frozen, err := state.OpenSchemas(record, keys.SchemasKey, c.StreamName(p))
	if err != nil {
		return nil, CannotOpen(p, err)
	}
	return frozen, nil
}

// ModelOf returns m for the stream of partition p: with the amendment of its params and, if events name schemas, with
// the stream's frozen schemas. If such a stream has no schemas, it returns a StopError.
func (view *View) ModelOf(m streams.Model, keys Keys, c deployment.Config, p int32) (streams.Model, error) {
	var err error
	if m.Amendment, err = view.amendment(keys, c, p); err != nil || m.Writers == nil {
		return m, err
	}
	m.Frozen, err = view.frozen(keys, c, p)
	return m, err
}

// frozen is Schemas for a stream that must have schemas; without them it returns a StopError.
func (view *View) frozen(keys Keys, c deployment.Config, p int32) (state.Schemas, error) {
	frozen, err := view.Schemas(keys, c, p)
	if err == nil && frozen == nil {
		err = withoutSchemas(p)
	}
	return frozen, err
}

// Frozen reads the schemas that are frozen for the stream of partition p now, or nil if there are none. Like
// Incarnation, it needs neither a Model nor the right to write.
func (d Deployment) Frozen(ctx context.Context, p int32) (state.Schemas, error) {
	view, err := d.View(ctx, p)
	if err != nil {
		return nil, err
	}
	keys, err := d.keys(ctx, p, view.Value(state.ManifestKey()))
	if err != nil {
		return nil, err
	}
	return view.Schemas(keys, d.Config, p)
}

// Opened reports whether a stream was opened, or may have been opened: the changelog has records that `oriel topics`
// does not write.
func (view *View) Opened(keys Keys) bool {
	written := 1 // counts the manifest
	if view.Value(keys.Schemas) != nil {
		written++
	}
	return view.Len() > written
}

// FreezeSchemas writes schemas for every stream that has none. It must be called AFTER WriteManifests and BEFORE these
// streams are opened. If some streams have schemas already, because a previous call was interrupted or partitions were
// added, the other streams get the same schemas. Otherwise it calls ask for them. FreezeSchemas returns the schemas
// that it wrote, or nil if every stream already had schemas.
func (d Deployment) FreezeSchemas(
	ctx context.Context, ask func(context.Context) (state.Schemas, error),
) (given state.Schemas, err error) {
	missing := map[int32]bool{}
	for p := range int32(d.Topics.Changelog.Partitions) {
		view, keys, err := d.current(ctx, p)
		if err != nil {
			return nil, err
		}
		frozen, err := view.Schemas(keys, d.Config, p)
		switch {
		case err != nil:
			return nil, err
		case frozen != nil:
			given = known(frozen)
		case view.Opened(keys):
			return nil, withoutSchemas(p)
		default:
			missing[p] = true
		}
	}
	if len(missing) == 0 {
		return nil, nil
	}
	if given == nil {
		if given, err = ask(ctx); err != nil {
			return nil, err
		}
	}
	wrote := false
	for p := range int32(d.Topics.Changelog.Partitions) {
		if !missing[p] {
			continue
		}
		frozen, err := d.freezeSchemas(ctx, given, p)
		switch {
		case err != nil:
			return nil, fmt.Errorf("pipeline: schemas of partition %d: %w", p, err)
		case frozen != nil:
			given = known(frozen)
		default:
			wrote = true
		}
	}
	if !wrote {
		return nil, nil
	}
	return given, nil
}

// freezeSchemas gives schemas to a stream without any. Another call may have frozen schemas in the meantime, and an
// owner may have used them to decode events. So it fences every other writer and reads again; existing schemas stay and
// are returned.
func (d Deployment) freezeSchemas(ctx context.Context, given state.Schemas, p int32) (frozen state.Schemas, err error) {
	producer, view, keys, err := d.fenced(ctx, p)
	if err != nil {
		return nil, err
	}
	frozen, err = view.Schemas(keys, d.Config, p)
	switch {
	case err != nil || frozen != nil:
		return frozen, err
	case view.Opened(keys):
		return nil, withoutSchemas(p)
	}
	return nil, d.writeSchemas(ctx, producer, keys, p, given)
}

// known returns the schemas of one stream for a new stream, which knows all of them from its first record on. Schemas
// that were added later to the first stream remain marked as added, because they do not define the members of events.
func known(frozen state.Schemas) state.Schemas {
	all := slices.Clone(frozen)
	for i := range all {
		if all[i].Since != nil {
			all[i].Since = []state.SchemaSince{}
		}
	}
	return all
}

// Added is the offset in a stream from which on the stream knows added schemas.
type Added struct {
	Partition int32
	Schemas   state.Schemas
	Since     []state.SchemaSince
}

// AddSchemas adds the schemas whose ids are not frozen yet to every stream, or were left out. A stream knows them from
// the current end of the input on; earlier records stay null events. Schemas that are left out are frozen too, so that
// nobody takes them for new ones.
//
// It first fences the owner of the partition, which makes the owner take the partition over again, with the new
// schemas. The fence makes the change safe: every record in an earlier owner's transaction, committed or not, was read
// before the fence. So these records are before the end of the input, which is asked for afterwards, and every later
// owner decodes them as the earlier owner did. The new record is written by the same fencing producer, so it fails if
// another owner has taken over in between.
func (d Deployment) AddSchemas(ctx context.Context, schemas state.Schemas) ([]Added, error) {
	var all []Added
	for p := range int32(d.Topics.Changelog.Partitions) {
		added, err := d.addSchemas(ctx, schemas, p)
		if err != nil {
			return all, fmt.Errorf("pipeline: schemas of partition %d: %w", p, err)
		}
		if added.Schemas != nil {
			all = append(all, added)
		}
	}
	return all, nil
}

func (d Deployment) addSchemas(ctx context.Context, schemas state.Schemas, p int32) (Added, error) {
	added := Added{Partition: p}
	view, keys, err := d.current(ctx, p)
	if err != nil {
		return added, err
	}
	if frozen, err := view.frozen(keys, d.Config, p); err != nil || len(unknown(frozen, schemas)) == 0 {
		return added, err // if nothing changes, the owner must not be fenced
	}
	producer, view, keys, err := d.fenced(ctx, p)
	if err != nil {
		return added, err
	}
	frozen, err := view.frozen(keys, d.Config, p)
	if err != nil {
		return added, err
	}
	if added.Since, err = d.ends(ctx, p); err != nil {
		return added, err
	}
	for _, s := range unknown(frozen, schemas) {
		s.Since = added.Since
		if s.LeftOut {
			s.Since = nil
		}
		frozen = slices.DeleteFunc(frozen, func(old state.Schema) bool { return old.ID == s.ID })
		frozen = append(frozen, s)
		added.Schemas = append(added.Schemas, s)
	}
	return added, d.writeSchemas(ctx, producer, keys, p, frozen)
}

// unknown returns the schemas whose ids are not frozen, or have been left out and are not any more.
func unknown(frozen, schemas state.Schemas) (rest state.Schemas) {
	for _, s := range schemas {
		if old := frozen.Find(s.ID); old == nil || old.LeftOut && !s.LeftOut {
			rest = append(rest, s)
		}
	}
	return rest
}

// ends returns the offsets up to which the stream of partition p can have read the input, by partition of the input,
// ascending. It must be called AFTER earlier owners are fenced. A replaced leader may answer with an end that is too
// small. So ends takes the maximum with the group's committed offsets, and for a whole topic with the ends in its order
// log, because no owner reads beyond these.
func (d Deployment) ends(ctx context.Context, p int32) ([]state.SchemaSince, error) {
	known := map[int32]int64{p: 0}
	if d.Config.WholeTopic() {
		var err error
		if known, err = d.ordered(ctx); err != nil {
			return nil, err
		}
	}
	inputs := slices.Sorted(maps.Keys(known))
	taken, err := group.CommittedOffsets(ctx, d.Client, d.Config.Group, d.Config.Input, inputs)
	if err != nil {
		return nil, err
	}
	bounds, err := topics.BoundsOfAll(ctx, d.Client, d.Topics.Input, inputs)
	if err != nil {
		return nil, fmt.Errorf("bounds of the input: %w", err)
	}
	since := make([]state.SchemaSince, len(inputs))
	for i, p := range inputs {
		since[i] = state.SchemaSince{Partition: p, Offset: max(bounds[i].High, taken[i].Offset, known[p])}
	}
	return since, nil
}

// ordered returns, for each partition of a whole topic's input, the largest end in the committed state or in any record
// of the order log, even a void one.
func (d Deployment) ordered(ctx context.Context) (map[int32]int64, error) {
	stands, err := d.Ordered(ctx)
	if err != nil {
		return nil, err
	}
	log, err := topics.BoundsOf(ctx, d.Client, d.Config.Order, 0)
	if err != nil {
		return nil, fmt.Errorf("bounds of the order log: %w", err)
	}
	cluster, err := topics.Describe(ctx, d.Client, d.Config.Input)
	if err != nil {
		return nil, err
	}
	ends := map[int32]int64{}
	for p := range int32(cluster.Topics[d.Config.Input].Partitions) {
		ends[p] = 0
	}
	if stands.At != nil {
		for _, part := range stands.At.Parts {
			ends[part.Partition] = part.End
		}
	}
	signed := order.Log{Key: stands.Key, Topic: d.Topics.Order.ID, Input: d.Topics.Input.ID}
	for r, err := range fetch.Records(ctx, d.Client, d.Topics.Order, 0, log.Start, log.High, true) {
		if err != nil {
			return nil, err
		}
		record, err := signed.Parse(r.Value)
		if errors.Is(err, order.ErrFormat) {
			return nil, fmt.Errorf("%w: offset %d", err, r.Offset)
		}
		for _, e := range record.Entries { // no entries if the deployment has not signed the record
			ends[e.Partition] = max(ends[e.Partition], e.End)
		}
	}
	return ends, nil
}

// current reads the current content of a partition of the changelog. For a deployment that has ended it returns an
// error.
func (d Deployment) current(ctx context.Context, p int32) (*View, Keys, error) {
	view, err := d.View(ctx, p)
	if err != nil {
		return nil, Keys{}, err
	}
	return d.lasting(view, p)
}

// lasting returns a view with its keys, or an error if the deployment has ended.
func (d Deployment) lasting(view *View, p int32) (*View, Keys, error) {
	if err := view.Lasting(p); err != nil {
		return nil, Keys{}, err
	}
	keys, err := view.Keys(p, d.Config, d.Model, d.Master)
	return view, keys, err
}

// fenced fences every earlier producer of partition p, and then reads its changelog to the end: it waits for open
// transactions of other producers, because read_committed hides records after their start.
func (d Deployment) fenced(ctx context.Context, p int32) (*produce.Producer, *View, Keys, error) {
	producer, bounds, err := d.fence(ctx, p)
	if err != nil {
		return nil, nil, Keys{}, err
	}
	view, err := Read(ctx, d.Client, d.Topics.Changelog, p, bounds, nil)
	if err != nil {
		return nil, nil, Keys{}, err
	}
	view, keys, err := d.lasting(view, p)
	return producer, view, keys, err
}

func (d Deployment) writeSchemas(
	ctx context.Context, producer *produce.Producer, keys Keys, p int32, schemas state.Schemas,
) error {
	record := schemas.Seal(keys.SchemasKey, d.Config.StreamName(p))
	if len(record) > state.MaxValue {
		return &notice.StopError{
			Partition: p, Reason: fmt.Sprintf("the frozen schemas have %d bytes together, more than the %d that a record may have", len(record), state.MaxValue),
			Remedy: "Name a subject with fewer versions, or open a new deployment under another ORIEL_NAME",
		}
	}
	return WriteRecord(ctx, producer, kafka.TopicPartition{Topic: d.Config.Changelog, Partition: p}, keys.Schemas, record)
}

// withoutSchemas returns the StopError for a stream that was opened and has no schemas.
func withoutSchemas(p int32) error {
	return &notice.StopError{
		Partition: p, Loss: true, Reason: "the changelog has no schemas for the events of this partition",
		Remedy: "Run `oriel topics` with this configuration once before `oriel run`; if it ran before, the changelog has lost a record: restore it, or open a new deployment under another ORIEL_NAME",
	}
}
