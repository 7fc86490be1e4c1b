package mechanisms_test

import (
	"bytes"
	"encoding/binary"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"oriel/mechanisms"
	"oriel/mechanisms/contribution"
	"oriel/mechanisms/dp"
	"oriel/mechanisms/mechtest"
	"oriel/mechanisms/noise"
	"oriel/mechanisms/protection"
)

// history is the records of a stream; a nil gradient is a null event.
type history struct {
	ids       []noise.Identity
	gradients [][]float64
}

// records returns a fixed history of count records of n entries.
func records(count, n int) history {
	r := rand.New(rand.NewPCG(11, 0))
	var h history
	for i := range count {
		g := make([]float64, n)
		for j := range g {
			g[j] = r.NormFloat64()
		}
		h.ids = append(h.ids, noise.Identity{Topic: [16]byte{1}, Partition: 2, Offset: int64(10 * i), LeaderEpoch: 3})
		h.gradients = append(h.gradients, g)
	}
	return h
}

// with returns the history with one record changed.
func (h history) with(i int, change func(id *noise.Identity, g *[]float64)) history {
	h.ids, h.gradients = slices.Clone(h.ids), slices.Clone(h.gradients)
	h.gradients[i] = slices.Clone(h.gradients[i])
	change(&h.ids[i], &h.gradients[i])
	return h
}

// run returns the release of each closed step.
func run(s *mechanisms.Stream, h history) (out [][]float64) {
	for i, id := range h.ids {
		if s.Add(id, h.gradients[i]) {
			out = append(out, slices.Clone(s.Sum(0)))
		}
	}
	return out
}

// batched returns a configuration with n = 3, W = 4, B = 3.
func batched(t testing.TB) mechanisms.Config {
	t.Helper()
	c := mechtest.Config(3)
	c.Scope, c.Batch = protection.Window{Steps: 4}, 3
	return c
}

func TestSameHistorySameBytes(t *testing.T) {
	c, h := batched(t), records(60, 3)
	key := [32]byte{4}
	a, b := run(mechtest.Open(t, c, key), h), run(mechtest.Open(t, c, key), h)
	if len(a) != 20 || !slices.EqualFunc(a, b, slices.Equal) {
		t.Errorf("%d releases, equal: %v", len(a), slices.EqualFunc(a, b, slices.Equal))
	}
	other := run(mechtest.Open(t, c, [32]byte{5}), h)
	for i := range a {
		for j := range a[i] {
			if a[i][j] == other[i][j] {
				t.Errorf("step %d: another key gives the same release", i+1)
			}
		}
	}
}

// TestOneChangedRecordRenewsAllLaterNoise changes one record, at each position in its batch. Every release before the
// record's step must stay the same, and every later release must have new noise. This must hold even if the sums are
// equal: with a changed identity, or a null event in place of zeros.
func TestOneChangedRecordRenewsAllLaterNoise(t *testing.T) {
	renewsAllLaterNoise(t, batched(t))
}

// TestOneChangedRecordOfFewNumbersRenewsAllLaterNoise repeats TestOneChangedRecordRenewsAllLaterNoise for a chain that
// absorbs only nonzero places and values.
func TestOneChangedRecordOfFewNumbersRenewsAllLaterNoise(t *testing.T) {
	c := batched(t)
	c.Contribution.Nonzero = 1 // most contributions have more nonzero integers, which is allowed
	renewsAllLaterNoise(t, c)
}

