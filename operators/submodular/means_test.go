package submodular

import (
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"testing"

	"oriel/mechanisms"
	"oriel/mechanisms/mechtest"
	"oriel/mechanisms/mechtest/tiertest"
	"oriel/mechanisms/noise"
	"oriel/operators"
	"oriel/operators/optest"
)

// slowMeans computes the means from all releases and their weights. A step enters with weight min(1, 24/n), where n is
// the total weight in the sums after it, and is then reduced by the factors of all later steps.
func slowMeans(m mechanisms.Config, releases [][]float64) []float64 {
	decay := 1.0
	if memory, ok := m.Scope.Memory(); ok {
		decay = 1 - 1/float64(memory)
	}
	sums, left := make([]float64, len(releases[0])), 1.0
	for t := len(releases); t >= 1; t-- {
		n := 0.0
		for s := range t {
			n += math.Pow(decay, float64(s))
		}
		share := math.Min(1, 24/n)
		for i, x := range releases[t-1] {
			sums[i] += left * share * x
		}
		left *= 1 - share
	}
	return sums
}

// TestSetsFollowMeans checks at each step that means agree with the slow formula, and that sets contain the elements
// with the largest means. With the bounded and the printed rate, sets must follow the newest sums.
func TestSetsFollowMeans(t *testing.T) {
	const events = 120
	for _, row := range []struct {
		m     mechanisms.Config
		lines []string
		means bool
	}{
		{optest.Window("blt"), []string{"RULE=argmax"}, true},
		{optest.Window("tree-gaussian"), []string{"RULE=argmax", "FUNCTION=modular"}, true},
		{optest.Life(40), []string{"RULE=argmax", "VALUES_NORM=1.25"}, true},
		{optest.Life(40), []string{"RULE=leaders"}, true},
		{optest.Life(40), []string{"RULE=leaders", "RATE=bounded"}, false},
		{optest.Window("tree-gamma"), []string{"RULE=leaders", "RATE=printed"}, false},
	} {
		c, m, p := config(t, row.m, append(row.lines, "PICK=3", "ELEMENTS=6", "EMIT_EVERY=1")...)
		if p.means != row.means {
			t.Fatalf("%v: means %v, want %v", row.lines, p.means, row.means)
		}
		machine, err := newMachine(c, p, mechtest.Open(t, m, [32]byte{7}))
		if err != nil {
			t.Fatal(err)
		}
		counted := operators.ByCount(machine)
		var releases [][]float64
		other := 0
		for i, e := range drawn(c, events, 9) {
			made := counted.Add(nil, operators.Record{Event: e, Identity: noise.Identity{Offset: int64(i)}})
			if len(made) == 0 {
				continue
			}
			releases = append(releases, slices.Clone(machine.Stream.Sum(0)))
			want := releases[len(releases)-1]
			if row.means {
				want = slowMeans(m, releases)
				for k, x := range machine.means.Sums {
					if math.Abs(x-want[k]) > 1e-6*(1+math.Abs(x)) { // the decay of sums is a multiple of 2⁻³²
						t.Fatalf("%v, step %d: a mean of %g, want %g", row.lines, len(releases), x, want[k])
					}
				}
			}
			if row.lines[0] != "RULE=argmax" {
				continue // these sets are drawn
			}
			newest := releases[len(releases)-1]
			for k, element := range made[0].Point {
				set := machine.set[:k]
				if best := bestOther(want[6*k:][:6], set); best != int(element) {
					t.Fatalf("%v, step %d: element %g at position %d, want %d", row.lines, len(releases), element, k, best)
				}
				if bestOther(newest[6*k:][:6], set) != int(element) {
					other++
				}
			}
		}
		if row.lines[0] == "RULE=argmax" && other < events/20 {
			t.Errorf("%v: the newest sums give the same sets but for %d elements", row.lines, other)
		}
	}
}

