package moments

import (
	"fmt"

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
	plan, err := mechanisms.Calibrate(m)
	if err != nil {
		return 0, err
	}
	stream, err := mechanisms.Open(m, plan, [32]byte{})
	if err != nil {
		return 0, err
	}
	d, err := stream.Deviation(0, 0)
	if err != nil {
		return 0, err
	}
	return d.Worst(), nil
}
