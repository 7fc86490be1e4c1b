package merge

import (
	"context"
	"errors"
	"fmt"

	"oriel/pipeline/kafka/records"
	"oriel/pipeline/order"
)

// mostAhead bounds the number of known ranges ahead, not counting those of the newest order record. This many ranges
// are several order records of hundreds of partitions, so that each lane knows which range to fetch next. A larger
// bound would only take memory, and a smaller one would leave lanes idle.
const mostAhead = 4 << 10

// follow reads the order log and appends its ranges to those ahead.
func (r *Reader) follow(ctx context.Context) {
	reader := r.log.Reader(r.client, r.topics.Order, r.at)
	defer reader.Close()
	for ctx.Err() == nil {
		batch, err := reader.Fetch(ctx)
		if err != nil {
			r.fail(err)
			return
		}
		for i := range batch.Records {
			if err = r.read(ctx, &batch.Records[i]); err != nil {
				break
			}
		}
		batch.Release()
		if err != nil {
			r.fail(err)
			return
		}
	}
}

// fail stops the reading of the order log with an error.
func (r *Reader) fail(err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.failed = fmt.Errorf("merge: order log %s: %w", r.topics.Order, err)
	notify(r.came)
}

// read appends the ranges of an order record to those ahead, once few are left. A foreign record adds no range.
func (r *Reader) read(ctx context.Context, record *records.Record) error {
	for r.full() {
		select {
		case <-r.taken:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	entries, err := r.log.Parse(record.Value)
	if errors.Is(err, order.ErrFormat) {
		return fmt.Errorf("%w: offset %d", err, record.Offset)
	}
	if err != nil {
		r.notices.Refused(record.Offset)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	ranges := order.Ranges(nil, r.at, r.start, entries)
	for i, added := range ranges {
		order.Pass(r.at, added)
		r.add(orderRange{
			Range: added, number: r.added, record: record.Offset, epoch: record.LeaderEpoch, last: i == len(ranges)-1,
		})
	}
	return nil
}

func (r *Reader) full() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return len(r.ahead) >= mostAhead
}

// add appends one range to those ahead.
func (r *Reader) add(t orderRange) {
	r.added++
	r.ahead = append(r.ahead, t)
	l := r.lanes[t.Partition]
	if l == nil {
		place, _ := r.at.Part(t.Partition)
		l = &lane{
			partition: t.Partition, next: t.From, read: t.From, known: t.From, epoch: place.LeaderEpoch,
			doubt: r.client.Doubt(),
		}
		r.lanes[t.Partition] = l
	}
	l.ranges = append(l.ranges, t)
	r.know(l, t.To)
	r.run(l)
	if len(r.ahead) == 1 {
		notify(r.came)
	}
}
