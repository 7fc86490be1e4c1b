package moments

import (
	"fmt"
	"math"

	"oriel/mechanisms"
	"oriel/operators/elementary"
)

// DescribeNoise describes in words the largest noise of released moments under a mechanism, for rows with size
// features, and a shift of factor times the edge of the noise's spectrum. The unit is squares of features of length 1,
// or events. It returns "" if the mechanism cannot be calibrated.
func DescribeNoise(m mechanisms.Config, size int, factor float64) string {
	sd, err := Deviation(m)
	if err != nil {
		return ""
	}
	edge := Edge(size, sd)
	text := fmt.Sprintf("noise of moments: standard deviation %.3g at most, eigenvalues up to about %.3g", sd, edge)
	if factor > 0 {
		text += fmt.Sprintf(". We add a shift of %.3g to keep matrices positive", float64(factor*edge))
	}
	if factor > 1 {
		text += fmt.Sprintf("; at most %.2g %% of decisions need twice that", float64(100*Doubled(size, factor)))
	}
	return text
}

// Doubled returns a bound on the share of decisions for which a shift of factor times the edge is too small, for factor
// ≥ 1 (PROOF.md, Theorem 3).
func Doubled(size int, factor float64) float64 {
	over := factor - 1
	return elementary.Exp(-float64(float64(over*over) * float64(size)))
}

// Deviation returns the largest standard deviation of a released number off the diagonal under a mechanism.
func Deviation(m mechanisms.Config) (float64, error) {
	calibration, err := mechanisms.Calibrate(m)
	if err != nil {
		return 0, err
	}
	stream, err := mechanisms.Open(m, calibration, [32]byte{})
	if err != nil {
		return 0, err
	}
	d, err := stream.Deviation(0, 0)
	if err != nil {
		return 0, err
	}
	return d.Worst(), nil
}

// LargestDistance returns two rows (x; ±1) with |x| = 1, at the largest distance that Distances declares, for an audit.
// u, of d+1 numbers, selects one of the pairs. Rows (x; s) and (x'; ±s) are orthogonal if ⟨x, x'⟩ = ∓s². u determines
// x, the plane that contains x', and the sign. In one dimension x' = −x.
func (r Rows) LargestDistance(u []float64) (a, b []float64) {
	d := r.Features
	a, b = make([]float64, d+1), make([]float64, d+1)
	x, other := a[:d], b[:d]
	norm := 0.0
	for _, v := range u[:d] {
		norm += float64(v * v)
	}
	if norm > 1e-18 {
		for i := range x {
			x[i] = u[i] / math.Sqrt(norm)
		}
	} else {
		x[0] = 1
	}
	least := 0 // the axis with the smallest component along x; with x it spans the plane
	for i := range x {
		if math.Abs(x[i]) < math.Abs(x[least]) {
			least = i
		}
	}
	s := float64(r.Label) / MaxLabel
	a[d], b[d] = 1, 1
	if u[d] < 0 {
		b[d] = -1
	}
	cosine := float64(-b[d] * float64(s*s))
	across := math.Sqrt(max(0, 1-float64(x[least]*x[least])))
	for i := range other {
		axis := float64(-x[i] * x[least])
		if i == least {
			axis++
		}
		other[i] = float64(cosine * x[i])
		if across > 1e-9 {
			other[i] += float64(math.Sqrt(max(0, 1-float64(cosine*cosine))) * axis / across)
		}
	}
	if d == 1 {
		other[0], b[1] = -x[0], 1
	}
	return a, b
}
