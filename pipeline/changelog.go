package pipeline

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"

	"oriel/pipeline/kafka"
	"oriel/state"
)

// changelog is what one partition of the changelog topic says: the latest value of every key, until the partition is
// taken over. From then on the local store alone follows what is committed.
type changelog struct {
	values map[string][]byte // nil once let go
	next   int64             // offset after everything seen
	last   int64             // offset after the last record seen, −1 before one

	unconfirmed map[string][]byte // a local copy of which the log no longer has the last record, see checkUnconfirmed
}

// localPosition is the key under which the local store remembers how far it has followed the changelog.
var localPosition = []byte("changelog")

// readChangelog reads what is committed in partition p, starting from what the local store already holds.
func readChangelog(
	ctx context.Context, c *kafka.Client, topic kafka.Topic, p int32, bounds kafka.Bounds, local []state.Record,
) (*changelog, error) {
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
	switch {
	case follows:
		view.next, view.last = at, at
	case at >= 0:
		view.unconfirmed, view.values = view.values, map[string][]byte{}
	default: // of another topic, or of a version whose position tells less
		clear(view.values)
	}
	return view, view.read(ctx, c, topic, p, bounds.Stable)
}

// follows tells whether the local copy, which has followed the log up to a record before an offset, ends with what is
// committed there. If the record was aborted, or is gone, the copy is only of no use: a broker may acknowledge a commit
// and crash before it has written it here, and what was superseded or aborted is compacted away.
//
// A log that ends before the record, or has another in its place, proves that the brokers lost records that they had
// acknowledged: the copy follows after an acknowledgement and never leads, and the topic id is the same.
func (view *changelog) follows(
	ctx context.Context, c *kafka.Client, topic kafka.Topic, p int32, at int64, bounds kafka.Bounds,
) (bool, error) {
	if at <= bounds.Start {
		return false, nil
	}
	if at > bounds.High {
		return false, lostRecords(p, fmt.Sprintf("the local store has followed the changelog to offset %d, and it ends at %d", at, bounds.High))
	}
	for r, err := range kafka.Records(ctx, c, topic, p, at-1, at, true) {
		if err != nil {
			return false, err
		}
		if !bytes.Equal(view.values[string(r.Key)], r.Value) {
			return false, lostRecords(p, fmt.Sprintf("the changelog has another record at offset %d than the one that the local store has followed", r.Offset))
		}
		return kafka.HasRecord(ctx, c, topic, p, at-1, at, false)
	}
	return false, nil
}

// checkUnconfirmed refuses a state of the local store that stands behind the committed one, unless the transaction that
// brought it was sent: then it is one that was aborted here. Take-overs write markers, which soon fill a small gap at
// the end of a log that lost records: its length does not tell.
func (t *task) checkUnconfirmed(o *ownedPartition, f *transactionStatus) error {
	local := changelog{values: o.view.unconfirmed}
	sealed, err := local.sealed(o.stateKey)
	if err != nil || sealed == nil {
		return nil // nothing of this partition's
	}
	at, _, err := o.sealer.Open(sealed)
	if err != nil || at.Next <= o.position.Next || f.verdicts.ended(at.Next) {
		return nil
	}
	return lostRecords(t.partition, fmt.Sprintf("the state of the local store stands at offset %d of the input, that of the changelog at %d, and nothing else of the transaction between them is left", at.Next, o.position.Next))
}

func lostRecords(p int32, found string) error {
	return &StopError{
		Partition: p, Loss: true, Reason: "the brokers have lost records that they had acknowledged: " + found,
		Remedy: "The input may have lost events, too, and others may take their offsets: going on could protect events by two noises. Bring the lost records back, " +
			"or open a new deployment under another ORIEL_NAME; its privacy loss adds to the old one's for events that both read",
	}
}

// read goes on to an end, and takes nothing beyond it: a fetch may hold the first records of a transaction that others
// belong to.
func (view *changelog) read(ctx context.Context, c *kafka.Client, topic kafka.Topic, p int32, end int64) error {
	for r, err := range kafka.Records(ctx, c, topic, p, view.next, end, false) {
		if err != nil {
			return err
		}
		view.values[string(r.Key)] = append(view.values[string(r.Key)][:0], r.Value...)
		view.last = r.Offset + 1
	}
	view.next = max(view.next, end)
	return nil
}

// follow takes over what was committed, unless the view was let go.
func (view *changelog) follow(committed []state.Record) {
	if view.values == nil {
		return
	}
	for _, r := range committed {
		view.values[string(r.Key)] = append(view.values[string(r.Key)][:0], r.Value...)
	}
}

// letGo drops the values: a copy of the sealed state, above all.
func (view *changelog) letGo() { view.values, view.unconfirmed = nil, nil }

// localPositionLen is that of topic id, offset and a byte of format. The first format had none and may stand behind a
// marker.
const localPositionLen = 16 + 8 + 1

func appendLocalPosition(topic [16]byte, last int64) []byte {
	return append(binary.LittleEndian.AppendUint64(append([]byte(nil), topic[:]...), uint64(last)), 2)
}

// parseLocalPosition is −1 when the store holds nothing about this changelog topic.
func parseLocalPosition(b []byte, topic [16]byte) int64 {
	if len(b) != localPositionLen || [16]byte(b) != topic {
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
