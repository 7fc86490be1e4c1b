package changelog

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"slices"

	"oriel/pipeline/kafka"
	"oriel/pipeline/kafka/fetch"
	"oriel/pipeline/kafka/topics"
	"oriel/pipeline/notice"
	"oriel/state"
)

// View holds the latest value of every key of one changelog partition, until the take-over. Afterwards only the local
// store follows the log. A View belongs to the goroutine that reads it.
type View struct {
	topic  [16]byte          // id of the changelog topic
	values map[string][]byte // nil once released
	next   int64             // offset after everything read
	last   int64             // offset after the last record read; −1 before any

	unconfirmed map[string][]byte // values of a local copy whose last record is not in the log
}

// localPosition is the key under which the local store keeps the offset up to which it has followed the changelog.
var localPosition = []byte("changelog")

// NewView returns an empty view.
func NewView(topic topics.Topic) *View {
	return &View{topic: topic.ID, values: map[string][]byte{}, last: -1}
}

// Read reads the committed records of partition p, starting from those that the local store already holds.
func Read(
	ctx context.Context, c *kafka.Client, topic topics.Topic, p int32, bounds topics.Bounds, local []state.Record,
) (*View, error) {
	view := NewView(topic)
	view.next = bounds.Start
	for _, r := range local {
		view.values[string(r.Key)] = r.Value
	}
	at := parseLocalPosition(view.values[string(localPosition)], topic.ID)
	delete(view.values, string(localPosition))
	follows, err := view.follows(ctx, c, topic, p, at, bounds)
	if err != nil {
		return nil, err
	}
	switch {
	case follows:
		view.next, view.last = at, at
	case at >= 0:
		view.unconfirmed, view.values = view.values, map[string][]byte{}
	default: // a copy of another topic
		clear(view.values)
	}
	return view, view.Read(ctx, c, topic, p, bounds.Stable)
}

// follows reports whether the local copy is a prefix of the committed log. The copy ends with the record before its
// stored offset. If this record was aborted or is gone, the copy must be dropped, but nothing is lost: a broker may
// acknowledge a commit and crash before it writes the marker to this partition, and compaction removes superseded and
// aborted records.
//
// A log that ends before this record, or has another record at its offset, proves that brokers lost acknowledged
// records, because the copy is written only after acknowledgements and the topic id is the same.
func (view *View) follows(
	ctx context.Context, c *kafka.Client, topic topics.Topic, p int32, at int64, bounds topics.Bounds,
) (bool, error) {
	if at <= bounds.Start {
		return false, nil
	}
	if at > bounds.High {
		return false, LostRecords(p, fmt.Sprintf("the local store has followed the changelog to offset %d, but the changelog ends at %d", at, bounds.High))
	}
	sent := false
	for r, err := range fetch.Records(ctx, c, topic, p, at-1, at, true) {
		if err != nil {
			return false, err
		}
		if !bytes.Equal(view.values[string(r.Key)], r.Value) {
			return false, LostRecords(p, fmt.Sprintf("the changelog has another record at offset %d than the one that the local store has followed", r.Offset))
		}
		sent = true
		break // the Batch must not be held while a second Reader waits for memory
	}
	if !sent {
		return false, nil
	}
	return fetch.HasRecord(ctx, c, topic, p, at-1, at, false)
}

// LostRecords returns the StopError for acknowledged records that brokers have lost.
func LostRecords(p int32, found string) error {
	return &notice.StopError{
		Partition: p, Loss: true, Reason: "the brokers have lost records that they had acknowledged: " + found,
		Remedy: "The input may have lost events, too, and others may take their offsets: going on could protect events by two noises. Bring the lost records back, " +
			"or open a new deployment under another ORIEL_NAME; its privacy loss adds to the old one's for events that both read",
	}
}

// Read continues up to end and takes no later record, because a fetch may return only the first records of a
// transaction.
func (view *View) Read(ctx context.Context, c *kafka.Client, topic topics.Topic, p int32, end int64) error {
	for r, err := range fetch.Records(ctx, c, topic, p, view.next, end, false) {
		if err != nil {
			return err
		}
		view.take(r.Key, r.Value)
		view.last = r.Offset + 1
	}
	view.next = max(view.next, end)
	return nil
}