// TestMeansHaveLessNoise checks that, over null events, means have two thirds of the standard deviation of the newest
// sums. A standard deviation of 256 numbers is off by 6.11/√512 = 27 % once in 10⁹.
func TestMeansHaveLessNoise(t *testing.T) {
	const events = 4096
	for _, m := range []mechanisms.Config{lifetime(events, 1), optest.Life(512)} {
		m.Name, m.Budget.Delta, m.Batch = "blt", 1e-6, 1
		c, m, p := config(t, m, "RULE=argmax", "PICK=4", "ELEMENTS=64")
		machine, err := newMachine(c, p, mechtest.Open(t, m, [32]byte{3}))
		if err != nil {
			t.Fatal(err)
		}
		counted := operators.ByCount(machine)
		for i := range events {
			counted.Add(nil, operators.Record{Null: true, Identity: noise.Identity{Offset: int64(i)}})
		}
		mean, sum := 0.0, 0.0
		for i, x := range machine.Stream.Sum(0) {
			sum += x * x
			mean += machine.means.Sums[i] * machine.means.Sums[i]
		}
		if ratio := math.Sqrt(mean / sum); ratio > 0.67*1.27 || ratio < 0.67/1.27 {
			t.Errorf("%s: means have %.3f of the noise", m.Words().Length, ratio)
		}
	}
}

// square returns events at random points of a square, near a few centres. If turns is set, the centres change half way.
// An event values places of the square at 1 − distance/0.4, or 0 if that is negative.
func square(events, pick int, seed uint64, turns bool) (w exemplars) {
	const elements, centres = 30, 6
	rng := rand.New(rand.NewPCG(seed, 77))
	point := func() [2]float64 { return [2]float64{rng.Float64(), rng.Float64()} }
	var places [elements][2]float64
	for a := range places {
		places[a] = point()
	}
	var about [2][centres][2]float64
	for i := range about {
		for j := range about[i] {
			about[i][j] = point()
		}
	}
	for t := range events {
		law := about[0]
		if turns && t >= events/2 {
			law = about[1]
		}
		centre, values := law[min(rng.IntN(centres), rng.IntN(centres))], make([]float64, elements)
		x, y := centre[0]+0.1*rng.NormFloat64(), centre[1]+0.1*rng.NormFloat64()
		for a, at := range places {
			values[a] = max(0, 1-math.Hypot(x-at[0], y-at[1])/0.4)
		}
		w.events = append(w.events, values)
	}
	w.pick = pick
	w.measure(rng)
	return w
}

// TestMeansFindMore compares sets that follow means with sets that follow the newest sums, on 20 000 events at ε = 1,
// with protection of the complete stream and with decaying sums for life. Means must give more value in the average of
// twelve worlds and four keys. If the distribution changes half way, they must give no less, up to chance.
func TestMeansFindMore(t *testing.T) {
	tiertest.Slow(t, "TestMeansHaveLessNoise")
	const events, worlds, keys = 20_000, 12, 4
	points := flightPoints(t)
	for _, row := range []struct {
		name  string
		world func(seed uint64) exemplars
		least float64
	}{
		{"3 of 30 flights", func(seed uint64) exemplars { return exemplarsOf(points, 30, events, 3, 5+seed) }, 0.02},
		{"5 of 30 flights", func(seed uint64) exemplars { return exemplarsOf(points, 30, events, 5, 5+seed) }, 0.02},
		{"6 of 30 places", func(seed uint64) exemplars { return square(events, 6, seed, false) }, 0},
		{"3 of 30 places, law turns", func(seed uint64) exemplars { return square(events, 3, seed, true) }, -0.1},
	} {
		for _, m := range []mechanisms.Config{lifetime(events, 1), optest.Life(4096)} {
			m.Name, m.Budget.Epsilon, m.Budget.Delta, m.Batch = "blt", 1, 1e-6, 1
			var found [2]float64
			for seed := range uint64(worlds) {
				w := row.world(seed)
				c, m, p := config(t, m, "RULE=argmax", "PICK="+strconv.Itoa(w.pick), "ELEMENTS=30")
				for key := range byte(keys) {
					for i, follows := range []bool{false, true} {
						p.means = follows
						found[i] += (w.playPlan(t, c, m, p, key) - w.random) / (w.best - w.random) / (worlds * keys)
					}
				}
			}
			t.Logf("%s, %s: ν %.3f by the newest sums, %.3f by means", row.name, m.Words().Length, found[0], found[1])
			if found[1] < found[0]+row.least {
				t.Errorf("%s, %s: means find %.3f, the newest sums %.3f", row.name, m.Words().Length, found[1], found[0])
			}
		}
	}
}
