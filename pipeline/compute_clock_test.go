package pipeline

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"oriel/mechanisms/steps"
	"oriel/operators"
	"oriel/operators/loss"
	"oriel/pipeline/kafka/fetch"
	"oriel/pipeline/kafka/records"
	"oriel/pipeline/streams"
	"oriel/pipeline/transaction"
	"oriel/schemas/event"
	"oriel/state"
)

// clockLearner opens machines with one decision in each step.
type clockLearner struct{ testLearner }

func (clockLearner) Open([]byte) (func([32]byte) (operators.Machine, error), error) {
	return func([32]byte) (operators.Machine, error) { return new(clockMachine), nil }, nil
}

type clockMachine struct{ testMachine }

func (m *clockMachine) Close(dst []operators.Decision) []operators.Decision {
	m.steps++
	return append(dst, operators.Decision{Index: m.steps, Step: m.steps, Point: []float64{1}})
}

func (m *clockMachine) Due(step uint64) (first uint64, count int) { return step, min(int(step), 1) }

// orderFeed is the input of a computer by the clock: order records, each with a number of records in each of its slots.
type orderFeed struct {
	clock  steps.Clock
	delay  time.Duration
	commit time.Duration // duration of a commit
	input  int
	stop   time.Duration // when work ends; 0: after the last order record
	orders []orderAt
}

// orderAt is an order record that a computer gets at a time, in seconds from the beginning.
type orderAt struct {
	at     time.Duration
	closes int64 // from the beginning
	each   int   // records in each slot
}

// live returns order records that close one slot each, three seconds after its begin.
func live(seconds, each int) (all []orderAt) {
	for s := range int64(seconds) {
		all = append(all, orderAt{time.Duration(s+3) * time.Second, s, each})
	}
	return all
}

// hand is a transaction that a computer has handed over: when, and how many steps it closes.
type hand struct {
	at      time.Duration
	steps   uint64
	decided string // numbers and bytes of decisions
	records int
}

// run returns the transactions that a computer hands over. The stream begins with the bubble's first second.
func (f orderFeed) run(t *testing.T, value string) (all []hand) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		begin := began.Unix()
		body, _ := loss.Body("linear", 1)
		s, err := streams.OpenStream(streams.Model{
			Events:  event.Config{Body: body, Dimension: 1, MaxBytes: 100, Features: event.FeatureConfig{Norm: "none"}},
			Learner: clockLearner{testLearner{testOperator{}}}, Clock: f.clock, First: begin,
		}, nil, [32]byte{}, [32]byte{}, "t", [16]byte{})
		if err != nil {
			t.Fatal(err)
		}
		at := state.Position{LeaderEpoch: -1, Step: s.Steps()}
		at.Order = &state.Ordered{Clock: true, Slot: begin, LeaderEpoch: -1}
		sealer, err := state.NewIncarnation(state.Incarnation{Stream: "t", Order: at.Order}).Sealer()
		if err != nil {
			t.Fatal(err)
		}
		work, stop := context.WithCancel(t.Context())
		defer stop()
		if f.stop > 0 {
			time.AfterFunc(f.stop, stop)
		}
		filled, free := make(chan *transaction.Transaction), make(chan *transaction.Transaction, 2)
		pool := records.NewPool()
		for range cap(free) {
			free <- transaction.New(pool)
		}
		c := &computer{
			Builder: transaction.NewBuilder(s, 0, at, sealer, nil), interval: 100 * time.Millisecond, ordered: true,
			filled: filled, free: free, memory: 1 << 30, input: f.input, clock: f.clock, delay: f.delay,
		}
		batches, done := make(chan fetched, batchesAhead), make(chan error)
		go func() {
			defer close(batches)
			next, slot := int64(0), begin
			for n, o := range f.orders {
				time.Sleep(time.Until(began.Add(o.at)))
				for ; slot <= begin+o.closes; slot++ {
					b := &fetch.Batch{From: next, Next: next + int64(o.each), LeaderEpoch: 1}
					b.Order = &fetch.Order{Record: int64(n), Slot: slot, Closes: begin + o.closes, End: b.Next}
					if slot == begin+o.closes {
						b.Order.Done = &fetch.Done{Slot: slot + 1}
					}
					for range o.each {
						b.Records = append(b.Records, records.Record{
							Public: records.Public{Offset: next, LeaderEpoch: 1, Length: 968}, Value: []byte(value),
						})
						next++
					}
					if o.each > 0 || b.Order.Done != nil {
						batches <- fetched{Batch: b}
					}
				}
			}
			time.Sleep(10 * time.Second)
		}()
		go func() {
			err := c.run(work, batches)
			close(filled)
			done <- err
		}()
		for tx := range filled {
			h := hand{at: time.Since(began), steps: tx.Steps, records: tx.Records}
			for _, b := range tx.Decisions[0].Batches() {
				h.decided = strings.TrimSpace(fmt.Sprint(h.decided, b.Count(), b.Bytes()))
			}
			if tx.Decides() != (tx.Steps > 0) || tx.Count != int(tx.Steps) {
				t.Errorf("%+v with %d decisions, named %t", h, tx.Count, tx.Decides())
			}
			all = append(all, h)
			time.Sleep(f.commit)
			tx.Reset()
			free <- tx
		}
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
	return all
}

