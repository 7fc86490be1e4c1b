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
	"oriel/mechanisms/noise"
	"oriel/mechanisms/protection"
)

// Zero is a sampler of zero noise.
type Zero struct{}

// Fill writes zeros.
func (Zero) Fill(dst []int64, _ noise.Seed) { clear(dst) }

// Config returns a valid configuration of n coordinates for tests to which its values do not matter: tree-gaussian, ε =
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

// ZeroStream opens a stream whose sums are exact: quantised, but without noise. Its Guarantee is the plan's, and so is
// false.
func ZeroStream(tb testing.TB, c mechanisms.Config) *mechanisms.Stream {
	tb.Helper()
	return Planted(tb, c, Plan(tb, c), Zero{})
}

// plans caches plans by configuration, as Go prints it.
var plans sync.Map

// Plan calibrates c. It does so only once a process if all of c can be printed; a value behind a pointer may change.
func Plan(tb testing.TB, c mechanisms.Config) mechanisms.Calibration {
	tb.Helper()
	key := fmt.Sprintf("%#v", c)
	known, found := plans.Load(key)
	if !found {
		plan, err := mechanisms.Calibrate(c)
		if err != nil {
			tb.Fatal(err)
		}
		if strings.Contains(key, ")(0x") {
			return plan
		}
		known, _ = plans.LoadOrStore(key, plan)
	}
	plan := known.(mechanisms.Calibration)
	plan.Components = slices.Clone(plan.Components)
	return plan
}

// Open opens the true stream of c with key.
func Open(tb testing.TB, c mechanisms.Config, key [32]byte) *mechanisms.Stream {
	tb.Helper()
	stream, err := mechanisms.Open(c, Plan(tb, c), key)
	if err != nil {
		tb.Fatal(err)
	}
	return stream
}

// Sum returns the plan's mechanism of the first component, drawing from sampler instead of the plan's.
func Sum(tb testing.TB, c mechanisms.Config, p mechanisms.Calibration, sampler noise.Sampler) mechanisms.Sum {
	tb.Helper()
	return Sums(tb, c, p, sampler)[0]
}

// Sums returns the plan's mechanisms, one for each component, drawing from sampler instead of the plan's.
func Sums(tb testing.TB, c mechanisms.Config, p mechanisms.Calibration, sampler noise.Sampler) []mechanisms.Sum {
	tb.Helper()
	sums, err := p.SumsOver(c, sampler)
	if err != nil {
		tb.Fatal(err)
	}
	return sums
}

// Planted opens a stream whose mechanism draws from sampler instead of the plan's.
func Planted(tb testing.TB, c mechanisms.Config, p mechanisms.Calibration, sampler noise.Sampler) *mechanisms.Stream {
	tb.Helper()
	stream, err := mechanisms.NewStream(c, p, [32]byte{1}, Sums(tb, c, p, sampler)...)
	if err != nil {
		tb.Fatal(err)
	}
	return stream
}
