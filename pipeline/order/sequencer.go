package order

import (
	"cmp"
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"oriel/pipeline/kafka"
	"oriel/pipeline/kafka/produce"
	"oriel/pipeline/kafka/records"
	"oriel/pipeline/kafka/topics"
	"oriel/state"
)

// Sequencer appends the ends that the input has reached to an order log, at each tick. It reads no record of the input
// and waits for no reader of the input. Several Sequencers of one log are harmless, because the log determines which
// records count.
//
// With steps by the clock, a Sequencer writes a record for each slot, a grace after the slot's end, whether or not the
// input has moved. One record closes all slots since the last one, for example after an outage. The ends are high
// watermarks, so that a transaction that stays open moves no record to a later slot. With steps by count, a Sequencer
// writes a record at each tick at which the input has moved. The ends are stable ends, so that an open transaction in
// one partition does not stop the stream.
type Sequencer struct {
	Client   *kafka.Client
	Log      Log
	Order    topics.Topic // topic of the order log
	Input    topics.Topic
	Interval time.Duration // time between commits of the deployment
	Grace    time.Duration // time from the end of a slot until a record may close it; 0: 2 s

	// At is a position that the stream has reached, and Start is where it began. The order after At is read from the
	// log.
	At, Start *state.Ordered

	// Appended, if set, is called after each request with the number of its order records, and the number of input
	// offsets that they add.
	Appended func(records int, offsets int64)

	// Refused, if set, is called with the number of unsigned records of the log, whenever this number grows.
	Refused func(total int)
}

// follower is the progress of the goroutine that reads the log.
type follower struct {
	seen  atomic.Pointer[seen]
	moved chan struct{} // capacity 1: one pending notice suffices
}

// seen is what the order log says up to a position.
type seen struct {
	at   *state.Ordered
	void int       // number of the deployment's records so far that do not count
	time time.Time // the broker's time of the last record
}

// Run works until ctx ends, and returns its cause. It returns earlier after an error that retries cannot resolve: the
// order log or the input was recreated, or has lost records that were read, or the right to write is missing.
func (s Sequencer) Run(ctx context.Context) error {
	work, cancel := context.WithCancelCause(ctx)
	s.Grace = cmp.Or(s.Grace, DefaultGrace)
	f := &follower{moved: make(chan struct{}, 1)}
	f.seen.Store(&seen{at: s.At})
	var following sync.WaitGroup
	following.Go(func() { cancel(s.follow(work, f)) })
	ends := topics.NewStableEnds(s.Client, s.Input)
	if s.Log.ByClock {
		ends = topics.NewHighEnds(s.Client, s.Input)
	}
	cancel(s.sequence(work, f, ends)) // cancel keeps its first cause
	following.Wait()
	ends.Wait()
	return context.Cause(work)
}

// follow reads the order log until work ends.
func (s Sequencer) follow(work context.Context, f *follower) error {
	reader := s.Log.Follow(s.Client, s.Order, s.At, s.Start)
	defer reader.Close()
	for refused := 0; ; {
		if _, _, err := reader.Read(work); err != nil {
			return fmt.Errorf("order: read %s: %w", s.Order.Name, err)
		}
		if reader.Refused > refused && s.Refused != nil {
			s.Refused(reader.Refused)
		}
		refused = reader.Refused
		if reader.At().Next == f.seen.Load().at.Next {
			continue
		}
		f.seen.Store(&seen{at: reader.At().Clone(), void: reader.Void, time: reader.Time})
		select {
		case f.moved <- struct{}{}:
		default:
		}
	}
}

// reaches waits until everything before an offset of the log is read.
func (f *follower) reaches(ctx context.Context, offset int64) error {
	for f.seen.Load().at.Next < offset {
		select {
		case <-f.moved:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return nil
}

// sequence appends the ends of the input at each tick. Before it looks at the ends again, it waits until its own
// records are read back, because records of other Sequencers may precede them.
func (s Sequencer) sequence(work context.Context, f *follower, ends *topics.StableEnds) error {
	bounds, err := topics.BoundsOf(work, s.Client, s.Order.Name, 0)
	if err != nil {
		return fmt.Errorf("order: bounds of %s: %w", s.Order.Name, err)
	}
	if err := f.reaches(work, bounds.High); err != nil {
		return err
	}
	var precedence precedence
	var behind time.Duration // time by which the clock of the order log's broker is behind
	for {
		tick := Tick(time.Now(), s.Interval)
		if s.Log.ByClock {
			tick = slotTick(time.Now(), s.Grace)
		}
		if err := kafka.Pause(work, time.Until(tick)+precedence.delay()); err != nil {
			return err
		}
		reached, err := ends.Look(work, s.patience())
		switch {
		case work.Err() != nil:
			return work.Err()
		case err == nil:
		case !kafka.Transient(err):
			return fmt.Errorf("order: ends of %s: %w", s.Input.Name, err)
		default:
			s.Client.OnRetry("ends of "+s.Input.Name, err)
		}
		before, sent := f.seen.Load(), time.Now()
		record, offsets, due := s.record(before.at, reached, sent.Add(-behind))
		if !due {
			if s.Log.ByClock {
				behind = 0 // another Sequencer has closed the slot, or that clock was set since
			}
			continue
		}
		base, err := s.append(work, record)
		if err != nil {
			return err
		}
		if s.Appended != nil {
			s.Appended(1, offsets)
		}
		precedence.took(base == before.at.Next)
		if err := f.reaches(work, base+1); err != nil {
			return err
		}
		after := f.seen.Load()
		behind = max(0, sent.Sub(after.time))
		if after.void > before.void { // this record or one of another Sequencer; the next tick writes the next one
			ends.Forget()
		}
	}
}

// record returns the order record that is due at a time.
func (s Sequencer) record(at *state.Ordered, reached []topics.End, now time.Time) (r Record, offsets int64, due bool) {
	r.Slot = ended(now, s.Grace)
	r.Entries, offsets = moved(at, s.Start, reached)
	if s.Log.ByClock {
		return r, offsets, r.Slot >= at.Slot
	}
	r.Slot = max(r.Slot, at.Slot)
	return r, offsets, len(r.Entries) > 0
}

// append appends an order record to the log, and returns its offset.
func (s Sequencer) append(ctx context.Context, r Record) (offset int64, err error) {
	var b records.Builder
	b.Append(nil, s.Log.Append(nil, r), nil, time.Now().UnixMilli())
	if offset, err = produce.Append(ctx, s.Client, s.Order.Name, 0, &b); err != nil {
		return 0, fmt.Errorf("order: append to %s: %w", s.Order.Name, err)
	}
	return offset, nil
}

// patience is how long Look waits for a broker; a later call returns a late answer. By the clock an answer that comes a
// slot later would leave the grace too short for the last records of a slot, so brokers that are far away have half a
// slot. Decisions are due a slot after the grace at the earliest.
func (s Sequencer) patience() time.Duration {
	if s.Log.ByClock {
		return Slot / 2
	}
	return min(max(s.Interval/2, 20*time.Millisecond), mostPeriod)
}