// deciding returns the transactions that close steps, and the number of records in all transactions.
func deciding(all []hand) (some []hand, taken int) {
	for _, h := range all {
		if taken += h.records; h.steps > 0 {
			h.records = 0
			some = append(some, h)
		}
	}
	return some, taken
}

// times returns when transactions are handed over.
func times(all []hand) (at []time.Duration) {
	for _, h := range all {
		at = append(at, h.at)
	}
	return at
}

// TestDecisionsAreHandedOverByTheClock checks the transactions of a stream that keeps up: each step's decision is
// handed over in a transaction of its own, exactly a delay after the step's end, whatever its records are and even
// without any. Between, each order record is saved, at times that do not depend on records, unless transactions are
// full. No saving begins in the second before a decision.
func TestDecisionsAreHandedOverByTheClock(t *testing.T) {
	for _, length := range []int64{1, 4, 20} {
		var want []hand
		var saves []time.Duration
		for _, kind := range []struct {
			each  int
			value string
			input int
		}{{0, "", 1 << 20}, {1, `{"cost":[1]}`, 1 << 20}, {3, "{", 1 << 20}, {40, `{"cost":[1]}`, 30_000}} {
			f := orderFeed{
				clock: steps.Clock{Length: length}, delay: 5 * time.Second, commit: 30 * time.Millisecond, input: kind.input,
				orders: live(41, kind.each),
			}
			all := f.run(t, kind.value)
			got, taken := deciding(all)
			if want == nil {
				want = got
			}
			if !slices.Equal(got, want) || int64(len(got)) != 41/length || taken != 41*kind.each {
				t.Errorf("steps of %d s, %+v: %d records, %+v, want %+v", length, kind, taken, got, want)
			}
			for i, h := range got {
				if due := time.Duration(i+1)*time.Duration(length)*time.Second + f.delay; h.at != due || h.steps != 1 {
					t.Errorf("steps of %d s: step %d is handed over at %v, want %v", length, i, h.at, due)
				}
			}
			for _, h := range all {
				step := time.Duration(length) * time.Second
				if h.steps == 0 && h.at > f.delay && kind.input == 1<<20 && (h.at-f.delay)%step >= step-quiet {
					t.Errorf("steps of %d s: a saving begins at %v", length, h.at)
				}
			}
			at := times(all)
			if saves == nil {
				saves = at
			}
			if kind.input == 1<<20 && !slices.Equal(at, saves) || length > 1 && len(all)-len(got) < 10 {
				t.Errorf("steps of %d s, %+v: transactions at %v, want %v", length, kind, at, saves)
			}
		}
	}
}

// TestManyStepsAfterAnOutage checks that steps that one order record closes are handed over at once, in transactions
// whose numbers of steps do not depend on records: short steps together, and the last one alone.
func TestManyStepsAfterAnOutage(t *testing.T) {
	for length, want := range map[int64][]uint64{
		1: {64, 64, 64, 8, 1, 1, 1}, 2: {32, 32, 32, 4, 1}, 20: {3, 3, 3, 1}, 40: {1, 1, 1, 1, 1},
	} {
		for _, each := range []int{0, 1, 50} {
			f := orderFeed{
				clock: steps.Clock{Length: length}, delay: 5 * time.Second, commit: time.Millisecond, input: 20_000,
				orders: []orderAt{{203 * time.Second, 200, each}, {204 * time.Second, 201, each}, {206 * time.Second, 202, each}},
			}
			if length == 40 {
				f.orders[1].at = 300 * time.Second
			}
			got, taken := deciding(f.run(t, `{"cost":[1]}`))
			var closed []uint64
			for _, h := range got {
				closed = append(closed, h.steps)
			}
			if !slices.Equal(closed, want) || taken != 203*each {
				t.Errorf("steps of %d s with %d records a second: %d steps are handed over together, want %d",
					length, each, closed, want)
			}
			if got[0].at > 204*time.Second {
				t.Errorf("steps of %d s: the first ones are handed over at %v", length, got[0].at)
			}
		}
	}
}

// TestAStopClosesNoStep checks that a computer which is stopped between a step's end and its delay leaves the step
// open, and saves the order records that it has passed, with records or without.
func TestAStopClosesNoStep(t *testing.T) {
	var want []time.Duration
	for _, each := range []int{0, 2} {
		f := orderFeed{
			clock: steps.Clock{Length: 10}, delay: 5 * time.Second, input: 1 << 20,
			orders: live(15, each), stop: 14 * time.Second,
		}
		all := f.run(t, `{"cost":[1]}`)
		if got, taken := deciding(all); len(got) > 0 || taken != 9*each {
			t.Errorf("%d transactions decide, and %d records are taken", len(got), taken)
		}
		if want == nil {
			want = times(all)
		}
		if !slices.Equal(times(all), want) || len(all) != 9 {
			t.Errorf("%d records a second: transactions at %v, want %v", each, times(all), want)
		}
	}
}
