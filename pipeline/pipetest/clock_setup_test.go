package pipetest_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"oriel/mechanisms/dp"
	"oriel/mechanisms/protection"
	"oriel/mechanisms/steps"
	"oriel/operators"
	"oriel/operators/loss"
	"oriel/pipeline/deployment"
	"oriel/pipeline/kafka/fetch"
	"oriel/pipeline/kafka/records"
	"oriel/pipeline/kafka/topics"
	"oriel/pipeline/order"
	"oriel/pipeline/pipetest"
	"oriel/pipeline/pipetest/logtest"
	"oriel/pipeline/pipetest/simtest"
	"oriel/pipeline/streams"
	"oriel/schemas/decision"
	"oriel/schemas/event"
)

// summed opens machines of type summing.
type summed struct{}

func (summed) Operator() operators.Operator { return sums{} }

// sums is the operator of summing machines.
type sums struct{ operators.Operator }

func (sums) Extras() []decision.Extra { return nil }

// Value returns the first number of an event, which stands for a cell; 0 is none.
func (sums) Value(dst []byte, e event.Event) (value []byte, has bool) {
	cell := byte(e.Vector.Values[0])
	return append(dst, cell), cell > 0
}

func (summed) Params() ([]byte, error) { return nil, nil }

func (summed) Open([]byte) (func([32]byte) (operators.Machine, error), error) {
	return func([32]byte) (operators.Machine, error) { return new(summing), nil }, nil
}

// summing is a machine whose decision of a step has two exact numbers: how many events the step has, and a sum that
// differs if any event is lost, taken twice or in another step.
type summing struct{ steps, events, sum uint64 }

func (m *summing) Open(dst []operators.Decision) []operators.Decision { return dst }

func (m *summing) Add(r operators.Record) {
	m.events++
	m.sum += share(r.Identity.Partition, r.Identity.Offset)
}

// share is what an event adds to the sum: a different number for nearly every event.
func share(partition int32, offset int64) uint64 {
	return uint64(offset*offset*7+int64(partition)*1_000_003+offset*31) % 1_000_000_007
}

func (m *summing) Close(dst []operators.Decision) []operators.Decision {
	m.steps++
	d := operators.Decision{Index: m.steps, Step: m.steps, Point: []float64{float64(m.events), float64(m.sum)}}
	m.events, m.sum = 0, 0
	return append(dst, d)
}

func (m *summing) Steps() uint64 { return m.steps }

func (m *summing) Due(step uint64) (first uint64, count int) { return step, min(int(step), 1) }

func (m *summing) StateLen() int { return 24 }

func (m *summing) AppendState(dst []byte) []byte {
	for _, x := range []uint64{m.steps, m.events, m.sum} {
		dst = binary.LittleEndian.AppendUint64(dst, x)
	}
	return dst
}

func (m *summing) Restore(b []byte) error {
	if len(b) != m.StateLen() {
		return errors.New("a state of another length")
	}
	for i, x := range []*uint64{&m.steps, &m.events, &m.sum} {
		*x = binary.LittleEndian.Uint64(b[8*i:])
	}
	return nil
}

func (m *summing) Guarantee() protection.Guarantee {
	return protection.Guarantee{
		Terms:     protection.Terms{Scope: protection.Window{Steps: 1}, Unit: protection.Event{Exchange: dp.AddRemove}},
		Mechanism: "none", Epsilon: 1,
	}
}

// byClock is a deployment whose steps the clock closes. Every seventh record is no event.
type byClock struct {
	whole
	clock steps.Clock
	start time.Time // of the bubble
	seq   int
}

const stepDelay = 5 * time.Second

