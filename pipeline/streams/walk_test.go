package streams

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"oriel/mechanisms/dp"
	"oriel/mechanisms/noise"
	"oriel/mechanisms/protection"
	"oriel/operators"
	"oriel/operators/loss"
	"oriel/pipeline/kafka/fetch"
	"oriel/pipeline/kafka/records"
	"oriel/schemas/decision"
	"oriel/schemas/event"
	"oriel/schemas/text"
	"oriel/state"
	"oriel/state/users"
)

// witness is a machine that records its events; each record is a step.
type witness struct {
	saw     []string
	horizon uint64
}

func (w *witness) Open(dst []operators.Decision) []operators.Decision {
	return append(dst, operators.Decision{Index: 0, Point: []float64{0}})
}

func (w *witness) Add(r operators.Record) {
	id := r.Identity
	w.saw = append(w.saw, fmt.Sprintf("%d/%d/%d key=%s null=%t", id.Partition, id.Offset, id.LeaderEpoch, r.Key, r.Null))
}

func (w *witness) Close(dst []operators.Decision) []operators.Decision {
	n := w.Steps()
	return append(dst,
		operators.Decision{Index: 2*n - 1, Step: n, Point: []float64{float64(n)}},
		operators.Decision{Index: 2 * n, Step: n, Point: []float64{float64(n)}, Output: 1})
}

func (w *witness) Steps() uint64 { return uint64(len(w.saw)) }

func (w *witness) Due(step uint64) (first uint64, count int) { return 2*step - 1, 2 }

func (w *witness) AppendState(dst []byte) []byte { return dst }

func (w *witness) StateLen() int { return 0 }

func (w *witness) Restore([]byte) error { return nil }

func (w *witness) scope() protection.Scope {
	if w.horizon > 0 {
		return protection.Lifetime{Steps: w.horizon, Within: max(w.horizon, 4)}
	}
	return protection.Window{Steps: 4}
}

func (w *witness) Guarantee() protection.Guarantee {
	return protection.Guarantee{
		Terms:     protection.Terms{Scope: w.scope(), Unit: protection.Event{Exchange: dp.Replace}},
		Mechanism: "none", Batch: 1, Epsilon: 1,
	}
}

// walked is a walk over a witness from offset 10 on, with everything that its callbacks received.
type walked struct {
	*Walk
	machine   *witness
	decisions []string
	taken     []string
}

func walkOf(t *testing.T, change func(*Model), horizon uint64) *walked {
	t.Helper()
	w := &walked{machine: &witness{horizon: horizon}}
	body, _ := loss.Body("linear", 1)
	m := Model{
		Events:  event.Config{Body: body, Dimension: 1, MaxBytes: 100, Features: event.FeatureConfig{Norm: "none"}},
		Learner: fakeLearner{fakeOperator{output: &operators.Output{}}, w.machine},
	}
	if change != nil {
		change(&m)
	}
	s, err := OpenStream(m, nil, [32]byte{}, [32]byte{}, "0", [16]byte{})
	if err != nil {
		t.Fatal(err)
	}
	w.Walk = &Walk{
		Stream: s, Position: state.Position{Next: 10, LeaderEpoch: 3},
		Decided: func(output uint8, _, line []byte) {
			d, err := decision.Parse(line)
			if err != nil {
				t.Fatal(err)
			}
			w.decisions = append(w.decisions, fmt.Sprintf("%d in %d", d.Index, output))
		},
		Taken: func(r *records.Record, gap int64, code text.Code) {
			w.taken = append(w.taken, fmt.Sprintf("%d after %d: %s", r.Offset, gap, code))
		},
	}
	return w
}

// recordsAt returns records at these offsets, of one epoch, with the offset as key.
func recordsAt(epoch int32, offsets ...int64) []records.Record {
	var all []records.Record
	for _, offset := range offsets {
		all = append(all, records.Record{
			Public: records.Public{Offset: offset, LeaderEpoch: epoch}, Key: fmt.Append(nil, offset), Value: []byte(`{"cost":[1]}`),
		})
	}
	return all
}

func everything() int64 { return Untaken }