func renewsAllLaterNoise(t *testing.T, c mechanisms.Config) {
	h := records(60, 3)
	h.gradients[30] = make([]float64, 3) // the zero vector: the sums of null and zero records are equal
	h.gradients[33] = []float64{0.5, 0, 0}
	noisy, silent := mechtest.Open(t, c, [32]byte{4}), mechtest.ZeroStream(t, c)
	noisyStart, silentStart := noisy.AppendState(nil), silent.AppendState(nil)
	restart := func(s *mechanisms.Stream, state []byte) *mechanisms.Stream {
		if err := s.Restore(state); err != nil {
			t.Fatal(err)
		}
		return s
	}
	zero := run(silent, h)
	noiseOf := func(h history) (out [][]float64) {
		out = run(restart(noisy, noisyStart), h)
		exact := run(restart(silent, silentStart), h)
		for i := range out {
			for j := range out[i] {
				out[i][j] -= exact[i][j]
			}
		}
		return out
	}
	base := noiseOf(h)
	f := func(name string, at int, sameSums bool, change func(id *noise.Identity, g *[]float64)) {
		t.Helper()
		changed := h.with(at, change)
		other := noiseOf(changed)
		step := at / 3 // index of the release that closes the record's batch
		for i := range base {
			for j := range base[i] {
				if same := base[i][j] == other[i][j]; same != (i < step) {
					t.Fatalf("%s: record %d: noise of step %d the same: %v", name, at, i+1, same)
				}
			}
		}
		if sums := run(restart(silent, silentStart), changed); sameSums != slices.EqualFunc(sums, zero, slices.Equal) {
			t.Errorf("%s: record %d: sums the same: %v, want %v", name, at, !sameSums, sameSums)
		}
	}
	for _, at := range []int{0, 1, 2, 30, 31, 32, 57, 58, 59} { // the first, middle and last record of three batches
		f("integers", at, false, func(_ *noise.Identity, g *[]float64) { (*g)[1] += 0.01; (*g)[0] *= 0.5 })
		f("offset", at, true, func(id *noise.Identity, _ *[]float64) { id.Offset++ })
		f("leader epoch", at, true, func(id *noise.Identity, _ *[]float64) { id.LeaderEpoch++ })
		f("topic", at, true, func(id *noise.Identity, _ *[]float64) { id.Topic[15]++ })
		f("partition", at, true, func(id *noise.Identity, _ *[]float64) { id.Partition++ })
	}
	f("null for zero", 30, true, func(_ *noise.Identity, g *[]float64) { *g = nil })
	f("place", 33, false, func(_ *noise.Identity, g *[]float64) { *g = []float64{0, 0, 0.5} })
	f("sign", 33, false, func(_ *noise.Identity, g *[]float64) { (*g)[0] = -0.5 })
}

// TestSparseAbsorptionIsAnotherHistory checks that absorbing places and values changes the keys, but not contributions
// or sums, and that no step allocates.
func TestSparseAbsorptionIsAnotherHistory(t *testing.T) {
	whole, h := batched(t), records(30, 3)
	h.gradients[7] = nil // a null event follows a record whose numbers are still in the scratch
	places := whole
	places.Contribution.Nonzero = 1
	if a, b := run(mechtest.ZeroStream(t, whole), h), run(mechtest.ZeroStream(t, places), h); !slices.EqualFunc(a, b,
		slices.Equal) {
		t.Error("sums differ")
	}
	a, b := mechtest.Open(t, whole, [32]byte{4}), mechtest.Open(t, places, [32]byte{4})
	run(a, h)
	run(b, h)
	if a.Tag("x") == b.Tag("x") {
		t.Error("one key for two ways to absorb")
	}
	if n := testing.AllocsPerRun(10, func() { b.Add(h.ids[0], h.gradients[0]) }); n > 0 {
		t.Errorf("%g allocations", n)
	}
	for _, n := range []int{-1, 4} {
		bad := whole
		bad.Contribution.Nonzero = n
		if _, err := mechanisms.Calibrate(bad); err == nil {
			t.Errorf("%d of 3 integers that are not zero: not refused", n)
		}
	}
}

