package replay_test

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"

	"oriel/cmd/internal/decisiontest"
	"oriel/cmd/internal/replay"
	"oriel/mechanisms/mechtest/tiertest"
)

// The tests replay one file under many seeds, and compare a mean over the replays with its claimed value. With so many
// seeds the mean is normally distributed. A limit of 6.11 standard errors rejects a correct value with probability
// 10⁻⁹. Seeds are fixed, so a test that fails once always fails.
const (
	limit       = 6.11
	noiseWindow = 8
	noiseSteps  = 3 * noiseWindow
	noiseN      = 4
)

// law is the claimed distribution of a node's noise vector. scale is in loss units. The variance and the fourth
// cumulant of a coordinate, and the cumulant κ(xᵢ, xᵢ, xⱼ, xⱼ) of two coordinates of one node, are in units of the
// scale.
type law struct {
	mechanism                  string
	scale                      float64
	variance, fourth, together float64
}

// laws returns the noise distributions of operators/coco/SPEC.md §4 and windowtree/PROOF.md for ε = 1, δ = 1e-6, L = 1,
// replacement (so Δ = 2L) and h = log₂W + 1 levels:
//
//	Gaussian  σ = Δ√h/µ             variance σ² of a coordinate
//	Gamma     θ = Δh/ε              variance θ²(n+1): the vector is θ·χ_{n+1}·Z, and Eχ⁴ = (n+1)(n+3)
//	Laplace   s = √n·Δh/ε           variance 2s², kurtosis 6
func laws() []law {
	const n, h = noiseN, 4
	return []law{
		{"tree-gaussian", 2 * math.Sqrt(h) / gaussianMu(1, 1e-6), 1, 0, 0},
		{"tree-gamma", 2 * h, n + 1, 6 * (n + 1), 2 * (n + 1)},
		{"tree-laplace", math.Sqrt(n) * 2 * h, 2, 12, 0},
	}
}

// gaussianMu solves δ = Φ(−ε/µ + µ/2) − e^ε·Φ(−ε/µ − µ/2) for µ by bisection.
func gaussianMu(epsilon, delta float64) float64 {
	low, high := 0.0, 10.0
	for range 100 {
		mu := (low + high) / 2
		a, b := epsilon/mu-mu/2, epsilon/mu+mu/2
		if (math.Erfc(a/math.Sqrt2)-math.Exp(epsilon)*math.Erfc(b/math.Sqrt2))/2 > delta {
			high = mu
		} else {
			low = mu
		}
	}
	return low
}

// replayedNoise replays one file under many seeds. It returns the recovered noise of each release by seed, step and
// coordinate, in units of the claimed scale.
func replayedNoise(t *testing.T, l law, seeds int) [][][]float64 {
	t.Helper()
	s := noisy(t, "MECHANISM="+l.mechanism, fmt.Sprintf("DIMENSION=%d", noiseN), fmt.Sprintf("WINDOW=%d", noiseWindow))
	m := decisiontest.Model(t, s)
	plan, private := planned(t, m)
	if used := private.Scale.Float64() * private.Grid.Unit(); math.Abs(used/l.scale-1) > 1e-6 {
		t.Errorf("%s: noise of scale %g, claimed is %g", l.mechanism, used, l.scale)
	}
	m.Learner = decisiontest.Freeze(m.Learner, plan) // calibrated once for all seeds
	h := newHistory(noiseSteps, noiseN)
	file, unit := h.file(), private.Grid.Unit()/l.scale
	all := make([][][]float64, seeds)
	for i := range all {
		out := decisiontest.Replay(t, m, replay.Options{Seed: fmt.Sprintf("%064x", i+1)}, file)
		for _, release := range recovered(t, s, h, out) {
			v := make([]float64, noiseN)
			for k, x := range release {
				v[k] = float64(x) * unit
			}
			all[i] = append(all[i], v)
		}
	}
	return all
}

// sharedNodes returns the number of nodes that are active in both releases.
func sharedNodes(s, t int) (count float64) {
	at := active(noiseWindow, uint64(s+1))
	for _, id := range active(noiseWindow, uint64(t+1)) {
		if slices.Contains(at, id) {
			count++
		}
	}
	return count
}

