package mechanisms_test

import (
	"bytes"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"oriel/mechanisms"
	"oriel/mechanisms/blt"
	"oriel/mechanisms/contribution"
	"oriel/mechanisms/decay"
	"oriel/mechanisms/dp"
	"oriel/mechanisms/mechtest"
	"oriel/mechanisms/noise"
	"oriel/mechanisms/protection"
)

func forgetful(memory uint64) mechanisms.Config {
	return mechanisms.Config{
		Name: "blt", Batch: 1, Contribution: contribution.OneComponent(3, 1), Budget: dp.Budget{Epsilon: 1, Delta: 1e-6},
		Terms: protection.Terms{Scope: protection.Decay{Steps: memory}, Unit: oneEvent},
	}
}

// TestReadings checks that a reading with the stream's own memory is the stream's sum, bit for bit. A reading with
// another memory must equal the floating-point sum of increments within rounding, and a restored reading must continue
// with the same bytes.
func TestReadings(t *testing.T) {
	c := forgetful(16)
	stream := mechtest.ByCount(mechtest.Open(t, c, [32]byte{9}))
	read := func(memory uint64) *mechanisms.Reading {
		r, err := stream.Reading(0, memory)
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	own, other, again, plain := read(16), read(100), read(100), read(0)
	rng := rand.New(rand.NewPCG(2, 5))
	slow, sum, got, last := make([]float64, 3), make([]float64, 3), make([]float64, 3), make([]float64, 3)
	gamma, fitted := float64(decay.Decay(100))/(1<<30), float64(decay.Decay(16))/(1<<30)
	for step := range 500 {
		if !stream.Add(noise.Identity{Offset: int64(step)}, []float64{rng.NormFloat64(), 0.5, -0.2}) {
			t.Fatal("no step")
		}
		for _, r := range []*mechanisms.Reading{own, other, again, plain} {
			r.Take()
		}
		if own.Write(got); !slices.Equal(got, stream.Sum(0)) {
			t.Fatalf("step %d: %v, the stream's %v", step, got, stream.Sum(0))
		}
		other.Write(got)
		for i, y := range stream.Sum(0) {
			u := y - fitted*last[i]
			slow[i], sum[i] = gamma*slow[i]+u, sum[i]+u
			if math.Abs(got[i]-slow[i]) > 1e-4 {
				t.Fatalf("step %d: %v, want %v", step, got, slow)
			}
		}
		copy(last, stream.Sum(0))
		if plain.Write(got); math.Abs(got[0]-sum[0]) > 1e-3 {
			t.Fatalf("step %d: %v, want %v", step, got, sum)
		}
		if step%50 == 7 {
			fresh := read(100)
			if err := fresh.Restore(again.AppendState(nil), false); err != nil {
				t.Fatal(err)
			}
			again = fresh
		}
	}
	if !bytes.Equal(again.AppendState(nil), other.AppendState(nil)) {
		t.Error("a reading that was written down is another one")
	}
	state := other.AppendState(nil)
	for name, bad := range map[string][]byte{
		"short": state[1:], "beyond": append(bytes.Repeat([]byte{0x7f}, 16), state[16:]...),
	} {
		if err := again.Restore(bad, false); err == nil || !bytes.Equal(again.AppendState(nil), state) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if err := again.Restore(state, true); err == nil {
		t.Error("sums of nothing are not zero")
	}
	if plain.Clear(); !bytes.Equal(plain.AppendState(nil), make([]byte, plain.StateLen())) {
		t.Error("cleared sums are not zero")
	}
	if _, err := mechtest.ByCount(mechtest.Open(t, mechtest.Config(3), [32]byte{1})).Reading(0, 8); err == nil {
		t.Error("a tree has increments")
	}
}

// TestSpreads compares the deviations of Deviation with the exact variances, at all ages, across resets, for memories
// far from the fitted one and near its poles.
func TestSpreads(t *testing.T) {
	for _, memory := range []uint64{2, 64, 1024, 65536} {
		f, err := decay.Fit(memory)
		if err != nil {
			t.Fatal(err)
		}
		for _, reading := range []uint64{2, 100, memory, memory * 4, 1 << 20} {
			spread, err := decay.NewSpread(f, reading)
			if err != nil {
				t.Fatalf("memory %d read at %d: %v", memory, reading, err)
			}
			for _, step := range []uint64{
				1, 2, 3, 10, 1000, 65536, f.Period(), f.Period() + 1, f.Period() + 70,
				3*f.Period() + 5, 1 << 40,
			} {
				want, err := f.ReadingVariance(reading, step)
				if got := spread.At(step); err != nil || math.Abs(got/want-1) > 1e-6 {
					t.Errorf("memory %d read at %d, step %d: %g, want %g: %v", memory, reading, step, got, want, err)
				}
				if reading == memory && f.VarianceAt(step) != want {
					t.Errorf("memory %d, step %d: %g, want %g", memory, step, want, f.VarianceAt(step))
				}
			}
		}
	}
	for _, window := range []uint64{1, 64, 1 << 20} {
		f, err := blt.Fit(window, 0.25, 0)
		if err != nil {
			t.Fatal(err)
		}
		spread, err := blt.NewSpread(f)
		if err != nil {
			t.Fatal(err)
		}
		for _, step := range []uint64{1, 2, 3, 100, 1 << 20, 1 << 40} {
			if got, want := spread.At(step), f.VarianceAt(step); math.Abs(got/want-1) > 1e-6 {
				t.Errorf("window %d, step %d: %g, want %g", window, step, got, want)
			}
		}
	}
}

// TestVariancesAreTheirDefinitions computes the coefficients of e, of its decayed sums and of its window sums, and
// compares their squares with the variances.
func TestVariancesAreTheirDefinitions(t *testing.T) {
	const reading, steps = 40, 5000
	f, err := decay.Fit(16)
	if err != nil {
		t.Fatal(err)
	}
	e := make([]float64, 1<<17)
	e[0] = 1
	for k := range f.Count {
		power := 1.0
		for j := 1; j < len(e); j++ {
			e[j] -= float64(f.Residues[k]) / (1 << 30) * power
			power *= float64(f.Poles[k]) / (1 << 30)
		}
	}
	gamma, b, total := float64(decay.Decay(reading))/(1<<30), 0.0, 0.0
	for j := range steps {
		b = gamma*b + e[j]
		total += b * b
		if j >= 5 && j < steps-1 {
			continue
		}
		if got, err := f.ReadingVariance(reading, uint64(j)+1); err != nil || math.Abs(got/total-1) > 1e-9 {
			t.Errorf("step %d: %g, want %g: %v", j+1, got, total, err)
		}
	}
	for _, w := range []int{1, 2, 7, 100, 3000} {
		whole, window := 0.0, 0.0
		for j := range e {
			window += e[j]
			if j >= w {
				window -= e[j-w]
			}
			whole += window * window
		}
		if got := f.WindowVariance(uint64(w)); math.Abs(got/whole-1) > 1e-6 {
			t.Errorf("window %d: %g, want %g", w, got, whole)
		}
	}
}

// TestReadingsAreScaled checks that a reading has the scales of its component's coordinates, as the stream's sum has.
func TestReadingsAreScaled(t *testing.T) {
	c := forgetful(16)
	c.Contribution = contribution.Contribution{
		Components: []contribution.Component{{Size: 2, Clip: 1, Scales: []uint32{4, 1}}},
	}
	stream := mechtest.ByCount(mechtest.Open(t, c, [32]byte{3}))
	own, err := stream.Reading(0, 16)
	if err != nil {
		t.Fatal(err)
	}
	got := make([]float64, 2)
	for step := range 20 {
		stream.Add(noise.Identity{Offset: int64(step)}, []float64{1.2, 0.1})
		own.Take()
		if own.Write(got); !slices.Equal(got, stream.Sum(0)) {
			t.Fatalf("step %d: %v, the stream's %v", step+1, got, stream.Sum(0))
		}
	}
}

// TestNoiseLawsHaveTheRoundingOfTheirBatch checks the bound that NoiseLaw derives: 3 units for carry and draws, and
// half a unit for each contribution of a batch.
func TestNoiseLawsHaveTheRoundingOfTheirBatch(t *testing.T) {
	for _, batch := range []uint64{1, 7, 1000} {
		c := forgetful(16)
		c.Batch = batch
		calibration := mechtest.Plan(t, c)
		law, err := mechtest.ByCount(mechtest.Open(t, c, [32]byte{3})).NoiseLaw(0)
		if err != nil {
			t.Fatal(err)
		}
		unit := calibration.Component(0).Grid.Unit()
		if want := (3 + float64(batch)/2) * unit; law.Rounding != want {
			t.Errorf("B = %d: rounding %g, want %g", batch, law.Rounding, want)
		}
		if want := calibration.Component(0).Scale.Float64() * unit; law.Draw != want {
			t.Errorf("B = %d: a draw of %g, want %g", batch, law.Draw, want)
		}
	}
}
