package linucb

import (
	"errors"
	"math"
	"strconv"
	"strings"

	"oriel/mechanisms"
)

// Versions start what Params stores. Since the third S stands behind the version.
const (
	planVersion   = "1" // of logged events; of served ones, their actions do not say what they answer
	planOfMarks   = "2" // of served ones, whose actions say it
	planOfWeights = "3" // of both, served ones with marks
)

// mostBefore is S by default under plans of the first two versions.
const mostBefore = 2.5

// Params freezes S and the list of arms, a line each behind the version, arms with their features where they have some.
func (c operator) Params(mechanisms.Config) ([]byte, error) {
	lines := c.arms
	if c.products.length > 0 {
		lines = c.lines
	}
	head := []string{planOfWeights, strconv.FormatFloat(c.most, 'g', -1, 64)}
	return []byte(strings.Join(append(head, lines...), "\n")), nil
}

// read returns what is configured, with S and the arms of a plan.
func (c operator) read(params []byte) (operator, error) {
	version, rest, more := strings.Cut(string(params), "\n")
	switch {
	case version == planOfWeights && more:
		var text string
		text, rest, more = strings.Cut(rest, "\n")
		most, err := strconv.ParseFloat(text, 64)
		if err != nil || !(most >= 1e-6 && most <= 1e6) {
			return c, errors.New("linucb: plan: weights have no largest norm")
		}
		if !c.derived && c.most != most {
			return c, errors.New("linucb: ORIEL_WEIGHTS_MAX is not what the deployment began with, which is " + text)
		}
		c.most = most
	case version == planVersion || version == planOfMarks && c.served:
		if c.withoutAnswers = version == planVersion; c.derived {
			c.most = mostBefore
		}
	default:
		return c, errors.New("linucb: plan: not one of version " + planVersion + " or " + planOfWeights +
			", or of served events " + planOfMarks)
	}
	var lines []string
	if more {
		lines = strings.Split(rest, "\n")
	}
	if len(lines) != len(c.arms) {
		return c, errors.New("linucb: plan: not of as many arms as ORIEL_ARMS")
	}
	if c.arms = lines; c.products.length == 0 {
		return c, nil
	}
	arms, p, ok := readProducts(c.arms)
	if !ok || p.length != c.products.length {
		return c, errors.New("linucb: plan: not of arms with as many features as those of ORIEL_ARM_FEATURES")
	}
	c.arms, c.products = arms, p
	return c, nil
}

// derivedMost is S where settings do not say it: of arms with weights of their own max(1, √d/4), mostBefore at most.
//
// Rewards that are linear in every context of norm 1, and stay within their range, have weights of norm 1 at most: the
// largest prediction is the norm. Rewards that are not may need more. Of contexts that are spread evenly in d
// dimensions a prediction has the root mean square |θ|/√d, which √d/4 lets be a quarter of half the range. Larger
// weights are mostly those of the arms that were played most, which others are then never compared with (SPEC.md).
// Where one vector of weights serves all choices, there are no others. With ORIEL_CONFIDENCE S is an assumption of the
// proof and no limit. In both cases it stays as it was.
func (c operator) derivedMost() float64 {
	if c.confidence > 0 || c.blocks() == 1 {
		return mostBefore
	}
	return max(1, min(mostBefore, math.Sqrt(float64(c.rows.Features))/4))
}
