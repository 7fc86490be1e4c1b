package order

import (
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
// entries count.
type Sequencer struct {
	Client   *kafka.Client
	Log      Log
	Order    topics.Topic // topic of the order log
	Input    topics.Topic
	Interval time.Duration // time between commits of the deployment

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
	at    atomic.Pointer[state.Ordered]
	moved chan struct{} // capacity 1: one pending notice suffices
}

// Run works until ctx ends, and returns its cause. It returns earlier after an error that retries cannot resolve: the
// order log or the input was recreated, or has lost records that were read, or the right to write is missing.
func (s Sequencer) Run(ctx context.Context) error {
	work, cancel := context.WithCancelCause(ctx)
	f := &follower{moved: make(chan struct{}, 1)}
	f.at.Store(s.At)
	var following sync.WaitGroup
	following.Go(func() { cancel(s.follow(work, f)) })
	ends := topics.NewStableEnds(s.Client, s.Input)
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
		if reader.At().Next == f.at.Load().Next {
			continue
		}
		f.at.Store(reader.At().Clone())
		select {
		case f.moved <- struct{}{}:
		default:
		}
	}
}

// reaches waits until everything before an offset of the log is read.
func (f *follower) reaches(ctx context.Context, offset int64) error {
	for f.at.Load().Next < offset {
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
	var b records.Builder
	for {
		tick := Tick(time.Now(), s.Interval)
		if err := kafka.Pause(work, time.Until(tick)+precedence.delay()); err != nil {
			return err
		}
		reached, err := ends.Look(work, patience(s.Interval))
		switch {
		case work.Err() != nil:
			return work.Err()
		case err == nil:
		case !kafka.Transient(err):
			return fmt.Errorf("order: ends of %s: %w", s.Input.Name, err)
		default:
			s.Client.OnRetry("ends of "+s.Input.Name, err)
		}
		at := f.at.Load()
		b.Reset()
		offsets := s.Log.appendRecords(&b, at, s.Start, reached, tick.UnixMilli())
		if b.Count() == 0 {
			continue
		}
		base, err := produce.Append(work, s.Client, s.Order.Name, 0, &b)
		if err != nil {
			return fmt.Errorf("order: append to %s: %w", s.Order.Name, err)
		}
		if s.Appended != nil {
			s.Appended(b.Count(), offsets)
		}
		precedence.took(base == at.Next)
		if err := f.reaches(work, base+int64(b.Count())); err != nil {
			return err
		}
	}
}

// patience is how long Look waits for a broker; a later call returns a late answer.
func patience(interval time.Duration) time.Duration {
	return min(max(interval/2, 20*time.Millisecond), mostPeriod)
}
