package mechtest

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"oriel/mechanisms"
	"oriel/mechanisms/contribution"
	"oriel/mechanisms/dp"
	_ "oriel/mechanisms/mechtest/tiertest" // sets up the test process
	"oriel/mechanisms/noise"
	"oriel/mechanisms/protection"
)

// Zero is a sampler of zero noise.
type Zero struct{}

// Fill writes zeros.
func (Zero) Fill(dst []int64, _ noise.Seed) { clear(dst) }

// Config returns a valid configuration of n coordinates for tests that do not depend on its values: tree-gaussian, ε =
// 1, δ = 1e-6, W = 8, B = 1, L = 1, replace.
func Config(n int) mechanisms.Config {
	return mechanisms.Config{
		Name:         "tree-gaussian",
		Batch:        1,
		Contribution: contribution.OneComponent(n, 1),
		Budget:       dp.Budget{Epsilon: 1, Delta: 1e-6},
		Terms: protection.Terms{
			Scope: protection.Window{Steps: 8}, Unit: protection.Event{Exchange: dp.Replace},
		},
	}
}

// ZeroStream opens a stream whose sums are exact: quantised contributions, but no noise. Its Guarantee is the
// calibration's, which this stream does not have.
func ZeroStream(tb testing.TB, c mechanisms.Config) *mechanisms.Stream {
	tb.Helper()
	return Planted(tb, c, Plan(tb, c), Zero{})
}

// calibrations caches calibrations by the configuration, printed by fmt.
var plans sync.Map

// Plan calibrates c. It caches the result if fmt prints all of c; a configuration with pointers is calibrated each
// time, because the values behind them may change.
func Plan(tb testing.TB, c mechanisms.Config) mechanisms.Calibration {
	tb.Helper()
	key := fmt.Sprintf("%#v", c)
	known, found := plans.Load(key)
	if !found {
		calibration, err := mechanisms.Calibrate(c)
		if err != nil {
			tb.Fatal(err)
		}
		if strings.Contains(key, ")(0x") {
			return calibration
		}
		known, _ = plans.LoadOrStore(key, calibration)
	}
	calibration := known.(mechanisms.Calibration)
	calibration.Components = slices.Clone(calibration.Components)
	return calibration
}

// Open opens a stream of c with real noise and the given key.
func Open(tb testing.TB, c mechanisms.Config, key [32]byte) *mechanisms.Stream {
	tb.Helper()
	stream, err := mechanisms.Open(c, Plan(tb, c), key)
	if err != nil {
		tb.Fatal(err)
	}
	return stream
}

// Sum returns the calibration's mechanism of the first component, which draws from sampler.
func Sum(tb testing.TB, c mechanisms.Config, p mechanisms.Calibration, sampler noise.Sampler) mechanisms.Sum {
	tb.Helper()
	return Sums(tb, c, p, sampler)[0]
}

// Sums returns the calibration's mechanisms, one for each component, which draw from sampler.
func Sums(tb testing.TB, c mechanisms.Config, p mechanisms.Calibration, sampler noise.Sampler) []mechanisms.Sum {
	tb.Helper()
	sums, err := p.SumsOver(c, sampler)
	if err != nil {
		tb.Fatal(err)
	}
	return sums
}

// Planted opens a stream whose mechanism draws from sampler instead of the calibration's sampler.
func Planted(tb testing.TB, c mechanisms.Config, p mechanisms.Calibration, sampler noise.Sampler) *mechanisms.Stream {
	tb.Helper()
	stream, err := mechanisms.NewStream(c, p, [32]byte{1}, Sums(tb, c, p, sampler)...)
	if err != nil {
		tb.Fatal(err)
	}
	return stream
}
