package linucb

import (
	"errors"
	"math"
	"strings"

	"oriel/mechanisms"
)

// paramsVersion is the first line of params.
const paramsVersion = "1"

// maxDerivedWeights is the largest default of S.
const maxDerivedWeights = 2.5

// Params freezes the version and the list of arms: one on each line, with its features if it has some.
func (c operator) Params(mechanisms.Config) ([]byte, error) {
	lines := c.arms
	if c.products.length > 0 {
		lines = c.lines
	}
	return []byte(strings.Join(append([]string{paramsVersion}, lines...), "\n")), nil
}

// read returns the operator with the arms of params.
func (c operator) read(params []byte) (operator, error) {
	lines := strings.Split(string(params), "\n")
	if lines[0] != paramsVersion {
		return c, errors.New("linucb: params: not one of version " + paramsVersion)
	}
	lines = lines[1:]
	if len(lines) != len(c.arms) {
		return c, errors.New("linucb: params: not of as many arms as ORIEL_ARMS")
	}
	if c.arms = lines; c.products.length == 0 {
		return c, nil
	}
	arms, p, ok := readProducts(c.arms)
	if !ok || p.length != c.products.length {
		return c, errors.New("linucb: params: its arms have not as many features as ORIEL_ARM_FEATURES")
	}
	c.arms, c.products = arms, p
	return c, nil
}

// derivedMaxWeights returns the default of S: max(1, √d/4), at most maxDerivedWeights, if arms have separate weights.
//
// Rewards that are linear in every context of norm 1, and stay within their range, have weights of norm at most 1,
// because the largest prediction is the norm. Other rewards may need larger weights. For contexts that are spread
// evenly in d dimensions the root mean square of a prediction is |θ|/√d; √d/4 allows a quarter of half the range.
// Larger weights mostly occur at the arms that were played most, so that other arms are never tried against them
// (SPEC.md). If one vector of weights serves all choices, this does not happen. With ORIEL_CONFIDENCE S is an
// assumption of the proof and no limit. In both cases S is maxDerivedWeights.
func (c operator) derivedMaxWeights() float64 {
	if c.confidence > 0 || c.blocks() == 1 {
		return maxDerivedWeights
	}
	return max(1, min(maxDerivedWeights, math.Sqrt(float64(c.rows.Features))/4))
}
