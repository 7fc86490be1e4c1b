package names

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"oriel/mechanisms"
	"oriel/mechanisms/dp"
	"oriel/mechanisms/mechtest"
	_ "oriel/mechanisms/mechtest/tiertest" // sets up the test process
	"oriel/mechanisms/noise"
	"oriel/mechanisms/protection"
	"oriel/operators"
	"oriel/operators/optest"
	"oriel/schemas/decision"
	"oriel/schemas/event"
)

// under returns a mechanism of names: of events, or of m names of a person in a period of one step.
func under(mechanism string, epsilon float64, m uint64) mechanisms.Config {
	c := mechanisms.Config{
		Name: mechanism, Budget: dp.Budget{Epsilon: epsilon, Delta: 1e-6},
		Terms: protection.Terms{Scope: protection.PerStep{}, Unit: protection.Event{Exchange: dp.AddRemove}},
	}
	if m > 0 {
		c.Unit = protection.UserPeriod{PeriodSteps: 1, Values: m}
	}
	return c
}

// opened returns the operator of settings, and a function that opens its machines over streams with noise.
func opened(t testing.TB, c mechanisms.Config, lines ...string) (operator, func(key byte) *Machine) {
	t.Helper()
	v := optest.Values(Definition, c, lines...)
	v.Step = 3600
	built, err := Definition.New(v)
	if err != nil {
		t.Fatal(err)
	}
	if err := built.Require(&c, nil); err != nil {
		t.Fatal(err)
	}
	m, err := mechanisms.NewMechanism(c, mechtest.Plan(t, c))
	if err != nil {
		t.Fatal(err)
	}
	return built.(operator), func(key byte) *Machine {
		machine, err := built.Open(nil, m.Open([32]byte{key}))
		if err != nil {
			t.Fatal(err)
		}
		return machine.(*Machine)
	}
}

// record returns the next record of a name.
func record(offset int64, name string) operators.Record {
	return operators.Record{
		Identity: noise.Identity{Topic: [16]byte{1}, Offset: offset}, Event: event.Event{Weight: 1, Name: []byte(name)},
	}
}

// shown is a decision by its members.
type shown struct {
	list                            []decision.Entry
	all, threshold, deviation, more float64
	cut                             float64
}

func read(d operators.Decision) shown {
	m := declare()
	return shown{
		m.names.Of(d.Extras), d.Point[0], m.threshold.Of(d.Extras), m.deviation.Of(d.Extras), m.more.Of(d.Extras),
		m.cut.Of(d.Extras),
	}
}

// close adds each name as often as counts say, in random order, and returns the decision of the step.
func closeStep(m *Machine, rng *rand.Rand, counts map[string]int) shown {
	var all []string
	for name, n := range counts {
		for range n {
			all = append(all, name)
		}
	}
	rng.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
	for i, name := range all {
		m.Add(record(int64(m.Steps()*1e6)+int64(i), name))
	}
	return read(m.Close(nil)[0])
}

// numbered returns a name for each number.
func numbered(i int) string { return fmt.Sprintf("name %04d", i) }
