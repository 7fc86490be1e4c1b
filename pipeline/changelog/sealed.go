package changelog

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"oriel/pipeline/deployment"
	"oriel/pipeline/kafka"
	"oriel/pipeline/kafka/topics"
	"oriel/pipeline/notice"
	"oriel/pipeline/streams"
	"oriel/state"
	"oriel/state/frame"
	"oriel/state/keys"
)

// Saved is a stream restored from a sealed state, and the public facts that show to which stream the state belongs.
type Saved struct {
	Incarnation state.Incarnation
	Sealer      *state.Sealer
	Stream      *streams.Stream
	Position    state.Position
}

// OpenSaved opens an incarnation record and a sealed state of this incarnation, and restores the stream with the frozen
// params and with the segments that the view has. It drops those of other spans from the view.
func (view *View) OpenSaved(
	m streams.Model, master *keys.MasterKey, p int32, record, sealed []byte,
) (Saved, error) {
	saved, private, err := openSealed(master, p, record, sealed)
	if err != nil {
		return Saved{}, err
	}
	inc, position := saved.Incarnation, saved.Position
	if position.Topic != inc.Topic || (position.Order == nil) != (inc.Order == nil) ||
		inc.Order != nil && position.Order.Log != inc.Order.Log {
		return Saved{}, CannotOpen(p, frame.ErrForeign)
	}
	if inc.Order != nil {
		m.First = inc.Order.Slot
	}
	saved.Stream, err = streams.OpenStream(m, inc.Params, [32]byte{}, [32]byte{}, inc.Stream, inc.ID)
	if err != nil {
		return Saved{}, &notice.StopError{
			Partition: p, Reason: "the frozen plan does not prove the configured guarantee",
			Remedy: "Use the version of Oriel that opened the deployment, or open a new one under another ORIEL_NAME", Cause: err,
		}
	}
	if err := saved.Stream.Restore(private); err != nil {
		return Saved{}, CannotOpen(p, err)
	}
	if err := view.restoreSegments(saved, p); err != nil {
		return Saved{}, err
	}
	return saved, nil
}

// restoreSegments completes a restored stream by the segments that belong to its state. The changelog must have exactly
// those that the state counts: with fewer of them, users would be accepted again, and names would be counted short.
func (view *View) restoreSegments(saved Saved, p int32) error {
	want := saved.Stream.Saved()
	found := make([]uint32, len(want))
	for key, value := range view.values {
		if !state.IsSegmentKey(key) {
			continue
		}
		at := slices.IndexFunc(want, func(w streams.Saved) bool { return saved.Sealer.IsSegmentOf(key, w.Kind, w.Span) })
		if at < 0 || value == nil {
			delete(view.values, key) // of an earlier span: ended, or to be ended, or in a local copy that missed the end
			continue
		}
		found[at]++
	}
	for i, w := range want {
		if found[i] != w.Segments {
			return &notice.StopError{
				Partition: p, Loss: true,
				Reason: fmt.Sprintf("the changelog has %d records of the kind %q, and its state counts %d", found[i], w.Kind, w.Segments),
				Remedy: "Restore the changelog topic and its compaction settings: without these records, the stream would forget whom or what it has " +
					"counted. Or open a new deployment under another ORIEL_NAME; its privacy loss adds to the old one's for events that both read",
			}
		}
	}
	err := saved.Stream.Take(func(kind frame.Kind, span uint64, number uint32) (state.Segment, error) {
		return saved.Sealer.OpenSegment(kind, view.values[string(saved.Sealer.SegmentKey(kind, span, number))])
	})
	if err != nil {
		return CannotOpen(p, err)
	}
	return nil
}

// openSealed opens an incarnation record and a sealed state of this incarnation, but no stream.
func openSealed(master *keys.MasterKey, p int32, record, sealed []byte) (saved Saved, private []byte, err error) {
	saved.Incarnation, err = state.OpenIncarnation(record, master)
	if err == nil {
		saved.Sealer, err = saved.Incarnation.Sealer()
	}
	if err == nil {
		saved.Position, private, err = saved.Sealer.Open(sealed)
	}
	if err != nil {
		return Saved{}, nil, CannotOpen(p, err)
	}
	return saved, private, nil
}

// CannotOpen adds a remedy to an error of package state.
func CannotOpen(p int32, err error) error {
	if errors.Is(err, keys.ErrWrongKey) {
		return &notice.StopError{Partition: p, Reason: "the master key is not the one that this deployment was opened with", Remedy: "Point ORIEL_MASTER_KEY_FILE at the deployment's key", Cause: err}
	}
	return &notice.StopError{Partition: p, Reason: "a stored record cannot be opened", Remedy: "Restore the changelog topic from before the damage, or use the version of Oriel that wrote it", Cause: err}
}

// Keys are the changelog keys of the records of a partition's stream, and the other contents of the manifest.
type Keys struct {
	Incarnation, State []byte
	Users              [32]byte // secret under which user ids are hashed
	Order              [32]byte // authenticates the records of the order log
	Schemas            []byte   // changelog key of the record of writers' schemas
	SchemasKey         [32]byte // authenticates the record of writers' schemas
	Amendment          []byte   // changelog key of the amendment: the params appended to a stream
	AmendmentKey       [32]byte // authenticates the amendment
}

