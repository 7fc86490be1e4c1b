package order

import (
	"context"
	"errors"
	"fmt"
	"time"

	"oriel/pipeline/kafka"
	"oriel/pipeline/kafka/fetch"
	"oriel/pipeline/kafka/topics"
	"oriel/state"
)

// Trimmer deletes order records that are no longer needed. A take-over needs the order records after the committed
// state. A recomputation of published decisions needs the order records of all events that the input still has, and the
// record that counts in front of them, because its slot says which slots they close. The order log has no Kafka
// retention, because retention cannot respect these needs.
type Trimmer struct {
	Client       *kafka.Client
	Log          Log
	Order, Input topics.Topic

	looked int64         // order records below it are not needed, and may be deleted already
	at     state.Ordered // the slot that is open after the record at looked
}

// trimPatience is how long the lookup of the input's starts waits for a broker. Records of a partition whose start is
// unknown are not deleted.
const trimPatience = 5 * time.Second

// Trim deletes order records before offset committed, the committed state's position, if the input no longer has the
// records that they order. It returns the new start of the order log.
func (t *Trimmer) Trim(ctx context.Context, committed int64) (start int64, err error) {
	bounds, err := topics.BoundsOf(ctx, t.Client, t.Order.Name, 0)
	if err != nil {
		return 0, fmt.Errorf("order: bounds of %s: %w", t.Order.Name, err)
	}
	found, err := topics.Starts(ctx, t.Client, t.Input, trimPatience)
	if err != nil {
		return bounds.Start, fmt.Errorf("order: starts of %s: %w", t.Input.Name, err)
	}
	starts := make(map[int32]int64, len(found))
	for _, s := range found {
		starts[s.Partition] = s.Offset
	}
	t.looked = max(t.looked, bounds.Start)
	if err := t.look(ctx, min(committed, bounds.High), starts); err != nil {
		return bounds.Start, err
	}
	if t.looked <= bounds.Start {
		return bounds.Start, nil
	}
	return t.looked, topics.DeleteRecords(ctx, t.Client, t.Order.Name, 0, t.looked)
}

// look reads order records up to the first one that is needed, or to end.
func (t *Trimmer) look(ctx context.Context, end int64, starts map[int32]int64) error {
	order := t.Order
	order.ID = t.Log.Topic
	for r, err := range fetch.Records(ctx, t.Client, order, 0, t.looked, end, true) {
		if err != nil {
			return err
		}
		record, err := t.Log.Parse(r.Value)
		if errors.Is(err, ErrFormat) {
			return nil // kept, because a later version may need the record
		}
		for _, e := range record.Entries {
			if e.End > starts[e.Partition] {
				return nil
			}
		}
		if err == nil && record.Counts(&t.at, r.Public) {
			t.Log.Leave(&t.at, record.Slot)
			t.looked = r.Offset
		}
	}
	return nil
}
