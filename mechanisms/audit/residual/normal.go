package residual

import (
	"math"

	"gonum.org/v1/gonum/mathext"
	"gonum.org/v1/gonum/stat/distuv"
)

// ofTail returns the normal of the given sign that is larger in size with twice this probability.
func ofTail(tail, sign float64) float64 {
	return math.Copysign(distuv.UnitNormal.Quantile(max(tail, 1e-300)), sign)
}

// laplaceNormals maps draws of density e^{−|x|}/2 to normals, entry by entry.
func laplaceNormals(x []float64) {
	for i, v := range x {
		x[i] = ofTail(math.Exp(-math.Abs(v))/2, v)
	}
}

// gammaNormals maps a vector of density ∝ e^{−‖x‖₂} to independent normals: the norm has the law Gamma(n), the
// direction is uniform and independent of it, and so x_i over the length of x_1 … x_{i−1} is Student's of i − 1 degrees
// of freedom, up to √(i−1), and independent of all before.
func gammaNormals(n int) func(x []float64) {
	return func(x []float64) {
		length := x[0] * x[0] // squared
		for i := 1; i < n; i++ {
			square := x[i] * x[i]
			tail := 0.5
			if length+square > 0 {
				tail = mathext.RegIncBeta(float64(i)/2, 0.5, length/(length+square)) / 2
			}
			length += square
			x[i] = ofTail(tail, x[i])
		}
		x[0] = ofTail(mathext.GammaIncRegComp(float64(n), math.Sqrt(length))/2, x[0])
	}
}
