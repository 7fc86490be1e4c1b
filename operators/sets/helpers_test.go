package sets

import (
	"math/rand/v2"
	"slices"
	"strconv"
	"testing"

	"oriel/mechanisms"
	"oriel/mechanisms/dp"
	"oriel/mechanisms/mechtest"
	"oriel/mechanisms/protection"
	"oriel/operators"
	"oriel/operators/actions"
	"oriel/operators/setting"
	"oriel/schemas/event"
)

// named returns the names of n elements.
func named(n int) (names []string) {
	for i := range n {
		names = append(names, "e"+strconv.Itoa(i))
	}
	return names
}

// halvingOf returns a configuration of halving that first tries each element for one round.
func halvingOf(n, k, records int) Config {
	return Config{
		Elements: named(n), Pick: k, Tries: 1, Value: setting.Range{High: 1},
		Actions: actions.Config{Records: records, Actions: records},
	}
}

// drawsOf returns a configuration of draws that explores in half of the rounds.
func drawsOf(n, k, records int, horizon uint64) Config {
	c := halvingOf(n, k, records)
	c.Draws, c.Horizon, c.Share, c.Tries = true, horizon, 0.5, defaultTries
	return c
}

// mechanismOf returns a mechanism for a configuration, with δ = 1e-6 for draws and δ = 0 for halving.
func mechanismOf(tb testing.TB, c Config, epsilon float64) mechanisms.Config {
	tb.Helper()
	m := mechanisms.Config{
		Name: "once-gamma", Batch: uint64(c.Actions.Records), Budget: dp.Budget{Epsilon: epsilon},
		Terms: protection.Terms{Scope: protection.PerStep{}, Unit: protection.Event{Exchange: dp.Replace}},
	}
	if c.Draws {
		m.Name, m.Budget.Delta = mechanisms.ExponentialMechanism, 1e-6
		m.Scope = protection.Lifetime{Steps: c.Horizon, Within: c.Horizon}
	}
	if err := (operator{Config: c}).Require(&m, nil); err != nil {
		tb.Fatal(err)
	}
	return m
}

// opened returns a machine over the given stream.
func opened(tb testing.TB, c Config, m mechanisms.Config, stream *mechanisms.Stream) *Machine {
	tb.Helper()
	params, err := (operator{Config: c}).Params(m)
	if err != nil {
		tb.Fatal(err)
	}
	machine, err := (operator{Config: c}).Open(params, stream)
	if err != nil {
		tb.Fatal(err)
	}
	return machine.(*Machine)
}

func machineOf(tb testing.TB, c Config, epsilon float64, seed byte) *Machine {
	tb.Helper()
	m := mechanismOf(tb, c, epsilon)
	return opened(tb, c, m, mechtest.Open(tb, m, [32]byte{seed, 3}))
}

// setOf returns the elements of a decision.
func setOf(d operators.Decision) (set []int) {
	for _, x := range d.Point {
		if x >= 0 {
			set = append(set, int(x))
		}
	}
	return set
}

// answer returns the record that answers an action.
func answer(play uint64, value float64, at int64) operators.Record {
	r := operators.Record{Key: strconv.AppendUint(nil, play, 10), Event: event.Event{Numbers: []float64{value}}}
	r.Identity.Offset = at
	return r
}

// town is a problem of facility location: the value of each element to each type of events, and the frequency of each
// type.
type town struct {
	rng    *rand.Rand
	values [][]float64
	shares []float64
}

func newTown(n, types int, seed uint64) *town {
	t := &town{rng: rand.New(rand.NewPCG(seed, 21))}
	for range types {
		row := make([]float64, n)
		for a := range row {
			row[a] = max(0, 2*t.rng.Float64()-1)
		}
		t.values, t.shares = append(t.values, row), append(t.shares, t.rng.Float64()*t.rng.Float64())
	}
	sum := 0.0
	for _, s := range t.shares {
		sum += s
	}
	for i := range t.shares {
		t.shares[i] /= sum
	}
	return t
}

// of returns the value of a set to events of a type.
func (t *town) of(j int, set []int) (most float64) {
	for _, a := range set {
		most = max(most, t.values[j][a])
	}
	return most
}

// value returns the mean value of a set.
func (t *town) value(set []int) (sum float64) {
	for j, share := range t.shares {
		sum += share * t.of(j, set)
	}
	return sum
}

// greedy returns the greedy set, and the mean value of sets of k random elements.
func (t *town) greedy(k int) (set []int, random float64) {
	n := len(t.values[0])
	for range k {
		best, most := 0, -1.0
		for a := range n {
			if v := t.value(append(slices.Clone(set), a)); v > most {
				best, most = a, v
			}
		}
		set = append(set, best)
	}
	for range 500 {
		random += t.value(t.rng.Perm(n)[:k]) / 500
	}
	return set, random
}

// event draws the type of the next event.
func (t *town) event() int {
	at, j := t.rng.Float64(), 0
	for j < len(t.shares)-1 && at >= t.shares[j] {
		at -= t.shares[j]
		j++
	}
	return j
}

// normal returns a function that normalises the value of a set: 0 for random sets and 1 for the greedy set.
func (t *town) normal(k int) func(set []int) float64 {
	best, random := t.greedy(k)
	return func(set []int) float64 { return (t.value(set) - random) / (t.value(best) - random) }
}

// play answers all actions of some rounds with values from a town, and calls each with the first decision of each
// round.
func (t *town) play(m *Machine, rounds int, each func(round int, d operators.Decision)) {
	counted := operators.ByCount(m)
	made, at := m.Open(nil), int64(0)
	for round := range rounds {
		if each != nil {
			each(round, made[0])
		}
		first, set := made[0].Index, setOf(made[0])
		for k := range uint64(m.config.Actions.Records) {
			made = counted.Add(made[:0], answer(first+k, t.of(t.event(), set), at))
			at++
		}
	}
}
