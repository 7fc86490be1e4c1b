package definition

import (
	"math"
	"math/bits"

	"oriel/mechanisms"
	"oriel/mechanisms/decay"
)

// Noise is the noise of one coordinate's releases, in draws. For a tree it is the sum of the nodes in Forest. Otherwise
// z_t, the noise of release t, follows from the draws n_t:
//
//	z_t = γ·z_{t−1} + n_t + Σ_{j≥1} e_j·n_{t−j},   e_j = Σ_k R_k·q_k^{j−1}
//
// The sum leaves out draws up to the last reset before step t. A reset follows each step that Period divides. Per-step
// releases have neither γ nor e; blt has e = b of package blt; sums that decay have γ and e of package decay.
type Noise struct {
	Decay           float64   // γ, factor by which sums decay in one step
	Poles, Residues []float64 // q and R
	Period          uint64    // P, steps between resets; math.MaxUint64 if there is none
	Forest          *Forest   // nodes of a tree; otherwise nil
}

// NoiseOf returns the noise of the first releases under a calibration, with the calibration's dyadic coefficients.
func NoiseOf(c mechanisms.Config, p mechanisms.Calibration, releases int) Noise {
	out := Noise{Period: math.MaxUint64}
	facts, _ := mechanisms.FactsOf(p.Name)
	switch {
	case p.Decays():
		out.Decay, out.Period = dyadic(decay.Decay(p.Decay.Memory)), decay.Period(p.Decay.Memory)
		for k := range p.Decay.Count {
			// package decay subtracts its residues from the draws
			out.Poles = append(out.Poles, dyadic(p.Decay.Poles[k]))
			out.Residues = append(out.Residues, -dyadic(p.Decay.Residues[k]))
		}
	case facts.AtNodes():
		f := NewForest(c.Scope.Span(), releases)
		out.Forest = &f
	default:
		for k := range p.Filter.Count {
			out.Poles = append(out.Poles, dyadic(p.Filter.Poles[k]))
			out.Residues = append(out.Residues, dyadic(p.Filter.Residues[k]))
		}
	}
	return out
}

func dyadic[I int64 | uint64 | int32 | uint32](x I) float64 { return float64(x) / (1 << 30) }

// Carry returns Σ_{j≥1} e_j·n_{t−j}. The states are s_k with s_k ← q_k·s_k + n_t.
func (f Noise) Carry(states []float64) float64 {
	carry := 0.0
	for k, s := range states {
		carry += f.Residues[k] * s
	}
	return carry
}

// Take updates the states with the draw n_t.
func (f Noise) Take(states []float64, n float64) {
	for k, q := range f.Poles {
		states[k] = q*states[k] + n
	}
}

// Weights returns the noise in the first releases if every draw is 1.
func (f Noise) Weights(releases int) []float64 {
	weights := make([]float64, releases)
	states, sum := make([]float64, len(f.Poles)), 0.0
	for t := range weights {
		if f.Forest != nil {
			weights[t] = float64(len(f.Forest.Active[t]))
			continue
		}
		sum = f.Decay*sum + 1 + f.Carry(states)
		weights[t] = sum
		if f.Take(states, 1); uint64(t+1)%f.Period == 0 {
			clear(states)
		}
	}
	return weights
}

// Kept returns the share of a release that remains in the next release: 1 for prefix sums, γ for decaying sums, 0 for
// per-step sums.
func Kept(p mechanisms.Calibration) float64 {
	facts, _ := mechanisms.FactsOf(p.Name)
	switch {
	case facts.EachStep():
		return 0
	case p.Decays():
		return dyadic(decay.Decay(p.Decay.Memory))
	}
	return 1
}

// Forest lists the nodes of a window tree that each release contains.
type Forest struct {
	Active [][]int32 // node numbers of each release; a node's releases are consecutive
	Nodes  int
}

// NewForest numbers the nodes by the definition ([WDP] §3): the release at position p of block k contains the dyadic
// prefix [1, p] of block k and the dyadic suffix [p+1, W] of block k−1.
func NewForest(window uint64, releases int) Forest {
	type node struct{ block, level, index uint64 }
	f, known := Forest{Active: make([][]int32, releases)}, map[node]int32{}
	for t := range f.Active {
		block, p := uint64(t)/window, uint64(t)%window+1
		add := func(x node) {
			number, ok := known[x]
			if !ok {
				number = int32(len(known))
				known[x] = number
			}
			f.Active[t] = append(f.Active[t], number)
		}
		start := p
		for left := window - p; block > 0 && left > 0; left &= left - 1 {
			level := uint64(bits.TrailingZeros64(left))
			add(node{block - 1, level, start >> level})
			start += 1 << level
		}
		start = 0
		for left := p; left > 0; {
			level := uint64(bits.Len64(left) - 1)
			add(node{block, level, start >> level})
			start += 1 << level
			left &^= 1 << level
		}
	}
	f.Nodes = len(known)
	return f
}
