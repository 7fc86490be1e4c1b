package order_test

import (
	"context"
	"errors"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"oriel/pipeline/kafka"
	"oriel/pipeline/kafka/fetch"
	"oriel/pipeline/kafka/memory"
	"oriel/pipeline/kafka/produce"
	"oriel/pipeline/kafka/records"
	"oriel/pipeline/kafka/topics"
	"oriel/pipeline/order"
	"oriel/pipeline/pipetest/brokertest"
	"oriel/pipeline/pipetest/logtest"
	"oriel/pipeline/pipetest/simtest"
	"oriel/state"
)

// sequenced is an order log and its input of three partitions.
type sequenced struct {
	*env
	input   topics.Topic
	running sync.WaitGroup
	ctx     context.Context //nolint:containedctx // of all Sequencers of the test
	cancel  context.CancelFunc
	appends atomic.Int64
	grace   time.Duration
}

func newSequenced(t *testing.T, e *env) *sequenced {
	s := &sequenced{env: e}
	s.input = s.create("trips", 3)
	s.log.Input = s.input.ID
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	s.ctx, s.cancel = ctx, cancel
	t.Cleanup(func() { cancel(); s.running.Wait() })
	return s
}

func (s *sequenced) sequencer() order.Sequencer {
	return order.Sequencer{
		Client: s.client, Log: s.log, Order: s.topic, Input: s.input, Interval: 20 * time.Millisecond,
		Grace: s.grace, At: s.start, Start: s.start, Appended: func(n int, _ int64) { s.appends.Add(int64(n)) },
	}
}

// run starts a Sequencer that ends with the test, or when stop is called.
func (s *sequenced) run() (stop func()) {
	ctx, cancel := context.WithCancel(s.ctx)
	var ended sync.WaitGroup
	for _, w := range []*sync.WaitGroup{&s.running, &ended} {
		w.Add(1)
	}
	go func() {
		defer ended.Done()
		defer s.running.Done()
		if err := s.sequencer().Run(ctx); !errors.Is(err, ctx.Err()) || ctx.Err() == nil {
			s.Errorf("the Sequencer has ended: %v", err)
		}
	}()
	return func() { cancel(); ended.Wait() }
}

// stops ends all Sequencers of the test.
func (s *sequenced) stops() {
	s.cancel()
	s.running.Wait()
}

// events appends n events to a partition of the input.
func (s *sequenced) events(p int32, n int) {
	s.Helper()
	var b records.Builder
	for range n {
		b.Append(nil, []byte("v"), nil, 0)
	}
	if _, err := produce.Append(s.ctx, s.client, s.input.Name, p, &b); err != nil {
		s.Fatal(err)
	}
}

// follow reads the order log until partitions are ordered up to ends, and checks that their ranges have no gaps.
func (s *sequenced) follow(f *order.Follower, ends ...int64) (all []order.Range) {
	s.Helper()
	next := map[int32]int64{}
	for p := range int32(len(ends)) {
		part, _ := f.At().Part(p)
		next[p] = part.End
	}
	for {
		reached := true
		for p, end := range ends {
			reached = reached && next[int32(p)] >= end
			if next[int32(p)] > end {
				s.Fatalf("partition %d is ordered up to %d, and ends at %d", p, next[int32(p)], end)
			}
		}
		if reached {
			return all
		}
		ranges, _, err := f.Read(s.ctx)
		if err != nil {
			s.Fatal(err)
		}
		for _, r := range ranges {
			if r.From != next[r.Partition] {
				s.Fatalf("range %+v after offset %d", r, next[r.Partition])
			}
			next[r.Partition] = r.To
		}
		all = append(all, ranges...)
	}
}

// TestSequencerWaitsForNoMemory checks that memory held by other parts of the process does not delay the order.
func TestSequencerWaitsForNoMemory(t *testing.T) {
	t.Parallel()
	s := newSequenced(t, newEnv(t))
	budget := memory.NewBudget(1 << 20)
	client := brokertest.Client(t, s.address, kafka.Config{DoubtFor: time.Second, Budget: budget})
	held, err := budget.Take(s.ctx, 1<<20)
	if err != nil {
		t.Fatal(err)
	}
	defer held.Release()
	f := s.log.Follow(s.client, s.topic, s.start, s.start)
	defer f.Close()
	s.client = client
	defer s.run()()
	for end := range int64(5) {
		s.events(0, 1)
		s.follow(f, end+1, 0, 0)
	}
}

