package residual

import (
	"fmt"
	"math"

	"oriel/mechanisms/audit/definition"
)

// Rebuilder rebuilds the noise of one run after the other. It belongs to one goroutine; a Noise may have many.
type Rebuilder struct {
	noise      *Noise
	components noiseRebuilder
	step       int
	clean      []float64 // G_t, loss units
}

// components is what releases so far say of the noise of later ones, all of it in units of σ.
type noiseRebuilder interface {
	start()
	// next turns the noise of the next release into what it adds to the forecast, and returns that one's standard
	// deviation, in units of a node's.
	next(rest []float64) (spread float64)
}

// Rebuilder returns one before a first release.
func (x *Noise) Rebuilder() *Rebuilder {
	r := &Rebuilder{noise: x, clean: make([]float64, x.n)}
	switch {
	case x.fading != nil:
		f := &filteredRebuilder{filter: &x.fading.Filter, states: vectors(len(x.fading.Poles), x.n)}
		r.components = &decayingRebuilder{
			filteredRebuilder: f, fading: x.fading, first: x.before, before: make([]float64, x.n),
		}
	case x.filter != nil:
		r.components = &filteredRebuilder{filter: x.filter, states: vectors(len(x.filter.Poles), x.n)}
	case x.forecasts != nil:
		r.components = &treeRebuilder{forecasts: x.forecasts, known: vectors(slots(x.forecasts), x.n)}
	default:
		r.components = whiteRebuilder{}
	}
	r.Start()
	return r
}

// Start begins another run.
func (r *Rebuilder) Start() {
	r.step = 0
	clear(r.clean)
	r.components.start()
}

// absurd is in the place of a draw that no noise has, or that is not a number.
const absurd = 1e6

// Next writes z of the next release to dst. contribution is what the step's leaves add up to, loss units. It panics
// beyond the last release.
func (r *Rebuilder) Next(dst, release, leaf []float64) {
	x := r.noise
	if r.step == x.steps || len(dst) != x.n || len(release) != x.n || len(leaf) != x.n {
		panic(fmt.Sprintf("BUG: residual: release %d of %d with %d entries", r.step+1, x.steps, len(release)))
	}
	for i, v := range leaf {
		r.clean[i] = x.retained*r.clean[i] + v
		dst[i] = (release[i] - r.clean[i]) / x.scales[i]
	}
	spread := r.components.next(dst)
	if r.step < x.perStep && x.normal != nil {
		for i, part := range x.components {
			x.normal[i](dst[part.From:part.To])
		}
	} else if spread != 1 {
		for i := range dst {
			dst[i] /= spread
		}
	}
	for i, z := range dst {
		if !(math.Abs(z) <= absurd) {
			dst[i] = absurd
		}
	}
	r.step++
}

// whiteRebuilder is releases that share no noise.
type whiteRebuilder struct{}

func (whiteRebuilder) start() {}

func (whiteRebuilder) next([]float64) float64 { return 1 }

// filteredRebuilder is the inverse of b∗.
type filteredRebuilder struct {
	filter *definition.Filter
	states [][]float64 // by pole and coordinate
}

func (f *filteredRebuilder) start() {
	for _, s := range f.states {
		clear(s)
	}
}

func (f *filteredRebuilder) next(rest []float64) float64 {
	for k, states := range f.states {
		residue := f.filter.Residues[k]
		for i, s := range states {
			rest[i] -= residue * s
		}
	}
	for k, states := range f.states {
		pole := f.filter.Poles[k]
		for i, s := range states {
			states[i] = pole*s + rest[i]
		}
	}
	return 1
}

// decayingRebuilder is the inverse of what decays, and of e∗ from reset to reset.
type decayingRebuilder struct {
	*filteredRebuilder
	fading *definition.Decaying
	first  uint64 // steps before the first release
	step   uint64
	before []float64 // the last release's noise
}

func (f *decayingRebuilder) start() {
	f.step = f.first
	clear(f.before)
	f.filteredRebuilder.start()
}

func (f *decayingRebuilder) next(rest []float64) float64 {
	for i, x := range rest {
		rest[i] = x - f.fading.Decay*f.before[i]
		f.before[i] = x
	}
	spread := f.filteredRebuilder.next(rest)
	if f.step++; f.step%f.fading.Period == 0 {
		f.filteredRebuilder.start()
	}
	return spread
}

func vectors(count, n int) [][]float64 {
	out := make([][]float64, count)
	for i := range out {
		out[i] = make([]float64, n)
	}
	return out
}
