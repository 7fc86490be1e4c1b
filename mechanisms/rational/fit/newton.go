package fit

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"
)

const (
	iterations = 100
	h          = 1e-4 // step of finite differences: error 1e-8 for a second derivative, 1e-12 for a first
	converged  = 1e-12
)

// minimise is Newton's method with finite differences as derivatives and Levenberg's damping (Nocedal and Wright 2006,
// §10.3): a step that does not lower f is tried again shorter. In at most 8 dimensions an iteration takes some 150
// calls of f.
func minimise(f func([]float64) float64, x []float64) ([]float64, float64) {
	n, y, damping := len(x), f(x), 1.0
	for range iterations {
		gradient, hessian := derivatives(f, x, y)
		fell := false
		for ; damping < 1e12 && !fell; damping *= 8 {
			var factor mat.Cholesky
			damped := mat.NewSymDense(n, nil)
			damped.CopySym(hessian)
			for i := range n {
				damped.SetSym(i, i, hessian.At(i, i)+damping)
			}
			var step mat.VecDense
			if !factor.Factorize(damped) || factor.SolveVecTo(&step, gradient) != nil {
				continue
			}
			next := slices.Clone(x)
			for i := range next {
				next[i] -= step.AtVec(i)
			}
			if z := f(next); z < y {
				fell = true
				if y-z < converged && damping < 1 {
					return next, z
				}
				x, y, damping = next, z, damping/128
			}
		}
		if !fell {
			break
		}
	}
	return x, y
}

// derivatives returns gradient and Hessian of f at x by central differences; y = f(x). Successive calls of f differ in
// the last coordinates where possible, because a decoder keeps what the first ones determine.
func derivatives(f func([]float64) float64, x []float64, y float64) (*mat.VecDense, *mat.SymDense) {
	n := len(x)
	gradient, hessian := mat.NewVecDense(n, nil), mat.NewSymDense(n, nil)
	moved := slices.Clone(x)
	at := func(i int, a float64, k int, b float64) float64 {
		moved[i] += a
		moved[k] += b
		z := f(moved)
		moved[i], moved[k] = x[i], x[k]
		if !math.IsInf(z, 1) {
			return z
		}
		return y // at the border the function counts as flat
	}
	for i := range n {
		above, below := at(i, h, i, 0), at(i, -h, i, 0)
		gradient.SetVec(i, (above-below)/(2*h))
		hessian.SetSym(i, i, (above-2*y+below)/(h*h))
	}
	right := make([][2]float64, n) // f at x_k + h, for x_i + h and x_i − h
	for k := range n {
		for i := n - 1; i > k; i-- {
			right[i] = [2]float64{at(i, h, k, h), at(i, -h, k, h)}
		}
		for i := n - 1; i > k; i-- {
			left := [2]float64{at(i, h, k, -h), at(i, -h, k, -h)}
			hessian.SetSym(i, k, (right[i][0]-left[0]-right[i][1]+left[1])/(4*h*h))
		}
	}
	return gradient, hessian
}
