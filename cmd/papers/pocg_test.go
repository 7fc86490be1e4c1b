package papers

import (
	"errors"
	"fmt"
	"math"

	"gonum.org/v1/gonum/floats"

	"oriel/mechanisms"
	"oriel/mechanisms/contribution"
	"oriel/mechanisms/dp"
	"oriel/mechanisms/noise"
	"oriel/mechanisms/protection"
	"oriel/operators/convex"
)

// Config configures POCG or PQFTL.
type Config struct {
	Set       convex.Set // feasible set; required
	Convexity float64    // µ: strong convexity, > 0
	Clip      float64    // L > 0: gradients of the data terms of two losses differ by at most 2L; with targets, L ≥ µD/2
	Steps     uint64     // T ≥ 1: length of the run
	Budget    dp.Budget  // budget of the whole run, δ > 0
}

// Validate reports all problems together.
func (c Config) Validate() error {
	var errs []error
	bad := func(format string, args ...any) {
		errs = append(errs, fmt.Errorf("baselines: "+format, args...))
	}
	if c.Set == nil {
		bad("set: missing")
	}
	if !(c.Convexity > 0) || math.IsInf(c.Convexity, 1) {
		bad("convexity %g: not positive and finite", c.Convexity)
	}
	if !(c.Clip > 0) || math.IsInf(c.Clip, 1) {
		bad("clip %g: not positive and finite", c.Clip)
	}
	if c.Steps < 1 {
		bad("steps 0: less than 1")
	}
	if err := c.Budget.Validate(); err != nil {
		bad("budget: %w", err)
	} else if c.Budget.Delta == 0 {
		bad("budget: delta 0: Gaussian noise needs a positive delta")
	}
	return errors.Join(errs...)
}

// POCG is implicit gradient descent on a secret point. Every step publishes a noisy copy of the point.
type POCG struct {
	config     Config
	projection convex.Projection
	noise      *mechanisms.Stream // one draw per step; contributions are zero

	step   uint64
	secret []float64 // s_t: secret point after t steps
	played []float64 // x_t: published noisy copy of the secret
	zero   []float64
	centre []float64 // scratch of the implicit step
	target []float64
	trial  []float64
}

// PrintedBeta returns β_0 = (4L/µ)·√(T/(2ρ)) with ρ = (√(ε + ln 1/δ) − √(ln 1/δ))². Each of T releases costs ρ/T of
// zCDP, because the secret moves by at most 4L/(µt) (Bun and Steinke 2016, Propositions 1.6 and 1.3, Lemma 2.3).
func (c Config) PrintedBeta() float64 {
	l := math.Log(1 / c.Budget.Delta)
	root := math.Sqrt(c.Budget.Epsilon+l) - math.Sqrt(l)
	return 4 * c.Clip / c.Convexity * math.Sqrt(float64(c.Steps)/(2*root*root))
}

// SharpBeta returns β = (2L/µ)·√T/m, where m is the µ of Gaussian differential privacy that the budget allows
// (PROOF.md, Theorems 1 and 2).
func (c Config) SharpBeta() float64 {
	return 2 * c.Clip / c.Convexity * math.Sqrt(float64(c.Steps)) / dp.GaussianMu(c.Budget)
}

