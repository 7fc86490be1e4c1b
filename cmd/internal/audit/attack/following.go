package attack

import (
	"math"
	"slices"

	"oriel/cmd/internal/audit/subject"
	"oriel/mechanisms/audit/definition"
	"oriel/mechanisms/lattice"
)

// The contributions of some operators depend on earlier releases; for example, a reward may depend on the published
// set. A canary in the middle of a stream then has other contributions in each run, so an attack that expects the
// contributions of the stream's start has almost no power. The adversary knows the releases, and therefore knows both
// possible contributions of the canary. In units of each coordinate's scale, Gaussian noise has the same distribution
// in all directions. So the attack projects each release on the direction between the run's own two contributions, and
// transfers the result to the direction for which the distribution was computed.

// learnedDirection holds the two possible contributions of a run's canary, in units of the noise scales.
type learnedDirection struct {
	scales            []float64 // scale of each coordinate, loss units
	direction, middle []float64 // difference and midpoint of this run's two contributions
	// difference and midpoint of the two contributions of which the distribution was computed
	to, centre []float64
	at, step   uint64 // step of the canary, and step of the last release
	// share of a contribution that the next release keeps; sum of the shares of the last release
	kept, weights float64
	out           []float64
}

// follows reports whether this is an attack on Gaussian noise whose canary has other contributions in each run. Attacks
// on several events of a user do not follow contributions: each event would have its own direction, but the
// distribution has only one. The method examines runs soon after the first decisions, because contributions that depend
// on releases differ from then on, and runs up to a late canary take long.
func follows(a *subject.Subject, t *Attack) (bool, error) {
	several := t.Canary.Count > 1 || a.Mechanism.Unit.StepEvents() > 1
	if t.Canary.Step <= a.Earliest() || several || !t.Law.Gaussian() {
		return false, nil
	}
	near := a.Earliest() - 1 + afterFirst
	shown, _, err := a.ShownSteps(near)
	if err != nil {
		return false, err
	}
	near = min(t.Canary.Step, max(near, shown))
	p, err := a.Open()
	if err != nil {
		return false, err
	}
	for run := range uint64(4) {
		for _, canary := range []bool{true, false} {
			sum, _, err := p.ContributionAt(near, t.direction, math.MaxUint64-1-run, canary)
			if err != nil {
				return false, err
			}
			law := t.Canary.Without
			if canary {
				law = t.Canary.With
			}
			if lattice.Norm(subject.Differences(sum, law)) > 1e-6*t.Canary.Distance() {
				return true, nil
			}
		}
	}
	return false, nil
}

// aimed finds a run's contributions by playing the run again from its start, with the same noise.
func (t *Attack) aimed(p *subject.Player, run uint64) (*learnedDirection, error) {
	with, without, err := p.ContributionsAt(t.Canary.Step, t.direction, run)
	if err != nil {
		return nil, err
	}
	scales := definition.Scales(p.Subject.Mechanism, p.Subject.Calibration)
	with, without = over(with, scales), over(without, scales)
	there, other := over(t.Canary.With, scales), over(t.Canary.Without, scales)
	x := &learnedDirection{
		scales: scales, direction: subject.Differences(with, without), middle: middle(with, without),
		to: subject.Differences(there, other), centre: middle(there, other), at: t.Canary.Step,
		kept: definition.Kept(p.Subject.Calibration), out: make([]float64, len(with)),
	}
	unit(x.to)
	if !unit(x.direction) { // the contributions are equal: there is nothing to distinguish
		copy(x.direction, x.to)
	}
	return x, nil
}

// lay returns the run's next release, transferred from the direction of the run's contributions to the distribution's
// direction. The result is valid until the next call.
func (x *learnedDirection) lay(release []float64) []float64 {
	x.step++
	if x.weights *= x.kept; x.step == x.at {
		x.weights++
	}
	away := 0.0
	for i, y := range release {
		away += x.direction[i] * (y/x.scales[i] - x.weights*x.middle[i])
	}
	for i := range x.out {
		x.out[i] = (x.weights*x.centre[i] + away*x.to[i]) * x.scales[i]
	}
	return x.out
}

// over returns v divided by units, entry by entry.
func over(v, units []float64) []float64 {
	out := slices.Clone(v)
	for i, u := range units {
		out[i] /= u
	}
	return out
}

func middle(a, b []float64) []float64 {
	out := slices.Clone(a)
	for i, x := range b {
		out[i] = (out[i] + x) / 2
	}
	return out
}

// unit scales a vector to norm 1. It returns false for the zero vector.
func unit(v []float64) bool {
	norm := lattice.Norm(v)
	if norm == 0 {
		return false
	}
	for i := range v {
		v[i] /= norm
	}
	return true
}
