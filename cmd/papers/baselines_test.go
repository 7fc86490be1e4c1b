package papers

import (
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"oriel/mechanisms/dp"
	"oriel/operators/convex"
	"oriel/operators/convex/catalogue"
)

func set(t *testing.T, name string, n int, radius float64) convex.Set {
	t.Helper()
	s, err := catalogue.Parse(catalogue.Spec{Name: name, Dimension: n, Radius: radius})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func config(t *testing.T, name string, n int) Config {
	t.Helper()
	return Config{
		Set: set(t, name, n, 1), Convexity: 0.5, Clip: 1, Steps: 200, Budget: dp.Budget{Epsilon: 1, Delta: 1e-6},
	}
}

// losses returns the losses of a seed: either targets, or least squares whose gradients are sometimes clipped.
func losses(targets bool, n, count int, seed uint64) []Loss {
	rng := rand.New(rand.NewPCG(seed, 5))
	all := make([]Loss, count)
	for i := range all {
		v := make([]float64, n)
		for k := range v {
			v[k] = rng.NormFloat64()
		}
		floats.Scale(1/floats.Norm(v, 2), v)
		if targets {
			all[i] = Loss{Target: v}
		} else {
			all[i] = Loss{Features: v, Label: 4*rng.Float64() - 2}
		}
	}
	return all
}

// TestImplicitSteps checks that each step's secret minimises ½|x − s|² + f(x)/(µt) over the set, with clipped gradients
// of least squares: no other point of the set, near or distant, has a smaller value.
func TestImplicitSteps(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for _, targets := range []bool{true, false} {
		for _, name := range []string{"l2-ball", "simplex", "box"} {
			c := config(t, name, 3)
			if c.Convexity*c.Set.Diameter() > 2*c.Clip {
				c.Convexity = 2 * c.Clip / c.Set.Diameter()
			}
			p, err := NewPOCG(c, c.SharpBeta(), [32]byte{1})
			if err != nil {
				t.Fatal(err)
			}
			for i, f := range losses(targets, 3, 40, 7) {
				before := append([]float64{}, p.secret...)
				p.Step(f)
				if targets {
					inside := append([]float64{}, f.Target...)
					p.projection.Project(inside, inside)
					f.Target = inside
				}
				whole := func(x []float64) float64 {
					d := floats.Distance(x, before, 2)
					value := c.Convexity / 2 * floats.Dot(x, x)
					if targets {
						value = f.Value(x, c.Convexity)
					} else if r, most := floats.Dot(f.Features, x)-f.Label, c.Clip/floats.Norm(f.Features, 2); math.Abs(r) <= most {
						value += r * r / 2
					} else {
						value += most*math.Abs(r) - most*most/2
					}
					return d*d/2 + value/(c.Convexity*float64(i+1))
				}
				best := whole(p.secret)
				for range 40 {
					x := append([]float64{}, p.secret...)
					size := math.Pow(10, -4*rng.Float64())
					for k := range x {
						x[k] += size * rng.NormFloat64()
					}
					p.projection.Project(x, x)
					if value := whole(x); value < best-1e-12 {
						t.Fatalf("targets %t on %s, step %d: %v is better than the secret by %g", targets, name, i+1, x, best-value)
					}
				}
			}
		}
	}
}

// TestSecretsMoveByTheBound checks that the secrets of two runs that differ in one loss are at most 2L/(µ(t+1)) apart,
// and that the worst pair of losses nearly attains this distance.
func TestSecretsMoveByTheBound(t *testing.T) {
	nearest := 0.0
	for _, targets := range []bool{true, false} {
		for at := range 8 {
			c := config(t, "l2-ball", 2)
			both := [2]*POCG{}
			for i := range both {
				p, err := NewPOCG(c, c.SharpBeta(), [32]byte{1})
				if err != nil {
					t.Fatal(err)
				}
				both[i] = p
			}
			for i, f := range losses(targets, 2, 40, uint64(at)) {
				other := f
				if i == at {
					f, other = Loss{Features: []float64{1, 0}, Label: 1e6}, Loss{Features: []float64{1, 0}, Label: -1e6}
					if targets {
						f, other = Loss{Target: []float64{9, 0}}, Loss{Target: []float64{-9, 0}}
					}
				}
				both[0].Step(f)
				both[1].Step(other)
				apart := floats.Distance(both[0].secret, both[1].secret, 2)
				bound := 2 * c.Clip / (c.Convexity * float64(i+2))
				if apart > bound*(1+1e-9) || i < at && apart != 0 {
					t.Fatalf("targets %t, loss %d, step %d: secrets are %g apart, at most %g", targets, at+1, i+1, apart, bound)
				}
				nearest = max(nearest, apart/bound)
			}
		}
	}
	if nearest < 0.5 {
		t.Errorf("the bound is never nearer than %g", nearest)
	}
}

// TestNoiseOfPOCG checks that the noise of step t has deviation β/t in each coordinate. The variance of 600 draws in
// four coordinates has a relative standard error of 0.029; the test allows 6.11 times as much.
func TestNoiseOfPOCG(t *testing.T) {
	c := config(t, "box", 4)
	c.Set, c.Steps = set(t, "box", 4, 1e9), 600
	beta := c.SharpBeta()
	p, err := NewPOCG(c, beta, [32]byte{3})
	if err != nil {
		t.Fatal(err)
	}
	sum := 0.0
	for i := range 600 {
		p.Step(Loss{Features: make([]float64, 4)})
		for k, x := range p.Point() {
			z := (x - p.secret[k]) * float64(i+1) / beta
			sum += z * z / 2400
		}
	}
	if z := (sum - 1) / math.Sqrt(2.0/2400); math.Abs(z) > 6.11 {
		t.Errorf("noise has %g of its variance", sum)
	}
	defer func() {
		if recover() == nil {
			t.Error("a step beyond the budget is taken")
		}
	}()
	p.Step(Loss{Features: make([]float64, 4)})
}

// TestBetas checks β_0 = (4L/µ)√(T/2ρ) to the digits of ρ(1, 1e-6), and the smallest private β, with µ(1, 1e-6).
func TestBetas(t *testing.T) {
	c := config(t, "l2-ball", 2)
	if want := 4 / 0.5 * math.Sqrt(200/(2*0.0174689048)); math.Abs(c.PrintedBeta()/want-1) > 1e-6 {
		t.Errorf("β_0 is %g, want %g", c.PrintedBeta(), want)
	}
	if want := 2 / 0.5 * math.Sqrt(200) / 0.2367; math.Abs(c.SharpBeta()/want-1) > 1e-3 {
		t.Errorf("β is %g, want %g", c.SharpBeta(), want)
	}
	if _, err := NewPOCG(c, 0.99*c.SharpBeta(), [32]byte{}); err == nil {
		t.Error("less noise than the budget needs is taken")
	}
	for _, broken := range []func(*Config){
		func(c *Config) { c.Set = nil },
		func(c *Config) { c.Convexity = 0 },
		func(c *Config) { c.Clip = math.NaN() },
		func(c *Config) { c.Steps = 0 },
		func(c *Config) { c.Budget.Delta = 0 },
	} {
		c := config(t, "l2-ball", 2)
		broken(&c)
		if c.Validate() == nil {
			t.Errorf("%+v is taken", c)
		}
	}
	for _, name := range []string{"once-gaussian", "tree-gamma", "none"} {
		if _, err := NewPQFTL(c, name, 1, [32]byte{}); err == nil {
			t.Errorf("PQFTL over %s is taken", name)
		}
	}
}

// TestPQFTLIsRidge checks that PQFTL with almost no noise is the ridge regression of all losses so far, with a
// regulariser that grows by µ a step.
func TestPQFTLIsRidge(t *testing.T) {
	for _, mechanism := range []string{"blt", "tree-gaussian"} {
		c := config(t, "l2-ball", 3)
		c.Set, c.Budget.Epsilon = set(t, "l2-ball", 3, 100), 1e8
		p, err := NewPQFTL(c, mechanism, 2, [32]byte{4})
		if err != nil {
			t.Fatal(err)
		}
		whole, right := mat.NewSymDense(3, nil), mat.NewVecDense(3, nil)
		for i, f := range losses(false, 3, 60, 9) {
			p.Step(f)
			v := mat.NewVecDense(3, f.Features)
			whole.SymRankOne(whole, 1, v)
			right.AddScaledVec(right, f.Label, v)
			regular := mat.NewSymDense(3, nil)
			regular.CopySym(whole)
			for k := range 3 {
				regular.SetSym(k, k, regular.At(k, k)+c.Convexity*float64(i+1))
			}
			var want mat.VecDense
			if err := want.SolveVec(regular, right); err != nil {
				t.Fatal(err)
			}
			if far := floats.Distance(p.Point(), want.RawVector().Data, 2); far > 0.02 {
				t.Fatalf("%s, step %d: %v, want %v", mechanism, i+1, p.Point(), want.RawVector().Data)
			}
		}
	}
}
