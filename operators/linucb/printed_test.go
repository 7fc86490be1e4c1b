package linucb

import (
	"math"
	"math/rand/v2"
	"testing"

	"oriel/mechanisms/dp"
	"oriel/mechanisms/mechtest"
	"oriel/mechanisms/protection"
	"oriel/operators/optest"
)

// TestPrintedNoiseIsDrawn checks the noise of each ORIEL_NOISE at a node against reference values of the source's
// formulas (n = 1000, d = 5, ε = 1, δ = 10⁻⁶) for both adjacencies. The published ε must be the loss of the drawn
// noise, which is far less than 1. Zero-out must not change the printed noise, and its µ must be smaller by √2.
func TestPrintedNoiseIsDrawn(t *testing.T) {
	// 35.5 is the larger value by zCDP.
	needed := 2 * math.Sqrt(11) / dp.GaussianMu(dp.Budget{Epsilon: 1, Delta: 1e-6})
	for _, row := range []struct {
		noise   string
		sigma   float64 // standard deviation of the noise of a node
		epsilon float64 // loss under replacement, computed by an independent program
	}{
		{exact, needed, 1},
		{paper, 403.3495, 0.05751644},
		{wishart, 2 * math.Sqrt(653964), 0.01282477},
		{unshifted, 2 * math.Sqrt(653964), 0.01282477},
	} {
		for _, adjacency := range []dp.Adjacency{dp.Replace, dp.ZeroOut} {
			m := horizon(optest.Window("tree-gaussian"), 1000)
			m.Budget.Epsilon, m.Unit = 1, protection.Event{Exchange: adjacency}
			c, m := config(t, m, "PLAYED=logged", "ARMS=a,b", "DIMENSION=5", "CONFIDENCE=0.95", "NOISE="+row.noise)
			if err := c.Require(&m, nil); err != nil { // as when a stored plan is read
				t.Fatal(err)
			}
			stream := mechtest.Open(t, m, [32]byte{1})
			deviation, err := stream.Deviation(0, 0)
			if err != nil {
				t.Fatal(err)
			}
			want := row.sigma * math.Sqrt(11)
			if adjacency == dp.ZeroOut && row.noise == exact {
				want /= math.Sqrt2
			}
			if got := deviation.Worst(); math.Abs(got/want-1) > 1e-6 {
				t.Errorf("%s, %v: a standard deviation of %g, want %g", row.noise, adjacency, got, want)
			}
			plan := mechtest.Plan(t, m)
			g, err := plan.Guarantee(m)
			if err != nil {
				t.Fatal(err)
			}
			mu, epsilon := 2*math.Sqrt(11)/row.sigma, row.epsilon // a row is in 11 nodes and changes each by L̃² = 2
			if adjacency == dp.ZeroOut && row.noise != exact {
				mu /= math.Sqrt2
				epsilon = dp.GaussianEpsilon(mu, 1e-6)
			}
			if math.Abs(g.Mu/mu-1) > 1e-5 || math.Abs(g.Epsilon/epsilon-1) > 1e-4 ||
				dp.GaussianDelta(g.Epsilon, g.Mu) > g.Delta {
				t.Errorf("%s, %v: ε = %g, µ = %g, want %g and %g", row.noise, adjacency, g.Epsilon, g.Mu, epsilon, mu)
			}
		}
	}
	users := horizon(optest.Window("tree-gaussian"), 64)
	users.Unit = protection.User{Exchange: dp.ZeroOut, Separation: 4}
	c, err := optest.Configure(ForPapers(asPrinted{}), users, "PLAYED=logged", "ARMS=a,b", "DIMENSION=5", "NOISE=paper")
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Require(&users, nil); err == nil {
		t.Error("noise is printed for users, too")
	}
}

// TestPrintedShift checks that the shift is the printed one for 1000 models of each of two arms. The bounds must be the
// proved bounds for noise with this shift as its mean.
func TestPrintedShift(t *testing.T) {
	p, d := thousand, math.Sqrt(thousand.d)
	root := math.Sqrt(p.levels() * p.freedom())
	upsilon := p.sigma() * math.Sqrt(2*p.levels()) * (4*d + 2*math.Log(2*2000/p.alpha))
	mean, edge := p.square*root*root, d+math.Sqrt(2*math.Log(8*2000/p.alpha))
	for noise, want := range map[string]struct{ sd, shift float64 }{
		paper:     {p.sigma() * math.Sqrt(p.levels()), 2 * upsilon},
		wishart:   {p.square * root, mean - p.square*((root-edge)*(root-edge)-4*root*edge)},
		unshifted: {p.square * root, mean},
	} {
		m := horizon(optest.Window("tree-gaussian"), 1000)
		c, _ := config(t, m, "PLAYED=logged", "ARMS=a,b", "DIMENSION=5", "CONFIDENCE=0.95", "NOISE="+noise,
			"EMIT_EVERY=1", "START_REGULARIZER=0")
		b := c.bound(want.sd)
		c.noise = exact
		proved := c.bound(want.sd).least // Υ, the proved lower bound
		if math.Abs(b.shift/want.shift-1) > 1e-9 || math.Abs((b.shift-proved)/b.least-1) > 1e-12 ||
			math.Abs((b.shift+proved)/b.most-1) > 1e-12 || b.least < proved {
			t.Errorf("%s: %+v, want a shift of %g; Υ = %g", noise, b, want.shift, proved)
		}
		// Wishart noise with few degrees of freedom has a mean too small to subtract the shift of Eq. (4), and the
		// proved shift must exceed this mean.
		c.noise = noise
		if few := c.shifted(0, 5, 2000); noise != paper && math.Abs(few-12.5) > 1e-12 {
			t.Errorf("%s: a mean of 12.5 is shifted to %g", noise, few)
		}
		if few := c.bound(5); few.least < few.shift-few.most/2 || few.least <= 0 {
			t.Errorf("%s: few degrees of freedom: %+v", noise, few)
		}
	}
}

// TestExactNoiseRegretsLess checks that exact noise has less regret than printed noise, and printed Gaussian noise less
// than Wishart noise, if the stream is long enough to show it. The test needs two arms, three features, 20 000 steps, ε
// = 20 and the mean over four keys.
func TestExactNoiseRegretsLess(t *testing.T) {
	const steps, keys = 20000, 4
	regret := func(noise string) (mean float64) {
		m := horizon(optest.Window("tree-gaussian"), steps)
		m.Budget.Epsilon = 20
		c, m := config(t, m, "PLAYED=logged", "ARMS=a,b", "DIMENSION=3", "EMIT_EVERY=16", "REWARD_RANGE=-1:1", "WIDTH=0",
			"NOISE="+noise)
		for key := range byte(keys) {
			machine, err := newMachine(c, mechtest.Open(t, m, [32]byte{key, 21}))
			if err != nil {
				t.Fatal(err)
			}
			world := linear{truth: [2][]float64{{0.6, 0, 0.3}, {-0.3, 0.5, 0}}, rng: rand.New(rand.NewPCG(uint64(key), 4))}
			mean += world.play(machine, steps) / keys
		}
		return mean
	}
	tight, gaussian, degrees := regret(exact), regret(paper), regret(wishart)
	t.Logf("exact %.0f, printed Gaussian %.0f, Wishart %.0f", tight, gaussian, degrees)
	if gaussian < 2*tight || degrees < 1.1*gaussian {
		t.Errorf("regret %g with exact noise, %g with printed Gaussian, %g with Wishart noise", tight, gaussian, degrees)
	}
}
