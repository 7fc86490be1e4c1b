package ridge

import (
	"math/rand/v2"
	"testing"

	"oriel/mechanisms"
	"oriel/operators/optest"
	"oriel/schemas/event"
)

// kinds are configurations that together cover the settings, over all mechanisms that fit them.
var kinds = []struct {
	name  string
	m     mechanisms.Config
	lines []string
}{
	{"moments for life", optest.Life(16), []string{
		"UPDATE=moments", "DIMENSION=4", "LABEL_RANGE=-60:180", "EMIT_EVERY=2",
	}},
	{"moments, window", optest.Window("blt"), []string{
		"UPDATE=moments", "DIMENSION=4", "LABEL_RANGE=0:480", "EMIT_EVERY=1", "LABEL_SHARE=1", "FEATURES_MAX=2.5",
		"START_REGULARIZER=0.5", "STRONG_CONVEXITY=0.01", "NOISE_SHIFT=0",
	}},
	{"innovation for life", optest.Life(64), []string{
		"UPDATE=innovation", "DIMENSION=4", "LABEL_RANGE=-1:1", "RESIDUAL_MAX=0.25", "EMIT_EVERY=3",
	}},
	{"moments, raised", optest.Life(16), []string{
		"UPDATE=moments", "DIMENSION=4", "LABEL_RANGE=-60:180", "EMIT_EVERY=2", "SPECTRUM=raise", "NOISE_SHIFT=0.1",
	}},
	{"innovation, tree", optest.Window("tree-gaussian"), []string{
		"UPDATE=innovation", "DIMENSION=4", "LABEL_RANGE=-3:1", "RESIDUAL_MAX=2", "EMIT_EVERY=1", "GAIN=0", "WEIGHTS_MAX=1",
	}},
}

// config returns the operator with the settings NAME=value for a mechanism, and the mechanism with the operator's
// contribution.
func config(tb testing.TB, m mechanisms.Config, lines ...string) (operator, mechanisms.Config) {
	tb.Helper()
	return optest.Over[operator](tb, Definition, m, lines...)
}

// drawn returns random events with true weights of 0.3, dense and sparse. Some have long features or labels outside any
// range, and event weights lie on either side of 1.
func drawn(count, d int, seed uint64) []event.Event {
	rng := rand.New(rand.NewPCG(seed, 7))
	events := make([]event.Event, count)
	for i := range events {
		v, y := event.Vector{Values: make([]float64, d)}, 0.0
		for j := range v.Values {
			v.Values[j] = 0.5 * rng.NormFloat64()
			y += 0.3 * v.Values[j]
		}
		if i%4 == 3 {
			v = event.Vector{Indices: []int32{int32(d) - 1, 0}, Values: v.Values[:2]}
		}
		events[i] = event.Event{Vector: v, Label: y + 0.5*rng.NormFloat64(), Weight: 1.5 * rng.Float64()}
		if i%9 == 1 {
			events[i].Label *= 1000
		}
	}
	return events
}
