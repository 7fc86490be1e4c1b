package residual

import (
	"math"
	"slices"

	"oriel/mechanisms/audit/definition"
)

// forecast describes how the noise of release t is predicted from the releases before, the same for every coordinate.
// The nodes of the release are independent with variance 1. Given the releases before, their covariance is P. With 1
// the vector of ones,
//
//	spread² = 1ᵀP1,   gain = P1/spread²,   P ← P − gain·gainᵀ·spread²
//
// (Kalman 1960). A node that left the release is dropped, because no later release contains it.
type forecast struct {
	retired []int // slots of nodes that the previous release contained and this one does not
	active  []int
	gains   []float64 // filter gain of each active node
	spread  float64
}

// certain is the variance below which a node counts as exactly known. Rounding leaves such variances.
const certain = 1e-12

func newForecasts(f definition.Forest) []forecast {
	out := make([]forecast, len(f.Active))
	slot := map[int32]int{} // slot of each active node
	var free []int
	var before []int32
	var covariance [][]float64 // covariance of the estimates, by slot
	for t, active := range f.Active {
		step := &out[t]
		for _, node := range before {
			if !slices.Contains(active, node) {
				step.retired = append(step.retired, slot[node])
				free = append(free, slot[node])
				delete(slot, node)
			}
		}
		for _, node := range active {
			at, shown := slot[node]
			if !shown {
				if len(free) == 0 {
					free = append(free, len(covariance))
					covariance = append(covariance, nil)
				}
				at, free = free[len(free)-1], free[:len(free)-1]
				slot[node] = at
				renew(&covariance, at)
			}
			step.active = append(step.active, at)
		}
		step.learn(covariance)
		before = active
	}
	return out
}

// renew gives a slot to a new node, about which nothing is known yet.
func renew(covariance *[][]float64, at int) {
	c := *covariance
	for i := range c {
		for len(c[i]) < len(c) {
			c[i] = append(c[i], 0)
		}
		c[i][at] = 0
	}
	clear(c[at])
	c[at][at] = 1
}

func (f *forecast) learn(covariance [][]float64) {
	total := 0.0
	f.gains = make([]float64, len(f.active))
	for i, a := range f.active {
		for _, b := range f.active {
			f.gains[i] += covariance[a][b]
		}
		total += f.gains[i]
	}
	f.spread = math.Sqrt(total)
	for i := range f.gains {
		f.gains[i] /= total
	}
	for i, a := range f.active {
		for j, b := range f.active {
			covariance[a][b] -= f.gains[i] * f.gains[j] * total
			if math.Abs(covariance[a][b]) < certain {
				covariance[a][b] = 0
			}
		}
	}
}

// slots returns the largest number of nodes active at once.
func slots(forecasts []forecast) int {
	most := 0
	for _, f := range forecasts {
		for _, at := range f.active {
			most = max(most, at+1)
		}
	}
	return most
}

// treeRebuilder holds the current estimates of the active nodes.
type treeRebuilder struct {
	forecasts []forecast
	step      int
	known     [][]float64 // estimated node values, by slot and coordinate
}

func (f *treeRebuilder) start() {
	f.step = 0
	for _, k := range f.known {
		clear(k)
	}
}

func (f *treeRebuilder) next(rest []float64) float64 {
	step := &f.forecasts[f.step]
	f.step++
	for _, at := range step.retired {
		clear(f.known[at])
	}
	for _, at := range step.active {
		for i, x := range f.known[at] {
			rest[i] -= x
		}
	}
	for k, at := range step.active {
		if gain := step.gains[k]; gain != 0 {
			known := f.known[at]
			for i, x := range rest {
				known[i] += gain * x
			}
		}
	}
	return step.spread
}