func (w *walked) wants(t *testing.T, at state.Position, taken ...string) {
	t.Helper()
	if !slices.Equal(w.taken, taken) {
		t.Errorf("taken %q, want %q", w.taken, taken)
	}
	if w.Position != at {
		t.Errorf("the walk stands at %+v, want %+v", w.Position, at)
	}
}

// TestWalkPassesOnEachRecord checks that each record comes once, under its own identity, with the number of empty
// offsets before it; that decisions come with their topics; and that only an operator that asks for keys gets them.
func TestWalkPassesOnEachRecord(t *testing.T) {
	for _, keyed := range []bool{false, true} {
		w := walkOf(t, func(m *Model) { m.Keyed = keyed }, 0)
		w.Start()
		batch := fetch.Batch{From: 10, Next: 20, LeaderEpoch: 5, Records: recordsAt(4, 10, 12, 13)}
		batch.Records[1].Value = []byte(`{`)
		batch.Records[2].Unreadable = true
		if err := w.Take(&batch, everything); err != nil {
			t.Fatal(err)
		}
		w.wants(t, state.Position{Next: 20, LeaderEpoch: 5, Step: 3}, "10 after 0: ok", "12 after 1: json_syntax",
			"13 after 0: too_large")
		saw := []string{"0/10/4 key= null=false", "0/12/4 key= null=true", "0/13/4 key= null=true"}
		if keyed {
			saw = []string{"0/10/4 key=10 null=false", "0/12/4 key=12 null=true", "0/13/4 key=13 null=true"}
		}
		if !slices.Equal(w.machine.saw, saw) {
			t.Errorf("the machine saw %q, want %q", w.machine.saw, saw)
		}
		want := []string{"0 in 0", "1 in 0", "2 in 1", "3 in 0", "4 in 1", "5 in 0", "6 in 1"}
		if !slices.Equal(w.decisions, want) {
			t.Errorf("decisions %q, want %q", w.decisions, want)
		}
	}
}

// TestWalkStopsAtTheGivenOffset checks stops before a record, between two records, and in the gap after the last
// record, where markers begin a new epoch. The position must have the epoch of the record before it.
func TestWalkStopsAtTheGivenOffset(t *testing.T) {
	for end, want := range map[int64]state.Position{
		0:  {Next: 10, LeaderEpoch: 3},
		10: {Next: 10, LeaderEpoch: 3},
		11: {Next: 11, LeaderEpoch: 4, Step: 1},
		12: {Next: 12, LeaderEpoch: 4, Step: 1}, // not epoch 6, whose batch starts after this end
		13: {Next: 13, LeaderEpoch: 4, Step: 2},
		14: {Next: 14, LeaderEpoch: 4, Step: 2},
		15: {Next: 15, LeaderEpoch: 5, Step: 2},
		99: {Next: 20, LeaderEpoch: 6, Step: 2},
	} {
		w := walkOf(t, nil, 0)
		b := fetch.Batch{
			From: 10, Next: 20, LeaderEpoch: 6, Records: recordsAt(4, 10, 12),
			Epochs: []fetch.Epoch{{Base: 9, Leader: 4}, {Base: 14, Leader: 5}, {Base: 16, Leader: 6}},
		}
		if err := w.Take(&b, func() int64 { return end }); err != nil {
			t.Fatal(err)
		}
		w.wants(t, want, []string{"10 after 0: ok", "12 after 1: ok"}[:want.Step]...)
	}
}

// TestWalkEndsAtTheHorizon checks that the walk ends before the next record, and not when the last step closes.
func TestWalkEndsAtTheHorizon(t *testing.T) {
	w := walkOf(t, nil, 2)
	if err := w.Take(
		&fetch.Batch{From: 10, Next: 12, LeaderEpoch: 4, Records: recordsAt(4, 10, 11)}, everything,
	); err != nil {
		t.Fatal(err)
	}
	if err := w.Take(&fetch.Batch{From: 12, Next: 14, LeaderEpoch: 4}, everything); err != nil {
		t.Fatal(err)
	}
	if err := w.Take(
		&fetch.Batch{From: 14, Next: 16, LeaderEpoch: 4, Records: recordsAt(4, 15)}, everything,
	); !errors.Is(err, ErrEnded) {
		t.Errorf("a record behind the horizon: %v", err)
	}
	w.wants(t, state.Position{Next: 14, LeaderEpoch: 4, Step: 2}, "10 after 0: ok", "11 after 0: ok")
}

