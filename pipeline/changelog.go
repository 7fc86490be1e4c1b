package pipeline

import (
	"context"
	"encoding/binary"
	"fmt"
	"time"

	"oriel/pipeline/kafka"
	"oriel/state"
)

// changelog is what one partition of the changelog topic says: the latest value of every key.
type changelog struct {
	values map[string][]byte
	next   int64 // offset after the last record seen
}

// localPosition is the key under which the local store remembers how far it has followed the changelog.
var localPosition = []byte("changelog")

// readChangelog reads what is committed in partition p, starting from what the local store already holds.
func readChangelog(ctx context.Context, c *kafka.Client, topic kafka.Topic, p int32, bounds kafka.Bounds, local []state.Record) (*changelog, error) {
	view := &changelog{values: map[string][]byte{}}
	for _, r := range local {
		view.values[string(r.Key)] = r.Value
	}
	from := parseLocalPosition(view.values[string(localPosition)], topic.ID)
	delete(view.values, string(localPosition))
	if from < 0 || from > bounds.Stable { // nothing local, or a store that followed another changelog
		clear(view.values)
		from = 0
	}
	view.next = max(from, bounds.Start)
	return view, view.read(ctx, c, topic, p, bounds.Stable)
}

// read goes on to an end, and takes nothing beyond it: a fetch may hold the first records of a transaction that others belong to.
func (view *changelog) read(ctx context.Context, c *kafka.Client, topic kafka.Topic, p int32, end int64) error {
	reader := c.NewReader(topic.Name, p, view.next, kafka.ReaderOptions{ID: topic.ID, MaxBytes: 4 << 20, MaxWait: 100 * time.Millisecond})
	for view.next < end {
		batch, err := reader.Fetch(ctx)
		if err != nil {
			return fmt.Errorf("pipeline: read changelog partition %d: %w", p, err)
		}
		for _, r := range batch.Records {
			if r.Offset < end {
				view.values[string(r.Key)] = append(view.values[string(r.Key)][:0], r.Value...)
			}
		}
		view.next = min(batch.Next, end)
		batch.Release()
	}
	return nil
}

// stableEnd waits until every transaction on the partition is decided, so that a read_committed reader sees it all. The
// caller has fenced every earlier producer: nothing can be appended behind this end.
func stableEnd(ctx context.Context, c *kafka.Client, topic string, p int32) (kafka.Bounds, error) {
	for {
		b, err := c.Bounds(ctx, topic, p)
		if err != nil {
			return b, fmt.Errorf("pipeline: bounds of %s partition %d: %w", topic, p, err)
		}
		if b.Stable == b.High {
			return b, nil
		}
		if err := pause(ctx, 20*time.Millisecond); err != nil {
			return b, err
		}
	}
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
	records := []state.Record{{Key: localPosition, Value: appendLocalPosition(topic, view.next)}}
	for k, value := range view.values {
		records = append(records, state.Record{Key: []byte(k), Value: value})
	}
	return records
}