// Keys opens the manifest of partition p, and refuses a manifest of another configuration or master key.
func (view *View) Keys(p int32, c deployment.Config, m streams.Model, master *keys.MasterKey) (Keys, error) {
	d := Deployment{Config: c, Model: m, Master: master}
	manifest, err := d.openManifest(view.Value(state.ManifestKey()), p)
	if err != nil {
		return Keys{}, err
	}
	return keysOf(c, manifest, p), nil
}

func keysOf(c deployment.Config, m state.Manifest, p int32) Keys {
	return Keys{
		Incarnation:  m.NameKey.Key(frame.KindIncarnation, c.StreamName(p)),
		State:        m.NameKey.Key(frame.KindState, c.StreamName(p)),
		Users:        m.NameKey.Users(),
		Order:        m.NameKey.Order(),
		Schemas:      m.NameKey.Key(frame.KindSchemas, c.StreamName(p)),
		SchemasKey:   m.NameKey.Schemas(),
		Amendment:    m.NameKey.Key(frame.KindAmendment, c.StreamName(p)),
		AmendmentKey: m.NameKey.Amendment(),
	}
}

// Deployment has the dependencies for reading a deployment's sealed records.
type Deployment struct {
	Client *kafka.Client
	Config deployment.Config
	Topics deployment.Topics
	Model  streams.Model
	Master *keys.MasterKey
}

// View reads the committed records of partition p of the changelog.
func (d Deployment) View(ctx context.Context, p int32) (*View, error) {
	bounds, err := topics.ReadableEnd(ctx, d.Client, d.Topics.Changelog.Name, p)
	if err != nil {
		return nil, err
	}
	return Read(ctx, d.Client, d.Topics.Changelog, p, bounds, nil)
}

// Incarnation reads the incarnation of a partition. It needs neither a Model nor the right to write.
func (d Deployment) Incarnation(ctx context.Context, p int32) (inc state.Incarnation, err error) {
	var none state.Incarnation
	sealed, err := FindRecord(ctx, d.Client, d.Topics.Changelog, p, state.ManifestKey())
	if err != nil {
		return none, err
	}
	keys, err := d.keys(ctx, p, sealed)
	if err != nil {
		return none, err
	}
	record, err := FindRecord(ctx, d.Client, d.Topics.Changelog, p, keys.Incarnation)
	if err != nil {
		return none, err
	}
	if record == nil {
		return none, &notice.StopError{
			Partition: p, Reason: "the changelog has no incarnation of this partition",
			Remedy: "Name the changelog and verdict topics of one deployment, or restore the changelog",
		}
	}
	inc, err = state.OpenIncarnation(record, d.Master)
	if err != nil {
		return none, CannotOpen(p, err)
	}
	return inc, nil
}

// keys opens the manifest of a partition and checks only its name and input; the rest of the configuration may differ.
func (d Deployment) keys(ctx context.Context, p int32, sealed []byte) (Keys, error) {
	if sealed == nil {
		return Keys{}, missingManifest(p)
	}
	manifest, err := state.OpenManifest(sealed, d.Master)
	if err != nil {
		return Keys{}, CannotOpen(p, err)
	}
	if !strings.HasPrefix(manifest.Config, nameLine(d.Config)) {
		return Keys{}, &notice.StopError{
			Partition: p, Reason: "the changelog is of a deployment of another name",
			Remedy: "Correct ORIEL_NAME or ORIEL_CHANGELOG_TOPIC",
		}
	}
	if topic := state.ConfigValue(manifest.Config, "STREAM") == "topic"; topic != d.Config.WholeTopic() {
		return Keys{}, &notice.StopError{
			Partition: p, Reason: "ORIEL_STREAM differs from its value when the deployment was opened",
			Remedy: "Set ORIEL_STREAM=topic where all of the input is one stream, and leave it out elsewhere",
		}
	}
	if err := d.checkManifestInput(ctx, p, manifest); err != nil {
		return Keys{}, err
	}
	return keysOf(d.Config, manifest, p), nil
}

// Ordered holds the facts about a whole topic's stream that the writer of the order log needs.
type Ordered struct {
	Key       [32]byte       // authenticates order records
	At, Start *state.Ordered // positions of the committed state and of the stream's start; nil before the opening
}

// Ordered reads the position of a whole topic's stream. Like Incarnation, it needs neither a Model nor the right to
// write. For a deployment that has ended it returns a StopError.
func (d Deployment) Ordered(ctx context.Context) (Ordered, error) {
	view, err := d.View(ctx, 0)
	if err != nil {
		return Ordered{}, err
	}
	if err := view.Lasting(0); err != nil {
		return Ordered{}, err
	}
	keys, err := d.keys(ctx, 0, view.Value(state.ManifestKey()))
	if err != nil {
		return Ordered{}, err
	}
	o := Ordered{Key: keys.Order}
	record := view.Value(keys.Incarnation)
	sealed, err := view.Sealed(keys.State)
	if record == nil || sealed == nil || err != nil {
		return o, err
	}
	saved, _, err := openSealed(d.Master, 0, record, sealed)
	o.At, o.Start = saved.Position.Order, saved.Incarnation.Order
	return o, err
}
