package exact

import (
	"cmp"
	"math"
	"slices"

	"oriel/cmd/internal/audit/subject"
	"oriel/mechanisms"
	"oriel/mechanisms/audit"
	"oriel/mechanisms/audit/residual"
	"oriel/mechanisms/noise"
)

// Tail passes draws of all sizes through the sum of each component. The draws come from a sampler of the auditor, not
// of the mechanism.
func Tail(a *subject.Subject) (subject.Check, error) {
	check := subject.Check{
		Name: "far draws", Looked: "draws of 1 to 29 scales, from sampler to release",
		Found: "all reach the release as they were drawn", Holds: true,
	}
	for k := range a.Components {
		c, p, err := subject.ComponentOf(a.Mechanism, a.Calibration, k)
		if err != nil {
			return check, err
		}
		over := func(s noise.Sampler) ([]mechanisms.Sum, error) { return p.SumsOver(c, s) }
		draws, err := audit.CheckTail(c, p, over)
		check.Count += draws
		if err != nil {
			return check.RefutedBy(err, audit.ErrTail)
		}
	}
	return check, nil
}

// Reset compares streams that have different noise in their buffers, before and after resets.
func Reset(a *subject.Subject) (subject.Check, error) {
	check := subject.Check{
		Name: "reset", Looked: "numbers that steps after a reset add, over other noise before it",
		Found: "they are the same", Holds: true,
	}
	stream, err := a.Stream(a.WholeMechanism, a.WholeCalibration, a.Key())
	if err != nil {
		return check, err
	}
	check.Count, err = audit.CheckReset(a.WholeMechanism, a.WholeCalibration, stream)
	return check.RefutedBy(err, audit.ErrReset)
}

// RecordedDraw is a call of Stream.Choose with the index that it returned.
type RecordedDraw struct {
	mechanisms.Draw
	Index int
}

// DrawTest tests whether draws follow the exponential mechanism. It orders indices by score, best first, and computes
// the value of the distribution function at the drawn index. This value is uniform on [0, 1] if the jump of the
// function at the drawn index is replaced by a random share of the jump.
func DrawTest(a *subject.Subject, draws []RecordedDraw) residual.Test {
	rng, normals := a.Random("places of draws", 0), make([]float64, 0, len(draws))
	for _, d := range draws {
		normals = append(normals, math.Sqrt2*math.Erfinv(2*d.place(rng.Float64())-1))
	}
	return residual.Normals("draws", "indices drawn, by their scores", "draw", normals)
}

// place returns the probability of all indices with a better score, plus share times the probability of the drawn
// index.
func (d RecordedDraw) place(share float64) float64 {
	order, best := make([]int, len(d.Scores)), slices.Max(d.Scores)
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(i, j int) int { return cmp.Compare(d.Scores[j], d.Scores[i]) })
	rate := float64(d.Law.Epsilon.Num) / float64(d.Law.Epsilon.Den) / 2 *
		float64(d.Law.Sensitivity.Den) / float64(d.Law.Sensitivity.Num)
	before, own, total := 0.0, 0.0, 0.0
	for _, i := range order {
		weight := math.Exp(-rate * (float64(best) - float64(d.Scores[i])))
		if i == d.Index {
			before, own = total, weight
		}
		total += weight
	}
	return (before + share*own) / total
}