func TestRestoreAfterAnyRecordGivesTheSameBytes(t *testing.T) {
	c, h := batched(t), records(40, 3)
	h.gradients[7] = nil
	for _, name := range everyName() {
		c.Name, c.Printed, c.Scope = name, config(name, 3).Printed, scope(name, 4)
		stream, restored := mechtest.Open(t, c, [32]byte{4}), mechtest.Open(t, c, [32]byte{})
		for i, id := range h.ids {
			state := stream.AppendState(nil)
			if len(state) != stream.StateLen() {
				t.Fatalf("state of %d bytes, want %d", len(state), stream.StateLen())
			}
			if err := restored.Restore(state); err != nil {
				t.Fatal(err)
			}
			if !bytes.Equal(restored.AppendState(nil), state) || !slices.Equal(restored.Sum(0), stream.Sum(0)) {
				t.Fatalf("%s: record %d: a restored stream is another", name, i)
			}
			if stream.Add(id, h.gradients[i]) != restored.Add(id, h.gradients[i]) ||
				!slices.Equal(stream.Sum(0), restored.Sum(0)) {
				t.Fatalf("%s: record %d: a restored stream goes on differently", name, i)
			}
		}
	}
}

func TestRestoreRefuses(t *testing.T) {
	c := batched(t)
	stream := mechtest.Open(t, c, [32]byte{4})
	run(stream, records(20, 3))
	state := stream.AppendState(nil)
	f := func(name string, change func(b []byte) []byte) {
		t.Helper()
		if stream.Restore(change(bytes.Clone(state))) == nil {
			t.Errorf("%s: accepted", name)
		}
		if !bytes.Equal(stream.AppendState(nil), state) {
			t.Errorf("%s: a refused state changes the stream", name)
		}
	}
	f("empty", func([]byte) []byte { return nil })
	f("short", func(b []byte) []byte { return b[:len(b)-1] })
	f("long", func(b []byte) []byte { return append(b, 0) })
	f("version", func(b []byte) []byte { b[0]++; return b })
	f("place", func(b []byte) []byte { b[33] = 3; return b })
	f("partial beyond its bound", func(b []byte) []byte { binary.LittleEndian.PutUint64(b[37:], 2<<24+1); return b })
	f("release not finite", func(b []byte) []byte {
		binary.LittleEndian.PutUint64(b[37+24:], math.Float64bits(math.NaN()))
		return b
	})
	f("sum of another step", func(b []byte) []byte { b[37+48]++; return b })
	other := batched(t)
	other.Scope = protection.Window{Steps: 8}
	if mechtest.Open(t, other, [32]byte{}).Restore(state) == nil {
		t.Error("a state of another window is accepted")
	}
}

func FuzzStreamRestore(f *testing.F) {
	c := batched(f)
	stream := mechtest.Open(f, c, [32]byte{4})
	h := records(20, 3)
	for i, id := range h.ids {
		f.Add(stream.AppendState(nil))
		stream.Add(id, h.gradients[i])
	}
	fresh := mechtest.Open(f, c, [32]byte{})
	f.Fuzz(func(t *testing.T, state []byte) {
		if fresh.Restore(state) == nil && !bytes.Equal(fresh.AppendState(nil), state) {
			t.Error("a restored state is not written back")
		}
	})
}

