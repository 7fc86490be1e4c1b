package submodular

import (
	"math"
	"math/rand/v2"
	"testing"

	"oriel/mechanisms"
	"oriel/mechanisms/contribution"
	"oriel/mechanisms/dp"
	"oriel/mechanisms/mechtest"
	"oriel/mechanisms/mechtest/tiertest"
	"oriel/mechanisms/noise"
	"oriel/mechanisms/protection"
	"oriel/operators/convex"
	"oriel/operators/convex/catalogue"
)

// learner computes points of a simplex for linear gains.
type learner interface {
	point() []float64
	learn(gains []float64)
}

// leader is PFTAL, private follow-the-approximate-leader: x_{t+1} = Π(ĝ_t/(Ht)). ĝ_t is the private sum of all gains,
// each of norm at most L, at pure ε for all steps (Gamma noise). H is L·√(n ln^{2.5}T/(εT)) as in the source paper, and
// at least L/√T, its value without privacy.
type leader struct {
	stream *mechanisms.Stream
	to     convex.Projection
	h      float64
	x      []float64
	seen   int64
}

func newLeader(t *testing.T, n, events int, norm, epsilon float64, seed byte) *leader {
	t.Helper()
	set, err := catalogue.Parse(catalogue.Spec{Name: "simplex", Dimension: n, Radius: 1})
	if err != nil {
		t.Fatal(err)
	}
	l := &leader{x: make([]float64, n), stream: mechtest.Open(t, mechanisms.Config{
		Name: "tree-gamma", Batch: 1, Contribution: contribution.OneComponent(n, norm), Budget: dp.Budget{Epsilon: epsilon},
		Terms: protection.Terms{
			Scope: protection.Lifetime{Steps: uint64(events), Within: uint64(events)},
			Unit:  protection.Event{Exchange: dp.Replace},
		},
	}, [32]byte{seed, 91})}
	if l.to, err = convex.NewProjection(set); err != nil {
		t.Fatal(err)
	}
	big := float64(n) * math.Pow(math.Log(float64(events)), 2.5)
	l.h = norm * max(math.Sqrt(big/(epsilon*float64(events))), 1/math.Sqrt(float64(events)))
	set.Start(l.x)
	return l
}

func (l *leader) point() []float64 { return l.x }

func (l *leader) learn(gains []float64) {
	l.stream.Add(noise.Identity{Offset: l.seen}, gains)
	l.stream.Close()
	l.seen++
	scaled := make([]float64, len(gains))
	for i, g := range l.stream.Sum(0) {
		scaled[i] = g / (l.h * float64(l.seen))
	}
	l.to.Project(l.x, scaled)
}

// ascent is projected gradient ascent at a rate of D/(G√T), without privacy: its regret is at most DG√T (Zinkevich,
// "Online convex programming and generalized infinitesimal gradient ascent", ICML 2003, Theorem 1).
type ascent struct {
	to   convex.Projection
	rate float64
	x    []float64
}

func newAscent(t *testing.T, n, events int, norm float64) *ascent {
	t.Helper()
	set, err := catalogue.Parse(catalogue.Spec{Name: "simplex", Dimension: n, Radius: 1})
	if err != nil {
		t.Fatal(err)
	}
	to, err := convex.NewProjection(set)
	if err != nil {
		t.Fatal(err)
	}
	a := &ascent{to: to, rate: set.Diameter() / (norm * math.Sqrt(float64(events))), x: make([]float64, n)}
	set.Start(a.x)
	return a
}

func (a *ascent) point() []float64 { return a.x }

func (a *ascent) learn(gains []float64) {
	moved := make([]float64, len(gains))
	for i, g := range gains {
		moved[i] = a.x[i] + a.rate*g
	}
	a.to.Project(a.x, moved)
}

// continuous is Algorithm 4 with PFTAL. Without privacy it is meta-Frank–Wolfe (Chen, Hassani and Karbasi, "Online
// continuous submodular maximization", AISTATS 2018). Each copy finds a direction, and the mean of all directions is
// played. Each copy receives the gradient at the mean of the directions before its own.
type continuous struct {
	copies []learner
	x      []float64
}

// points returns x, the mean of all directions, and for each copy the sum of the directions before it, divided by K.
func (c *continuous) points() (x []float64, at [][]float64) {
	clear(c.x)
	for _, e := range c.copies {
		at = append(at, append([]float64{}, c.x...))
		for i, v := range e.point() {
			c.x[i] += v / float64(len(c.copies))
		}
	}
	return c.x, at
}

