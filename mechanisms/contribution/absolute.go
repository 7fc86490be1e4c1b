package contribution

import (
	"math/big"

	"oriel/mechanisms/lattice"
)

// Absolute is a Quantiser that also states its distances in the ℓ1 norm, and the multiples that contributions are. The
// discrete Laplace noise of once-laplace depends on both.
type Absolute interface {
	Quantiser

	// AbsoluteDistances returns distances in units of g, in the ℓ1 norm of integers: replace between two contributions
	// with equal public numbers, zeroOut between a contribution and zero. A longer contribution is never added.
	AbsoluteDistances(g lattice.Grid) (replace, zeroOut uint64)

	// Steps returns positive steps, of which there are as many as coordinates or a divisor of that number. Coordinate i
	// of every contribution is a multiple of step i modulo their number. Another contribution is never added.
	Steps(g lattice.Grid) []int64
}

// AbsoluteDistances returns the component's distances in the ℓ1 norm, in units of g. The ℓ1 norm of n integers is at
// most √n times their ℓ2 norm.
func (p Component) AbsoluteDistances(g lattice.Grid) (replace, zeroOut uint64) {
	if q, ok := p.Quantiser.(Absolute); ok {
		return q.AbsoluteDistances(g)
	}
	far, near := p.Distances(g)
	return p.absolute(far), p.absolute(near)
}

// absolute returns ⌈√(n·square)⌉.
func (p Component) absolute(square lattice.Int128) uint64 {
	x := new(big.Int).Lsh(big.NewInt(square.Hi), 64)
	x.Add(x, new(big.Int).SetUint64(square.Lo))
	x.Mul(x, big.NewInt(int64(p.Size)))
	root := new(big.Int).Sqrt(x)
	if new(big.Int).Mul(root, root).Cmp(x) < 0 {
		return root.Uint64() + 1
	}
	return root.Uint64()
}

// Steps returns the steps of the component's coordinates.
func (p Component) Steps(g lattice.Grid) []int64 {
	if q, ok := p.Quantiser.(Absolute); ok {
		return q.Steps(g)
	}
	return []int64{1}
}

// Within reports whether the ℓ1 norm of a contribution is at most limit, and each coordinate is a multiple of its step.
// The contribution is zero outside of n, its coordinates from one on.
func Within(n []int64, from int, limit uint64, steps []int64) bool {
	sum, at := uint64(0), from%len(steps)
	for _, x := range n {
		if x != 0 {
			if x%steps[at] != 0 {
				return false
			}
			if sum += uint64(max(x, -x)); sum > limit {
				return false
			}
		}
		if at++; at == len(steps) {
			at = 0
		}
	}
	return true
}
