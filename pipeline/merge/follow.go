package merge

import (
	"context"
	"errors"
	"fmt"
	"time"

	"oriel/pipeline/kafka/records"
	"oriel/pipeline/order"
)

// mostAhead bounds the number of entries of known order records ahead, not counting the newest record's. This
// many entries are several order records of hundreds of partitions, so that each lane knows how far to fetch. A larger
// bound would only take memory, and a smaller one would leave lanes idle.
const mostAhead = 4 << 10

// orderRecord is an order record that counts and whose records are not all handed out.
type orderRecord struct {
	order.Record
	offset int64
	epoch  int32 // leader epoch of the batch in the order log that holds the record
}

// follow reads the order log and appends its records to those ahead.
func (r *Reader) follow(ctx context.Context) {
	reader := r.log.Reader(r.client, r.topics.Order, r.known)
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

// read appends an order record to those ahead, once few are left. A record that does not count is skipped.
func (r *Reader) read(ctx context.Context, record *records.Record) error {
	for r.full() {
		select {
		case <-r.taken:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	is, err := r.log.Parse(record.Value)
	switch {
	case errors.Is(err, order.ErrFormat):
		return fmt.Errorf("%w: offset %d", err, record.Offset)
	case err != nil:
		r.notices.Refused(record.Offset)
		return nil
	}
	counts := is.Counts(r.known, record.Public)
	if r.follows(is, counts); !counts {
		return nil
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, added := range order.Enter(nil, r.known, r.start, is.Entries) {
		r.extend(added)
	}
	r.log.Leave(r.known, is.Slot)
	r.ahead = append(r.ahead, orderRecord{is, record.Offset, record.LeaderEpoch})
	r.entries += len(is.Entries)
	if len(r.ahead) == 1 {
		notify(r.came)
	}
	return nil
}

// follows reports for how long order records have been void, while they are.
func (r *Reader) follows(is order.Record, counts bool) {
	now := time.Now()
	before := r.voids.Last(now)
	if last := r.voids.Take(counts, is.Late(r.known), now); before > 0 || last > 0 {
		r.notices.Void(last)
	}
}

func (r *Reader) full() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.entries >= mostAhead
}

// extend lets a lane fetch one range further.
func (r *Reader) extend(added order.Range) {
	l := r.lanes[added.Partition]
	if l == nil {
		place := order.Place(r.at, r.start, added.Partition)
		l = &lane{
			partition: added.Partition, next: place.Next, read: place.Next, known: place.Next, epoch: place.LeaderEpoch,
			doubt: r.client.Doubt(),
		}
		r.lanes[added.Partition] = l
	}
	l.ranges = append(l.ranges, added)
	r.know(l, added.To)
	r.run(l)
}
