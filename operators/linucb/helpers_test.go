package linucb

import (
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"

	"oriel/mechanisms"
	"oriel/mechanisms/protection"
	"oriel/operators/optest"
	"oriel/schemas/event"
)

// kinds are configurations that together cover the settings, over all mechanisms that fit them.
var kinds = []struct {
	name  string
	m     mechanisms.Config
	lines []string
}{
	{"logged for life", optest.Life(16), []string{"PLAYED=logged", "ARMS=a,b,c", "DIMENSION=4", "EMIT_EVERY=2"}},
	{"served for life", optest.Life(64), []string{
		"PLAYED=served", "ARMS=no,perhaps,yes", "DIMENSION=4", "EMIT_EVERY=4", "WAIT=7", "CAPACITY=9", "REWARD_RANGE=-1:3",
		"FEATURES_MAX=2.5",
	}},
	{"served, candidates", optest.Window("blt"), []string{
		"PLAYED=served", "CANDIDATES=3", "DIMENSION=4", "EMIT_EVERY=1", "WAIT=5", "CAPACITY=4", "WIDTH=0", "NOISE_SHIFT=0.1",
	}},
	{"logged, candidates, proved", horizon(optest.Window("tree-gaussian"), 256), []string{
		"PLAYED=logged", "CANDIDATES=2", "DIMENSION=4", "EMIT_EVERY=3", "CONFIDENCE=0.9", "LABEL_SHARE=0.7",
		"START_REGULARIZER=0",
	}},
	{"served, proved", horizon(optest.Window("blt"), 200), []string{
		"PLAYED=served", "ARMS=a,b", "DIMENSION=4", "EMIT_EVERY=5", "CONFIDENCE=0.95", "WAIT=20", "CAPACITY=64",
	}},
	{"served, doubled", optest.Window("tree-gaussian"), []string{
		"PLAYED=served", "ARMS=a,b", "DIMENSION=4", "EMIT_EVERY=2", "SOLVE=doubled", "NOISE_SHIFT=0.05", "WAIT=20",
		"CAPACITY=64",
	}},
	{"served, products", optest.Life(64), []string{
		"PLAYED=served", sizes, "DIMENSION=2", "EMIT_EVERY=3", "WAIT=9", "CAPACITY=12", "FEATURES_MAX=1.5",
	}},
	{"logged, products, proved", horizon(optest.Window("blt"), 256), []string{
		"PLAYED=logged", sizes, "DIMENSION=2", "EMIT_EVERY=4", "CONFIDENCE=0.9", "LABEL_SHARE=0.7",
	}},
}

// sizes names a file of three arms with two features.
const sizes = "ARM_FEATURES=testdata/sizes"

// horizon returns m for a stream that ends within the shortest window that the mechanism accepts.
func horizon(m mechanisms.Config, steps uint64) mechanisms.Config {
	facts, _ := mechanisms.FactsOf(m.Name)
	m.Scope = protection.Lifetime{Steps: steps, Within: steps}.RoundedUp(facts.AtNodes())
	return m
}

// config returns the operator with the settings NAME=value for a mechanism, and the mechanism with the operator's
// contribution.
func config(tb testing.TB, m mechanisms.Config, lines ...string) (operator, mechanisms.Config) {
	tb.Helper()
	return optest.Over[operator](tb, Definition, m, lines...)
}

// drawn returns random events with a context, an arm and a reward, dense and sparse. Some have long features or rewards
// outside any range, and some lack a context, an arm or a reward.
func drawn(c operator, count int, seed uint64) []event.Event {
	rng := rand.New(rand.NewPCG(seed, 7))
	events := make([]event.Event, count)
	d := c.dimension() * max(1, c.candidates)
	for i := range events {
		v := event.Vector{Values: make([]float64, d)}
		for j := range v.Values {
			v.Values[j] = 0.5 * rng.NormFloat64()
		}
		if i%4 == 3 {
			v = event.Vector{Indices: []int32{int32(d) - 1, 0}, Values: v.Values[:2]}
		}
		if i%13 == 6 {
			v = event.Vector{}
		}
		events[i] = event.Event{
			Vector: v, Numbers: []float64{float64(rng.IntN(c.choices())), 3*rng.Float64() - 1},
		}
		switch i % 17 {
		case 5:
			events[i].Numbers[0] = -1
		case 8:
			events[i].Numbers[1] = noReward
		case 11:
			events[i].Numbers[1] *= 1e9
		}
	}
	return events
}

// keyOf returns the key of a record. Contexts and their rewards interleave; some keys come three times, some once, and
// some records have none.
func keyOf(place int) []byte {
	switch place % 11 {
	case 4:
		return nil
	case 7:
		return []byte(strings.Repeat("long", 30))
	case 9:
		return []byte("again")
	}
	return strconv.AppendInt(nil, int64(place/3), 10)
}
