package audit

import (
	"slices"

	"oriel/mechanisms/audit/definition"
)

// covariance is C of one coordinate's releases, in units of the noise variance of a node or a step.
type covariance interface {
	// solve returns x with C·x = m, or an approximation.
	solve(m []float64) []float64
	// form returns xᵀCx.
	form(x []float64) float64
}

// noiseOf returns the covariance of the first releases of a mechanism with Gaussian noise.
func noiseOf(n definition.Noise) covariance {
	if n.Forest != nil {
		return treeNoise{*n.Forest}
	}
	return recursiveNoise{n}
}

// recursiveNoise is C = BBᵀ with B = DE: D the decaying sum, E lower Toeplitz of e from reset to reset.
type recursiveNoise struct{ definition.Noise }

// solve returns x = D⁻ᵀE⁻ᵀE⁻¹D⁻¹m.
func (c recursiveNoise) solve(m []float64) []float64 {
	x := slices.Clone(m)
	for t := len(x) - 1; t > 0; t-- {
		x[t] -= c.Decay * x[t-1]
	}
	x = c.blocks(c.blocks(x, -1, false), -1, true)
	for t := range len(x) - 1 {
		x[t] -= c.Decay * x[t+1]
	}
	return x
}

// form returns |EᵀDᵀx|².
func (c recursiveNoise) form(x []float64) float64 {
	x = slices.Clone(x)
	for t := len(x) - 2; t >= 0; t-- {
		x[t] += c.Decay * x[t+1]
	}
	x = c.blocks(x, 1, true)
	slices.Reverse(x) // the order of a sum fixes its last bit, which an audit prints
	return dot(x, x)
}

// blocks returns Ex for sign 1 and E⁻¹x for sign −1. With transposed it uses Eᵀ, which runs through each block in
// reverse.
func (c recursiveNoise) blocks(x []float64, sign float64, transposed bool) []float64 {
	var out []float64
	for block := range slices.Chunk(x, int(min(c.Period, uint64(len(x))))) {
		block = slices.Clone(block)
		if transposed {
			slices.Reverse(block)
		}
		states := make([]float64, len(c.Poles))
		for t, value := range block { // n is the filter's input: value, or the output
			block[t] = value + sign*c.Carry(states)
			if sign < 0 {
				value = block[t]
			}
			c.Take(states, value)
		}
		if transposed {
			slices.Reverse(block)
		}
		out = append(out, block...)
	}
	return out
}

// treeNoise is C = AAᵀ with A the incidence matrix of releases and nodes of a window tree: C_st = |active(s) ∩
// active(t)|.
type treeNoise struct{ definition.Forest }

// nodesOf returns Aᵀx.
func (f treeNoise) nodesOf(x []float64) []float64 {
	out := make([]float64, f.Nodes)
	for t, active := range f.Active {
		for _, i := range active {
			out[i] += x[t]
		}
	}
	return out
}

func (f treeNoise) form(x []float64) float64 {
	y := f.nodesOf(x)
	return dot(y, y)
}

// rounds bounds the iterations of conjugate gradients; a test compares the result with a dense solution. Stopping early
// costs the statistic only power, because any weights give a valid audit.
const rounds = 400

// solve uses the method of conjugate gradients (Hestenes and Stiefel 1952).
func (f treeNoise) solve(m []float64) []float64 {
	x, rest, direction := make([]float64, len(m)), slices.Clone(m), slices.Clone(m)
	squared := dot(rest, rest)
	goal := squared * 1e-20
	for i := 0; i < rounds && squared > goal; i++ {
		image, nodes := make([]float64, len(m)), f.nodesOf(direction)
		for t, active := range f.Active {
			for _, k := range active {
				image[t] += nodes[k]
			}
		}
		step := squared / dot(direction, image)
		for t := range x {
			x[t] += step * direction[t]
			rest[t] -= step * image[t]
		}
		before := squared
		squared = dot(rest, rest)
		for t := range direction {
			direction[t] = rest[t] + squared/before*direction[t]
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
