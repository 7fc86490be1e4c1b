package replay_test

import (
	"encoding/binary"
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"
	"testing"
	"time"

	"oriel/cmd/internal/settings"
	"oriel/mechanisms/mechtest/tiertest"
	"oriel/pipeline/kafka/fetch"
	"oriel/pipeline/kafka/records"
	"oriel/pipeline/streams"
	"oriel/schemas/decision"
	"oriel/schemas/text"
	"oriel/state"
)

// clockWalk is a walk by the clock over made-up records of several partitions, whose order log closes every slot in
// which a step ends.
type clockWalk struct {
	streams.Walk
	ahead   *streams.Ahead
	batch   fetch.Batch
	begin   int64                                // first second of the first step
	offsets []int64                              // next one, by partition
	fill    func(r *records.Record)              // gives a record its content
	clocks  struct{ decode, walk time.Duration } // processor time
}

// newClockWalk returns a walk before its first record; lines are settings of the operator.
func newClockWalk(tb testing.TB, partitions int, lines ...string) *clockWalk {
	tb.Helper()
	s, err := settings.Load(append(lines, "ORIEL_STREAM=topic", "ORIEL_EPSILON=1", "ORIEL_MECHANISM=once-laplace"),
		settings.Events, settings.Operator)
	if err != nil {
		tb.Fatal(err)
	}
	model := s.Model()
	plan, err := model.Learner.Params()
	if err != nil {
		tb.Fatal(err)
	}
	w := &clockWalk{begin: 7 * 24 * 3600, offsets: make([]int64, partitions)}
	if start, err := time.Parse(time.RFC3339, s.Start); err == nil {
		w.begin = start.Unix()
	}
	model.First = w.begin
	if w.Stream, err = streams.OpenStream(model, plan, [32]byte{1}, [32]byte{}, "t", [16]byte{2}); err != nil {
		tb.Fatal(err)
	}
	if w.ahead, err = w.Stream.NewAhead(); err != nil {
		tb.Fatal(err)
	}
	w.Position = state.Position{LeaderEpoch: -1, Step: w.Stream.Steps(), Topic: [16]byte{3}}
	w.Position.Order = &state.Ordered{Clock: !model.Clock.Counts(), Slot: w.begin, LeaderEpoch: -1}
	w.Decided = func(uint8, []byte, []byte) {}
	w.Taken = func(_ *records.Record, _ int64, code text.Code) {
		if code != text.OK && code != text.TooMany {
			tb.Fatal(code)
		}
	}
	return w
}

// take takes n records of a partition in a slot, counted from the first step's first second.
func (w *clockWalk) take(tb testing.TB, slot int64, partition, n int) {
	tb.Helper()
	for n > 0 {
		size := min(n, 1<<10)
		n -= size
		b := &w.batch
		for len(b.Records) < size {
			b.Records = append(b.Records, records.Record{})
		}
		b.Records = b.Records[:size]
		b.Partition, b.From, b.LeaderEpoch = int32(partition), w.offsets[partition], 1
		b.Next, b.Shift = b.From+int64(size), w.Position.Next-b.From
		w.offsets[partition] = b.Next
		b.Order = &fetch.Order{Slot: w.begin + slot, Closes: w.begin + slot, End: b.Next, LeaderEpoch: 1}
		for i := range b.Records {
			r := &b.Records[i]
			r.Public = records.Public{Offset: b.From + int64(i), LeaderEpoch: 1}
			w.fill(r)
		}
		began := processor(tb)
		events := w.ahead.Decode(b)
		decoded := processor(tb)
		if err := w.TakeDecoded(b, events, func() int64 { return streams.Untaken }); err != nil {
			tb.Fatal(err)
		}
		events.Release()
		w.clocks.decode, w.clocks.walk = w.clocks.decode+decoded-began, w.clocks.walk+processor(tb)-decoded
	}
}

// pass moves the walk to a slot, and closes the steps before it.
func (w *clockWalk) pass(tb testing.TB, slot int64) {
	tb.Helper()
	b := &fetch.Batch{Partition: 0, From: w.offsets[0], Next: w.offsets[0], Shift: w.Position.Next - w.offsets[0]}
	b.Order = &fetch.Order{Slot: w.begin + slot, Closes: w.begin + slot - 1, LeaderEpoch: 1}
	b.Order.Done = &fetch.Done{Slot: w.begin + slot}
	began := processor(tb)
	if err := w.Take(b, func() int64 { return streams.Untaken }); err != nil {
		tb.Fatal(err)
	}
	w.clocks.walk += processor(tb) - began
}

