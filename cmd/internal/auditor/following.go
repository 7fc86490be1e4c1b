package auditor

import (
	"fmt"
	"math"
	"slices"

	"oriel/mechanisms/lattice"
	"oriel/operators"
)

// Leaves of some operators follow what was released before: gains behind the published set, for example. Then a canary
// in the midst of a stream has other leaves in each run, and who looks for those of a stream's start finds next to
// nothing. The adversary knows releases, and so both leaves; noise of one scale has one law in all directions. So what
// is observed of such a run is the release along its own two leaves, laid where the law has them.

// aim is where a run's own leaves are.
type aim struct {
	along, middle []float64 // of the run's leaves: direction, and half way
	to, centre    []float64 // of the law's
	at, step      uint64    // of the canary, and of the last release
	kept, held    float64   // of a leaf, from one release to the next, and in the last
	out           []float64
}

// follows tells whether an attack on Gaussian noise of one scale has a canary whose leaves are not the law's in every
// run. Of several events of a user the leaves of each would differ, and the law knows one direction: it is left as it
// is.
func (a *Subject) follows(t *Attack) (bool, error) {
	scaled := slices.ContainsFunc(a.integers, func(x float64) bool { return x != a.integers[0] })
	if t.Canary.Step == 1 || t.Canary.Count > 1 || !t.law.Gaussian() || len(a.parts) > 1 || scaled {
		return false, nil
	}
	p, err := a.open()
	if err != nil {
		return false, err
	}
	for run := range uint64(4) {
		for _, canary := range []bool{true, false} {
			leaf, err := t.leafAt(p, math.MaxUint64-1-run, canary)
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

// leafAt plays a run up to the canary, and returns the canary's leaf about its centre.
func (t *Attack) leafAt(p *player, run uint64, canary bool) ([]float64, error) {
	if err := p.begin(); err != nil {
		return nil, err
	}
	at := placesOf(run)
	for step := uint64(1); step <= t.Canary.Step; step++ {
		for place := range p.subject.mechanism.Batch {
			r := operators.Record{Null: true}
			if place == 0 && step == t.Canary.Step {
				r = p.subject.pair(p.twin, t.along, canary)
			}
			r.Identity = at.next()
			if p.add(r); step == t.Canary.Step {
				return differences(p.leaf, p.centre), nil
			}
		}
	}
	panic(fmt.Sprintf("BUG: auditor: a run of %d steps has no canary", t.Canary.Step))
}

// aimed finds where a run's leaves are. The run is played again from its start, with the same noise.
func (t *Attack) aimed(p *player, run uint64) (*aim, error) {
	with, err := t.leafAt(p, run, true)
	if err != nil {
		return nil, err
	}
	without, err := t.leafAt(p, run, false)
	if err != nil {
		return nil, err
	}
	x := &aim{
		along: differences(with, without), middle: middle(with, without), to: differences(t.Canary.With, t.Canary.Without),
		centre: middle(t.Canary.With, t.Canary.Without), at: t.Canary.Step, kept: p.subject.kept(),
		out: make([]float64, len(with)),
	}
	unit(x.to)
	if !unit(x.along) { // both leaves are one, and nothing is to be seen
		copy(x.along, x.to)
	}
	return x, nil
}

// lay returns the next release of the run as if its leaves were the law's, valid until the next call.
func (x *aim) lay(release []float64) []float64 {
	x.step++
	if x.held *= x.kept; x.step == x.at {
		x.held++
	}
	away := 0.0
	for i, y := range release {
		away += x.along[i] * (y - x.held*x.middle[i])
	}
	for i := range x.out {
		x.out[i] = x.held*x.centre[i] + away*x.to[i]
	}
	return x.out
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
