package audit

import (
	"math/bits"
	"slices"

	"oriel/mechanisms/blt"
)

// covariance is C of one coordinate's releases, in units of the noise variance of a node or a step.
type covariance interface {
	// solve returns x with C·x = m, or near it.
	solve(m []float64) []float64
	// form returns xᵀCx.
	form(x []float64) float64
}

// white is the covariance of releases that share no noise.
type white struct{}

func (white) solve(m []float64) []float64 { return slices.Clone(m) }

func (white) form(x []float64) float64 { return dot(x, x) }

// filtered is C = BBᵀ with B the lower Toeplitz matrix of b (mechanisms/blt).
type filtered struct{ poles, residues []float64 }

func newFiltered(f blt.Filter) filtered {
	var c filtered
	for k := range f.Count {
		c.poles = append(c.poles, float64(f.Poles[k])/(1<<30))
		c.residues = append(c.residues, float64(f.Residues[k])/(1<<30))
	}
	return c
}

// solve is x = B⁻ᵀB⁻¹m.
func (c filtered) solve(m []float64) []float64 {
	x := c.run(m, -1)
	slices.Reverse(x)
	x = c.run(x, -1)
	slices.Reverse(x)
	return x
}

// form is |Bᵀx|².
func (c filtered) form(x []float64) float64 {
	x = slices.Clone(x)
	slices.Reverse(x)
	x = c.run(x, 1)
	return dot(x, x)
}

// run returns b∗x for sign 1 and β∗x, β = 1/b, for sign −1. Σ_{j≥1} b_j·n_{t−j} is ΣR_k·s_k with s_k ← q_k·s_k + n_t, and n is the filter's
// input: x, or the output.
func (c filtered) run(x []float64, sign float64) []float64 {
	out, states := make([]float64, len(x)), make([]float64, len(c.poles))
	for t, value := range x {
		carry := 0.0
		for k, s := range states {
			carry += c.residues[k] * s
		}
		out[t] = value + sign*carry
		input := value
		if sign < 0 {
			input = out[t]
		}
		for k := range states {
			states[k] = c.poles[k]*states[k] + input
		}
	}
	return out
}

// forest is C = AAᵀ with A the incidence of releases and nodes of a window tree: C_st = |active(s) ∩ active(t)|.
type forest struct {
	active [][]int32 // by release
	nodes  int
}

// newForest numbers the nodes of the definition ([WDP] §3): at position p of block k, the dyadic prefix of [1, p] in k and the dyadic suffix
// of [p+1, W] in k−1.
func newForest(window uint64, releases int) forest {
	type node struct{ block, level, index uint64 }
	f, known := forest{active: make([][]int32, releases)}, map[node]int32{}
	for t := range f.active {
		block, p := uint64(t)/window, uint64(t)%window+1
		add := func(x node) {
			number, ok := known[x]
			if !ok {
				number = int32(len(known))
				known[x] = number
			}
			f.active[t] = append(f.active[t], number)
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
	f.nodes = len(known)
	return f
}

// nodesOf returns Aᵀx.
func (f forest) nodesOf(x []float64) []float64 {
	out := make([]float64, f.nodes)
	for t, active := range f.active {
		for _, i := range active {
			out[i] += x[t]
		}
	}
	return out
}

func (f forest) form(x []float64) float64 {
	y := f.nodesOf(x)
	return dot(y, y)
}

// rounds bounds the conjugate gradients; a test compares them with a dense solution. What they leave undone costs the statistic power and
// nothing else: any weights give a valid audit.
const rounds = 400

// solve is the method of conjugate gradients (Hestenes and Stiefel 1952).
func (f forest) solve(m []float64) []float64 {
	x, rest, way := make([]float64, len(m)), slices.Clone(m), slices.Clone(m)
	left := dot(rest, rest)
	goal := left * 1e-20
	for i := 0; i < rounds && left > goal; i++ {
		image, nodes := make([]float64, len(m)), f.nodesOf(way)
		for t, active := range f.active {
			for _, k := range active {
				image[t] += nodes[k]
			}
		}
		step := left / dot(way, image)
		for t := range x {
			x[t] += step * way[t]
			rest[t] -= step * image[t]
		}
		before := left
		left = dot(rest, rest)
		for t := range way {
			way[t] = rest[t] + left/before*way[t]
		}
	}
	return x
}

func dot(x, y []float64) float64 {
	sum := 0.0
	for i := range x {
		sum += x[i] * y[i]
	}
	return sum
}
