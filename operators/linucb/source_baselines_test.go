package linucb

import (
	"math"
	"math/bits"
	"math/rand/v2"
	"testing"

	"oriel/mechanisms/dp"
)

// plainLinUCB is LinUCB for two arms and two features in floating point, with the sums V = [a b; b c] and u of each
// arm.
type plainLinUCB struct {
	v     [2][3]float64
	u     [2][2]float64
	shift float64
	width float64
}

// action returns the arm with the largest index for a context, given noise on V and u.
func (r *plainLinUCB) action(z [2]float64, noise *[2][5]float64) int {
	best, most := 0, math.Inf(-1)
	for arm := range 2 {
		a, b, c := r.v[arm][0]+noise[arm][0]+r.shift, r.v[arm][1]+noise[arm][1], r.v[arm][2]+noise[arm][2]+r.shift
		u0, u1, det := r.u[arm][0]+noise[arm][3], r.u[arm][1]+noise[arm][4], a*c-b*b
		solve := func(x, y float64) (float64, float64) { return (c*x - b*y) / det, (a*y - b*x) / det }
		t0, t1 := solve(u0, u1)
		w0, w1 := solve(z[0], z[1])
		index := t0*z[0] + t1*z[1] + r.width*math.Sqrt(max(0, w0*z[0]+w1*z[1]))
		if index > most {
			best, most = arm, index
		}
	}
	return best
}

func (r *plainLinUCB) learn(arm int, z [2]float64, y float64) {
	r.v[arm][0] += z[0] * z[0]
	r.v[arm][1] += z[0] * z[1]
	r.v[arm][2] += z[1] * z[1]
	r.u[arm][0] += y * z[0]
	r.u[arm][1] += y * z[1]
}

// protected selects the sums that get noise: none; only sums of rewards (Neel and Roth, "Mitigating bias in adaptive
// data gathering via differential privacy", ICML 2018, as the source paper cites it); or second moments, too.
type protected int

const (
	noNoise protected = iota
	rewards
	all
)

// noisy draws the tree's noise for a prefix of t steps: one node for each set bit of t. The scale is chosen so that all
// levels together lose ρ in zCDP when an event with reward in [−1, 1] and features of norm 1 is exchanged. V and u
// together are the second moments of a row (z; y) of norm √2, whose symmetric noise is larger by √2 on the diagonal
// (SPEC.md).
func (p protected) noisy(rng *rand.Rand, t, steps int, rho float64) (noise [2][5]float64, shift float64) {
	if p == noNoise {
		return noise, 1
	}
	sd := 2 * math.Sqrt(float64(bits.Len(uint(steps)))/(2*rho))
	if t > 0 {
		sd *= math.Sqrt(float64(bits.OnesCount(uint(t))))
	}
	for arm := range noise {
		for i := range noise[arm] {
			if i >= 3 || p == all {
				noise[arm][i] = sd * rng.NormFloat64()
			}
		}
		noise[arm][0] *= math.Sqrt2
		noise[arm][2] *= math.Sqrt2
	}
	if p == all {
		return noise, 2 * 2 * math.Sqrt2 * sd // the shift is twice the edge of the spectrum, 2√d·sd
	}
	return noise, sd // shifted so that uncertain estimates are not trusted
}

// TestNoiseOnlyOnRewards checks that noise on only the sums of rewards costs regret, and that joint privacy costs
// hardly more. With noise on only these sums a context is not protected: two histories that differ in one context lead
// to different actions for every draw of the noise. Under joint privacy the actions hardly differ.
func TestNoiseOnlyOnRewards(t *testing.T) {
	const steps = 8000
	rho := dp.ZCDPRho(dp.Budget{Epsilon: 4, Delta: 1e-6})
	var regret [3]float64
	for p := range regret {
		for seed := range uint64(8) {
			rng := rand.New(rand.NewPCG(seed, 41))
			r := &plainLinUCB{width: 1}
			truth := [2][2]float64{{0.7, -0.2}, {-0.4, 0.5}}
			for i := range steps {
				angle := 2 * math.Pi * rng.Float64()
				z := [2]float64{math.Cos(angle), math.Sin(angle)}
				noise, shift := protected(p).noisy(rng, i, steps, rho)
				r.shift = shift
				arm := r.action(z, &noise)
				mean := func(a int) float64 { return truth[a][0]*z[0] + truth[a][1]*z[1] }
				regret[p] += (max(mean(0), mean(1)) - mean(arm)) / 8
				y := -1.0
				if rng.Float64() < (1+mean(arm))/2 {
					y = 1
				}
				r.learn(arm, z, y)
			}
		}
	}
	t.Logf("regret %.0f without noise, %.0f with noise on rewards, %.0f on all", regret[noNoise], regret[rewards], regret[all])
	if regret[rewards] < 1.5*regret[noNoise] || regret[all] < regret[rewards] || regret[all] > 1.3*regret[rewards] {
		t.Error("not in their order")
	}
	for p, most := range map[protected][2]int{rewards: {1000, 1000}, all: {0, 200}} {
		differ := 0
		for seed := range uint64(1000) {
			var actions [2]int
			for i, z := range [][2]float64{{1, 0}, {0, 1}} { // z is the context that differs
				rng := rand.New(rand.NewPCG(seed, 42))
				r := &plainLinUCB{width: 1e6} // a width so large that actions follow uncertainty
				r.learn(0, z, 0)
				r.learn(1, [2]float64{math.Sqrt(0.5), math.Sqrt(0.5)}, 0)
				noise, shift := p.noisy(rng, 2, steps, rho)
				r.shift = shift
				actions[i] = r.action([2]float64{1, 0}, &noise)
			}
			if actions[0] != actions[1] {
				differ++
			}
		}
		t.Logf("protected %d: of 1000 draws of noise %d have another action where one context is another", p, differ)
		if differ < most[0] || differ > most[1] {
			t.Errorf("protected %d: %d of 1000 actions differ, want %d to %d", p, differ, most[0], most[1])
		}
	}
}