// TestContinuousSets checks that the regret is at most (1/K)Σ r_k + βR²T/(2K), where r_k is the gain that copy k missed
// (Lemma 7 of the source paper), and that each point is in the set. It covers Algorithm 4 at ε = 1 and 1e4, with K from
// the paper's proof and another K. It also covers meta-Frank–Wolfe with K = √T, whose copies miss at most DG√T. With
// large ε, or without privacy, the value must be at least 9/10 of the best point's. At ε = 1 with 1024 events the test
// checks only the lemma. All three kinds of functions are covered.
func TestContinuousSets(t *testing.T) {
	const events = 1024
	norm := math.Sqrt(places) // norm of a gradient whose coordinates are within [0, 1]
	proved := int(math.Ceil(math.Pow(events/math.Pow(math.Log(events), 2.5), 0.25)))
	ascending := func(int, int) learner { return newAscent(t, places, events, norm) }
	leading := func(epsilon float64) func(k, copies int) learner {
		return func(k, copies int) learner {
			return newLeader(t, places, events, norm, epsilon/float64(copies), byte(k))
		}
	}
	for _, kind := range smoothKinds {
		rng := rand.New(rand.NewPCG(12, 34))
		all := make([]smooth, events)
		for i := range all {
			all[i] = kind.draw(rng)
		}
		best := bestOf(all)
		for _, row := range []struct {
			name    string
			copies  int
			share   float64 // at least this share of the best value is reached
			missing float64 // a copy misses at most this gain
			open    func(k, copies int) learner
		}{
			{"meta-Frank-Wolfe", 32, 0.9, math.Sqrt2 * norm * math.Sqrt(events), ascending},
			{"ε = 10000", proved, 0.9, math.Inf(1), leading(1e4)},
			{"ε = 1", proved, 0, math.Inf(1), leading(1)},
			{"ε = 1, many", 16, 0, math.Inf(1), leading(1)},
		} {
			t.Run(kind.name+", "+row.name, func(t *testing.T) {
				c := &continuous{x: make([]float64, places)}
				for k := range row.copies {
					c.copies = append(c.copies, row.open(k, row.copies))
				}
				value, missed := c.play(t, all)
				bound := (places - 1) * events / (2 * float64(row.copies))
				for k, r := range missed {
					if r > row.missing {
						t.Errorf("copy %d misses %g, at most %g", k, r, row.missing)
					}
					bound += r / float64(row.copies)
				}
				regret := (1-1/math.E)*best - value
				t.Logf("%d copies, value %.1f of %.1f, regret %.1f, bound %.1f", row.copies, value, best, regret, bound)
				if regret > bound+1e-6 || value < row.share*best {
					t.Errorf("value %g of %g, regret %g, bound %g", value, best, regret, bound)
				}
			})
		}
	}
}

// bestOf returns the largest total value of all functions at a single point of the simplex, found on a grid.
func bestOf(all []smooth) (best float64) {
	for i := range 51 {
		for j := range 51 - i {
			x, sum := []float64{float64(i) / 50, float64(j) / 50, float64(50-i-j) / 50}, 0.0
			for _, f := range all {
				sum += f.value(x)
			}
			best = max(best, sum)
		}
	}
	return best
}

// play plays a stream. It returns the total value, and the gain that each copy missed, compared with the best vertex
// for the gradients that it received.
func (c *continuous) play(t *testing.T, all []smooth) (value float64, missed []float64) {
	t.Helper()
	gains, sums, had := make([]float64, places), make([][places]float64, len(c.copies)), make([]float64, len(c.copies))
	for _, f := range all {
		x, at := c.points()
		total := 0.0
		for _, v := range x {
			total += v
			if v < -1e-9 {
				t.Fatalf("%v is played", x)
			}
		}
		if math.Abs(total-1) > 1e-9 {
			t.Fatalf("%v is played", x)
		}
		value += f.value(x)
		for k, e := range c.copies {
			f.gradient(gains, at[k])
			for i, v := range e.point() {
				had[k] += gains[i] * v
				sums[k][i] += gains[i]
			}
			e.learn(gains)
		}
	}
	for k, s := range sums {
		missed = append(missed, max(s[0], s[1], s[2])-had[k])
	}
	return value, missed
}

// TestMetaFrankWolfeGrowsAsARoot checks meta-Frank–Wolfe with K = √T copies. Its regret relative to 1 − 1/e of the best
// value must be at most (D·G + βR²/2)·√T, which has slope ½. Its regret relative to the full best value may grow 1.5
// times as fast as √T: 6 times from 256 to 4096 events, and 3 times to the 1024 events of the short form. All three
// kinds of functions are covered.
func TestMetaFrankWolfeGrowsAsARoot(t *testing.T) {
	norm, most := math.Sqrt(places), tiertest.Runs(1024, 4096)
	limit := 1.5 * math.Sqrt(float64(most)/256)
	for _, kind := range smoothKinds {
		var lacks []float64
		for _, events := range []int{256, most} {
			rng := rand.New(rand.NewPCG(12, 35))
			all := make([]smooth, events)
			for i := range all {
				all[i] = kind.draw(rng)
			}
			c, root := &continuous{x: make([]float64, places)}, int(math.Sqrt(float64(events)))
			for range root {
				c.copies = append(c.copies, newAscent(t, places, events, norm))
			}
			value, _ := c.play(t, all)
			best := bestOf(all)
			if regret := (1-1/math.E)*best - value; regret > (math.Sqrt2*norm+(places-1)/2.0)*float64(root) {
				t.Errorf("%s, %d events: regret %g", kind.name, events, regret)
			}
			lacks = append(lacks, best-value)
		}
		t.Logf("%s: %.1f is missed of 256 events, %.1f of %d", kind.name, lacks[0], lacks[1], most)
		if lacks[1] > limit*lacks[0] {
			t.Errorf("%s: %g of the best is missed of 256 events, %g of %d", kind.name, lacks[0], lacks[1], most)
		}
	}
}