func TestSequencerOrdersStableRecords(t *testing.T) {
	t.Parallel()
	s := newSequenced(t, newEnv(t))
	s.events(0, 9000)
	s.events(2, 10)
	s.run()
	f := s.log.Follow(s.client, s.topic, s.start, s.start)
	defer f.Close()
	all := s.follow(f, 9000, 0, 10)
	if want := []order.Range{{Partition: 0, To: 9000}, {Partition: 2, To: 10}}; !slices.Equal(all, want) {
		t.Errorf("order %v, want %v", all, want)
	}
	p, err := produce.New(s.ctx, s.client, "open", time.Minute)
	if err != nil {
		t.Fatal(err)
	}
	if err := p.Begin(s.ctx, []kafka.TopicPartition{{Topic: s.input.Name, Partition: 1}}); err != nil {
		t.Fatal(err)
	}
	var b records.Builder
	b.Append(nil, []byte("undecided"), nil, 0)
	if _, err := p.Produce(s.ctx, s.input.Name, 1, &b); err != nil {
		t.Fatal(err)
	}
	s.events(2, 1)
	s.follow(f, 9000, 0, 11) // must not reach partition 1
	if err := p.End(s.ctx, true); err != nil {
		t.Fatal(err)
	}
	s.follow(f, 9000, 2, 11) // offsets of the record and its marker
	if err := topics.AddPartitions(s.ctx, s.client, s.input.Name, 4); err != nil {
		t.Fatal(err)
	}
	s.events(3, 7)
	s.follow(f, 9000, 2, 11, 7)
	if f.Refused > 0 {
		t.Errorf("%d records of our own are refused", f.Refused)
	}
}

// TestSequencersOfOneLogDoNoHarm checks that a Sequencer does not write entries that another has written, and that the
// others continue when one stops.
func TestSequencersOfOneLogDoNoHarm(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newSequenced(t, newSimulatedEnv(t))
		stop := s.run()
		s.run()
		f := s.log.Follow(s.client, s.topic, s.start, s.start)
		defer f.Close()
		added := 0
		for i := range int64(30) {
			s.events(0, 2)
			s.events(int32(1+i%2), 1)
			added += len(s.follow(f, 2*(i+1), i/2+1, (i+1)/2))
			if i == 20 {
				stop()
			}
		}
		if n := s.appends.Load(); n > int64(added)+15 {
			t.Errorf("%d order records for %d ranges: two Sequencers have written the same again and again", n, added)
		}
	})
}

func TestSequencerGoesOnFromAVector(t *testing.T) {
	t.Parallel()
	s := newSequenced(t, newEnv(t))
	s.events(0, 20)
	s.events(1, 30)
	s.put(s.record(order.Entry{Partition: 0, End: 5}, order.Entry{Partition: 1, End: 30}))
	s.put(s.record(order.Entry{Partition: 0, End: 8}))
	start := &state.Ordered{LeaderEpoch: -1, Parts: []state.OrderedPart{
		{Partition: 0, Next: 2, End: 2}, {Partition: 1, Next: 9, End: 9},
	}}
	at := start.Clone()
	at.Next = 1
	at.Set(state.OrderedPart{Partition: 0, Next: 5, End: 7, LeaderEpoch: -1})
	at.Set(state.OrderedPart{Partition: 1, Next: 30, End: 30, LeaderEpoch: -1})
	q := s.sequencer()
	q.At, q.Start = at, start
	ctx, cancel := context.WithCancel(s.ctx)
	var offsets int64
	q.Appended = func(_ int, n int64) { offsets += n; cancel() }
	if err := q.Run(ctx); !errors.Is(err, context.Canceled) {
		t.Fatal(err)
	}
	if offsets != 12 {
		t.Errorf("%d offsets appended, want 12: from 8, which the log has, to 20", offsets)
	}
}

