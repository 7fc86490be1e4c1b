package residual

import (
	"errors"
	"fmt"
	"math"

	"gonum.org/v1/gonum/mathext"
	"gonum.org/v1/gonum/stat/distuv"

	"oriel/mechanisms"
	"oriel/mechanisms/audit/definition"
)

// leastScale is the smallest scale, in lattice units, that the tests accept. Below it rounding is too large compared
// with the noise, so that draws are not normal.
const leastScale = 1 << 12

// MaxSteps bounds the memory for the forecasts of a tree.
const MaxSteps = 1 << 18

// Noise is the noise that a calibration claims for releases 1 … T of n coordinates.
type Noise struct {
	config      mechanisms.Config
	calibration mechanisms.Calibration
	components  []definition.Component
	n           int
	steps       int
	before      uint64    // number of steps before the first release; the stream does not hold their noise
	perStep     int       // number of first releases whose z are single draws mapped to normals; T for Gaussian noise
	scales      []float64 // noise scale σ or θ of each coordinate, loss units
	least       float64   // smallest scale of the components, lattice units
	retained    float64   // share of a release's noise that the next release keeps

	of        definition.Noise
	forecasts []forecast // for a tree: how each release depends on earlier ones
	normal    []normals  // by component; nil for Gaussian noise
}

// After returns the same number of releases of a stream with a memory, which start after the given number of steps, for
// a stream that holds neither sums nor noise of these steps. Resets happen at their usual steps.
func (x *Noise) After(before uint64) *Noise {
	y := *x
	y.before = before
	return &y
}

// New returns the noise of the first steps releases.
func New(c mechanisms.Config, p mechanisms.Calibration, steps int) (*Noise, error) {
	if _, err := p.Guarantee(c); err != nil {
		return nil, err
	}
	if steps < 1 || steps > MaxSteps {
		return nil, fmt.Errorf("residual: %d steps: not in [1, %d]", steps, MaxSteps)
	}
	facts, _ := mechanisms.FactsOf(c.Name)
	x := &Noise{
		config: c, calibration: p, components: definition.Components(c, p), n: c.Dimension(), steps: steps, perStep: steps,
		scales: definition.Scales(c, p), least: math.Inf(1), retained: definition.Kept(p),
	}
	for _, component := range x.components {
		s := component.Scale.Float64()
		if s < leastScale {
			return nil, fmt.Errorf("residual: noise of scale %.3g lattice units: below %d, where rounding is not small beside it", s, leastScale)
		}
		x.least = min(x.least, s)
		if facts.Discrete() {
			x.normal = append(x.normal, discreteNormals(component.Steps, s))
			continue
		}
		switch facts.Law {
		case mechanisms.Gaussian:
		case mechanisms.Gamma:
			x.normal = append(x.normal, gammaNormals(component.To-component.From))
		case mechanisms.Laplace:
			x.normal = append(x.normal, laplaceNormals)
		case mechanisms.Gumbel:
			return nil, errors.New("residual: draws of elements have no definition")
		}
	}
	if x.of = definition.NoiseOf(c, p, steps); x.of.Forest != nil {
		x.forecasts = newForecasts(*x.of.Forest)
		if x.normal != nil {
			x.perStep = int(min(c.Scope.Span(), uint64(steps)))
		}
	}
	return x, nil
}

// Steps returns T, the number of releases.
func (x *Noise) Steps() int { return x.steps }

// PerStep returns how many of the first releases give single draws or, for Gaussian noise, independent normals.
func (x *Noise) PerStep() int { return x.perStep }

// starts returns the distances between equal positions of two components, among the compared coordinates. Components
// that share noise by mistake agree at these distances.
func (x *Noise) starts() []int {
	var out []int
	for i, component := range x.components {
		for _, before := range x.components[max(0, i-8):i] {
			out = append(out, component.From-before.From)
		}
	}
	return out
}

// ofTail returns the normal quantile z of the given sign with P(|Z| > |z|) = 2·tail.
func ofTail(tail, sign float64) float64 {
	return math.Copysign(distuv.UnitNormal.Quantile(max(tail, 1e-300)), sign)
}

// normals maps the draws of a component, in units of θ, to standard normals. u is independent of them.
type normals func(x []float64, u *uniforms)

// uniforms is a generator of uniform numbers in [0, 1): SplitMix64 (Steele, Lea and Flood, Fast splittable pseudorandom
// number generators, OOPSLA 2014). They are no noise, so they need no key.
type uniforms uint64

func (u *uniforms) next() float64 {
	*u += 0x9e3779b97f4a7c15
	z := uint64(*u)
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return float64((z^z>>31)>>11) * 0x1p-53
}

// discreteNormals maps draws k·s, P(k) ∝ q^|k| with q = e^{−s}, entry by entry, where s is a step over the scale. With
// a uniform U, T = P(N > k) + U·P(N = k) is uniform, because given N = k it is uniform from P(N > k) to P(N ≥ k). This
// is the randomised transform (Ferguson, Mathematical Statistics, 1967, section 5.3). For k ≥ 0, T is
// q^k·(q + U(1 − q))/(1 + q). A draw that is no multiple of its step gets the value absurd.
func discreteNormals(steps []int64, scale float64) normals {
	return func(x []float64, u *uniforms) {
		for i, v := range x {
			s := float64(steps[i%len(steps)]) / scale
			k := math.Round(math.Abs(v) / s)
			if !(math.Abs(math.Abs(v)/s-k) < 0.01) {
				x[i] = absurd
				continue
			}
			q, sign := math.Exp(-s), v
			tail := math.Exp(-k*s) * (q - u.next()*math.Expm1(-s)) / (1 + q)
			if k == 0 {
				sign = 0.5 - tail
			}
			x[i] = ofTail(min(tail, 1-tail), sign)
		}
	}
}

// laplaceNormals maps draws of density e^{−|x|}/2 to normals, entry by entry.
func laplaceNormals(x []float64, _ *uniforms) {
	for i, v := range x {
		x[i] = ofTail(math.Exp(-math.Abs(v))/2, v)
	}
}

// gammaNormals maps a vector of density ∝ e^{−‖x‖₂} to independent normals. The norm has the law Gamma(n), and the
// direction is uniform and independent of it. So x_i over the length of x_1 … x_{i−1} has Student's law with i − 1
// degrees of freedom, up to a factor √(i−1), and is independent of x_1 … x_{i−1}.
func gammaNormals(n int) normals {
	return func(x []float64, _ *uniforms) {
		length := x[0] * x[0] // the squared norm, summed below
		for i := 1; i < n; i++ {
			square := x[i] * x[i]
			tail := 0.5
			if length+square > 0 {
				tail = mathext.RegIncBeta(float64(i)/2, 0.5, length/(length+square)) / 2
			}
			length += square
			x[i] = ofTail(tail, x[i])
		}
		x[0] = ofTail(mathext.GammaIncRegComp(float64(n), math.Sqrt(length))/2, x[0])
	}
}
