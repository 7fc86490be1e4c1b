package pipeline

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"

	"oriel/pipeline/kafka"
	"oriel/state"
)

// changelog is what one partition of the changelog topic says: the latest value of every key.
type changelog struct {
	values map[string][]byte
	next   int64 // offset after everything seen
	last   int64 // offset after the last record seen, −1 before one
}

// localPosition is the key under which the local store remembers how far it has followed the changelog.
var localPosition = []byte("changelog")

// readChangelog reads what is committed in partition p, starting from what the local store already holds.
func readChangelog(ctx context.Context, c *kafka.Client, topic kafka.Topic, p int32, bounds kafka.Bounds, local []state.Record) (*changelog, error) {
	view := &changelog{values: map[string][]byte{}, next: bounds.Start, last: -1}
	for _, r := range local {
		view.values[string(r.Key)] = r.Value
	}
	at := parseLocalPosition(view.values[string(localPosition)], topic.ID)
	delete(view.values, string(localPosition))
	follows, err := view.follows(ctx, c, topic, p, at, bounds)
	if err != nil {
		return nil, err
	}
	if follows {
		view.next, view.last = at, at
	} else {
		clear(view.values)
	}
	return view, view.read(ctx, c, topic, p, bounds.Stable)
}

// follows tells whether the local copy, which stands at an offset, ends with a record that is committed before it. If the
// record is not there, the copy is only of no use: it followed another topic, the record was compacted away, or the broker
// acknowledged a commit and crashed before it had written it here.
//
// A copy that stands behind the end of the log, or ends with another record than the log has there, proves that the brokers
// lost records that they had acknowledged: the copy follows after an acknowledgement and never leads, and the topic id is the
// same. What the input and the decisions have lost with them is unknown.
func (view *changelog) follows(ctx context.Context, c *kafka.Client, topic kafka.Topic, p int32, at int64, bounds kafka.Bounds) (bool, error) {
	if at <= bounds.Start {
		return false, nil
	}
	if at > bounds.High {
		return false, lostRecords(p, fmt.Sprintf("the local store has followed the changelog to offset %d, and it ends at %d", at, bounds.High))
	}
	for r, err := range recordsOf(ctx, c, topic, p, at-1, min(at, bounds.Stable), false) {
		if err != nil {
			return false, err
		}
		if !bytes.Equal(view.values[string(r.Key)], r.Value) {
			return false, lostRecords(p, fmt.Sprintf("the changelog has another record at offset %d than the one that the local store has followed", r.Offset))
		}
		return true, nil
	}
	return false, nil
}

func lostRecords(p int32, found string) error {
	return &StopError{
		Partition: p, Loss: true, Reason: "the brokers have lost records that they had acknowledged: " + found,
		Remedy: "The input may have lost events, too, and others may take their offsets: going on could protect events by two noises. Bring the lost records back, " +
			"or open a new deployment under another ORIEL_NAME; its privacy loss adds to the old one's for events that both read",
	}
}

// read goes on to an end, and takes nothing beyond it: a fetch may hold the first records of a transaction that others belong to.
func (view *changelog) read(ctx context.Context, c *kafka.Client, topic kafka.Topic, p int32, end int64) error {
	for r, err := range recordsOf(ctx, c, topic, p, view.next, end, false) {
		if err != nil {
			return err
		}
		view.values[string(r.Key)] = append(view.values[string(r.Key)][:0], r.Value...)
		view.last = r.Offset + 1
	}
	view.next = max(view.next, end)
	return nil
}

func appendLocalPosition(topic [16]byte, next int64) []byte {
	return binary.LittleEndian.AppendUint64(append([]byte(nil), topic[:]...), uint64(next))
}

// parseLocalPosition is −1 when the store holds nothing about this changelog topic.
func parseLocalPosition(b []byte, topic [16]byte) int64 {
	if len(b) != 24 || [16]byte(b) != topic {
		return -1
	}
	return int64(binary.LittleEndian.Uint64(b[16:]))
}

// sealed joins the parts of the state under key; nil when there is none.
func (view *changelog) sealed(key []byte) ([]byte, error) {
	first, ok := view.values[string(key)]
	if !ok {
		return nil, nil
	}
	count, err := state.PartCount(first)
	if err != nil {
		return nil, err
	}
	parts := make([][]byte, count)
	for i := range parts {
		parts[i] = view.values[string(state.PartKey(key, i))]
	}
	return state.Join(parts)
}

// stateRecords are the records that hold a sealed state under key.
func stateRecords(key, sealed []byte) []state.Record {
	parts := state.Parts(sealed)
	records := make([]state.Record, len(parts))
	for i, part := range parts {
		records[i] = state.Record{Key: state.PartKey(key, i), Value: part}
	}
	return records
}

// records gives the view as the local store keeps it.
func (view *changelog) records(topic [16]byte) []state.Record {
	records := []state.Record{{Key: localPosition, Value: appendLocalPosition(topic, view.last)}}
	for k, value := range view.values {
		records = append(records, state.Record{Key: []byte(k), Value: value})
	}
	return records
}
