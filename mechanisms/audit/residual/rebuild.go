package residual

import (
	"fmt"
	"math"

	"oriel/mechanisms/audit/definition"
)

// Rebuilder rebuilds the noise of one run after another. It belongs to one goroutine, but a Noise may have many
// rebuilders.
type Rebuilder struct {
	noise   *Noise
	inverse noiseRebuilder
	step    int
	clean   []float64 // G_t, sums without noise, loss units
}

// noiseRebuilder predicts the noise of later releases from the releases so far, in units of σ.
type noiseRebuilder interface {
	start()
	// next replaces the noise of the next release by its innovation, the difference from the forecast. It returns the
	// innovation's standard deviation, in units of a node's.
	next(rest []float64) (spread float64)
}

// Rebuilder returns a rebuilder before the first release.
func (x *Noise) Rebuilder() *Rebuilder {
	r := &Rebuilder{noise: x, clean: make([]float64, x.n)}
	switch {
	case x.decaying != nil:
		f := &filteredRebuilder{filter: &x.decaying.Filter, states: vectors(len(x.decaying.Poles), x.n)}
		r.inverse = &decayingRebuilder{
			filteredRebuilder: f, decaying: x.decaying, first: x.before, before: make([]float64, x.n),
		}
	case x.filter != nil:
		r.inverse = &filteredRebuilder{filter: x.filter, states: vectors(len(x.filter.Poles), x.n)}
	case x.forecasts != nil:
		r.inverse = &treeRebuilder{forecasts: x.forecasts, known: vectors(slots(x.forecasts), x.n)}
	default:
		r.inverse = whiteRebuilder{}
	}
	r.Start()
	return r
}

// Start begins a new run.
func (r *Rebuilder) Start() {
	r.step = 0
	clear(r.clean)
	r.inverse.start()
}

// absurd replaces a value that is not a number or is larger than any possible noise.
const absurd = 1e6

// Next writes z of the next release to dst. contribution is the sum of the step's contributions, in loss units. Next
// panics after the last release.
func (r *Rebuilder) Next(dst, release, contribution []float64) {
	x := r.noise
	if r.step == x.steps || len(dst) != x.n || len(release) != x.n || len(contribution) != x.n {
		panic(fmt.Sprintf("BUG: residual: release %d of %d with %d entries", r.step+1, x.steps, len(release)))
	}
	for i, v := range contribution {
		r.clean[i] = x.retained*r.clean[i] + v
		dst[i] = (release[i] - r.clean[i]) / x.scales[i]
	}
	spread := r.inverse.next(dst)
	if r.step < x.perStep && x.normal != nil {
		for i, component := range x.components {
			x.normal[i](dst[component.From:component.To])
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

// whiteRebuilder is for releases that have no noise in common.
type whiteRebuilder struct{}

func (whiteRebuilder) start() {}

func (whiteRebuilder) next([]float64) float64 { return 1 }

// filteredRebuilder inverts the convolution with b.
type filteredRebuilder struct {
	filter *definition.Filter
	states [][]float64 // filter state, by pole and coordinate
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

// decayingRebuilder inverts the decaying sum, and the convolution with e between resets.
type decayingRebuilder struct {
	*filteredRebuilder
	decaying *definition.Decaying
	first    uint64 // number of steps before the first release
	step     uint64
	before   []float64 // noise of the previous release
}

func (f *decayingRebuilder) start() {
	f.step = f.first
	clear(f.before)
	f.filteredRebuilder.start()
}

func (f *decayingRebuilder) next(rest []float64) float64 {
	for i, x := range rest {
		rest[i] = x - f.decaying.Decay*f.before[i]
		f.before[i] = x
	}
	spread := f.filteredRebuilder.next(rest)
	if f.step++; f.step%f.decaying.Period == 0 {
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