// TestAStepOfADayHoldsAnyNumberOfEvents takes a step of 24 hours of very many events. The released sums must be within
// the noise of the true ones, and memory and state must not grow with the number of events.
func TestAStepOfADayHoldsAnyNumberOfEvents(t *testing.T) {
	const partitions, slots, cells = 3, 1440, 4
	each := tiertest.Runs(250, 231_482) // 10⁶ events, or 10⁹
	w := newClockWalk(t, partitions, "ORIEL_OPERATOR=aggregate", "ORIEL_STEP=24h", "ORIEL_CELLS=store=0:4:4",
		"ORIEL_VALUE=amount=-1:1", "ORIEL_STATISTICS=count,sum")
	values := make([][]byte, 64)
	for i := range values {
		values[i] = fmt.Appendf(nil, `{"store":%d,"amount":%d}`, i%cells, min(i/cells%3, 1))
	}
	var want [2 * cells]float64
	draw := rand.New(rand.NewPCG(1, 2))
	w.fill = func(r *records.Record) {
		i := draw.IntN(len(values))
		r.Value = values[i]
		want[i%cells]++
		want[cells+i%cells] += float64(min(i/cells%3, 1))
	}
	var got []float64
	w.Decided = func(_ uint8, _, line []byte) {
		d, err := decision.Parse(line)
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, d.Point...)
	}
	var before, after runtime.MemStats
	length := 0
	for slot := range int64(slots) {
		for p := range partitions {
			w.take(t, 60*slot, p, each)
		}
		if slot == slots/10 {
			length = len(w.Stream.AppendState(nil))
			runtime.GC()
			runtime.ReadMemStats(&before)
		}
	}
	runtime.GC()
	runtime.ReadMemStats(&after)
	if now := len(w.Stream.AppendState(nil)); now != length || len(got) > 0 {
		t.Errorf("the state has %d bytes, and %d before; %d numbers are released", now, length, len(got))
	}
	if grown := int64(after.HeapAlloc) - int64(before.HeapAlloc); grown > 1<<20 {
		t.Errorf("memory grew by %d bytes within a step", grown)
	}
	w.pass(t, 24*3600)
	if len(got) != len(want) {
		t.Fatalf("%d numbers", len(got))
	}
	for i, x := range got {
		if math.Abs(x-want[i]) > 100 { // two statistics share ε = 1, so noise reaches 100 with a probability of e^−50
			t.Errorf("sum %d: %g, want %g", i, x, want[i])
		}
	}
}

// BenchmarkOfSteps measures one stream of counts in 10⁴ cells as BenchmarkOneStream does, with steps of n events: by
// count, by the clock, and by the clock with users. Each user has one event in the second of two periods of 36 steps.
// The three take turns, so that a machine with varying speed does not decide the result.
func BenchmarkOfSteps(b *testing.B) {
	for _, n := range []int{10_000, 300_000} {
		b.Run(fmt.Sprint("events=", n), func(b *testing.B) {
			cells := []string{"ORIEL_OPERATOR=aggregate", "ORIEL_CELLS=store=0:100:100,hour=0:100:100", "ORIEL_STATISTICS=count"}
			kinds := []string{"count", "clock", "users"}
			walks := []*clockWalk{
				newClockWalk(b, 1, append(cells, fmt.Sprint("ORIEL_BATCH=", n))...),
				newClockWalk(b, 1, append(cells, "ORIEL_STEP=1s")...),
				newClockWalk(b, 1, append(cells,
					"ORIEL_STEP=1s", "ORIEL_USER_ID=key", "ORIEL_USER_PERIOD=36s", "ORIEL_USER_EVENTS=1")...),
			}
			values, keys := make([][]byte, 1<<12), make([][24]byte, 1<<12)
			for i := range values {
				values[i] = fmt.Appendf(nil, `{"store":%d,"hour":%d}`, i*7%100, i*13%100)
			}
			user := uint64(0)
			for _, w := range walks {
				w.fill = func(r *records.Record) {
					i := r.Offset % int64(len(values))
					r.Value, r.Key = values[i], keys[i][:]
					user++
					binary.BigEndian.PutUint64(keys[i][8:], user)
				}
			}
			sealer, err := state.NewIncarnation(state.Incarnation{Stream: "t"}).Sealer()
			if err != nil {
				b.Fatal(err)
			}
			slot, saved := int64(0), []state.Record(nil)
			step := func(w *clockWalk) {
				w.take(b, slot, 0, n)
				if w == walks[0] {
					return
				}
				w.pass(b, slot+1)
				began := processor(b)
				saved = w.Stream.Save(saved[:0], sealer)
				w.clocks.walk += processor(b) - began
			}
			for ; slot < 36; slot++ { // the first period, in which memory grows
				step(walks[2])
			}
			walks[2].clocks.decode, walks[2].clocks.walk = 0, 0
			for b.Loop() {
				for _, w := range walks {
					step(w)
				}
				slot++
			}
			for i, w := range walks {
				events := float64(b.N * n)
				b.ReportMetric(float64(w.clocks.decode)/events, kinds[i]+"-decode-ns/event")
				b.ReportMetric(float64(w.clocks.walk)/events, kinds[i]+"-walk-ns/event")
			}
		})
	}
}
