package papers

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"oriel/operators/convex"
)

// Hindsight holds the sum of the losses so far: ½xᵀHx − ⟨b, x⟩ + c, with H = Σvvᵀ + µtI, b = Σyv + µΣz and c = ½Σy² +
// (µ/2)Σ|z|².
type Hindsight struct {
	convexity  float64
	projection convex.Projection

	hessian *mat.SymDense
	linear  []float64
	rest    float64
	paid    float64 // Σ f_t(x_t): losses paid so far

	best, next, slope []float64 // best: the best fixed point at the last call of Regret; next and slope: scratch space
}

// NewHindsight returns a Hindsight without losses. Each loss must be convexity-strongly convex.
func NewHindsight(convexity float64, set convex.Set) (*Hindsight, error) {
	projection, err := convex.NewProjection(set)
	if err != nil {
		return nil, err
	}
	n := set.Dimension()
	h := &Hindsight{
		convexity: convexity, projection: projection, hessian: mat.NewSymDense(n, nil), linear: make([]float64, n),
		best: make([]float64, n), next: make([]float64, n), slope: make([]float64, n),
	}
	set.Start(h.best)
	return h, nil
}

// Pay adds f_t(x_t) to the paid losses, and f_t to the sum of the losses.
func (h *Hindsight) Pay(x []float64, f Loss) {
	h.paid += f.Value(x, h.convexity)
	for i := range h.linear {
		h.hessian.SetSym(i, i, h.hessian.At(i, i)+h.convexity)
	}
	if f.Features == nil {
		floats.AddScaled(h.linear, h.convexity, f.Target)
		h.rest += h.convexity / 2 * floats.Dot(f.Target, f.Target)
		return
	}
	h.hessian.SymRankOne(h.hessian, 1, mat.NewVecDense(len(f.Features), f.Features))
	floats.AddScaled(h.linear, f.Label, f.Features)
	h.rest += f.Label * f.Label / 2
}

// Regret returns Σ f_t(x_t) minus the smallest Σ f_t(x) over fixed points x of the set.
func (h *Hindsight) Regret() float64 {
	h.solve()
	x := mat.NewVecDense(len(h.best), h.best)
	return h.paid - (mat.Inner(x, h.hessian, x)/2 - floats.Dot(h.linear, h.best) + h.rest)
}

// mostRounds bounds the rounds of solve. It is never reached, because the smallest eigenvalue of H is about a tenth of
// the trace.
const mostRounds = 100_000

// solve moves best to the minimiser over the set. It takes projected gradient steps of size 1/min(tr H, ‖H‖₁) until a
// step is no longer than rounding. Trace and norm are at least the largest eigenvalue, so every step lowers the sum.
func (h *Hindsight) solve() {
	rate := 1 / min(mat.Trace(h.hessian), mat.Norm(h.hessian, 1))
	slope := mat.NewVecDense(len(h.slope), h.slope)
	for range mostRounds {
		slope.MulVec(h.hessian, mat.NewVecDense(len(h.best), h.best))
		floats.Sub(h.slope, h.linear)
		copy(h.next, h.best)
		floats.AddScaled(h.next, -rate, h.slope)
		h.projection.Project(h.next, h.next)
		moved := floats.Distance(h.next, h.best, 2)
		copy(h.best, h.next)
		if moved < 1e-15 {
			return
		}
	}
}

// TestHindsight checks that the best point has a smaller sum of losses than any other point of the set, and that regret
// is the paid sum minus the sum of the best point.
func TestHindsight(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 3))
	for _, task := range []Task{Targets(10), Squares} {
		set, draw, err := task.Open(4)
		if err != nil {
			t.Fatal(err)
		}
		h, err := NewHindsight(task.Convexity, set)
		if err != nil {
			t.Fatal(err)
		}
		x := make([]float64, task.Set.Dimension)
		set.Start(x)
		var all []Loss
		paid := 0.0
		for range 50 {
			f := draw()
			f.Features, f.Target = slices.Clone(f.Features), slices.Clone(f.Target)
			all = append(all, f)
			h.Pay(x, f)
			paid += f.Value(x, task.Convexity)
		}
		whole := func(x []float64) (sum float64) {
			for _, f := range all {
				sum += f.Value(x, task.Convexity)
			}
			return sum
		}
		regret := h.Regret()
		if want := paid - whole(h.best); math.Abs(regret-want) > 1e-9 {
			t.Errorf("%s: regret %g, want %g", task.Name, regret, want)
		}
		for range 2000 {
			other := slices.Clone(h.best)
			size := math.Pow(10, -5*rng.Float64())
			for i := range other {
				other[i] += size * rng.NormFloat64()
			}
			h.projection.Project(other, other)
			if whole(other) < whole(h.best)-1e-9 {
				t.Fatalf("%s: %v is better than hindsight", task.Name, other)
			}
		}
	}
}
