package streams

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"oriel/mechanisms/dp"
	"oriel/mechanisms/protection"
	"oriel/mechanisms/steps"
	"oriel/operators"
	"oriel/operators/loss"
	"oriel/pipeline/kafka/fetch"
	"oriel/pipeline/kafka/records"
	"oriel/schemas/decision"
	"oriel/schemas/event"
	"oriel/schemas/text"
	"oriel/state"
)

// adder is a machine whose decision of a step is the sum of the step's offsets and partitions, without noise.
type adder struct {
	steps, sum, horizon uint64
}

func (a *adder) Open(dst []operators.Decision) []operators.Decision { return dst }

func (a *adder) Add(r operators.Record) {
	if r.Null {
		panic("a null record is added to a step by the clock")
	}
	a.sum += weight(r.Identity.Partition, r.Identity.Offset)
}

// weight makes sums differ if any record is lost, taken twice, or in another step.
func weight(partition int32, offset int64) uint64 {
	return 1 << (16*uint64(partition) + uint64(offset)%16)
}

func (a *adder) Close(dst []operators.Decision) []operators.Decision {
	a.steps++
	sum := a.sum
	a.sum = 0
	return append(dst, operators.Decision{Index: a.steps, Step: a.steps, Point: []float64{float64(sum)}})
}

func (a *adder) Steps() uint64 { return a.steps }

func (a *adder) Due(step uint64) (first uint64, count int) { return step, min(int(step), 1) }

func (a *adder) AppendState(dst []byte) []byte {
	return binary.LittleEndian.AppendUint64(binary.LittleEndian.AppendUint64(dst, a.steps), a.sum)
}

func (a *adder) StateLen() int { return 16 }

func (a *adder) Restore(b []byte) error {
	a.steps, a.sum = binary.LittleEndian.Uint64(b), binary.LittleEndian.Uint64(b[8:])
	return nil
}

func (a *adder) Guarantee() protection.Guarantee {
	g := protection.Guarantee{
		Terms:     protection.Terms{Scope: protection.Window{Steps: 1}, Unit: protection.Event{Exchange: dp.AddRemove}},
		Mechanism: "none", Epsilon: 1,
	}
	if a.horizon > 0 {
		g.Scope = protection.Lifetime{Steps: a.horizon, Within: a.horizon}
	}
	return g
}

// clockWorld is an input of two partitions with its order log: for each order record, the slot that it closes and the
// slots of the records of each partition that it orders, in order.
type clockWorld struct {
	clock   steps.Clock
	first   int64 // first second of the first step
	begins  int64 // slot at which the stream begins: first, or the slot before it
	horizon uint64
	users   *Users // nil: event level
	records []clockOrder
}

type clockOrder struct {
	closes int64
	slots  [2][]int64 // 0: an offset without a record
}

// random fills the world with order records, some of which close many slots or have no records.
func (c *clockWorld) random(r *rand.Rand) {
	for at := c.begins; len(c.records) < 8; {
		o := clockOrder{closes: at + r.Int64N(2)}
		if r.IntN(3) == 0 {
			o.closes += r.Int64N(4 * c.clock.Length)
		}
		for p := range o.slots {
			for range r.IntN(5) {
				o.slots[p] = append(o.slots[p], at+r.Int64N(o.closes-at+1))
			}
			slices.Sort(o.slots[p])
			if n := len(o.slots[p]); n > 1 && r.IntN(2) == 0 {
				o.slots[p][n-1] = 0
			}
		}
		c.records, at = append(c.records, o), o.closes+1
	}
}