func newByClock(t *testing.T, length int64, timestamps string, change func(*pipetest.Setup)) *byClock {
	t.Helper()
	setup := pipetest.NewSetup().WholeTopic()
	setup.Model.Learner, setup.Model.Clock = summed{}, steps.Clock{Length: length, Offset: length / 3}
	setup.Model.Settings = "OPERATOR=summed\nSTREAM=topic\n"
	setup.Model.Events.Body, _ = loss.Body("linear", 1)
	setup.Config.StepDelay, setup.Config.StepGrace = stepDelay, 2*time.Second
	setup.Config.Start = deployment.StartLatest
	if change != nil {
		change(&setup)
	}
	d := simtest.New(t)
	b := &byClock{clock: setup.Model.Clock, start: time.Now()}
	b.history = history{t: t, Deployment: d, setup: setup}
	times := map[string]string{"message.timestamp.type": timestamps}
	b.check(topics.Create(t.Context(), b.Client(), setup.Config.Input, 3, 1, times))
	b.check(setup.Topics(t.Context(), b.Client(), func(string) {}))
	return b
}

// limitUsers lets the first two records of a user in a period of two steps count.
func limitUsers(s *pipetest.Setup) {
	period := steps.Clock{Length: 2 * s.Model.Clock.Length, Offset: s.Model.Clock.Offset}
	s.Model.Users = &streams.Users{Period: period, Events: 2}
	s.Model.Settings += "USER_PERIOD=2\n"
}

// limitPersons counts a user in the first two cells in a period of two steps, once in each.
func limitPersons(s *pipetest.Setup) {
	limitUsers(s)
	s.Model.Users.Events, s.Model.Users.Values = 0, 2
}

// put appends n records to a partition, of five users and of none, in three cells and in none.
func (b *byClock) put(p int32, n int) {
	b.t.Helper()
	list := make([]records.Record, n)
	for i := range list {
		b.seq++
		if list[i].Value = fmt.Appendf(nil, `{"cost":[%d,0,0,0]}`, b.seq*b.seq/5%4); b.seq%7 == 0 {
			list[i].Value = []byte("{")
		}
		if user := b.seq * 5 / 3 % 6; user < 5 {
			list[i].Key = fmt.Append(nil, "user ", user)
		}
	}
	b.check(logtest.Send(b.t.Context(), b.Client(), b.setup.Config.Input, p, list...))
}

// life appends records for a time, with pauses longer than a step.
func (b *byClock) life(draw *rand.Rand, seconds int) {
	b.t.Helper()
	until := time.Now().Add(time.Duration(seconds) * time.Second)
	for time.Now().Before(until) {
		for range draw.IntN(4) {
			b.put(draw.Int32N(3), 1+draw.IntN(5))
		}
		time.Sleep(time.Duration(100+draw.IntN(900)) * time.Millisecond)
		if draw.IntN(12) == 0 {
			time.Sleep(time.Duration(2*b.clock.Length) * time.Second)
		}
	}
}

// placed is a record in a partition.
type placed struct {
	partition int32
	records.Record
}

// sums returns, for each step from the first one on, the number of events that count and what they add up to, of the
// records in each slot.
func (b *byClock) sums(places map[int64][]placed, first uint64) map[uint64][2]uint64 {
	sums, counts, users := map[uint64][2]uint64{}, map[string]uint64{}, b.setup.Model.Users
	cells := map[string]bool{}
	for _, slot := range slices.Sorted(maps.Keys(places)) {
		step := b.clock.Of(slot)
		slices.SortStableFunc(places[slot], func(a, b placed) int { return int(a.partition - b.partition) })
		for _, r := range places[slot] {
			if step < first {
				continue
			}
			if users != nil {
				user := fmt.Sprintf("%s of %d", r.Key, users.Period.Of(slot))
				if users.Values > 0 {
					cell := fmt.Sprintf("%s in %s", user, r.Value)
					if len(r.Value) == 1 || bytes.HasPrefix(r.Value, []byte(`{"cost":[0`)) || cells[cell] {
						continue // no event, no cell, or counted in this one
					}
					cells[cell] = counts[user] < users.Values && r.Key != nil
				}
				if counts[user]++; counts[user] > users.Events+users.Values || r.Key == nil {
					continue
				}
			}
			if len(r.Value) > 1 {
				sums[step] = [2]uint64{sums[step][0] + 1, sums[step][1] + share(r.partition, r.Offset)}
			}
		}
	}
	return sums
}

