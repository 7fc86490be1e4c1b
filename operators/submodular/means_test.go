package submodular

import (
	"math"
	"slices"
	"testing"

	"oriel/mechanisms"
	"oriel/mechanisms/mechtest"
	"oriel/mechanisms/noise"
	"oriel/operators"
	"oriel/operators/optest"
)

// slowMeans are the means of all releases there were, by their weights: a step counts for min(1, 24/n), n the steps that
// sums hold after it, and for as much of what all later ones leave.
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

// TestSetsFollowMeans: at each step means are those of the slow formula, and sets have the largest of them. With the
// bounded and the printed rate, and in plans from before, sets follow the newest sums.
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
		var releases [][]float64
		other := 0
		for i, e := range drawn(c, events, 9) {
			made := machine.Add(nil, operators.Record{Event: e, Identity: noise.Identity{Offset: int64(i)}})
			if len(made) == 0 {
				continue
			}
			releases = append(releases, slices.Clone(machine.Stream.Sum(0)))
			want := releases[len(releases)-1]
			if row.means {
				want = slowMeans(m, releases)
				for k, x := range machine.means.sums {
					if math.Abs(x-want[k]) > 1e-6*(1+math.Abs(x)) { // the decay of sums is a fraction of 2³²
						t.Fatalf("%v, step %d: a mean of %g, want %g", row.lines, len(releases), x, want[k])
					}
				}
			}
			if row.lines[0] != "RULE=argmax" {
				continue // draws
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

// TestMeansHaveLessNoise: over null events, means have two thirds of the standard deviation that the newest sums have.
// That of 256 numbers is off by 6.11/√512 = 27 % once in 10⁹.
func TestMeansHaveLessNoise(t *testing.T) {
	const events = 4096
	for _, m := range []mechanisms.Config{whole(events, 1), optest.Life(512)} {
		m.Name, m.Budget.Delta, m.Batch = "blt", 1e-6, 1
		c, m, p := config(t, m, "RULE=argmax", "PICK=4", "ELEMENTS=64")
		machine, err := newMachine(c, p, mechtest.Open(t, m, [32]byte{3}))
		if err != nil {
			t.Fatal(err)
		}
		for i := range events {
			machine.Add(nil, operators.Record{Null: true, Identity: noise.Identity{Offset: int64(i)}})
		}
		mean, sum := 0.0, 0.0
		for i, x := range machine.Stream.Sum(0) {
			sum += x * x
			mean += machine.means.sums[i] * machine.means.sums[i]
		}
		if ratio := math.Sqrt(mean / sum); ratio > 0.67*1.27 || ratio < 0.67/1.27 {
			t.Errorf("%s: means have %.3f of the noise", m.Scope.Words().Length, ratio)
		}
	}
}
