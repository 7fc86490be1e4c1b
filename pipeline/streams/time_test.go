package streams

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"slices"
	"testing"

	"oriel/mechanisms/protection"
	"oriel/operators"
	"oriel/pipeline/kafka/fetch"
	"oriel/schemas/decision"
	"oriel/state"
)

// batching is a machine whose steps have three records, with a decision before the first. Each step brings a decision
// in each topic.
type batching struct {
	witness
	came, closed uint64
}

func (b *batching) Add(operators.Record) { b.came++ }

func (b *batching) Close(dst []operators.Decision) []operators.Decision {
	b.closed++
	return append(dst,
		operators.Decision{Index: 2*b.closed - 1, Step: b.closed, Point: []float64{float64(b.came)}, Output: 1},
		operators.Decision{Index: 2 * b.closed, Step: b.closed, Point: []float64{float64(b.came)}})
}

func (b *batching) Steps() uint64 { return b.closed }

func (b *batching) Guarantee() protection.Guarantee {
	g := b.witness.Guarantee()
	g.Batch = 3
	return g
}

func (b *batching) StateLen() int { return 16 }

func (b *batching) AppendState(dst []byte) []byte {
	return binary.LittleEndian.AppendUint64(binary.LittleEndian.AppendUint64(dst, b.came), b.closed)
}

func (b *batching) Restore(state []byte) error {
	if len(state) != 16 {
		return errors.New("not 16 bytes")
	}
	b.came, b.closed = binary.LittleEndian.Uint64(state), binary.LittleEndian.Uint64(state[8:])
	return nil
}

// timesOf returns a walk over a batching machine, and the times of its decisions: a dash for a decision without time.
func timesOf(t *testing.T, state []byte, at state.Position) (*Walk, *[]string) {
	t.Helper()
	machine := &batching{}
	w := walkOf(t, func(m *Model) {
		m.Learner = fakeLearner{fakeOperator{output: &operators.Output{}}, machine}
	}, 0)
	times := &[]string{}
	w.Walk.Decided = func(output uint8, _, line []byte) {
		d, err := decision.Parse(line)
		if err != nil {
			t.Fatal(err)
		}
		text := "-"
		if d.Time() != decision.NoTime {
			text = fmt.Sprint(d.Time())
		}
		*times = append(*times, fmt.Sprintf("%d:%s", output, text))
	}
	if state != nil {
		if err := w.Walk.Stream.Restore(state); err != nil {
			t.Fatal(err)
		}
	}
	w.Walk.Position = at
	return w.Walk, times
}

// stamped returns records with these timestamps, starting at an offset; every second record is invalid.
func stamped(from int64, timestamps ...int64) fetch.Batch {
	b := fetch.Batch{From: from, Next: from + int64(len(timestamps)), LeaderEpoch: 4}
	for i, timestamp := range timestamps {
		r := recordsAt(4, from+int64(i))[0]
		if r.Timestamp = timestamp; i%2 == 1 {
			r.Value = nil
		}
		b.Records = append(b.Records, r)
	}
	return b
}

// TestTimeIsTheGreatestOfTheStep checks that the time of a decision is the greatest timestamp of its step's records,
// null events included. A decision has no time before the first record, and if no record of its step has a timestamp.
func TestTimeIsTheGreatestOfTheStep(t *testing.T) {
	w, times := timesOf(t, nil, state.Position{Next: 10, LeaderEpoch: 3})
	w.Start()
	b := stamped(10, 5, 900, 7, 20, 10, 15, -1, -1, -1, math.MaxInt64, 0, -7, 1, 2, decision.LatestTime)
	if err := w.Take(&b, everything); err != nil {
		t.Fatal(err)
	}
	want := []string{
		"0:-", "1:900", "0:900", "1:20", "0:20", "1:-", "0:-", "1:0", "0:0", "1:253402300799999", "0:253402300799999",
	}
	if !slices.Equal(*times, want) {
		t.Errorf("times %v,\nwant  %v", *times, want)
	}
}

