package submodular

import "slices"

// greedy builds sets element by element. The next element is the one with the largest gain, the first among equals
// (Nemhauser, Wolsey and Fisher, "An analysis of approximations for maximizing submodular set functions I",
// Mathematical Programming 14, 1978). For a monotone submodular function its set has at least 1 − (1 − 1/k)^k of the
// value of the best set.
type greedy struct {
	function function
	elements int
	pick     int
	set      []int
	member   []bool
	before   []float64 // value of the set so far to each type
}

func newGreedy(f function, types, elements, pick int) *greedy {
	return &greedy{
		function: f, elements: elements, pick: pick, set: make([]int, 0, pick), member: make([]bool, elements),
		before: make([]float64, types),
	}
}

// weighted finds the greedy set for given numbers of events of each type; table holds their values, type by type. It
// returns the set, valid until the next call, and its total value over all events.
func (g *greedy) weighted(table, counts []float64) (set []int, value float64) {
	g.set = g.set[:0]
	clear(g.member)
	clear(g.before)
	for range g.pick {
		best, most := -1, 0.0
		for element := range g.elements {
			if g.member[element] {
				continue
			}
			gain := 0.0
			for j, n := range counts {
				after := g.function.with(g.before[j], table[j*g.elements+element], g.pick)
				gain += float64(n * (after - g.before[j]))
			}
			if best < 0 || gain > most {
				best, most = element, gain
			}
		}
		g.set, g.member[best] = append(g.set, best), true
		for j := range counts {
			g.before[j] = g.function.with(g.before[j], table[j*g.elements+best], g.pick)
		}
	}
	for j, n := range counts {
		value += float64(n * g.before[j])
	}
	return g.set, value
}

// bestOther returns the element with the largest sum that is not in the set, the first among equals.
func bestOther(sums []float64, set []int) int {
	best := -1
	for a, g := range sums {
		if (best < 0 || g > sums[best]) && !slices.Contains(set, a) {
			best = a
		}
	}
	return best
}
