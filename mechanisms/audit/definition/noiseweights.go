package definition

import "oriel/mechanisms"

// NoiseWeights returns the noise in releases 1 … steps if every draw is 1. That is 1 for per-step sums, the number of
// active nodes for a tree, and Σ_{j<t} b_j for blt. With a memory it is the sum of e since the last reset, plus the
// decayed noise of the previous release.
func NoiseWeights(c mechanisms.Config, p mechanisms.Calibration, steps int) []float64 {
	weights := make([]float64, steps)
	facts, _ := mechanisms.FactsOf(p.Name)
	switch {
	case p.Decays():
		f := NewDecaying(p.Decay)
		states, sum := make([]float64, len(f.Poles)), 0.0
		for t := range weights {
			sum = f.Decay*sum + 1 + f.Carry(states)
			weights[t] = sum
			f.Take(states, 1)
			if uint64(t+1)%f.Period == 0 {
				clear(states)
			}
		}
	case p.Filter.Count > 0:
		f := NewFilter(p.Filter)
		states := make([]float64, len(f.Poles))
		for t := range weights {
			weights[t] = 1 + f.Carry(states)
			f.Take(states, 1)
		}
	case facts.Structure == mechanisms.Tree:
		for t, active := range NewForest(c.Scope.Span(), steps).Active {
			weights[t] = float64(len(active))
		}
	default:
		for t := range weights {
			weights[t] = 1
		}
	}
	return weights
}
