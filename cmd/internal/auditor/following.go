package auditor

import (
	"math"
	"slices"

	"oriel/mechanisms/audit/definition"
	"oriel/mechanisms/lattice"
)

// Contributions of some operators follow what was released before: gains behind the published set, for example. Then a
// canary in the midst of a stream has other contributions in each run, and who looks for those of a stream's start
// finds next to nothing. The adversary knows releases, and so both contributions; in units of each coordinate's scale,
// Gaussian noise has one law in all directions. So what is observed of such a run is the release along its own two
// contributions, laid where the law has them.

// learnedDirection is where a run's own contributions are, in scales.
type learnedDirection struct {
	scales            []float64 // of coordinates, loss units
	direction, middle []float64 // of the run's leaves: direction, and half way
	to, centre        []float64 // of the law's
	at, step          uint64    // of the canary, and of the last release
	kept, weights     float64   // of a leaf, from one release to the next, and in the last
	out               []float64
}

// follows reports whether an attack on Gaussian noise has a canary whose contributions are not the law's in every
// run. Of several events of a user the contributions of each would differ, and the law knows one direction: it is left
// as it is. It looks soon after the first decisions, because contributions that follow releases do so from then on, and
// runs up to a far canary take long.
func (a *Subject) follows(t *Attack) (bool, error) {
	if t.Canary.Step <= a.earliest() || t.Canary.Count > 1 || !t.law.Gaussian() {
		return false, nil
	}
	near := a.earliest() - 1 + afterFirst
	shown, _, err := a.shownSteps(near)
	if err != nil {
		return false, err
	}
	near = min(t.Canary.Step, max(near, shown))
	p, err := a.open()
	if err != nil {
		return false, err
	}
	for run := range uint64(4) {
		for _, canary := range []bool{true, false} {
			leaf, _, err := p.contributionAt(near, t.direction, math.MaxUint64-1-run, canary)
			if err != nil {
				return false, err
			}
			law := t.Canary.Without
			if canary {
				law = t.Canary.With
			}
			if lattice.Norm(differences(leaf, law)) > 1e-6*t.Canary.Distance() {
				return true, nil
			}
		}
	}
	return false, nil
}

// aimed finds where a run's contributions are. The run is played again from its start, with the same noise.
func (t *Attack) aimed(p *player, run uint64) (*learnedDirection, error) {
	with, _, err := p.contributionAt(t.Canary.Step, t.direction, run, true)
	if err != nil {
		return nil, err
	}
	without, _, err := p.contributionAt(t.Canary.Step, t.direction, run, false)
	if err != nil {
		return nil, err
	}
	scales := definition.Scales(p.subject.mechanism, p.subject.plan)
	with, without = over(with, scales), over(without, scales)
	there, other := over(t.Canary.With, scales), over(t.Canary.Without, scales)
	x := &learnedDirection{
		scales: scales, direction: differences(with, without), middle: middle(with, without), to: differences(there, other),
		centre: middle(there, other), at: t.Canary.Step, kept: p.subject.retained(), out: make([]float64, len(with)),
	}
	unit(x.to)
	if !unit(x.direction) { // both leaves are one, and nothing is to be seen
		copy(x.direction, x.to)
	}
	return x, nil
}

// lay returns the next release of the run as if its contributions were the law's, valid until the next call.
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

// over returns numbers in units of others.
func over(v, units []float64) []float64 {
	out := slices.Clone(v)
	for i, u := range units {
		out[i] /= u
	}
	return out
}

func differences(a, b []float64) []float64 {
	out := slices.Clone(a)
	for i, x := range b {
		out[i] -= x
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

// unit scales a vector to norm 1, and reports false for one that is zero.
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
