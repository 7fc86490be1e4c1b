package submodular

import (
	"math"
	"math/rand/v2"
	"testing"
)

// places is the dimension of the continuous functions in these tests.
const places = 3

// smooth is a 2-smooth function on the hull of the simplex and 0, with values in [0, 1] and 0 at 0. It is monotone and
// DR-submodular: its gradient is non-negative, and does not grow in any coordinate if any coordinate of the point
// grows.
type smooth interface {
	value(x []float64) float64
	gradient(dst, x []float64)
}

var smoothKinds = []struct {
	name string
	draw func(*rand.Rand) smooth
}{
	{"chances", func(rng *rand.Rand) smooth {
		return probabilities{0.9 * rng.Float64(), 0.2 * rng.Float64(), rng.Float64()}
	}},
	{"multilinear coverage", drawCoverage},
	{"quadratic", drawQuadratic},
}

// probabilities holds the probabilities p of the function 1 − Π(1 − p_a x_a), the probability that at least one element
// serves. Second derivatives are within [−1, 0], and 0 on the diagonal.
type probabilities []float64

func (p probabilities) value(x []float64) float64 {
	missed := 1.0
	for a := range p {
		missed *= 1 - p[a]*x[a]
	}
	return 1 - missed
}

func (p probabilities) gradient(dst, x []float64) {
	for a := range p {
		dst[a] = p[a]
		for b := range p {
			if b != a {
				dst[a] *= 1 - p[b]*x[b]
			}
		}
	}
}

// coverage is the multilinear extension of the total weight that a set of elements covers: Σ_j w_j(1 − Π_{a covers j}(1
// − x_a)). This is the expected weight that a random set covers, if it contains element a with probability x_a. Its
// second derivatives are within [−1, 0], and 0 on the diagonal.
type coverage struct {
	weights []float64 // weights of the points to cover, which sum to 1
	covers  [][places]bool
}

func drawCoverage(rng *rand.Rand) smooth {
	c := coverage{weights: make([]float64, 5), covers: make([][places]bool, 5)}
	sum := 0.0
	for j := range c.weights {
		c.weights[j] = rng.Float64()
		sum += c.weights[j]
		for a, chance := range [places]float64{0.5, 0.2, 0.7} {
			c.covers[j][a] = rng.Float64() < chance
		}
	}
	for j := range c.weights {
		c.weights[j] /= sum
	}
	return c
}

// missed returns the probability that no element except but, which is left out, covers point j.
func (c coverage) missed(j, but int, x []float64) float64 {
	missed := 1.0
	for a, covers := range c.covers[j] {
		if covers && a != but {
			missed *= 1 - x[a]
		}
	}
	return missed
}

func (c coverage) value(x []float64) (sum float64) {
	for j, w := range c.weights {
		sum += w * (1 - c.missed(j, -1, x))
	}
	return sum
}

func (c coverage) gradient(dst, x []float64) {
	clear(dst)
	for j, w := range c.weights {
		for a, covers := range c.covers[j] {
			if covers {
				dst[a] += w * c.missed(j, a, x)
			}
		}
	}
}

// curved is ⟨h, x⟩ − xᵀHx/2, where H is symmetric with entries in [0, ½], and no entry of a row exceeds the row's h. So
// its Hessian −H has no positive entry, and the gradient h − Hx is non-negative if Σx ≤ 1.
type curved struct {
	first  [places]float64
	second [places][places]float64
}

func drawQuadratic(rng *rand.Rand) smooth {
	var q curved
	for a := range places {
		for b := range a + 1 {
			q.second[a][b] = rng.Float64() / 2
			q.second[b][a] = q.second[a][b]
		}
	}
	for a, row := range q.second {
		most := max(row[0], row[1], row[2])
		q.first[a] = most + (1-most)*rng.Float64()*[places]float64{0.9, 0.2, 1}[a]
	}
	return q
}

func (q curved) value(x []float64) (sum float64) {
	for a, h := range q.first {
		sum += h * x[a]
		for b, v := range q.second[a] {
			sum -= x[a] * v * x[b] / 2
		}
	}
	return sum
}

func (q curved) gradient(dst, x []float64) {
	for a, h := range q.first {
		dst[a] = h
		for b, v := range q.second[a] {
			dst[a] -= v * x[b]
		}
	}
}

// TestContinuousFunctionsHaveFallingGradients checks that all kinds of functions satisfy the contract of smooth, and
// that gradients agree with finite differences of values.
func TestContinuousFunctionsHaveFallingGradients(t *testing.T) {
	rng := rand.New(rand.NewPCG(14, 4))
	for _, kind := range smoothKinds {
		for range 300 {
			f := kind.draw(rng)
			low, high := make([]float64, places), make([]float64, places)
			for a := range low { // all high ends sum to at most 1
				high[a] = rng.Float64() / places
				low[a] = high[a] * rng.Float64()
			}
			if v := f.value(make([]float64, places)); v != 0 || f.value(high) > 1 {
				t.Fatalf("%s: %v is worth %g at 0, %g at %v", kind.name, f, v, f.value(high), high)
			}
			before, after := make([]float64, places), make([]float64, places)
			f.gradient(before, low)
			f.gradient(after, high)
			fell, moved := 0.0, 0.0
			for a := range before {
				const step = 1e-6
				x := append([]float64{}, low...)
				x[a] += step
				if slope := (f.value(x) - f.value(low)) / step; math.Abs(slope-before[a]) > 1e-5 {
					t.Fatalf("%s: slope %g, gradient %g", kind.name, slope, before[a])
				}
				if after[a] < 0 || before[a] > 1 || after[a] > before[a]+1e-12 {
					t.Fatalf("%s: gradients %v at %v, %v at %v", kind.name, before, low, after, high)
				}
				fell += (before[a] - after[a]) * (before[a] - after[a])
				moved += (high[a] - low[a]) * (high[a] - low[a])
			}
			if fell > (places-1)*(places-1)*moved+1e-12 {
				t.Fatalf("%s: the gradient moves by %g where the point moves by %g", kind.name, math.Sqrt(fell), math.Sqrt(moved))
			}
		}
	}
}