// TestTimeIsReadBack checks that a stream restored inside a step continues with the same times, for every position
// inside the step.
func TestTimeIsReadBack(t *testing.T) {
	stamps := []int64{50, 40, 30, 10, 60, 20, 5, 4, 3}
	whole, want := timesOf(t, nil, state.Position{Next: 10, LeaderEpoch: 3})
	b := stamped(10, stamps...)
	if err := whole.Take(&b, everything); err != nil {
		t.Fatal(err)
	}
	for cut := range len(stamps) + 1 {
		w, first := timesOf(t, nil, state.Position{Next: 10, LeaderEpoch: 3})
		b := stamped(10, stamps[:cut]...)
		if err := w.Take(&b, everything); err != nil {
			t.Fatal(err)
		}
		again, rest := timesOf(t, w.Stream.AppendState(nil), w.Position)
		b = stamped(10+int64(cut), stamps[cut:]...)
		if err := again.Take(&b, everything); err != nil {
			t.Fatal(err)
		}
		if got := append(*first, *rest...); !slices.Equal(got, *want) {
			t.Errorf("cut at %d: %v, want %v", cut, got, *want)
		}
	}
}

// TestUsersAreTheEndOfAState checks that the limiter's state is the last part of a state, because the comparison of
// users between partitions reads it from the end.
func TestUsersAreTheEndOfAState(t *testing.T) {
	change := func(m *Model) {
		m.Users = &Users{Separation: 3, Batch: 1}
		m.Learner = fakeLearner{fakeOperator{output: &operators.Output{}}, &batching{}}
	}
	w, again := walkOf(t, change, 0), walkOf(t, change, 0)
	b := stamped(10, 50, 70)
	if err := w.Take(&b, everything); err != nil {
		t.Fatal(err)
	}
	state := w.Stream.AppendState(nil)
	if err := again.Stream.Restore(state); err != nil || again.Stream.time != 70 {
		t.Errorf("%v, time %d", err, again.Stream.time)
	}
	people := state[len(state)-w.Stream.limiter.StateLen():]
	if err := again.Stream.limiter.Restore(people); err != nil || len(people)+8+16+8 != len(state) {
		t.Errorf("%v: users of %d bytes in %d", err, len(people), len(state))
	}
}

// TestStatesWithABrokenTimeAreRefused checks that a state with an impossible time is refused, and leaves the stream
// unchanged.
func TestStatesWithABrokenTimeAreRefused(t *testing.T) {
	w, _ := timesOf(t, nil, state.Position{Next: 10, LeaderEpoch: 3})
	b := stamped(10, 50)
	if err := w.Take(&b, everything); err != nil {
		t.Fatal(err)
	}
	before := w.Stream.AppendState(nil)
	for _, time := range []int64{-2, decision.LatestTime + 1} {
		broken := binary.LittleEndian.AppendUint64(before[:24:24], uint64(time))
		if err := w.Stream.Restore(broken); err == nil {
			t.Errorf("%d is taken", time)
		}
	}
	for _, short := range [][]byte{nil, before[:7], before[:15], before[:31], append(before[:32:32], 0)} {
		if err := w.Stream.Restore(short); err == nil {
			t.Errorf("%d bytes are taken", len(short))
		}
	}
	if after := w.Stream.AppendState(nil); !slices.Equal(after, before) {
		t.Errorf("%x, want %x", after, before)
	}
}

// ending is a batching machine whose guarantee covers one step.
type ending struct{ batching }

func (e *ending) Guarantee() protection.Guarantee {
	g := e.batching.Guarantee()
	g.Scope = protection.Lifetime{Steps: 1, Within: 1}
	return g
}

// TestOpenStepIsReadBack checks that a state keeps the number of records in the open step, and that Restore refuses a
// state with records after the last step.
func TestOpenStepIsReadBack(t *testing.T) {
	open := func() *walked {
		return walkOf(t, func(m *Model) {
			m.Learner = fakeLearner{fakeOperator{output: &operators.Output{}}, &ending{}}
		}, 0)
	}
	w := open()
	b := stamped(10, 1, 2)
	if err := w.Take(&b, everything); err != nil {
		t.Fatal(err)
	}
	again := open()
	if err := again.Stream.Restore(w.Stream.AppendState(nil)); err != nil {
		t.Fatal(err)
	}
	again.Position = w.Position
	b = stamped(12, 3)
	if err := again.Take(&b, everything); err != nil || again.Position.Step != 1 {
		t.Errorf("the third record ends step %d: %v", again.Position.Step, err)
	}
	state := again.Stream.AppendState(nil)
	if err := open().Stream.Restore(state); err != nil {
		t.Errorf("the last state: %v", err)
	}
	if state[0] = 1; open().Stream.Restore(state) == nil {
		t.Error("a record after the last step is taken")
	}
}