// NewPOCG returns the algorithm before its first step. beta must be at least SharpBeta, and may be PrintedBeta. The key
// determines the noise.
func NewPOCG(c Config, beta float64, key [32]byte) (*POCG, error) {
	if err := c.Validate(); err != nil {
		return nil, err
	}
	if sharp := c.SharpBeta(); !(beta >= sharp) {
		return nil, fmt.Errorf("baselines: beta %g: below %g, which the budget needs", beta, sharp)
	}
	projection, err := convex.NewProjection(c.Set)
	if err != nil {
		return nil, err
	}
	// A stream of per-step releases has noise of 2·clip/m in each coordinate, so a clip of β·m/2 gives noise of β.
	n := c.Set.Dimension()
	m := mechanisms.Config{
		Name: "once-gaussian", Batch: 1, Contribution: contribution.OneComponent(n, beta*dp.GaussianMu(c.Budget)/2),
		Budget: c.Budget, Terms: protection.Terms{Scope: protection.PerStep{}, Unit: protection.Event{Exchange: dp.Replace}},
	}
	plan, err := mechanisms.Calibrate(m)
	if err != nil {
		return nil, err
	}
	stream, err := mechanisms.Open(m, plan, key)
	if err != nil {
		return nil, err
	}
	p := &POCG{
		config: c, projection: projection, noise: stream, secret: make([]float64, n), played: make([]float64, n),
		zero: make([]float64, n), centre: make([]float64, n), target: make([]float64, n), trial: make([]float64, n),
	}
	c.Set.Start(p.secret)
	c.Set.Start(p.played)
	return p, nil
}

// Point returns x_{t+1}. The slice belongs to the algorithm and is valid until the next step.
func (p *POCG) Point() []float64 { return p.played }

// Step takes f_t. It panics after T steps, because the budget is for T steps.
func (p *POCG) Step(f Loss) {
	if p.step == p.config.Steps {
		panic(fmt.Sprintf("BUG: baselines: a step beyond the %d that the noise is calibrated for", p.step))
	}
	p.step++
	if f.Features == nil {
		p.towards(f.Target)
	} else {
		p.descend(f)
	}
	p.noise.Add(noise.Identity{Offset: int64(p.step)}, p.zero)
	p.noise.Close()
	copy(p.played, p.secret)
	floats.AddScaled(p.played, 1/float64(p.step), p.noise.Sum(0))
	p.projection.Project(p.played, p.played)
}

// towards takes the implicit step of (µ/2)|x − z|²: s ← Π_C((t·s + z)/(t + 1)), with z projected into the set first.
func (p *POCG) towards(target []float64) {
	if c := p.config; c.Convexity*c.Set.Diameter() > 2*c.Clip*(1+1e-9) {
		panic("BUG: baselines: gradients of two targets differ by more than twice the clip")
	}
	t := float64(p.step)
	p.projection.Project(p.target, target)
	for i, z := range p.target {
		p.secret[i] = (t*p.secret[i] + z) / (t + 1)
	}
	p.projection.Project(p.secret, p.secret)
}

// halvings is the number of halvings of an interval of residuals, after which only rounding is left.
const halvings = 60

// descend takes the implicit step of ½(y − ⟨v, x⟩)² + (µ/2)|x|². The gradient of the first term is clipped, which makes
// the term Huber's loss with slope r = clamp(⟨v, x⟩ − y, ±L/|v|). With η = 1/(µt) the minimiser is
//
//	x(r) = Π_C(c − k·r·v),   c = s·t/(t + 1),   k = η/(1 + ηµ) = 1/(µ(t + 1)),
//
// for the r with ⟨v, x(r)⟩ − y = r, or for the nearest end of the clamp if this r is beyond it. ⟨v, x(r)⟩ − y − r
// decreases in r, so bisection finds r.
func (p *POCG) descend(f Loss) {
	t := float64(p.step)
	floats.ScaleTo(p.centre, t/(t+1), p.secret)
	scale := 1 / (p.config.Convexity * (t + 1))
	at := func(r float64) (beyond float64) {
		floats.AddScaledTo(p.trial, p.centre, -scale*r, f.Features)
		p.projection.Project(p.trial, p.trial)
		return floats.Dot(f.Features, p.trial) - f.Label - r
	}
	length := floats.Norm(f.Features, 2)
	most := 0.0
	if length > 0 {
		most = p.config.Clip / length
	}
	low, high := -most, most
	switch {
	case at(high) >= 0:
		low = high
	case at(low) <= 0:
		high = low
	}
	for i := 0; i < halvings && low < high; i++ {
		if middle := (low + high) / 2; at(middle) >= 0 {
			low = middle
		} else {
			high = middle
		}
	}
	at((low + high) / 2)
	copy(p.secret, p.trial)
}