// TestSlotsOfStepsByTheClock checks the order records of steps by the clock: each slot is closed once, a grace after
// its end, also by two Sequencers, and whether or not the input has moved. After an outage one record closes all slots.
// An open transaction moves no end.
func TestSlotsOfStepsByTheClock(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newSequenced(t, newSimulatedEnv(t))
		s.log.ByClock, s.grace = true, 400*time.Millisecond
		p, err := produce.New(s.ctx, s.client, "open", time.Minute)
		if err != nil {
			t.Fatal(err)
		}
		if err := p.Begin(s.ctx, []kafka.TopicPartition{{Topic: s.input.Name, Partition: 1}}); err != nil {
			t.Fatal(err)
		}
		var b records.Builder
		b.Append(nil, []byte("undecided"), nil, 0)
		if _, err := p.Produce(s.ctx, s.input.Name, 1, &b); err != nil {
			t.Fatal(err)
		}
		stop := s.run()
		s.run()
		time.Sleep(5 * time.Second)
		stop()
		s.stops()
		time.Sleep(20 * time.Second)
		s.ctx, s.cancel = context.WithCancel(t.Context())
		s.events(0, 3)
		s.run()
		time.Sleep(5 * time.Second)
		s.stops()
		log, err := logtest.Read(t.Context(), s.client, s.topic.Name, 0, 0, fetch.Options{Uncommitted: true})
		if err != nil {
			t.Fatal(err)
		}
		at, gaps, ends := s.start.Clone(), 0, map[int32]int64{}
		for i := range log {
			r, err := s.log.Parse(log[i].Value)
			if err != nil || !r.Counts(at, log[i].Public) {
				continue // of the second Sequencer
			}
			closed := time.Unix(r.Slot+1, 0).Add(s.grace).Sub(time.UnixMilli(log[i].Timestamp)).Abs()
			if closed > 50*time.Millisecond {
				t.Errorf("slot %d is closed at %v", r.Slot, time.UnixMilli(log[i].Timestamp))
			}
			if r.Slot != at.Slot && at.Slot > 0 {
				gaps++
			}
			for _, e := range r.Entries {
				ends[e.Partition] = e.End
			}
			s.log.Leave(at, r.Slot)
		}
		if gaps != 1 || len(log) > 15 || ends[0] != 3 || ends[1] != 1 {
			t.Errorf("%d order records with %d gaps, and the ends %v", len(log), gaps, ends)
		}
	})
}

// TestLeadersFarAwayAreWaitedForByTheClock lets leaders answer late, as over a long distance. Each order record must
// have the end that the input has when the record is due, not the end of a slot before.
func TestLeadersFarAwayAreWaitedForByTheClock(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := simtest.New(t)
		s := newSequenced(t, (&env{TB: t, client: d.Lent("far")}).with())
		s.log.ByClock, s.grace = true, 400*time.Millisecond
		s.run()
		time.Sleep(2300 * time.Millisecond)
		d.Fail(simtest.Fault{
			Kind: simtest.Kind{API: "ListOffsets", Partition: simtest.AnyPartition}, Count: -1,
			Effect: simtest.Late(200 * time.Millisecond),
		})
		const events = 6
		for range events {
			s.events(0, 1)
			time.Sleep(time.Second)
		}
		s.stops()
		d.Mend()
		log, err := logtest.Read(t.Context(), d.Client(), s.topic.Name, 0, 0, fetch.Options{Uncommitted: true})
		if err != nil {
			t.Fatal(err)
		}
		ends := int64(0)
		for i := range log {
			r, err := s.log.Parse(log[i].Value)
			if err != nil {
				t.Fatal(err)
			}
			if len(r.Entries) > 0 {
				if ends++; r.Entries[0].End != ends {
					t.Errorf("slot %d is closed with the end %d, want %d", r.Slot, r.Entries[0].End, ends)
				}
			} else if ends > 0 && ends < events {
				t.Errorf("slot %d is closed without an end", r.Slot)
			}
		}
		if ends < events {
			t.Errorf("%d order records have an end, of %d", ends, len(log))
		}
	})
}

// TestAWriterWhoseClockIsAheadClosesNothing checks that order records of a process whose clock is ahead of the brokers'
// do not count, and that it then writes records that count.
func TestAWriterWhoseClockIsAheadClosesNothing(t *testing.T) {
	t.Parallel()
	s := newSequenced(t, newEnv(t))
	s.put(s.log.Append(nil, order.Record{Slot: time.Now().Unix() + 86400, Entries: []order.Entry{{Partition: 0, End: 5}}}))
	s.run()
	f := s.log.Follow(s.client, s.topic, s.start, s.start)
	defer f.Close()
	s.events(0, 1)
	if s.follow(f, 1, 0, 0); f.Void != 1 || f.At().Slot > time.Now().Unix() {
		t.Errorf("%d records are void, and slot %d is open", f.Void, f.At().Slot)
	}
}

func TestSequencerEndsWhereTopicsAreOthers(t *testing.T) {
	for name, remake := range map[string]func(s *sequenced) topics.Topic{
		"input":     func(s *sequenced) topics.Topic { return s.input },
		"order log": func(s *sequenced) topics.Topic { return s.topic },
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := newSequenced(t, newSimulatedEnv(t))
				topic := remake(s)
				if err := logtest.Delete(s.ctx, s.client, topic.Name); err != nil {
					t.Fatal(err)
				}
				s.create(topic.Name, 3)
				s.events(0, 1)
				if err := s.sequencer().Run(s.ctx); !errors.Is(err, kafka.ErrTopicRecreated) {
					t.Errorf("%v, want ErrTopicRecreated", err)
				}
			})
		})
	}
}
