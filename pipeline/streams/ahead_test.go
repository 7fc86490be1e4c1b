package streams

import (
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"

	"oriel/mechanisms/mechtest/tiertest"
	"oriel/operators"
	"oriel/pipeline/kafka/fetch"
	"oriel/pipeline/kafka/records"
	"oriel/schemas/event"
)

// listener is a witness that also keeps a copy of each event.
type listener struct {
	*witness
	heard []event.Event
}

func (l *listener) Add(r operators.Record) {
	event := r.Event
	event.Vector.Indices = slices.Clone(event.Vector.Indices)
	event.Vector.Values, event.Numbers = slices.Clone(event.Vector.Values), slices.Clone(event.Numbers)
	event.Name = slices.Clone(event.Name)
	l.heard = append(l.heard, event)
	l.witness.Add(r)
}

// listening returns a walk over a listener, whose events have features, a weight, a number, a choice and a name. A
// user's events are 20 steps apart.
func listening(t *testing.T, dimension int) (*walked, *listener) {
	t.Helper()
	l := new(listener)
	w := walkOf(t, func(m *Model) {
		m.Events = event.Config{
			Body: event.Body{Name: "seen", Members: []event.Member{
				{Name: "features", Kind: event.KindFeatures},
				{Name: "weight", Kind: event.KindWeight, Optional: true, Default: 2},
				{Name: "delay", Kind: event.KindNumber, Least: 0, Most: 10, Optional: true},
				{Name: "kind", Kind: event.KindChoice, Choices: []string{"a", "b"}, Optional: true},
				{Name: "word", Kind: event.KindName, Optional: true},
			}},
			Dimension: dimension, MaxBytes: 1 << 16, Features: event.FeatureConfig{Norm: "none", Bias: true},
		}
		learner, _ := m.Learner.(fakeLearner)
		l.witness, _ = learner.machine.(*witness)
		learner.machine = l
		m.Learner = learner
		m.Users = &Users{Separation: 20, Batch: 1}
	}, 0)
	return w, l
}

// drawn returns a record of random content, valid or not, of one of some users or of none.
func drawn(r *rand.Rand, dimension int) records.Record {
	dense := func() string { return strings.Repeat(fmt.Sprint(r.IntN(9), ","), dimension-1) + fmt.Sprint(r.IntN(9)) }
	value := [...]func() string{
		func() string { return `{"features":[` + dense() + `]}` },
		func() string { return `{"features":{"indices":[0,1],"values":[3,4]},"weight":0.5}` },
		func() string { return `{"features":{"indices":[],"values":[]},"kind":"b"}` },
		func() string { return fmt.Sprintf(`{"features":{"a":%d,"b":"text","c":true},"delay":3}`, r.IntN(9)) },
		func() string { return `{"features":{}}` },
		func() string { return `{"features":[1,` },
		func() string { return `{"features":[` + dense() + `],"weight":-1}` },
		func() string { return `{"weight":3,"features":[` + dense() + `]}` },
		func() string { return fmt.Sprintf(`{"features":{},"word":"\u00e9 %d"}`, r.IntN(1000)) },
		func() string { return `` },
	}[r.IntN(10)]()
	return records.Record{Key: []byte(strings.Repeat("u", r.IntN(30))), Value: []byte(value), Unreadable: r.IntN(9) == 0}
}

