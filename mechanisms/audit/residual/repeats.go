package residual

import (
	"cmp"
	"math"
	"slices"
)

// Limits of the search for repeats: how many draws of the first runs are kept.
const (
	keptRuns        = 4
	keptDraws       = 4096
	keptCoordinates = 1024
)

// keptSteps returns the number of steps kept of a run: at least two, so that there are pairs of successive steps.
func keptSteps(n int) int { return max(2, keptDraws/min(n, keptCoordinates)) }

// pair is two neighbouring draws: at one coordinate in successive steps, or in one step at successive coordinates. If
// noise is used twice, a pair occurs again elsewhere.
type pair struct{ first, second float64 }

type repeatTest struct {
	runs         int
	inTime, side []pair
}

func (r *repeatTest) add(kept [][]float64) {
	if r.runs == keptRuns {
		return
	}
	r.runs++
	for t, row := range kept {
		for i, z := range row {
			if t > 0 {
				r.inTime = append(r.inTime, pair{kept[t-1][i], z})
			}
			if i > 0 {
				r.side = append(r.side, pair{row[i-1], z})
			}
		}
	}
}

// found counts the pairs that equal another pair within the tolerance, comparing neighbours in sorted order.
func found(pairs []pair, tolerance float64) (count int) {
	slices.SortFunc(pairs, func(x, y pair) int {
		return cmp.Or(cmp.Compare(x.first, y.first), cmp.Compare(x.second, y.second))
	})
	for i, x := range pairs {
		for _, y := range pairs[i+1:] {
			if y.first-x.first > tolerance {
				break
			}
			if math.Abs(y.second-x.second) <= tolerance {
				count++
				break
			}
		}
	}
	return count
}

// test bounds the probability of the repeats found. A normal is within the tolerance of a given number with probability
// at most 2·tolerance·φ(0), so two independent pairs are equal with at most the square of this probability. Let λ be
// the resulting bound on the expected number of equal pairs: then k or more have probability at most λ/k (Markov).
func (r *repeatTest) test(tolerance float64) Test {
	f := newFinder("repeats", "pairs of neighbouring draws that come again", uint64(len(r.inTime)+len(r.side)))
	p := min(1, 2*tolerance/math.Sqrt(2*math.Pi))
	look := func(where string, pairs []pair) {
		n := float64(len(pairs))
		if k := found(pairs, tolerance); k > 0 {
			f.look(n*(n-1)/2*p*p/float64(k), "%d come again, neighbours %s", k, where)
		} else {
			f.look(1, "none")
		}
	}
	look("in time", r.inTime)
	look("across coordinates", r.side)
	return f.test()
}
