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
	u       uniforms  // what discrete noise lacks to be normal
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
	if x.forecasts != nil {
		r.inverse = &treeRebuilder{forecasts: x.forecasts, known: vectors(slots(x.forecasts), x.n)}
	} else {
		r.inverse = &recursiveRebuilder{
			Noise: x.of, first: x.before, states: vectors(len(x.of.Poles), x.n), before: make([]float64, x.n),
		}
	}
	r.Start(0)
	return r
}

// Start begins a new run. Its number seeds what z of discrete noise needs besides.
func (r *Rebuilder) Start(run uint64) {
	r.u = uniforms(run << 40) // runs have fewer draws
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
			x.normal[i](dst[component.From:component.To], &r.u)
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

// recursiveRebuilder inverts the decaying sum, and the convolution with e between resets.
type recursiveRebuilder struct {
	definition.Noise
	first, step uint64      // number of steps before the first release, and before the next one
	states      [][]float64 // filter state, by pole and coordinate
	before      []float64   // noise of the previous release
}

func (f *recursiveRebuilder) start() {
	f.step = f.first
	clear(f.before)
	f.reset()
}

func (f *recursiveRebuilder) reset() {
	for _, s := range f.states {
		clear(s)
	}
}

func (f *recursiveRebuilder) next(rest []float64) float64 {
	if f.Decay > 0 {
		for i, x := range rest {
			rest[i] = x - f.Decay*f.before[i]
			f.before[i] = x
		}
	}
	for k, states := range f.states {
		for i, s := range states {
			rest[i] -= f.Residues[k] * s
		}
	}
	for k, states := range f.states {
		for i, s := range states {
			states[i] = f.Poles[k]*s + rest[i]
		}
	}
	if f.step++; f.step%f.Period == 0 {
		f.reset()
	}
	return 1
}

func vectors(count, n int) [][]float64 {
	out := make([][]float64, count)
	for i := range out {
		out[i] = make([]float64, n)
	}
	return out
}
