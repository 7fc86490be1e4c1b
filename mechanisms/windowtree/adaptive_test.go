package windowtree

import (
	"math"
	"testing"

	"oriel/mechanisms/mechtest/sumtest"
	"oriel/mechanisms/noise"
)

// enumerate runs every history of node noises |n| ≤ reach of the first block of W = 4 through the real tree. In the
// first block a step activates one node, so releases and noises determine each other. The neighbouring stream's
// contributions differ by the results of difference. enumerate computes its noises that give the same releases, and
// calls each with both noises.
func enumerate(
	t *testing.T, reach int64, difference func(step int, y []float64) int64, each func(noises, others [4]int64),
) {
	t.Helper()
	const window = 4
	var fresh, rest [window][]int // nodes by step, from 0: the nodes activated at the step, and the other active nodes
	known := map[noise.NodeID]int{}
	for now := range window {
		_, prefix := newTree(t, window, 1, silence{}).active(uint64(now + 1))
		for _, id := range prefix {
			if at, old := known[id]; old {
				rest[now] = append(rest[now], at)
			} else {
				known[id], fresh[now] = now, append(fresh[now], now)
			}
		}
		if len(fresh[now]) != 1 {
			t.Fatalf("step %d activates %d nodes", now+1, len(fresh[now]))
		}
	}
	contribution, dst, chain := []int64{1}, []float64{0}, noise.NewChain([32]byte{})
	var noises, others [window]int64
	script := &sumtest.Script{Values: noises[:]}
	for code := range int64(math.Pow(float64(2*reach+1), window)) {
		for now := range noises {
			noises[now] = code%(2*reach+1) - reach
			code /= 2*reach + 1
		}
		tree, releases, distance := newTree(t, window, 1, script), make([]float64, 0, window), int64(0)
		for now := range noises {
			distance += difference(now, releases)
			sumtest.Step(tree, chain, dst, contribution...)
			releases = append(releases, dst[0])
			others[now] = noises[now] - distance
			for _, at := range rest[now] {
				others[now] += noises[at] - others[at]
			}
		}
		each(noises, others)
	}
}

// TestExactLawOfAnAdaptiveUserIsWithinTheClaim checks mechanisms/PROOF.md, Theorems 2 and 3 with adaptive
// participation, by exact enumeration with the real tree: for Gaussian noise by divergences, for pure noise by the
// probability ratio of each history.
func TestExactLawOfAnAdaptiveUserIsWithinTheClaim(t *testing.T) {
	const separation, s, reach, delta = 2, 1.5, 7, 1
	l := Loss{Window: 4, Separation: separation, Square: uint64(delta * delta), N: 1, Scale: noise.ScaleUp(s)}
	pure := float64(Events(4, separation)) * float64(Depth(4)) * delta / s
	normal := sumtest.NormalCell(s)
	double := func(n int64) float64 { // density e^(−|x|/s)/2s: Laplace noise, and Gamma noise of one coordinate
		if n == 0 {
			return 1 - math.Exp(-0.5/s)
		}
		x := math.Abs(float64(n))
		return (math.Exp((0.5-x)/s) - math.Exp((-0.5-x)/s)) / 2
	}
	for rule, comes := range sumtest.Comings[float64]() {
		var found sumtest.Histories
		ratio := 0.0
		enumerate(t, reach, func(step int, y []float64) int64 {
			if comes(step, y) {
				return delta
			}
			return 0
		}, func(noises, others [4]int64) {
			p, q, squares, loss := 1.0, 1.0, 0.0, 0.0
			for i, n := range noises {
				p, q = p*normal(n), q*normal(others[i])
				squares += float64((n - others[i]) * (n - others[i]))
				loss += math.Abs(math.Log(double(n) / double(others[i])))
			}
			found.Add(p, q, squares/(s*s))
			ratio = max(ratio, loss)
		})
		if !found.AreWithin(t, rule+", Gaussian", l.Mu(4)) {
			t.Errorf("%s: the mean of squares over histories is not too small a claim: the test tests nothing", rule)
		}
		if ratio > pure*(1+1e-12) {
			t.Errorf("%s, pure: a history has the loss %g, claimed %g", rule, ratio, pure)
		}
		if one := pure / 2; ratio <= one {
			t.Errorf("%s, pure: one event less in the account is not caught: %g", rule, ratio)
		}
	}
}