// TestNeighboursDifferByAtMostTheSensitivity compares neighbours that differ in one contribution. From the
// contribution's step on, all sums must differ by the same integer vector, of norm at most 2Λ under replace and Λ under
// zero-out, even for NaN, infinities and huge values.
func TestNeighboursDifferByAtMostTheSensitivity(t *testing.T) {
	const n = 5
	r := rand.New(rand.NewPCG(12, 0))
	for trial := range 300 {
		c := mechtest.Config(n)
		c.Scope, c.Batch = protection.Window{Steps: 4}, uint64(1+trial%4)
		c.Contribution = contribution.OneComponent(n, math.Ldexp(1+r.Float64(), r.IntN(20)-10))
		calibration := mechtest.Plan(t, mechanisms.Config{
			Name: "tree-gamma", Batch: c.Batch, Contribution: contribution.OneComponent(n, c.Clip()),
			Budget: dp.Budget{Epsilon: 1},
			Terms:  protection.Terms{Scope: c.Scope, Unit: oneEvent},
		})
		c.Name, c.Budget.Delta = "tree-gamma", 0
		h := records(24, n)
		for _, g := range h.gradients {
			for j := range g {
				g[j] *= c.Clip()
			}
		}
		at := r.IntN(24)
		other := h.with(at, func(_ *noise.Identity, g *[]float64) {
			size := []float64{0, 1e-30, 1, 1, 1, 1e3, 1e300, math.Inf(1), math.NaN()}[r.IntN(9)]
			for j, x := range *g {
				(*g)[j] = -x * size
			}
		})
		null := h.with(at, func(_ *noise.Identity, g *[]float64) { *g = nil })
		sums := run(mechtest.Planted(t, c, calibration, mechtest.Zero{}), h)
		f := func(neighbour history, lambdas int64) {
			t.Helper()
			for i, sum := range run(mechtest.Planted(t, c, calibration, mechtest.Zero{}), neighbour) {
				square := int64(0)
				for j := range sum {
					d := int64(math.Ldexp(sum[j]-sums[i][j], -calibration.Grid.Exp)) // exact: integers below 2⁵³ units
					square += d * d
				}
				limit := lambdas * calibration.Grid.Lambda
				if i < at/int(c.Batch) {
					limit = 0
				}
				if square > limit*limit {
					t.Fatalf("trial %d: step %d: neighbours differ by √%d units, at most %d", trial, i+1, square, limit)
				}
			}
		}
		f(other, 2)
		f(null, 1)
	}
}

func TestStreamReportsItsShape(t *testing.T) {
	c := batched(t)
	c.Failure = 0.01
	stream := mechtest.ZeroStream(t, c)
	if stream.Dimension() != 3 || stream.Batch() != 3 || stream.Step() != 0 || !(stream.ErrorBound() > 0) {
		t.Errorf("dimension %d, batch %d, step %d, error bound %g",
			stream.Dimension(), stream.Batch(), stream.Step(), stream.ErrorBound())
	}
	if !slices.Equal(stream.Sum(0), []float64{0, 0, 0}) {
		t.Errorf("sum %v before the first step", stream.Sum(0))
	}
	closed := 0
	for i := range 7 {
		if stream.Place() != i%3 {
			t.Errorf("the open step has %d records, want %d", stream.Place(), i%3)
		}
		if stream.Add(noise.Identity{Offset: int64(i)}, []float64{0.25, 0, -0.5}) {
			closed++
		}
	}
	if closed != 2 || stream.Step() != 2 || !slices.Equal(stream.Sum(0), []float64{1.5, 0, -3}) {
		t.Errorf("%d steps closed, sum %v", closed, stream.Sum(0))
	}
	if g := stream.Guarantee(); g.Epsilon != 1 || g.Batch != 3 || g.Terms != c.Terms {
		t.Errorf("guarantee %+v", g)
	}
}

func TestAddPanicsOnAWrongDimension(t *testing.T) {
	stream := mechtest.ZeroStream(t, mechtest.Config(3))
	defer func() {
		if recover() == nil {
			t.Error("no panic")
		}
	}()
	stream.Add(noise.Identity{}, []float64{1, 2})
}

func TestStreamAddAllocatesNothingItself(t *testing.T) {
	stream := mechtest.ZeroStream(t, mechtest.Config(32))
	gradient, id := make([]float64, 32), noise.Identity{}
	gradient[3] = 5
	if got := testing.AllocsPerRun(1000, func() {
		id.Offset++
		stream.Add(id, gradient)
	}); got != 0 {
		t.Errorf("%g allocations a record without a cipher, want 0", got)
	}
	state := make([]byte, 0, stream.StateLen())
	if got := testing.AllocsPerRun(100, func() { state = stream.AppendState(state[:0]) }); got != 0 {
		t.Errorf("%g allocations a state, want 0", got)
	}
}
