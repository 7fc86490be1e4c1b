package coco

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/floats"

	"oriel/operators"
	"oriel/operators/convex"
)

// adversary makes the linear costs of a step against the released decision: half of them drift, half oppose the drift,
// with norm at most L.
type adversary struct {
	rng   *rand.Rand
	drift []float64
	clip  float64
}

func newAdversary(seed uint64, n int, clip float64) *adversary {
	rng := rand.New(rand.NewPCG(seed, 99))
	return &adversary{rng: rng, drift: direction(rng, n, 0.3*clip), clip: clip}
}

func (a *adversary) cost(x []float64) []float64 {
	v := direction(a.rng, len(x), 0.5*a.clip)
	size := math.Sqrt(floats.Dot(x, x)) + 1e-9
	for i := range v {
		v[i] += a.drift[i] + 0.2*a.clip*x[i]/size
	}
	return v
}

// run drives a machine with an adversary, and keeps the history without noise, which the machine must not know.
type run struct {
	t          *testing.T
	config     Config
	machine    *Machine
	counted    *operators.Counted
	adversary  *adversary
	projection convex.Projection

	batch     int
	events    int
	step      uint64
	mu        float64   // µB, the strong convexity of a step
	raw       []float64 // Σ of the losses' gradients without noise
	g         []float64 // Σ of these gradients, projected to the tangent space as the stream sums them
	decisions []float64 // sum of the decisions, Σ x_τ
	first     []float64 // x_1, the first decision
	paid      float64   // total loss Σ f_τ(x_τ)
	square    float64   // Σ |x_τ|² over the decisions
	nu        float64   // |ν_t|, the norm of the noise in ĝ_t
}

func newRun(t *testing.T, c Config, m *Machine, batch uint64, seed uint64) *run {
	t.Helper()
	n := c.Set.Dimension()
	projection, err := convex.NewProjection(c.Set)
	if err != nil {
		t.Fatal(err)
	}
	return &run{
		t:          t,
		config:     c,
		machine:    m,
		counted:    operators.ByCount(m),
		adversary:  newAdversary(seed, n, c.Clip),
		projection: projection,
		batch:      int(batch),
		mu:         c.StrongConvexity * float64(batch),
		raw:        make([]float64, n),
		g:          make([]float64, n),
		decisions:  make([]float64, n),
		first:      slices.Clone(m.update.point()),
	}
}

// next makes one step. f_t is Σ⟨v, x⟩ + (µB/2)|x − o_t|², with o_t = x_t under OwnConvexity and 0 otherwise.
func (r *run) next() {
	r.t.Helper()
	x := slices.Clone(r.machine.update.point())
	if outside := floats.Distance(r.project(x), x, 2); outside > 1e-12*r.config.Set.MaxNorm() {
		r.t.Fatalf("step %d: decision outside the set by %g", r.step+1, outside)
	}
	for range r.batch {
		v := r.adversary.cost(x)
		r.paid += floats.Dot(v, x)
		for i := range v {
			r.raw[i] += v[i]
		}
		r.counted.Add(nil, record(r.events, linear(v)))
		r.events++
		r.machine.tangent.Project(v)
		for i := range v {
			r.g[i] += v[i]
		}
	}
	r.step++
	r.square += floats.Dot(x, x)
	if !r.config.OwnConvexity {
		r.paid += r.mu / 2 * floats.Dot(x, x)
	}
	for i := range x {
		r.decisions[i] += x[i]
	}
	if r.machine.Steps() != r.step {
		r.t.Fatalf("%d steps closed, want %d", r.machine.Steps(), r.step)
	}
	r.nu = floats.Distance(r.machine.Stream.Sum(0), r.g, 2)
}

func (r *run) project(x []float64) []float64 {
	out := make([]float64, len(x))
	r.projection.Project(out, x)
	return out
}

// centre returns the minimiser over the set of ⟨g, x⟩ + (µB/2)Σ|x−o_τ|² + (start/2)|x|² + (anchor/2)|x−x_1|².
func (r *run) centre(g []float64, start, anchor float64) []float64 {
	z := make([]float64, len(g))
	for i := range z {
		z[i] = anchor*r.first[i] - g[i]
		if r.config.OwnConvexity {
			z[i] += r.mu * r.decisions[i]
		}
		z[i] /= r.mu*float64(r.step) + start + anchor
	}
	return r.project(z)
}

// regret returns the regret to the best fixed point, which is computed exactly for these losses.
func (r *run) regret() float64 {
	z := r.centre(r.g, 0, 0)
	best := floats.Dot(r.raw, z)
	if r.config.OwnConvexity {
		best += r.mu / 2 * (float64(r.step)*floats.Dot(z, z) - 2*floats.Dot(z, r.decisions) + r.square)
	} else {
		best += r.mu / 2 * float64(r.step) * floats.Dot(z, z)
	}
	return r.paid - best
}

// stepG returns BG, the bound on the gradient of a step.
func (r *run) stepG() float64 { return float64(r.batch) * r.config.GradientBound() }

// gap returns J_t(x) − J_t(z), computed without cancellation as ⟨∇J_t(z), x−z⟩ + (b_t/2)|x−z|².
func (r *run) gap(x, z []float64, start, anchor float64) float64 {
	total := 0.0
	for i := range x {
		slope := r.g[i] + (r.mu*float64(r.step)+start)*z[i] + anchor*(z[i]-r.first[i])
		if r.config.OwnConvexity {
			slope -= r.mu * r.decisions[i]
		}
		total += slope * (x[i] - z[i])
	}
	d := floats.Distance(x, z, 2)
	return total + (r.mu*float64(r.step)+start+anchor)/2*d*d
}
