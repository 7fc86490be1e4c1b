package definition

import "oriel/mechanisms"

// Held returns what releases 1 … steps hold of noise all of whose draws are 1: 1 of single steps, the nodes that a tree
// shows, Σ_{j<t} b_j of blt.
func Held(c mechanisms.Config, p mechanisms.Plan, steps int) []float64 {
	held := make([]float64, steps)
	switch {
	case p.Filter.Count > 0:
		f := NewFilter(p.Filter)
		states := make([]float64, len(f.Poles))
		for t := range held {
			held[t] = 1 + f.Carry(states)
			f.Take(states, 1)
		}
	case c.Window > 0:
		for t, active := range NewForest(c.Window, steps).Active {
			held[t] = float64(len(active))
		}
	default:
		for t := range held {
			held[t] = 1
		}
	}
	return held
}
