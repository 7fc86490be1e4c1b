package audit

import (
	"math"
	"math/bits"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"

	"oriel/mechanisms"
	"oriel/mechanisms/audit/definition"
	"oriel/mechanisms/blt"
	"oriel/mechanisms/mechtest"
	"oriel/mechanisms/noise"
	"oriel/mechanisms/protection"
)

// dense returns C, computed from the definition of its kind.
func dense(c covariance, n int) *mat.SymDense {
	out := mat.NewSymDense(n, nil)
	switch c := c.(type) {
	case treeNoise:
		for s := range n {
			for t := s; t < n; t++ {
				shared := 0.0
				for _, i := range c.Active[s] {
					if slices.Contains(c.Active[t], i) {
						shared++
					}
				}
				out.SetSym(s, t, shared)
			}
		}
	case recursiveNoise: // weight of the noise of step t in release s, from the definition
		b := mat.NewDense(n, n, nil)
		for t := range n {
			for s := t; s < n; s++ {
				e := 0.0
				switch {
				case s == t:
					e = 1
				case uint64(s)/c.Period == uint64(t)/c.Period:
					for k, q := range c.Poles {
						e += c.Residues[k] * math.Pow(q, float64(s-t-1))
					}
				}
				if s > 0 {
					e += c.Decay * b.At(s-1, t)
				}
				b.Set(s, t, e)
			}
		}
		out.SymOuterK(1, b)
	}
	return out
}

// TestWeightsAreThoseOfTheCovariance compares the weights of the score with C⁻¹m from a dense solver.
func TestWeightsAreThoseOfTheCovariance(t *testing.T) {
	filter, err := blt.Fit(64, 0.3, 0)
	if err != nil {
		t.Fatal(err)
	}
	for name, kinds := range map[string]func(n int) covariance{
		"tree, W = 1":  func(n int) covariance { return treeNoise{definition.NewForest(1, n)} },
		"tree, W = 16": func(n int) covariance { return treeNoise{definition.NewForest(16, n)} },
		"tree, W = 64": func(n int) covariance { return treeNoise{definition.NewForest(64, n)} },
		"blt": func(int) covariance {
			return noiseOf(definition.NoiseOf(mechanisms.Config{}, mechanisms.Calibration{Name: "blt", Filter: filter}, 0))
		},
		"memory": func(int) covariance {
			return recursiveNoise{definition.Noise{
				Decay: 0.9, Period: 32, Poles: []float64{0.8, 0.2}, Residues: []float64{-0.06, -0.3},
			}}
		},
	} {
		for _, k := range []Canary{
			{Step: 1, Releases: 64, Count: 1, Spacing: 1},
			{Step: 37, Releases: 150, Count: 1, Spacing: 1},
			{Step: 5, Releases: 100, Count: 7, Spacing: 10},
		} {
			n := int(k.Releases)
			c, m := kinds(n), k.signal(1)
			var factor mat.Cholesky
			if !factor.Factorize(dense(c, n)) {
				t.Fatalf("%s: singular", name)
			}
			var want mat.VecDense
			if err := factor.SolveVecTo(&want, mat.NewVecDense(n, m)); err != nil {
				t.Fatal(err)
			}
			x := c.solve(m)
			for i := range x {
				if math.Abs(x[i]-want.AtVec(i)) > 1e-6 {
					t.Errorf("%s, canary %+v: weight %d is %g, want %g", name, k, i, x[i], want.AtVec(i))
					break
				}
			}
			if got, exact := c.form(x), mat.Inner(&want, dense(c, n), &want); math.Abs(got/exact-1) > 1e-6 {
				t.Errorf("%s, canary %+v: xᵀCx is %g, want %g", name, k, got, exact)
			}
		}
	}
}

// laws returns one law for each pair of step and age in at, with canaries ±L along the first coordinate.
func laws(t *testing.T, c mechanisms.Config, at ...[2]uint64) ([]*Law, protection.Guarantee) {
	t.Helper()
	p := mechtest.Plan(t, c)
	g, err := p.Guarantee(c)
	if err != nil {
		t.Fatal(err)
	}
	var out []*Law
	for _, x := range at {
		k, err := NewCanary(c, x[0], x[1])
		if err != nil {
			t.Fatal(err)
		}
		k.With, k.Without = make([]float64, c.Dimension()), make([]float64, c.Dimension())
		k.With[0], k.Without[0] = c.Clip(), -c.Clip()
		l, err := NewLaw(c, p, k)
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, l)
	}
	return out, g
}

