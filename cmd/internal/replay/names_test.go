package replay_test

import (
	"fmt"
	"runtime"
	"slices"
	"testing"
	"time"

	"oriel/mechanisms/mechtest/tiertest"
	"oriel/pipeline/kafka/records"
	"oriel/schemas/decision"
	"oriel/state"
	"oriel/state/frame"
)

// naming returns a walk of names, and a function that takes the events of these numbers. They have different names, and
// every tenth event has one of ten names.
func naming(tb testing.TB) (w *clockWalk, take func(slot int64, from, to int)) {
	tb.Helper()
	w = newClockWalk(tb, 2, "ORIEL_OPERATOR=names", "ORIEL_STEP=24h", "ORIEL_DELTA=1e-6")
	next := 0
	w.fill = func(r *records.Record) {
		name := fmt.Sprintf("name %07d", next)
		if next%10 == 0 {
			name = fmt.Sprintf("common %d", next/10%10)
		}
		next++
		r.Value = []byte(`{"name":"` + name + `"}`)
	}
	return w, func(slot int64, from, to int) {
		next = from
		w.take(tb, slot, 0, (to-from)/2)
		w.take(tb, slot, 1, to-from-(to-from)/2)
	}
}

// TestNamesOfAnOpenStepAreRestored saves a stream in the middle of a step of very many names, and restores another one
// from its state and segments, which must be fast. After more events both must decide the same bytes. The segments of a
// step are deleted in the next one, and a step whose names are saved often has not many times their length in segments.
func TestNamesOfAnOpenStepAreRestored(t *testing.T) {
	events := tiertest.Runs(100_000, 1_100_000)
	sealer, err := state.NewIncarnation(state.Incarnation{Stream: "t"}).Sealer()
	if err != nil {
		t.Fatal(err)
	}
	changelog := map[string][]byte{}
	save := func(w *clockWalk) (private []byte, written int) {
		for _, r := range w.Stream.Save(nil, sealer) {
			if len(r.Value) > 512<<10 {
				t.Errorf("a segment of %d bytes", len(r.Value))
			}
			written += len(r.Value)
			if changelog[string(r.Key)] = r.Value; r.Value == nil {
				delete(changelog, string(r.Key))
			}
		}
		if all := w.Stream.Saved(); int(all[len(all)-1].Segments) != len(changelog) && w.Stream.Saved()[0].Segments > 0 {
			t.Errorf("%d segments, and the state counts %+v", len(changelog), all)
		}
		return w.Stream.AppendState(nil), written
	}
	w, take := naming(t)
	take(10, 0, events)
	if _, written := save(w); written < 10*events {
		t.Errorf("%d bytes of %d names", written, events)
	}
	take(20, events, events+1000)
	private, written := save(w)
	if written > 100_000 {
		t.Errorf("%d bytes of 1000 events", written)
	}

	other, more := naming(t)
	runtime.GC()
	began := time.Now()
	if err := other.Stream.Restore(private); err != nil {
		t.Fatal(err)
	}
	if err := other.Stream.Take(func(kind frame.Kind, span uint64, number uint32) (state.Segment, error) {
		return sealer.OpenSegment(kind, changelog[string(sealer.SegmentKey(kind, span, number))])
	}); err != nil {
		t.Fatal(err)
	}
	if took := time.Since(began); took > 5*time.Second {
		t.Errorf("an open step of %d names is restored in %v", events, took)
	} else {
		t.Logf("%d names restored in %v, %d bytes in memory", events, took, other.Stream.Grown())
	}
	other.Position, other.offsets = w.Position.Clone(), slices.Clone(w.offsets)
	var lines [2][]string
	for i, x := range []*clockWalk{w, other} {
		x.Decided = func(_ uint8, _, line []byte) { lines[i] = append(lines[i], string(line)) }
	}
	take(30, 0, 5000)
	more(30, 0, 5000)
	for _, x := range []*clockWalk{w, other} {
		began := time.Now()
		x.pass(t, 86400)
		t.Logf("closed in %v", time.Since(began))
	}
	if len(lines[0]) != 1 || !slices.Equal(lines[0], lines[1]) {
		t.Errorf("%q, after a restart %q", lines[0], lines[1])
	}
	d, err := decision.Parse([]byte(lines[0][0]))
	if err != nil || len(d.Point) != 1 || d.Point[0] < 10 {
		t.Errorf("%v: %s", err, lines[0])
	}

	if before := len(changelog); before == 0 {
		t.Fatal("no segment")
	}
	save(w)
	take(86410, 0, 100)
	if save(w); len(changelog) != 1 {
		t.Errorf("the next step has %d segments", len(changelog))
	}
}

// TestNamesThatComeAgainAreSavedAnew saves a stream after each of many seconds, in which the same names come again. The
// segments must not become many times as long as the names.
func TestNamesThatComeAgainAreSavedAnew(t *testing.T) {
	sealer, err := state.NewIncarnation(state.Incarnation{Stream: "t"}).Sealer()
	if err != nil {
		t.Fatal(err)
	}
	w := newClockWalk(t, 1, "ORIEL_OPERATOR=names", "ORIEL_STEP=24h", "ORIEL_DELTA=1e-6")
	next := 0
	w.fill = func(r *records.Record) {
		r.Value = fmt.Appendf(nil, `{"name":"a rather long name of one of many things that come again and again, %09d"}`, next%20_000)
		next++
	}
	const whole = 20_000 * 86
	changelog, most, now := map[string][]byte{}, 0, 0
	for second := range tiertest.Runs(30, 200) {
		w.take(t, int64(second), 0, 20_000)
		for _, r := range w.Stream.Save(nil, sealer) {
			now += len(r.Value) - len(changelog[string(r.Key)])
			if changelog[string(r.Key)] = r.Value; r.Value == nil {
				delete(changelog, string(r.Key))
			}
		}
		most = max(most, now)
	}
	if most > 7*whole || most < 2*whole {
		t.Errorf("up to %d bytes in segments, of names of %d bytes", most, whole)
	}
	private := w.Stream.AppendState(nil)
	other := newClockWalk(t, 1, "ORIEL_OPERATOR=names", "ORIEL_STEP=24h", "ORIEL_DELTA=1e-6")
	if err := other.Stream.Restore(private); err != nil {
		t.Fatal(err)
	}
	if err := other.Stream.Take(func(kind frame.Kind, span uint64, number uint32) (state.Segment, error) {
		return sealer.OpenSegment(kind, changelog[string(sealer.SegmentKey(kind, span, number))])
	}); err != nil {
		t.Fatal(err)
	}
	other.Position, other.offsets = w.Position.Clone(), slices.Clone(w.offsets)
	var lines []string
	for _, x := range []*clockWalk{w, other} {
		x.Decided = func(_ uint8, _, line []byte) { lines = append(lines, string(line)) }
		x.pass(t, 86400)
	}
	if len(lines) != 2 || lines[0] != lines[1] {
		t.Error("another decision after a restart")
	}
}
