package setup

import (
	"errors"
	"fmt"
	"math"
	"strings"

	"oriel/schemas/text"
)

// Drawn says how an experiment draws its arms, and how large an effect it must detect.
type Drawn struct {
	Propensities string // value of ORIEL_PROPENSITIES
	Effect, Near float64
	Target       uint64 // value of ORIEL_TARGET, events
}

const (
	experimentLooks  = 1000 // number of steps of an experiment, if its batch allows that many
	experimentMemory = 1024 // memory of an experiment, steps
)

// ParseArms parses column=arm:p|arm:p|…, with the control first. It returns the arms in the form of ORIEL_CELLS, and
// their probabilities in the form of ORIEL_PROPENSITIES.
func ParseArms(s string) (cells, propensities string, err error) {
	wrong := fmt.Errorf("%q is not column=arm:probability|arm:probability, such as variant=A:0.5|B:0.5", s)
	column, list, found := strings.Cut(s, "=")
	if !found || strings.TrimSpace(column) == "" {
		return "", "", wrong
	}
	var arms, shares []string
	sum := 0.0
	for part := range strings.SplitSeq(list, "|") {
		at := strings.LastIndex(part, ":")
		if at < 1 {
			return "", "", wrong
		}
		p, err := text.ParseNumber(part[at+1:])
		if err != nil || !(p >= 0.001 && p <= 0.999) {
			return "", "", wrong
		}
		arms, shares, sum = append(arms, part[:at]), append(shares, part[at+1:]), sum+p
	}
	switch {
	case len(arms) < 2:
		return "", "", errors.New("an experiment has at least two arms, with | between them")
	case math.Abs(sum-1) > 1e-9:
		return "", "", fmt.Errorf("the probabilities sum to %g, want 1", sum)
	}
	return strings.ToLower(strings.TrimSpace(column)) + "=" + strings.Join(arms, "|"), strings.Join(shares, "|"), nil
}

// ParseEffect parses "EFFECT near MEAN", in units of the outcome. outcome is the range of the outcome.
func ParseEffect(s string, outcome Range) (effect, near float64, err error) {
	first, second, found := strings.Cut(s, "near")
	effect, err1 := text.ParseNumber(first)
	near, err2 := text.ParseNumber(second)
	switch {
	case !found || errors.Join(err1, err2) != nil:
		return 0, 0, fmt.Errorf("%q is not an effect near a mean, such as 0.01 near 0.1", s)
	case !(near > outcome.Low && near < outcome.High):
		return 0, 0, fmt.Errorf("the mean %g is not inside of the outcome's range, %g to %g", near, outcome.Low, outcome.High)
	case !(effect != 0 && math.Abs(effect) < outcome.High-outcome.Low):
		return 0, 0, fmt.Errorf("an effect of %g is not one within the outcome's range, %g to %g", effect, outcome.Low, outcome.High)
	}
	return effect, near, nil
}

// TargetFor rounds a number of events that an effect needs up to a round number.
func TargetFor(events float64) uint64 {
	events = max(events, 1000)
	unit := math.Pow(10, math.Floor(math.Log10(events))-1)
	return uint64(math.Ceil(events/unit) * unit)
}