// TestReachIsTheExactFigure checks that Reach equals the claim where the claim is attained, and the figures of
// windowtree/PROOF.md after the first block.
func TestReachIsTheExactFigure(t *testing.T) {
	near := func(what string, got, want, off float64) {
		t.Helper()
		if math.Abs(got/want-1) > off {
			t.Errorf("%s: %g, want %g", what, got, want)
		}
	}
	c := mechtest.Config(1)
	for window, want := range map[uint64]float64{16: 2.66, 64: 3.15, 256: 3.60} {
		c.Scope = protection.Window{Steps: window}
		at := [][2]uint64{{1, window}}
		for step := window + 1; step <= 2*window; step++ {
			at = append(at, [2]uint64{step, window})
		}
		all, g := laws(t, c, at...)
		near("tree-gaussian at step 1", all[0].Reach(), g.Mu, 1e-6)
		worst := 0.0
		for _, l := range all[1:] {
			worst = max(worst, l.Reach()/g.Mu)
		}
		near("tree-gaussian after the first block", worst*worst*float64(bits.Len64(window)), want, 2e-3)
	}
	c.Name, c.Scope = "blt", protection.Window{Steps: 1024}
	all, g := laws(t, c, [2]uint64{1, 1024}, [2]uint64{2, 1024}, [2]uint64{100, 1024}, [2]uint64{100, 2048})
	for _, l := range all[:3] {
		near("blt", l.Reach(), g.Mu, 1e-5) // equal up to the slack η
	}
	near("blt at twice the age", all[3].Reach(), g.Curve.Mu(2048), 1e-5)
	tree, once := protection.Window{Steps: 8}, protection.PerStep{}
	for name, scope := range map[string]protection.Scope{
		"tree-gamma": tree, "tree-laplace": tree, "once-gamma": once, "once-gaussian": once,
		"once-laplace": once,
	} {
		c.Name, c.Scope, c.Budget.Epsilon = name, scope, 3
		all, g := laws(t, c, [2]uint64{1, 8})
		want := g.Mu
		if !all[0].Gaussian() {
			want = 3
		}
		near(name, all[0].Reach(), want, 1e-6)
	}
}

// TestLikelihoodRatioIsTheLawOfScores compares the predicted law of scores, by its mean and the share above a
// threshold, with real runs, within 6.11 standard errors.
func TestLikelihoodRatioIsTheLawOfScores(t *testing.T) {
	for _, name := range []string{"blt", "tree-gamma", "tree-laplace"} {
		c := mechtest.Config(3)
		c.Name, c.Budget.Epsilon = name, 4
		all, _ := laws(t, c, [2]uint64{1, 8})
		l, o := all[0], all[0].likelihoodRatio()
		stream, observer := mechtest.Open(t, c, [32]byte{9}), l.Observe()
		start := stream.AppendState(nil)
		const runs = 4000
		var right, above, predictedRight float64
		threshold := o.losses[len(o.losses)/3]
		for run := range runs {
			if err := stream.Restore(start); err != nil {
				t.Fatal(err)
			}
			coin := Coin([32]byte{1}, uint64(run))
			for step := range 8 {
				gradient := []float64{0, 0, 0}
				if step == 0 {
					gradient[0] = -1
					if coin {
						gradient[0] = 1
					}
				}
				stream.Add(noise.Identity{Partition: int32(run)}, gradient)
				stream.Close()
				observer.Release(stream.Sum(0))
			}
			r := observer.Result(coin)
			if r.Score > 0 == coin {
				right++
			}
			if math.Abs(r.Score) >= threshold*(1-1e-9) {
				above++
			}
		}
		predictedRight = o.right[len(o.right)-1]
		predictedAbove := 0.0
		for _, x := range o.losses {
			if x >= threshold*(1-1e-9) {
				predictedAbove++
			}
		}
		predictedAbove /= float64(len(o.losses))
		near := func(what string, got, want float64) {
			t.Helper()
			spread := math.Sqrt(want * (1 - want) * (1.0/runs + 1/float64(len(o.losses))))
			if z := math.Abs(got/runs-want) / spread; z > 6.11 {
				t.Errorf("%s: %s %g, predicted %g: %.1f standard errors off", name, what, got/runs, want, z)
			}
		}
		near("right guesses", right, predictedRight)
		near("scores above the threshold", above, predictedAbove)
	}
}

func TestMarksAreAroundTheCanary(t *testing.T) {
	for _, k := range []Canary{{Step: 1, Releases: 5}, {Step: 64, Releases: 64}} {
		if marks := k.marks(); len(marks) != int(k.Releases) {
			t.Errorf("%+v: %d marks", k, len(marks))
		}
	}
	for _, k := range []Canary{
		{Step: 1, Releases: maxReleases}, {Step: maxReleases / 2, Releases: maxReleases}, {Step: 700, Releases: 1723},
	} {
		marks := k.marks()
		if len(marks) > 4*18 || !slices.IsSorted(marks) {
			t.Errorf("%+v: marks %v", k, marks)
		}
		for _, want := range []uint64{k.Step, k.Step + 1, k.Releases, k.Releases - 1} {
			if !slices.Contains(marks, int(want-1)) {
				t.Errorf("%+v: release %d is not looked at", k, want)
			}
		}
	}
}

// TestSignalCountsCanaryEvents checks that prefix sums hold all canary events so far, and single steps only their own.
func TestSignalCountsCanaryEvents(t *testing.T) {
	k := Canary{Step: 2, Releases: 9, Count: 3, Spacing: 3}
	if got := k.signal(1); !slices.Equal(got, []float64{0, 1, 1, 1, 2, 2, 2, 3, 3}) {
		t.Errorf("prefix sums: %v", got)
	}
	if got := k.signal(0); !slices.Equal(got, []float64{0, 1, 0, 0, 1, 0, 0, 1, 0}) {
		t.Errorf("single steps: %v", got)
	}
	if got := k.signal(0.5); !slices.Equal(got, []float64{0, 1, 0.5, 0.25, 1.125, 0.5625, 0.28125, 1.140625, 0.5703125}) {
		t.Errorf("sums that decay: %v", got)
	}
}