// TestReplayNoiseHasTheClaimedCovariance checks the noise recovered from the decisions of replays. Its mean must be 0,
// and coordinates must be uncorrelated. The covariance of two releases must be the variance of the nodes that are
// active in both. For example, a block's last step has one active node, the root, and shares no node with the step W
// steps earlier.
func TestReplayNoiseHasTheClaimedCovariance(t *testing.T) {
	seeds := tiertest.Runs(300, 10_000)
	for _, l := range laws() {
		samples := replayedNoise(t, l, seeds)
		worst := map[string]float64{}
		check := func(what string, s, u int, sum, mean, variance float64) {
			t.Helper()
			k := float64(seeds)
			z := math.Abs(sum-k*mean) / math.Sqrt(k*variance)
			worst[what] = max(worst[what], z)
			if !(z <= limit) {
				t.Errorf("%s: %s of steps %d and %d: %.3f, claimed %.3f: %.1f standard errors off", l.mechanism, what, s+1, u+1, sum/k, mean, z)
			}
		}
		v, n := l.variance, float64(noiseN)
		for s := range noiseSteps {
			a := sharedNodes(s, s)
			for i := range noiseN {
				sum, cross := 0.0, [noiseN]float64{}
				for _, x := range samples {
					sum += x[s][i]
					for j := range i {
						cross[j] += x[s][i] * x[s][j]
					}
				}
				check("mean", s, s, sum, 0, a*v)
				for j := range i {
					check("product of two coordinates", s, s, cross[j], 0, a*a*v*v+a*l.together)
				}
			}
			for u := range s + 1 {
				// The product ⟨x_s, x_u⟩ of one seed has the mean n·c·v for c common nodes of variance v. Its variance follows from
				// Isserlis' theorem, plus the cumulants of the common nodes.
				b, c := sharedNodes(u, u), sharedNodes(s, u)
				sum := 0.0
				for _, x := range samples {
					for i := range noiseN {
						sum += x[s][i] * x[u][i]
					}
				}
				check("covariance", s, u, sum, n*c*v, n*(a*b+c*c)*v*v+c*(n*l.fourth+n*(n-1)*l.together))
			}
		}
		for k := range 3 {
			last := (k+1)*noiseWindow - 1
			if sharedNodes(last, last) != 1 || k > 0 && sharedNodes(last, last-noiseWindow) != 0 {
				t.Errorf("release %d: not the root alone", last+1)
			}
		}
		t.Logf("%s, %d seeds, worst in standard errors: %v", l.mechanism, seeds, worst)
	}
}

// TestReplayNoiseIsWhite tests all releases together. Gaussian noise times the inverse root of its claimed covariance
// gives T·n independent standard normal numbers for each seed, whose sum of squares is chi-square. So the test finds a
// scale that is wrong by a few per cent.
func TestReplayNoiseIsWhite(t *testing.T) {
	seeds := tiertest.Runs(300, 10_000)
	samples := replayedNoise(t, laws()[0], seeds)
	covariance := mat.NewSymDense(noiseSteps, nil)
	for s := range noiseSteps {
		for u := range s + 1 {
			covariance.SetSym(s, u, sharedNodes(s, u))
		}
	}
	var root mat.Cholesky
	if !root.Factorize(covariance) {
		t.Fatal("claimed covariance is singular")
	}
	sum := 0.0
	x, solved := mat.NewVecDense(noiseSteps, nil), mat.NewVecDense(noiseSteps, nil)
	for _, sample := range samples {
		for i := range noiseN {
			for s := range noiseSteps {
				x.SetVec(s, sample[s][i])
			}
			if err := root.SolveVecTo(solved, x); err != nil {
				t.Fatal(err)
			}
			sum += mat.Dot(x, solved)
		}
	}
	freedom := float64(seeds * noiseN * noiseSteps)
	z := (sum - freedom) / math.Sqrt(2*freedom)
	t.Logf("%d degrees of freedom: variance %.4f of the claim, %.2f standard errors", int(freedom), sum/freedom, z)
	if !(math.Abs(z) <= limit) {
		t.Errorf("variance %g of the claimed: %.1f standard errors off", sum/freedom, z)
	}
}
