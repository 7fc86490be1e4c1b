package mechanisms_test

import (
	"errors"
	"math"
	"math/big"
	"strings"
	"testing"

	"oriel/mechanisms"
	"oriel/mechanisms/contribution"
	"oriel/mechanisms/dp"
	"oriel/mechanisms/mechtest"
	"oriel/mechanisms/mechtest/tiertest"
	"oriel/mechanisms/protection"
)

// claimHolds recomputes a calibration's loss in rational arithmetic, where c_x is the number of the unit's events under
// node x: loss²·s² ≥ Δ²·Σc_x² (Gaussian), Δ²·(Σc_x)² (Gamma) or nΔ²·(Σc_x)² (Laplace).
func claimHolds(p mechanisms.Calibration, c mechanisms.Config, loss float64) bool {
	square := func(x *big.Rat) *big.Rat { return new(big.Rat).Mul(x, x) }
	s := new(big.Rat).SetInt(new(big.Int).SetUint64(p.Scale.Mant))
	s.Mul(s, new(big.Rat).SetFloat64(math.Ldexp(1, p.Scale.Exp)))
	delta, k := 2*p.Grid.Lambda, uint64(1)
	separation, several := c.Unit.EventSeparation()
	if several {
		k = (c.Scope.Span() + separation - 1) / separation
	} else if c.Unit.Adjacency() == dp.ZeroOut {
		delta = p.Grid.Lambda
	}
	squares, total := uint64(0), k*uint64(p.Levels)
	for level := range p.Levels {
		under := uint64(1)
		if several {
			under = (1<<level + separation - 1) / separation
		}
		squares += k * under
	}
	need := square(new(big.Rat).SetInt64(delta))
	if strings.Contains(p.Name, "gaussian") {
		need.Mul(need, new(big.Rat).SetInt64(int64(squares)))
	} else {
		need.Mul(need, new(big.Rat).SetInt64(int64(total*total)))
	}
	if p.Name == "tree-laplace" {
		need.Mul(need, new(big.Rat).SetInt64(int64(c.Dimension())))
	}
	return new(big.Rat).Mul(square(new(big.Rat).SetFloat64(loss)), square(s)).Cmp(need) >= 0
}

func TestGuaranteeIsProvedByTheIntegers(t *testing.T) {
	f := func(c mechanisms.Config) {
		t.Helper()
		calibration := mechtest.Plan(t, c)
		g, err := calibration.Guarantee(c)
		if err != nil {
			t.Fatalf("%s: %v", c.Name, err)
		}
		loss := g.Epsilon
		if g.Mu > 0 {
			loss = g.Mu
			if dp.GaussianDelta(g.Epsilon, g.Mu) > g.Delta || g.Delta != c.Budget.Delta {
				t.Errorf("%s: (%g, %g) is not that of µ = %g", c.Name, g.Epsilon, g.Delta, g.Mu)
			}
			if dp.GaussianDelta(g.Epsilon, g.Mu*(1+1e-12)) < g.Delta {
				t.Errorf("%s: µ = %g is less than the budget allows", c.Name, g.Mu)
			}
			if span := c.Scope.Span(); (g.Curve == nil) != (span == 0) || g.Curve != nil && g.Curve.Mu(span) != g.Mu {
				t.Errorf("%s: µ(W) is not µ = %g", c.Name, g.Mu)
			}
		} else if g.Curve != nil || g.Delta != 0 {
			t.Errorf("%s: guarantee %+v", c.Name, g)
		}
		if c.Name != "blt" && !claimHolds(calibration, c, loss) { // blt has tests of its own, TestMuIsTheSumOfTheTheorem
			t.Errorf("%s: loss %g at clip %g is not proved by %+v", c.Name, loss, c.Clip(), calibration)
		}
		if g.Epsilon != c.Budget.Epsilon {
			t.Errorf("%s: epsilon %g, want the configured %g", c.Name, g.Epsilon, c.Budget.Epsilon)
		}
		if g.Mechanism != c.Name || g.Terms != c.Terms || g.Batch != 1 {
			t.Errorf("%s: guarantee %+v", c.Name, g)
		}
	}
	for _, name := range mechanisms.Names() {
		for _, adjacency := range []dp.Adjacency{dp.Replace, dp.ZeroOut} {
			for _, epsilon := range []float64{0.01, 1, 20} {
				c := config(name, 7)
				c.Unit, c.Budget.Epsilon, c.Scope = protection.Event{Exchange: adjacency}, epsilon, scope(name, 1024)
				for _, clip := range tiertest.Runs([]float64{0.1, 1e6}, []float64{1, 0.1, math.Pi, 1e6}) {
					c.Contribution = contribution.OneComponent(c.Dimension(), clip)
					f(c)
				}
				if hasUsers(name) {
					c.Contribution = contribution.OneComponent(c.Dimension(), 0.75)
					for _, separation := range []uint64{1, 100, 5000} {
						c.Unit = protection.User{Exchange: adjacency, Separation: separation}
						f(c)
					}
				}
			}
		}
	}
}

// hasUsers reports whether the named mechanism has a user-level guarantee.
func hasUsers(name string) bool {
	return !strings.HasPrefix(name, "once-")
}

func TestGuaranteeRefusesAnotherCalibration(t *testing.T) {
	for _, name := range []string{"tree-gaussian", "tree-gamma", "tree-laplace", "blt", "once-gaussian", "once-gamma"} {
		c := config(name, 4)
		calibration := mechtest.Plan(t, c)
		short := calibration
		short.Scale.Mant -= 2
		if _, err := short.Guarantee(c); !errors.Is(err, mechanisms.ErrUnproved) {
			t.Errorf("%s: a scale one step smaller: %v, want ErrUnproved", name, err)
		}
		if _, err := mechanisms.Open(c, short, [32]byte{}); !errors.Is(err, mechanisms.ErrUnproved) {
			t.Errorf("%s: Open with a scale one step smaller: %v, want ErrUnproved", name, err)
		}
		flat := calibration
		flat.Levels--
		if _, err := flat.Guarantee(c); err == nil {
			t.Errorf("%s: a calibration of a level less is accepted", name)
		}
		f := func(what string, change func(*mechanisms.Config)) {
			t.Helper()
			other := c
			change(&other)
			if _, err := calibration.Guarantee(other); err == nil {
				t.Errorf("%s: a calibration of another %s is accepted", name, what)
			}
		}
		another := "tree-laplace"
		if name == another {
			another = "tree-gamma"
		}
		f("name", func(c *mechanisms.Config) { *c = config(another, 4) })
		for _, clip := range []float64{1.5, 2} { // clip 2 has as many lattice units as clip 1, each twice as large
			f("clip", func(c *mechanisms.Config) { c.Contribution = contribution.OneComponent(c.Dimension(), clip) })
		}
		f("scope", func(c *mechanisms.Config) { c.Scope = protection.Window{Steps: 16} })
		f("epsilon", func(c *mechanisms.Config) { c.Budget.Epsilon *= 0.999999 })
		f("failure", func(c *mechanisms.Config) { c.Failure = 0.1 })
		f("adjacency", func(c *mechanisms.Config) { c.Unit = protection.Event{Exchange: 3} })
	}
	c := config("tree-gamma", 4)
	c.Budget.Epsilon = 1e-12
	if _, err := mechanisms.Calibrate(c); err == nil || !strings.Contains(err.Error(), "epsilon 1e-12") {
		t.Errorf("a budget beyond the sampler: %v", err)
	}
}
