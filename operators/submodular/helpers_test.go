package submodular

import (
	"math/rand/v2"
	"os"
	"testing"

	"oriel/mechanisms"
	"oriel/mechanisms/dp"
	"oriel/mechanisms/protection"
	"oriel/operators/optest"
	"oriel/schemas/event"
)

// towns is a file of places for tests; some places are close together.
const towns = "north:60:10\nsouth:-40:170\neast:35:139\neast bay:36:140\nwest:37:-122\nmiddle:48:9\ncentre:47:8\n"

// segments is a file of public types, each with the probability of a click on each slot.
const segments = "young:0.5:0.1:0:0.25:1\nold:0:0.3:0.9:0.25:0.5\n none :0:0:0:0.1:0\n"

// kinds are configurations that together cover the settings, over all mechanisms that fit them.
var kinds = []struct {
	name  string
	m     mechanisms.Config
	lines []string
}{
	{"histogram for life", optest.Life(16), []string{
		"RULE=histogram", "PICK=3", "PLACES=towns", "EMIT_EVERY=2", "CATCHMENT=2000",
	}},
	{"histogram, pure", optest.Window("tree-gamma"), []string{
		"RULE=histogram", "PICK=2", "PLACES=towns", "EMIT_EVERY=1", "FUNCTION=probabilistic", "CATCHMENT=15000",
	}},
	{"histogram of types", optest.Window("tree-gaussian"), []string{
		"RULE=histogram", "PICK=2", "TYPES=segments", "EMIT_EVERY=3", "FUNCTION=probabilistic",
	}},
	{"argmax for life", optest.Life(64), []string{"RULE=argmax", "PICK=3", "ELEMENTS=6", "EMIT_EVERY=3"}},
	{"argmax, window", optest.Window("blt"), []string{
		"RULE=argmax", "PICK=2", "ELEMENTS=6", "EMIT_EVERY=1", "FUNCTION=probabilistic",
	}},
	{"argmax, tree", optest.Window("tree-gaussian"), []string{
		"RULE=argmax", "PICK=2", "ELEMENTS=6", "EMIT_EVERY=4", "FUNCTION=modular",
	}},
	{"argmax, saturating", optest.Life(64), []string{
		"RULE=argmax", "PICK=3", "ELEMENTS=6", "EMIT_EVERY=2", "FUNCTION=saturating",
	}},
	{"argmax, quadratic", optest.Window("blt"), []string{
		"RULE=argmax", "PICK=3", "ELEMENTS=6", "EMIT_EVERY=2", "FUNCTION=quadratic",
	}},
	{"shares, quadratic", optest.Life(64), []string{
		"RULE=shares", "PICK=2", "ELEMENTS=6", "EMIT_EVERY=2", "FUNCTION=quadratic", "COPIES=3",
	}},
	{"leaders for life", optest.Life(64), []string{"RULE=leaders", "PICK=2", "PLACES=given", "EMIT_EVERY=3"}},
	{"leaders, pure", optest.Window("tree-gamma"), []string{"RULE=leaders", "PICK=3", "ELEMENTS=6", "EMIT_EVERY=1"}},
	{"shares for life", optest.Life(64), []string{"RULE=shares", "PICK=2", "ELEMENTS=6", "EMIT_EVERY=3", "COPIES=3"}},
	{"shares, pure", optest.Window("tree-gamma"), []string{
		"RULE=shares", "PICK=2", "PLACES=given", "EMIT_EVERY=1", "FUNCTION=probabilistic",
	}},
	{"shares, modular", optest.Window("tree-gaussian"), []string{
		"RULE=shares", "PICK=1", "ELEMENTS=4", "EMIT_EVERY=2", "FUNCTION=modular", "COPIES=2", "RATE=printed",
	}},
	{"argmax of places", optest.Life(64), []string{
		"RULE=argmax", "PICK=3", "PLACES=towns", "EMIT_EVERY=2", "CATCHMENT=2000",
	}},
	{"argmax of types", optest.Window("tree-gaussian"), []string{
		"RULE=argmax", "PICK=2", "TYPES=segments", "EMIT_EVERY=3", "FUNCTION=quadratic",
	}},
	{"argmax of a length", optest.Window("blt"), []string{
		"RULE=argmax", "PICK=2", "ELEMENTS=6", "EMIT_EVERY=2", "VALUES_NORM=1.25",
	}},
	{"leaders of a length", optest.Window("tree-gamma"), []string{
		"RULE=leaders", "PICK=2", "PLACES=given", "EMIT_EVERY=1", "VALUES_NORM=1.25", "CATCHMENT=2000",
	}},
	{"shares of a length", optest.Life(64), []string{
		"RULE=shares", "PICK=2", "ELEMENTS=6", "EMIT_EVERY=3", "COPIES=3", "VALUES_NORM=1", "FUNCTION=probabilistic",
	}},
	{"draws", lifetime(400, 300), []string{"RULE=draws", "PICK=3", "ELEMENTS=6", "EMIT_EVERY=2"}},
	{"draws of places, as printed", lifetime(500, 4), []string{
		"RULE=draws", "PICK=2", "PLACES=towns", "EMIT_EVERY=1", "FUNCTION=probabilistic", "RATE=printed",
	}},
}

// lifetime returns a mechanism that protects the complete life of a stream with draws.
func lifetime(horizon uint64, epsilon float64) mechanisms.Config {
	m := optest.Under(mechanisms.ExponentialMechanism, protection.Lifetime{Steps: horizon, Within: horizon}, dp.Replace)
	m.Budget.Epsilon = epsilon
	return m
}

// config returns the operator with the settings NAME=value for a mechanism, the mechanism with the operator's
// contribution, and the plan.
func config(t testing.TB, m mechanisms.Config, lines ...string) (operator, mechanisms.Config, params) {
	t.Helper()
	c, err := configOf(towns, m, lines...)
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Require(&m, nil); err != nil {
		t.Fatal(err)
	}
	b, err := c.Params(m)
	if err != nil {
		t.Fatal(err)
	}
	p, err := c.read(b)
	if err != nil {
		t.Fatal(err)
	}
	return c.withParams(p), m, p
}

// configOf reads settings. PLACES=towns and PLACES=given stand for the text in places, and TYPES=segments for the text
// segments.
func configOf(places string, m mechanisms.Config, lines ...string) (operator, error) {
	read := func(name string) ([]byte, error) {
		switch name {
		case "towns", "given":
			return []byte(places), nil
		case "segments":
			return []byte(segments), nil
		}
		return os.ReadFile(name)
	}
	c, err := optest.ConfigureFrom(read, Definition.WithChoices("RATE", printed), m, lines...)
	if err != nil {
		return operator{}, err
	}
	return c.(operator), nil
}

// drawn returns random events: places, mostly the first one, or values, dense and sparse, some outside their range.
func drawn(c operator, count int, seed uint64) []event.Event {
	rng := rand.New(rand.NewPCG(seed, 7))
	events := make([]event.Event, count)
	for i := range events {
		if len(c.types) > 0 {
			events[i] = event.Event{Numbers: []float64{float64(min(rng.IntN(len(c.types)), rng.IntN(len(c.types))))}}
			continue
		}
		v := event.Vector{Values: make([]float64, c.elements)}
		for j := range v.Values {
			v.Values[j] = 1.6*rng.Float64() - 0.4
		}
		if i%4 == 3 {
			v = event.Vector{Indices: []int32{int32(c.elements) - 1, 0}, Values: v.Values[:2]}
		}
		events[i] = event.Event{Vector: v}
	}
	return events
}