// TestDecodingAheadIsDecoding checks that a walk sees the same events, codes and positions whether records were decoded
// ahead or by the walk itself, for every number of records that fit, and even if the memory of the batch is
// overwritten.
func TestDecodingAheadIsDecoding(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for _, dimension := range []int{2, 1500} {
		ahead, heardAhead := listening(t, dimension)
		within, heard := listening(t, dimension)
		decoder, err := ahead.Stream.NewAhead()
		if err != nil {
			t.Fatal(err)
		}
		next, whole := int64(10), 0
		for range tiertest.Runs(4, 200) {
			b := fetch.Batch{From: next, LeaderEpoch: 4}
			for range r.IntN(1000) {
				record := drawn(r, dimension)
				record.Public = records.Public{Offset: next, LeaderEpoch: 4}
				b.Records = append(b.Records, record)
				next += 1 + int64(r.IntN(2))
			}
			b.Next = next
			events := decoder.Decode(&b)
			if len(events.read) == len(b.Records) {
				whole++
			}
			end := b.From + r.Int64N(next-b.From+1)
			at, _ := slices.BinarySearchFunc(b.Records, end, func(r records.Record, end int64) int {
				return int(r.Offset - end)
			})
			rest := fetch.Batch{From: end, Next: b.Next, LeaderEpoch: 4, Records: b.Records[at:]}
			for w, e := range map[*walked]*Events{ahead: events, within: nil} {
				if err := w.TakeDecoded(&b, e, func() int64 { return end }); err != nil {
					t.Fatal(err)
				}
				if err := w.Take(&rest, everything); err != nil {
					t.Fatal(err)
				}
			}
			events.Release()
		}
		if dimension == 2 && whole == 0 || dimension == 1500 && whole == tiertest.Runs(4, 200) {
			t.Errorf("dimension %d: %d batches had room", dimension, whole)
		}
		if !reflect.DeepEqual(heardAhead.heard, heard.heard) || !slices.Equal(heardAhead.saw, heard.saw) {
			t.Errorf("dimension %d: ahead of the walk records say something else", dimension)
		}
		if !slices.Equal(ahead.taken, within.taken) || ahead.Position != within.Position {
			t.Errorf("dimension %d: ahead of the walk the verdicts are others", dimension)
		}
	}
}

// TestEventsAreOfTheirBatch checks that events of another batch are never used for a record.
func TestEventsAreOfTheirBatch(t *testing.T) {
	for name, change := range map[string]func(b *fetch.Batch){
		"another partition":   func(b *fetch.Batch) { b.Partition = 1 },
		"another offset":      func(b *fetch.Batch) { b.Records[1].Offset = 13 },
		"a record left out":   func(b *fetch.Batch) { b.Records = b.Records[1:] },
		"one behind another ": func(b *fetch.Batch) { b.Records[0].Offset = 9 },
	} {
		w := walkOf(t, nil, 0)
		decoder, err := w.Stream.NewAhead()
		if err != nil {
			t.Fatal(err)
		}
		b := fetch.Batch{From: 10, Next: 20, LeaderEpoch: 4, Records: recordsAt(4, 10, 11, 12)}
		events := decoder.Decode(&b)
		change(&b)
		func() {
			defer func() {
				if text, _ := recover().(string); !strings.HasPrefix(text, "BUG: pipeline: ") {
					t.Errorf("%s: panic %q", name, text)
				}
			}()
			for i := range b.Records {
				events.of(&b, i)
			}
		}()
	}
}

// TestDecodingAheadHasConstantRoom checks that more or longer events take no more memory.
func TestDecodingAheadHasConstantRoom(t *testing.T) {
	w, _ := listening(t, 3000)
	decoder, err := w.Stream.NewAhead()
	if err != nil {
		t.Fatal(err)
	}
	r := rand.New(rand.NewPCG(3, 4))
	b := fetch.Batch{From: 10, Next: 10 + 2*aheadRecords}
	for i := range int64(2 * aheadRecords) {
		record := drawn(r, 2)
		record.Offset = 10 + i
		b.Records = append(b.Records, record)
	}
	long := fetch.Batch{From: 10, Next: 110}
	for i := range int64(100) {
		value := []byte(`{"features":[` + strings.Repeat("7,", 2999) + `7]}`)
		long.Records = append(long.Records, records.Record{Public: records.Public{Offset: 10 + i}, Value: value})
	}
	for _, c := range []struct {
		*fetch.Batch
		decoded int
	}{{&b, aheadRecords}, {&long, aheadNumbers / 3000}} {
		events := decoder.Decode(c.Batch)
		if len(events.read) != c.decoded {
			t.Errorf("%d of %d records are decoded, want %d", len(events.read), len(c.Records), c.decoded)
		}
		if cap(events.read) != aheadRecords || cap(events.numbers) != aheadNumbers || cap(events.indices) != aheadNumbers ||
			cap(events.names) != aheadBytes {
			t.Error("the room has grown")
		}
		if n := testing.AllocsPerRun(5, func() { decoder.fill(events, c.Batch) }); n != 0 {
			t.Errorf("%g allocations", n)
		}
		events.Release()
	}
}
