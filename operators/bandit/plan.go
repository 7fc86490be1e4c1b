package bandit

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"

	"oriel/operators/convex"
	"oriel/operators/plays"
)

// Config is public, and constant while a deployment lives.
type Config struct {
	Set       convex.Set
	Low, High float64 // range of losses
	Baseline  float64 // that losses are measured from, a share of the range from Low
	Lipschitz float64 // L, loss/length
	Horizon   uint64  // steps; 0: ζ and η are given
	Smoothing float64 // ζ; 0: the paper's
	Rate      float64 // η; 0: the paper's
	Shrink    bool    // plays stay in the set
	Plays     plays.Config

	axes bool // directions are coordinates in turn, for an audit, whose canaries need one that they know
}

// Validate reports what is wrong.
func (c Config) Validate() error {
	return errors.Join(c.Plays.Validate(), c.NewPlan().validate())
}

// inside is the radius of the largest ball about the set's start that is in it; 0: there is none.
func (c Config) inside() float64 {
	switch s := c.Set.(type) {
	case convex.Ball, convex.Box:
		x := make([]float64, s.Dimension())
		for i := range x {
			x[i] = 1
		}
		far := make([]float64, len(x))
		convex.NewLinearOracle(s).Minimise(far, x)
		if s.Name() == "box" {
			return math.Abs(far[0])
		}
		return s.MaxNorm()
	case convex.L1Ball:
		return s.MaxNorm() / math.Sqrt(float64(s.Dimension()))
	}
	return 0
}

// Plan holds what only a platform's math library can compute: made once, when a stream is opened.
type Plan struct {
	Smoothing float64 // ζ
	Rate      float64 // η
	Shrink    float64 // 1 − ζ/r, by which centres are drawn to the start of the set; 1: they are not
}

// NewPlan is the paper's ζ = D√n/T^¼, not above D, and with Shrink not above half of what is inside, and η =
// D/(T^¾·√n·L), T = horizon times batch (SPEC.md §2), or what was given.
func (c Config) NewPlan() Plan {
	p := Plan{Smoothing: c.Smoothing, Rate: c.Rate, Shrink: 1}
	n, diameter := float64(c.Set.Dimension()), c.Set.Diameter()
	total := float64(c.Horizon) * float64(c.Plays.Records)
	if p.Smoothing == 0 {
		p.Smoothing = min(diameter, diameter*math.Sqrt(n)/math.Pow(total, 0.25))
		if c.Shrink {
			p.Smoothing = min(p.Smoothing, c.inside()/2)
		}
	}
	if p.Rate == 0 {
		p.Rate = diameter / (math.Pow(total, 0.75) * math.Sqrt(n) * c.Lipschitz)
	}
	if c.Shrink {
		p.Shrink = 1 - p.Smoothing/c.inside()
	}
	return p
}

func (p Plan) validate() error {
	if !(p.Smoothing > 0 && p.Smoothing <= math.MaxFloat64 && p.Rate > 0 && p.Rate <= math.MaxFloat64) {
		return fmt.Errorf("bandit: ζ = %g, η = %g: not positive and finite", p.Smoothing, p.Rate)
	}
	if !(p.Shrink > 0 && p.Shrink <= 1) {
		return fmt.Errorf("bandit: ORIEL_SMOOTHING %g: not below the radius of the ball in the set, so that plays cannot stay in it", p.Smoothing)
	}
	return nil
}

const (
	planVersion = 1
	planLen     = 1 + 3*8
)

// AppendBinary appends the plan's stored form.
func (p Plan) AppendBinary(dst []byte) []byte {
	dst = append(dst, planVersion)
	for _, x := range [...]float64{p.Smoothing, p.Rate, p.Shrink} {
		dst = binary.LittleEndian.AppendUint64(dst, math.Float64bits(x))
	}
	return dst
}

// ParsePlan reads what AppendBinary has written.
func ParsePlan(b []byte) (Plan, error) {
	if len(b) != planLen || b[0] != planVersion {
		return Plan{}, fmt.Errorf("bandit: plan: not one of version %d", planVersion)
	}
	at := func(k int) float64 { return math.Float64frombits(binary.LittleEndian.Uint64(b[1+8*k:])) }
	p := Plan{Smoothing: at(0), Rate: at(1), Shrink: at(2)}
	return p, p.validate()
}
