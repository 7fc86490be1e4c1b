package coco

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"

	"oriel/mechanisms"
	"oriel/operators/convex"
)

// Plan holds what a machine needs and only a platform's math library can compute. It is made once, when a stream is opened,
// stored with the mechanism's plan, and read back ever after: recomputing it elsewhere could move a bit.
type Plan struct {
	CW float64 // C_W of the paper's constants; 0 where they are not used
}

const (
	planVersion = 1
	planLen     = 1 + 8
)

// NewPlan makes the plan of c over the mechanism m.
func (c Config) NewPlan(m mechanisms.Config) (Plan, error) {
	if err := c.Validate(); err != nil {
		return Plan{}, err
	}
	if c.Update != LLO || c.Constants != Paper {
		return Plan{}, nil
	}
	cw, err := c.paperCW(m)
	if err != nil {
		return Plan{}, err
	}
	p := Plan{CW: cw}
	return p, p.validate()
}

// paperCW is C_W as window-coco §6 prints it, reading A (a = α = 1/(2ρ²)), n for the paper's d:
//
//	Gamma  2a·n·log2(W)^1.5·ln(n/β)/ε        Gauss  2a·√n·log2(W)^1.5·ln(1/δ)·√ln(1/β)/ε
//
// It has no sensitivity and no proof; C_W·ρG stands where E does in the proved constants.
func (c Config) paperCW(m mechanisms.Config) (float64, error) {
	oracle, err := convex.NewLocalOracle(c.Set)
	if err != nil {
		return 0, fmt.Errorf("coco: update llo: %w", err)
	}
	n := float64(c.Set.Dimension())
	a := 1 / (2 * oracle.Ratio() * oracle.Ratio())
	shape := 2 * a * math.Pow(math.Log2(float64(m.Window)), 1.5) / m.Budget.Epsilon
	switch m.Name {
	case "tree-gamma", "tree-gamma-paper":
		return shape * n * math.Log(n/c.Failure), nil
	case "tree-gaussian", "tree-gaussian-paper":
		return shape * math.Sqrt(n) * math.Log(1/m.Budget.Delta) * math.Sqrt(math.Log(1/c.Failure)), nil
	}
	return 0, fmt.Errorf("coco: constants paper: the paper has none for mechanism %q, only for tree-gaussian and tree-gamma", m.Name)
}

func (p Plan) validate() error {
	if !(p.CW >= 0 && p.CW <= math.MaxFloat64) {
		return fmt.Errorf("coco: plan: C_W %g: negative or not finite", p.CW)
	}
	return nil
}

// AppendBinary appends the plan's stored form.
func (p Plan) AppendBinary(dst []byte) ([]byte, error) {
	if err := p.validate(); err != nil {
		return dst, err
	}
	dst = append(dst, planVersion)
	return binary.LittleEndian.AppendUint64(dst, math.Float64bits(p.CW)), nil
}

// ParsePlan reads what AppendBinary has written.
func ParsePlan(b []byte) (Plan, error) {
	if len(b) != planLen {
		return Plan{}, fmt.Errorf("coco: plan: %d bytes, want %d", len(b), planLen)
	}
	if b[0] != planVersion {
		return Plan{}, fmt.Errorf("coco: plan: version %d, this software knows %d", b[0], planVersion)
	}
	p := Plan{CW: math.Float64frombits(binary.LittleEndian.Uint64(b[1:]))}
	if math.Signbit(p.CW) {
		return Plan{}, errors.New("coco: plan: C_W negative")
	}
	return p, p.validate()
}