// expected returns the decisions that the order log and the input define, by an independent implementation of their
// rule: (step, time, events, sum) of each closed step.
func (b *byClock) expected() (all []string) {
	b.t.Helper()
	d := b.deployment()
	is, err := d.Ordered(b.t.Context())
	b.check(err)
	log := order.Log{Key: is.Key, Topic: d.Topics.Order.ID, Input: d.Topics.Input.ID}
	input := make([][]records.Record, 3)
	next, front := make([]int64, 3), make([]int64, 3)
	for p := range input {
		input[p], err = logtest.Read(b.t.Context(), b.Client(), b.setup.Config.Input, int32(p), -1, fetch.Options{})
		b.check(err)
		part, _ := is.Start.Part(int32(p))
		next[p] = part.Next
	}
	closed := is.Start.Slot - 1
	if !b.setup.Config.Begin.IsZero() {
		closed--
	}
	first, places := b.clock.Of(is.Start.Slot), map[int64][]placed{}
	ends := slices.Clone(next)
	for _, r := range b.read(b.setup.Config.Order, true) {
		record, err := log.Parse(r.Value)
		if err != nil || record.Slot <= closed || !r.Appended || r.Timestamp < 1000*(record.Slot+1) {
			continue
		}
		for _, e := range record.Entries {
			ends[e.Partition] = max(ends[e.Partition], e.End)
		}
		for p := range input {
			for next[p] < ends[p] {
				at := input[p][next[p]]
				slot := record.Slot
				if at.Appended {
					slot = max(at.Timestamp/1000, front[p], closed+1)
				}
				if slot > record.Slot {
					break
				}
				places[slot] = append(places[slot], placed{int32(p), at})
				next[p], front[p] = next[p]+1, slot
			}
		}
		closed = record.Slot
	}
	sums := b.sums(places, first)
	for k := first; b.clock.End(k) <= closed+1; k++ {
		all = append(all, fmt.Sprintf("step %d at %d: %d events, %d", k, b.clock.End(k)*1000, sums[k][0], sums[k][1]))
	}
	return all
}

// published returns the decisions of the topic in the form of expected, and checks that each has the timestamp of its
// hand-over.
func (b *byClock) published() (all []string) {
	b.t.Helper()
	for _, r := range b.read(b.setup.Config.Decisions, false) {
		d, err := decision.Parse(r.Value)
		b.check(err)
		all = append(all, fmt.Sprintf("step %d at %d: %.0f events, %.0f", d.Step, d.Time(), d.Point[0], d.Point[1]))
		if due := b.clock.End(d.Step)*1000 + stepDelay.Milliseconds(); r.Timestamp != due || d.Index != d.Step {
			b.t.Errorf("step %d has the timestamp %d, want %d", d.Step, r.Timestamp, due)
		}
	}
	return all
}

// settles waits until a process has published all that is due, and compares decisions with the expected ones.
func (b *byClock) settles() []string {
	b.t.Helper()
	time.Sleep(time.Duration(b.clock.Length)*time.Second + 30*time.Second)
	got, want := b.published(), b.expected()
	// the steps of the last seconds are closed in the order log, and not due yet
	if n := len(got); n == 0 || n > len(want) || !slices.Equal(got, want[:n]) {
		same := 0
		for same < min(len(got), len(want)) && got[same] == want[same] {
			same++
		}
		b.t.Errorf("of %d decisions, want %d, the first %d are right; then come\n%q, want\n%q",
			len(got), len(want), same, got[same:min(same+2, len(got))], want[same:min(same+2, len(want))])
	}
	if late := len(want) - len(got); late > int(4/b.clock.Length)+1 {
		b.t.Errorf("%d steps are closed and have no decision", late)
	}
	return got
}