// TestWalkJoins checks that a gap or a repetition, of a batch or of a record, panics.
func TestWalkJoins(t *testing.T) {
	for _, b := range []fetch.Batch{
		{From: 9, Next: 12},
		{From: 11, Next: 12},
		{From: 10, Next: 12, Records: recordsAt(4, 10, 10)},
		{From: 10, Next: 12, Records: recordsAt(4, 9)},
	} {
		w := walkOf(t, nil, 0)
		func() {
			defer func() {
				if text, _ := recover().(string); !strings.HasPrefix(text, "BUG: pipeline: ") {
					t.Errorf("%d to %d, %d records: panic %q", b.From, b.Next, len(b.Records), text)
				}
			}()
			_ = w.Take(&b, everything)
		}()
	}
}

// remembered is a user index that refuses a user of one partition in all others.
type remembered map[users.ID]int32

var errElsewhere = errors.New("another partition remembers the user")

func (r remembered) Add(partition int32, user users.ID) error {
	if other, seen := r[user]; seen && other != partition {
		return errElsewhere
	}
	r[user] = partition
	return nil
}

func (r remembered) Remove(_ int32, user users.ID) { delete(r, user) }

// TestWalkRemovesForgottenUsers checks that a user is added before the record is taken, and removed after s steps. A
// user of another partition stops the walk before the record.
func TestWalkRemovesForgottenUsers(t *testing.T) {
	seen := remembered{}
	w := walkOf(t, func(m *Model) { m.Users = &Users{Separation: 2, Batch: 1} }, 0)
	w.Users = seen
	batch := fetch.Batch{From: 10, Next: 15, LeaderEpoch: 4, Records: recordsAt(4, 10, 11, 12, 13, 14)}
	for i, key := range []string{"a", "a", "b", "", "a"} {
		batch.Records[i].Key = []byte(key)
	}
	seen[w.Stream.limiter.ID([]byte("c"))] = 7
	if err := w.Take(&batch, everything); err != nil {
		t.Fatal(err)
	}
	w.wants(t, state.Position{Next: 15, LeaderEpoch: 4, Step: 5},
		"10 after 0: ok", "11 after 0: too_soon", "12 after 0: ok", "13 after 0: no_user", "14 after 0: ok")
	if n := len(seen); n != 2 {
		t.Errorf("%d users are noted, want the last and the other partition's", n)
	}
	next := fetch.Batch{From: 15, Next: 16, LeaderEpoch: 4, Records: recordsAt(4, 15)}
	next.Records[0].Key = []byte("c")
	if err := w.Take(&next, everything); !errors.Is(err, errElsewhere) || w.Position.Next != 15 {
		t.Errorf("a user of another partition: %v, the walk stands at %d", err, w.Position.Next)
	}
}

// TestUsersAreReadBack checks that a restored stream refuses the users that it refused before.
func TestUsersAreReadBack(t *testing.T) {
	keyed := func(m *Model) { m.Users = &Users{Separation: 3, Batch: 1} }
	w, again := walkOf(t, keyed, 0), walkOf(t, keyed, 0)
	batch := fetch.Batch{From: 10, Next: 12, LeaderEpoch: 4, Records: recordsAt(4, 10, 11)}
	batch.Records[0].Key, batch.Records[1].Key = []byte("a"), []byte("b")
	if err := w.Take(&batch, everything); err != nil {
		t.Fatal(err)
	}
	if err := again.Stream.Restore(w.Stream.AppendState(nil)); err != nil {
		t.Fatal(err)
	}
	got, want := slices.Collect(again.Stream.Remembered()), slices.Collect(w.Stream.Remembered())
	if len(want) != 2 || !slices.Equal(got, want) {
		t.Errorf("%d users are read back, want %d", len(got), len(want))
	}
}

// TestSealerKnowsTheRowsOfChains checks the constant by which package state accepts lengths.
func TestSealerKnowsTheRowsOfChains(t *testing.T) {
	if state.PartitionLen != noise.PartitionLen {
		t.Errorf("a row of a chain has %d bytes, the sealer takes %d", noise.PartitionLen, state.PartitionLen)
	}
}
