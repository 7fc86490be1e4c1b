package order

import (
	"context"
	"fmt"
	"time"

	"oriel/pipeline/kafka"
	"oriel/pipeline/kafka/topics"
	"oriel/state"
)

// VoidFor is the time for which a deployment's order records may be void, before a person must look. A writer that
// reads its record back as void writes another one a second later, so two void records in a row are an accident, and
// ten are none.
const VoidFor = 10 * time.Second

// Late reports whether a record that does not count was only late: another writer has closed its slots before.
func (r Record) Late(at *state.Ordered) bool { return r.Slot < at.Slot }

// Voids follows how long a deployment's order records have been void. The zero value has seen none.
type Voids struct{ since time.Time }

// Take takes an order record that was read at a time, and returns for how long the records have been void. A late
// record changes nothing.
func (v *Voids) Take(counts, late bool, now time.Time) time.Duration {
	switch {
	case counts:
		v.since = time.Time{}
	case v.since.IsZero() && !late:
		v.since = now
	}
	return v.Last(now)
}

// Last returns for how long the records have been void at a time; 0: the newest one counted.
func (v *Voids) Last(now time.Time) time.Duration {
	if v.since.IsZero() {
		return 0
	}
	return max(1, now.Sub(v.since))
}

// Void reads the order log from a position to its end, and returns for how long its records have been void at a time;
// 0: the newest one counted.
func (l Log) Void(
	ctx context.Context, c *kafka.Client, topic topics.Topic, at, start *state.Ordered, now time.Time,
) (time.Duration, error) {
	bounds, err := topics.BoundsOf(ctx, c, topic.Name, 0)
	if err != nil {
		return 0, fmt.Errorf("order: bounds of %s: %w", topic.Name, err)
	}
	f := l.Follow(c, topic, at, start)
	defer f.Close()
	for f.At().Next < bounds.High {
		if _, _, err := f.Read(ctx); err != nil {
			return 0, fmt.Errorf("order: read %s: %w", topic.Name, err)
		}
	}
	return f.Voids.Last(now), nil
}
