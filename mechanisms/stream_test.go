package mechanisms_test

import (
	"bytes"
	"encoding/binary"
	"fmt"
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
	"oriel/mechanisms/steps"
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
func run(s *mechtest.Counted, h history) (out [][]float64) {
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
	a, b := run(mechtest.ByCount(mechtest.Open(t, c, key)), h), run(mechtest.ByCount(mechtest.Open(t, c, key)), h)
	if len(a) != 20 || !slices.EqualFunc(a, b, slices.Equal) {
		t.Errorf("%d releases, equal: %v", len(a), slices.EqualFunc(a, b, slices.Equal))
	}
	other := run(mechtest.ByCount(mechtest.Open(t, c, [32]byte{5})), h)
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
	noisy, silent := mechtest.ByCount(mechtest.Open(t, c, [32]byte{4})), mechtest.ByCount(mechtest.ZeroStream(t, c))
	noisyStart, silentStart := noisy.AppendState(nil), silent.AppendState(nil)
	restart := func(s *mechtest.Counted, state []byte) *mechtest.Counted {
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
	compare := func(name string, at int, sameSums bool, changed history) {
		t.Helper()
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
	f := func(name string, at int, sameSums bool, change func(id *noise.Identity, g *[]float64)) {
		t.Helper()
		compare(name, at, sameSums, h.with(at, change))
	}
	for _, at := range []int{0, 1, 2, 30, 31, 32, 57, 58, 59} { // the first, middle and last record of three batches
		f("integers", at, false, func(_ *noise.Identity, g *[]float64) { (*g)[1] += 0.01; (*g)[0] *= 0.5 })
		f("offset", at, true, func(id *noise.Identity, _ *[]float64) { id.Offset++ })
		f("leader epoch", at, true, func(id *noise.Identity, _ *[]float64) { id.LeaderEpoch++ })
		f("partition", at, true, func(id *noise.Identity, _ *[]float64) { id.Partition++ })
		renamed := h
		for i := at / 3 * 3; i < len(h.ids); i++ { // a step has one topic
			renamed = renamed.with(i, func(id *noise.Identity, _ *[]float64) { id.Topic[15]++ })
		}
		compare("topic", at, true, renamed)
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
	if a, b := run(
		mechtest.ByCount(mechtest.ZeroStream(t, whole)),
		h,
	), run(
		mechtest.ByCount(mechtest.ZeroStream(t, places)),
		h,
	); !slices.EqualFunc(
		a,
		b,
		slices.Equal,
	) {
		t.Error("sums differ")
	}
	a, b := mechtest.ByCount(mechtest.Open(t, whole, [32]byte{4})), mechtest.ByCount(mechtest.Open(t, places, [32]byte{4}))
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
	for _, name := range mechanisms.Names() {
		c.Name, c.Scope = name, scope(name, 4)
		stream, restored := mechtest.ByCount(
			mechtest.Open(t, c, [32]byte{4}),
		), mechtest.ByCount(
			mechtest.Open(t, c, [32]byte{}),
		)
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

// TestNoStateHasTheKeyOfPublishedNoise draws the noise of a step from the state before its end, which gives the
// release, and from the state after it, which must not.
func TestNoStateHasTheKeyOfPublishedNoise(t *testing.T) {
	c := config("once-gaussian", 3)
	stream, p := mechtest.Open(t, c, [32]byte{4}), mechtest.Plan(t, c)
	sampler, err := noise.NewGaussian(p.Scale)
	if err != nil {
		t.Fatal(err)
	}
	drawn := func(state []byte, closes bool) []float64 {
		chain, _, err := noise.NewScratch().CutState(state[1:])
		if err != nil {
			t.Fatal(err)
		}
		if closes {
			chain.Close(1)
		}
		integers, out := make([]int64, 3), make([]float64, 3)
		sampler.Fill(integers, chain.Seed(noise.NodeID{Block: 1}))
		for i, x := range integers {
			out[i] = float64(x) * p.Grid.Unit()
		}
		return out
	}
	stream.Add(noise.Identity{}, make([]float64, 3))
	before := drawn(stream.AppendState(nil), true)
	stream.Close()
	if after := drawn(stream.AppendState(nil), false); !slices.Equal(before, stream.Sum(0)) ||
		slices.Equal(after, before) {
		t.Errorf("released %v, drawn from the state before %v, after %v", stream.Sum(0), before, after)
	}
}

func TestRestoreRefuses(t *testing.T) {
	c := batched(t)
	stream := mechtest.ByCount(mechtest.Open(t, c, [32]byte{4}))
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
	f("version", func(b []byte) []byte { b[steps.CountLen]++; return b })
	f("more records than a step has", func(b []byte) []byte { b[0] = 3; return b })
	const releases = steps.CountLen + 1 + 32 + 16 + 4 + 44 + 3*16
	f("partitions that no chain writes", func(b []byte) []byte { b[steps.CountLen+1+32+16]++; return b })
	f("release not finite", func(b []byte) []byte {
		binary.LittleEndian.PutUint64(b[releases:], math.Float64bits(math.NaN()))
		return b
	})
	other := batched(t)
	other.Scope = protection.Window{Steps: 8}
	if mechtest.ByCount(mechtest.Open(t, other, [32]byte{})).Restore(state) == nil {
		t.Error("a state of another window is accepted")
	}
}

func FuzzStreamRestore(f *testing.F) {
	c := batched(f)
	stream := mechtest.ByCount(mechtest.Open(f, c, [32]byte{4}))
	h := records(20, 3)
	for i, id := range h.ids {
		f.Add(stream.AppendState(nil))
		stream.Add(id, h.gradients[i])
	}
	fresh := mechtest.ByCount(mechtest.Open(f, c, [32]byte{}))
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
		sums := run(mechtest.ByCount(mechtest.Planted(t, c, calibration, mechtest.Zero{})), h)
		f := func(neighbour history, lambdas int64) {
			t.Helper()
			for i, sum := range run(mechtest.ByCount(mechtest.Planted(t, c, calibration, mechtest.Zero{})), neighbour) {
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
	stream := mechtest.ByCount(mechtest.ZeroStream(t, c))
	if stream.Dimension() != 3 || stream.Batch() != 3 || stream.Step() != 0 || !(stream.ErrorBound() > 0) {
		t.Errorf("dimension %d, batch %d, step %d, error bound %g",
			stream.Dimension(), stream.Batch(), stream.Step(), stream.ErrorBound())
	}
	if !slices.Equal(stream.Sum(0), []float64{0, 0, 0}) {
		t.Errorf("sum %v before the first step", stream.Sum(0))
	}
	closed := 0
	for i := range 7 {
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
	stream := mechtest.ByCount(mechtest.ZeroStream(t, mechtest.Config(3)))
	defer func() {
		if recover() == nil {
			t.Error("no panic")
		}
	}()
	stream.Add(noise.Identity{}, []float64{1, 2})
}

func TestStreamAddAllocatesNothingItself(t *testing.T) {
	stream := mechtest.ByCount(mechtest.ZeroStream(t, mechtest.Config(32)))
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

// TestSumsOfManyRecords checks that contribution sums beyond 64 bits are exact: a step may have any number of records.
// The sum of the open step is set near 2⁶³ through a state, because so many records cannot be played.
func TestSumsOfManyRecords(t *testing.T) {
	for _, nonzero := range []int{0, 1} {
		c := config("once-gaussian", 1)
		c.Contribution = contribution.Contribution{
			Components: []contribution.Component{{Size: 3, Clip: 1, Quantiser: counts{length: 1}}}, Nonzero: nonzero,
		}
		stream, unit := mechtest.ZeroStream(t, c), mechtest.Plan(t, c).Grid.Unit()
		state := stream.AppendState(nil)
		binary.LittleEndian.PutUint64(state[1+32+16+4:], math.MaxInt64)
		if err := stream.Restore(state); err != nil {
			t.Fatal(err)
		}
		stream.Add(noise.Identity{}, []float64{0})
		stream.Close()
		if got := stream.Sum(0)[0]; got != 0x1p63*unit {
			t.Errorf("nonzero %d: the sum 2⁶³ is %g units", nonzero, got/unit)
		}
	}
}

// BenchmarkStreamAdd measures a record of one nonzero number: quantised, absorbed and added to the open step.
func BenchmarkStreamAdd(b *testing.B) {
	for _, n := range []int{1, 64, 512} {
		for _, nonzero := range []int{0, 1} {
			b.Run(fmt.Sprintf("n=%d/nonzero=%d", n, nonzero), func(b *testing.B) {
				c := config("once-gaussian", n)
				c.Contribution.Nonzero = nonzero
				stream, id, v := mechtest.Open(b, c, [32]byte{1}), noise.Identity{}, make([]float64, n)
				v[n/2] = 0.5
				b.ReportAllocs()
				for b.Loop() {
					id.Offset++
					stream.Add(id, v)
				}
			})
		}
	}
}