// Changes continues up to end as Read does, in a view after LetGo. It returns the records committed since the last
// call, in the form of the local store. After an error the view must not be used.
func (view *View) Changes(
	ctx context.Context, c *kafka.Client, topic topics.Topic, p int32, end int64,
) ([]state.Record, error) {
	view.values = map[string][]byte{}
	defer view.LetGo()
	if err := view.Read(ctx, c, topic, p, end); err != nil || view.Len() == 0 {
		return nil, err
	}
	return view.Records(), nil
}

// Next returns the offset after the last offset read.
func (view *View) Next() int64 { return view.next }

// GoTo makes the next Read start at an offset.
func (view *View) GoTo(offset int64) { view.next = offset }

// Follow adds the records that were committed up to offset last. A view after LetGo stores only the offset.
func (view *View) Follow(committed []state.Record, last int64) {
	view.last = last
	if view.values == nil {
		return
	}
	for _, r := range committed {
		view.take(r.Key, r.Value)
	}
}

// take adds a record. A nil value deletes the key, and is kept so that the local store deletes the key too.
func (view *View) take(key, value []byte) {
	if value == nil {
		view.values[string(key)] = nil
		return
	}
	view.values[string(key)] = append(view.values[string(key)][:0], value...)
}

// LetGo drops the values, above all a copy of the sealed state.
func (view *View) LetGo() { view.values, view.unconfirmed = nil, nil }

// localPositionLen is the length of topic id and offset.
const localPositionLen = 16 + 8

func appendLocalPosition(topic [16]byte, last int64) []byte {
	return binary.LittleEndian.AppendUint64(append([]byte(nil), topic[:]...), uint64(last))
}

// parseLocalPosition returns the stored offset, or −1 if the store has no position in this changelog topic.
func parseLocalPosition(b []byte, topic [16]byte) int64 {
	if len(b) != localPositionLen || [16]byte(b) != topic {
		return -1
	}
	return int64(binary.LittleEndian.Uint64(b[16:]))
}

// Value returns the latest value of a key; or nil.
func (view *View) Value(key []byte) []byte { return view.values[string(key)] }

// Set adds a record: a copy of its value under its key.
func (view *View) Set(key, value []byte) { view.values[string(key)] = bytes.Clone(value) }

// Len returns the number of keys.
func (view *View) Len() int { return len(view.values) }

// Sealed joins the parts of the state under key; or nil.
func (view *View) Sealed(key []byte) ([]byte, error) { return sealedIn(view.values, key) }

// Unconfirmed returns the state under key from a local copy that ends with an uncommitted record; or nil.
func (view *View) Unconfirmed(key []byte) []byte {
	sealed, err := sealedIn(view.unconfirmed, key)
	if err != nil {
		return nil
	}
	return sealed
}

func sealedIn(values map[string][]byte, key []byte) ([]byte, error) {
	first, ok := values[string(key)]
	if !ok {
		return nil, nil
	}
	count, err := state.PartCount(first)
	if err != nil {
		return nil, err
	}
	parts := make([][]byte, count)
	for i := range parts {
		parts[i] = values[string(state.PartKey(key, i))]
	}
	return state.Join(parts)
}

// StateRecords splits a sealed state under key into the records that hold it.
func StateRecords(key, sealed []byte) []state.Record {
	parts := state.Parts(sealed)
	records := make([]state.Record, len(parts))
	for i, part := range parts {
		records[i] = state.Record{Key: state.PartKey(key, i), Value: part}
	}
	return records
}

// Records returns the view in the form of the local store: its position in the changelog, then the values.
func (view *View) Records() []state.Record {
	records := []state.Record{view.LocalRecord()}
	for k, value := range view.values {
		records = append(records, state.Record{Key: []byte(k), Value: value})
	}
	return records
}

// HasState reports whether a local copy has records of an incarnation. Until the first one is committed, a copy has
// only the manifest and its position in the changelog.
func HasState(local []state.Record) bool {
	return slices.ContainsFunc(local, func(r state.Record) bool {
		return !bytes.Equal(r.Key, localPosition) && !bytes.Equal(r.Key, state.ManifestKey())
	})
}

// LocalRecord returns the record of the local store with the view's position in the changelog.
func (view *View) LocalRecord() state.Record {
	return state.Record{Key: localPosition, Value: appendLocalPosition(view.topic, view.last)}
}