// batches returns the Batches that a reader of the merged log hands out from a position on.
func (c *clockWorld) batches(at state.Position) (all []*fetch.Batch) {
	merged, ends := at.Next, [2]int64{}
	for n, o := range c.records {
		type piece struct {
			slot int64
			p    int32
			from int64
		}
		var pieces []piece
		for p := range int32(2) {
			for _, slot := range o.slots[p] {
				from := ends[p]
				ends[p]++
				if part, _ := at.Order.Part(p); from >= part.Next && int64(n) >= at.Order.Next {
					pieces = append(pieces, piece{slot, p, from})
				}
			}
		}
		if int64(n) < at.Order.Next {
			continue
		}
		for i := range pieces { // an offset without a record belongs to the record in front
			if pieces[i].slot == 0 {
				if pieces[i].slot = c.begins; i > 0 && pieces[i-1].p == pieces[i].p {
					pieces[i].slot = pieces[i-1].slot
				}
				pieces[i].from |= 1 << 32
			}
		}
		slices.SortStableFunc(pieces, func(a, b piece) int { return int(a.slot-b.slot)*2 + int(a.p-b.p) })
		for _, is := range pieces {
			gap, from := is.from>>32 > 0, is.from&(1<<32-1)
			b := &fetch.Batch{Partition: is.p, Shift: merged - from, From: from, Next: from + 1, LeaderEpoch: 0}
			if !gap {
				b.Records = recordsAt(0, from)
				b.Records[0].Key, b.Records[0].Timestamp = keyOf(is.p, from), is.slot*7919
				b.Records[0].Value = fmt.Appendf(nil, `{"cost":[%d]}`, valueOf(from))
				if from%5 == 3 {
					b.Records[0].Value = []byte("{") // no event
				}
			}
			b.Order = &fetch.Order{Record: int64(n), Slot: max(is.slot, at.Order.Slot), Closes: o.closes, End: ends[is.p]}
			all, merged = append(all, b), merged+1
		}
		done := &fetch.Done{Slot: o.closes + 1}
		for p := range ends {
			done.Parts = append(done.Parts, fetch.Reach{Partition: int32(p), End: ends[p]})
		}
		if len(pieces) == 0 {
			all = append(all, &fetch.Batch{
				Partition: -1, From: merged, Next: merged, LeaderEpoch: -1,
				Order: &fetch.Order{Record: int64(n), Slot: o.closes, Closes: o.closes},
			})
		}
		all[len(all)-1].Order.Done = done
	}
	return all
}

// twin returns the decisions of the world, computed without a walk: each step that has ended, with the sum of its
// events.
func (c *clockWorld) twin() (all []string) {
	sums, ends, closed := map[uint64]uint64{}, [2]int64{}, int64(0)
	for _, o := range c.records {
		for p := range o.slots {
			for _, slot := range o.slots[p] {
				if slot >= c.first && ends[p]%5 != 3 {
					sums[c.clock.Of(slot)] += weight(int32(p), ends[p])
				}
				ends[p]++
			}
		}
		closed = o.closes + 1
	}
	for k := c.clock.Of(c.first); c.clock.End(k) <= closed && (c.horizon == 0 || k < c.clock.Of(c.first)+c.horizon); k++ {
		all = append(all, fmt.Sprintf("%d %d at %d: %d", k, k, c.clock.End(k)*1000, sums[k]))
	}
	return all
}

// walk returns a walk from a position on, with the state there, that adds its decisions to all.
func (c *clockWorld) walk(t testing.TB, at state.Position, private []byte, all *[]string) *Walk {
	t.Helper()
	body, _ := loss.Body("linear", 1)
	s, err := OpenStream(Model{
		Events:  event.Config{Body: body, Dimension: 1, MaxBytes: 100, Features: event.FeatureConfig{Norm: "none"}},
		Learner: fakeLearner{distinct{}, &adder{horizon: c.horizon}}, Clock: c.clock, First: c.first, Users: c.users,
	}, nil, [32]byte{}, [32]byte{}, "t", [16]byte{})
	if err == nil && private != nil {
		err = s.Restore(private)
	}
	if err != nil {
		t.Fatal(err)
	}
	return &Walk{
		Stream: s, Position: at.Clone(),
		Decided: func(_ uint8, _, line []byte) {
			d, err := decision.Parse(line)
			if err != nil || len(d.Extras) != 2 || d.Extras[0].JSON != fmt.Sprint(c.clock.Length) || d.Batch != 0 {
				t.Fatalf("%s: %v", line, err)
			}
			*all = append(*all, fmt.Sprintf("%d %d at %d: %.0f", d.Index, d.Step, d.Time(), d.Point[0]))
		},
		Taken: func(*records.Record, int64, text.Code) {},
	}
}

