package linucb

import (
	"errors"
	"math"
	"strconv"
	"strings"

	"oriel/mechanisms"
)

// paramsVersion is the first line of params. S follows it.
const paramsVersion = "3"

// maxDerivedWeights is the largest default of S.
const maxDerivedWeights = 2.5

// Params freezes the version, S, and the list of arms: one on each line, with its features if it has some.
func (c operator) Params(mechanisms.Config) ([]byte, error) {
	lines := c.arms
	if c.products.length > 0 {
		lines = c.lines
	}
	head := []string{paramsVersion, strconv.FormatFloat(c.maxWeights, 'g', -1, 64)}
	return []byte(strings.Join(append(head, lines...), "\n")), nil
}

// read returns the operator with the S and the arms of a plan.
func (c operator) read(params []byte) (operator, error) {
	version, rest, _ := strings.Cut(string(params), "\n")
	if version != paramsVersion {
		return c, errors.New("linucb: params: not one of version " + paramsVersion)
	}
	text, rest, more := strings.Cut(rest, "\n")
	most, err := strconv.ParseFloat(text, 64)
	if err != nil || !(most >= 1e-6 && most <= 1e6) {
		return c, errors.New("linucb: params: weights have no largest norm")
	}
	if !c.derived && c.maxWeights != most {
		return c, errors.New("linucb: ORIEL_WEIGHTS_MAX differs from its value when the deployment began, which is " + text)
	}
	c.maxWeights = most
	var lines []string
	if more {
		lines = strings.Split(rest, "\n")
	}
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