// TestStepsByTheClock walks over random inputs, and compares the decisions with those of a twin that only sorts records
// by their slots. Each step must have one decision, also an empty one. Neither a bad record nor one before the first
// step may contribute. The walk stops at random moves and records, and another walk starts at its position, with its
// state. At each stop the slot must be that of the closed steps.
func TestStepsByTheClock(t *testing.T) {
	r := rand.New(rand.NewPCG(45, 1))
	for trial := range 400 {
		clock := steps.Clock{Length: []int64{1, 2, 5, 60}[trial%4]}
		clock.Offset = r.Int64N(clock.Length)
		c := &clockWorld{clock: clock, first: clock.Begin(30), horizon: uint64(trial % 3 * 3)}
		if c.begins = c.first; trial%2 == 0 {
			c.begins--
		}
		c.random(r)
		at := state.Position{LeaderEpoch: -1, Step: 29, Order: &state.Ordered{Clock: true, Slot: c.begins, LeaderEpoch: -1}}
		var got []string
		var private []byte
		for over := false; !over; {
			w := c.walk(t, at, private, &got)
			left := r.IntN(6) // the walk stops after this many moves and records
			w.Passes = func(slot, closes int64, ends bool) bool {
				boundary := slot > c.first && slot == clock.End(clock.Of(slot-1))
				if slot <= w.Position.Order.Slot || slot > closes+1 || ends != boundary {
					t.Fatalf("from slot %d to %d of %d, ends %t", w.Position.Order.Slot, slot, closes, ends)
				}
				left--
				return left >= 0
			}
			for _, b := range c.batches(at) {
				err := w.Take(b, func() int64 {
					if left--; left < 0 {
						return 0
					}
					return Untaken
				})
				if over = errors.Is(err, ErrEnded); left < 0 || over {
					break
				}
				over = int(w.Position.Order.Next) == len(c.records)
			}
			at, private = w.Position.Clone(), w.Stream.AppendState(nil)
			if want := clock.Of(max(at.Order.Slot, c.first)) - 1; at.Step != want || w.Stream.Steps() != want {
				t.Fatalf("trial %d: slot %d after step %d, want %d", trial, at.Order.Slot, at.Step, want)
			}
		}
		if want := c.twin(); !slices.Equal(got, want) {
			t.Fatalf("trial %d, %+v\n got %q\nwant %q", trial, c, got, want)
		}
	}
}

// due is a machine with other decisions than one for each step.
type due struct {
	adder
	owed, index, count int
}

func (d *due) Due(step uint64) (first uint64, count int) {
	if step == 0 {
		return 0, d.owed
	}
	return uint64(d.index), d.count
}

// TestEachStepByTheClockHasADecision checks that an operator is refused whose steps do not have one decision each, with
// the step's number.
func TestEachStepByTheClockHasADecision(t *testing.T) {
	body, _ := loss.Body("linear", 1)
	for want, machines := range map[bool][]*due{
		true:  {{index: 1, count: 1}},
		false: {{index: 1, count: 2}, {index: 1}, {index: 2, count: 1}, {owed: 1, index: 1, count: 1}},
	} {
		for _, machine := range machines {
			m := Model{
				Events:  event.Config{Body: body, Dimension: 1, MaxBytes: 100, Features: event.FeatureConfig{Norm: "none"}},
				Learner: fakeLearner{fakeOperator{}, machine}, Clock: steps.Clock{Length: 1},
			}
			if _, err := OpenModel(m, nil); (err == nil) != want {
				t.Errorf("%+v: %v", *machine, err)
			}
		}
	}
}
