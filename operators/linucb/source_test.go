package linucb

import (
	"math"
	"math/bits"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/mat"

	"oriel/mechanisms"
	"oriel/mechanisms/dp"
	"oriel/mechanisms/mechtest"
	"oriel/mechanisms/noise"
	"oriel/operators"
	"oriel/operators/elementary"
	"oriel/operators/optest"
)

// paperNoise computes the constants of the source paper for d features, a tree over n steps, rows of norm L̃ (square is
// L̃²), ε and δ.
type paperNoise struct{ n, d, square, epsilon, delta float64 }

// levels returns m, the largest number of nodes in a prefix: ⌈log₂ n⌉ + 1.
func (s paperNoise) levels() float64 { return float64(bits.Len64(uint64(s.n)-1) + 1) }

// freedom returns k, the degrees of freedom of a node's Wishart noise.
func (s paperNoise) freedom() float64 {
	times := float64(224*s.levels()) / float64(s.epsilon*s.epsilon)
	times = float64(times * elementary.Log(float64(8*s.levels())/s.delta))
	return s.d + 1 + math.Ceil(float64(times*elementary.Log(2/s.delta)))
}

// sigma returns the standard deviation of a node's Gaussian noise: 4√m·L̃²·ln(4/δ)/ε.
func (s paperNoise) sigma() float64 {
	return float64(float64(float64(4*math.Sqrt(s.levels()))*s.square)*elementary.Log(4/s.delta)) / s.epsilon
}

// These are the kinds of noise that the source prints.
const (
	gaussian = "Gaussian"
	wishart  = "Wishart"
)

// mu returns the privacy loss of the named noise when a row is exchanged: the row is in m nodes and changes each by
// L̃². Of Wishart noise it is the loss of Gaussian noise with the same variances.
func (s paperNoise) mu(name string) float64 {
	sigma := s.sigma()
	if name != gaussian {
		sigma = float64(s.square * math.Sqrt(s.freedom()))
	}
	return float64(s.square*math.Sqrt(s.levels())) / sigma
}

// asPrinted returns m with the ε at which exact calibration gives the variances of the noise that the source prints for
// the ε of m, for rows of d features and norm √2.
func asPrinted(m mechanisms.Config, name string, d float64) mechanisms.Config {
	p := paperNoise{n: float64(m.Scope.Span()), d: d, square: 2, epsilon: m.Budget.Epsilon, delta: m.Budget.Delta}
	m.Budget.Epsilon = dp.GaussianEpsilon(p.mu(name), m.Budget.Delta)
	return m
}

// printed computes the source's constants, with bounds that fail with probability α.
type printed struct {
	paperNoise
	alpha float64
}

// wishart returns ρ_min, ρ_max and γ of Proposition 9 without the shift, the shift c of Eq. (4), and the three bounds
// with it.
func (p printed) wishart() (least, most, side, shift, shiftedLeast, shiftedMost, shiftedSide float64) {
	q, r := math.Sqrt(2*math.Log(8*p.n/p.alpha)), math.Sqrt(2*math.Log(2*p.n/p.alpha))
	root, d := math.Sqrt(p.levels()*p.freedom()), math.Sqrt(p.d)
	least, most = p.square*math.Pow(root-d-q, 2), p.square*math.Pow(root+d+q, 2)
	side = math.Sqrt(p.square) * (d + r)
	shiftedLeast = 4 * p.square * root * (d + q)
	return least, most, side, least - shiftedLeast, shiftedLeast, 2 * shiftedLeast, math.Sqrt(p.square * root * (d + r))
}

// gaussian returns σ, Υ and γ of Proposition 11.
func (p printed) gaussian() (sigma, upsilon, side float64) {
	sigma = p.sigma()
	upsilon = sigma * math.Sqrt(2*p.levels()) * (4*math.Sqrt(p.d) + 2*math.Log(2*p.n/p.alpha))
	return sigma, upsilon, sigma * math.Sqrt(p.levels()/upsilon) * (math.Sqrt(p.d) + math.Sqrt(2*math.Log(2*p.n/p.alpha)))
}

// exact returns σ and Υ of the same tree, calibrated by zCDP to the exchange of a row.
func (p printed) exact() (sigma, upsilon float64) {
	rho := math.Pow(math.Sqrt(p.epsilon+math.Log(1/p.delta))-math.Sqrt(math.Log(1/p.delta)), 2)
	sigma = p.square * math.Sqrt(p.levels()/(2*rho))
	return sigma, sigma * math.Sqrt(p.levels()) * (2*math.Sqrt(p.d) + 2*math.Sqrt(math.Log(4*p.n/p.alpha)))
}

var thousand = printed{paperNoise: paperNoise{n: 1000, d: 5, square: 2, epsilon: 1, delta: 1e-6}, alpha: 0.05}

// TestPrintedNoise checks the source paper's constants, and the ε that their noise gives, against an earlier,
// independent computation. They are eleven times the noise that the paper's own tree needs.
func TestPrintedNoise(t *testing.T) {
	near := func(what string, got, want, by float64) {
		t.Helper()
		if math.Abs(got-want) > by {
			t.Errorf("%s is %.8g, want %.8g", what, got, want)
		}
	}
	p := thousand
	_, _, _, shift, least, _, _ := p.wishart()
	sigma, upsilon, side := p.gaussian()
	tight, tightUpsilon := p.exact()
	near("k", p.freedom(), 653964, 0)
	near("ε of Gaussian noise", dp.GaussianEpsilon(p.mu(gaussian), p.delta), 0.05751644, 1e-7)
	near("ε of Wishart noise", dp.GaussianEpsilon(p.mu(wishart), p.delta), 0.01282477, 1e-7)
	near("c", shift, 14157779.88, 0.005)
	near("ρ'_min", least, 153019.89, 0.005)
	near("σ", sigma, 403.3495, 5e-5)
	near("Υ", upsilon, 57016.51, 0.005)
	near("γ", side, 38.3189, 5e-5)
	near("exact σ", tight, 35.48775, 5e-6)
	near("exact Υ", tightUpsilon, 1317.316, 5e-4)
	if upsilon < 2*p.n || least < 2*p.n {
		t.Error("the printed noise is below all that 1000 rows add up to")
	}
	// Exact noise is smaller by a factor of about √8·ln(4/δ)/√ln(1/δ).
	want := math.Sqrt(8) * math.Log(4/p.delta) / math.Sqrt(math.Log(1/p.delta))
	if times := sigma / tight; math.Abs(times/want-1) > 0.03 {
		t.Errorf("exact noise is %g times less, want about %g", times, want)
	}
}

// TestSlipsOfTheSource checks errors in the bounds of the source paper. The second form of γ in Proposition 11 lacks a
// factor of more than √ln(4/δ), and is smaller than the first form, although draws reach the first form. Corollary 10
// has lower powers of ln n and ln(1/δ) than follow from its k, where (mk)^{1/4} contains ln(1/δ)^{1/2}. The three
// bounds of Proposition 9 fail with total probability 3α/4n, where only α/2n is allowed.
func TestSlipsOfTheSource(t *testing.T) {
	p := thousand
	sigma, upsilon, first := p.gaussian()
	long := math.Sqrt(p.d) + math.Sqrt(2*math.Log(2*p.n/p.alpha))
	second := math.Sqrt(p.levels() * p.square * long / (math.Sqrt2 * p.epsilon))
	upper := math.Sqrt(math.Sqrt2 * p.levels() * p.square * math.Log(4/p.delta) * long / p.epsilon)
	if second > 0.6*first || first > upper {
		t.Errorf("γ is %g, by its second form %g, at most %g", first, second, upper)
	}
	rng, beyond := rand.New(rand.NewPCG(4, 12)), 0
	for range 2000 { // H is as small as the bounds allow
		sum := 0.0
		for range int(p.d) {
			x := sigma * math.Sqrt(p.levels()) * rng.NormFloat64()
			sum += x * x / upsilon
		}
		if math.Sqrt(sum) > second {
			beyond++
		}
	}
	if beyond < 100 {
		t.Errorf("%d of 2000 draws are beyond the second form of γ", beyond)
	}
	fourth := func(delta float64) float64 {
		q := p
		q.delta = delta
		return math.Pow(q.levels()*q.freedom(), 0.25)
	}
	if times := fourth(1e-160) / fourth(1e-10); math.Abs(times-4) > 0.4 { // ln(1/δ) is 16 times as large
		t.Errorf("(mk)^{1/4} is %g times as much at 16 times ln(1/δ), want 4", times)
	}
	fails := func(q float64) float64 { return math.Exp(-q * q / 2) }
	q := math.Sqrt(2 * math.Log(8*p.n/p.alpha))
	printed := 2*fails(q) + fails(math.Sqrt(2*math.Log(2*p.n/p.alpha)))
	mended := 2*fails(q) + fails(math.Sqrt(2*math.Log(4*p.n/p.alpha)))
	if left := p.alpha / (2 * p.n); math.Abs(printed/left-1.5) > 1e-9 || math.Abs(mended/left-1) > 1e-9 {
		t.Errorf("bounds fail with %g, mended %g, of %g", printed, mended, left)
	}
}

// within returns the regret bound of Theorem 5 in its safe form, as regretBound does, for weights of norm 1 and noise
// within ρ_min, ρ_max and γ.
func (p printed) within(least, most, side float64) float64 {
	width := math.Sqrt(2*math.Log(2/p.alpha)+p.d*math.Log((most+p.n/p.d)/least)) + math.Sqrt(most) + side
	return width * math.Sqrt(8*p.n*p.d*math.Log(1+p.n/(p.d*least)))
}

// TestShiftedWishartPaysLate checks the source paper's reason for shifting Wishart noise, a lower regret. By the
// paper's own bounds, regret is lower only for streams that are long relative to the noise. At a thousand steps, the
// shift reduces the smallest eigenvalue by a larger factor than the largest one.
func TestShiftedWishartPaysLate(t *testing.T) {
	for n, want := range map[float64]bool{1e3: false, 1e6: false, 1e9: true, 1e12: true} {
		p := thousand
		p.n = n
		least, most, side, shift, shiftedLeast, shiftedMost, shiftedSide := p.wishart()
		plain, shifted := p.within(least, most, side), p.within(shiftedLeast, shiftedMost, shiftedSide)
		t.Logf("n = %g: c = %.3g, regret within %.3g of n unshifted, %.3g shifted", n, shift, plain/n, shifted/n)
		if shift <= 0 || (shifted < plain) != want {
			t.Errorf("n = %g: %g unshifted, %g shifted", n, plain, shifted)
		}
	}
}

// holds reports whether the leading block of a noise matrix, plus a shift, satisfies the bounds of Definition 3.
func holds(t *testing.T, whole *mat.SymDense, shift, least, most, side float64) bool {
	t.Helper()
	d := whole.SymmetricDim() - 1
	h, column := mat.NewSymDense(d, nil), mat.NewVecDense(d, nil)
	for i := range d {
		column.SetVec(i, whole.At(i, d))
		for j := i; j < d; j++ {
			h.SetSym(i, j, whole.At(i, j))
		}
		h.SetSym(i, i, h.At(i, i)+shift)
	}
	var eigen mat.EigenSym
	if !eigen.Factorize(h, false) {
		t.Fatal("no eigenvalues")
	}
	values := eigen.Values(nil)
	if values[0] < least || values[d-1] > most {
		return false
	}
	var solved mat.VecDense
	if err := solved.SolveVec(h, column); err != nil {
		t.Fatal(err)
	}
	return math.Sqrt(mat.Dot(column, &solved)) <= side
}

// TestAccurateBounds checks that all kinds of noise satisfy their bounds in each of 300 draws, where each draw may fail
// with probability α/2n = 2.5e-5. Without a shift Gaussian noise is never positive definite, and half of the bounds
// fail.
func TestAccurateBounds(t *testing.T) {
	p, rng := thousand, rand.New(rand.NewPCG(2, 12))
	least, most, side, shift, shiftedLeast, shiftedMost, shiftedSide := p.wishart()
	sigma, upsilon, gamma := p.gaussian()
	tight, tightUpsilon := p.exact()
	tightSide := tight * math.Sqrt(p.levels()/tightUpsilon) * (math.Sqrt(p.d) + math.Sqrt(2*math.Log(4*p.n/p.alpha)))
	gaussian := func(sigma float64) *mat.SymDense {
		out := mat.NewSymDense(6, nil)
		for i := range 6 {
			for j := i; j < 6; j++ {
				by := sigma * math.Sqrt(p.levels())
				if i == j {
					by *= math.Sqrt2
				}
				out.SetSym(i, j, by*rng.NormFloat64())
			}
		}
		return out
	}
	unshifted, narrow := 0, 0
	for range 300 {
		w := wishartOf(rng, 6, p.square, p.levels()*p.freedom())
		if !holds(t, w, 0, least, most, side) || !holds(t, w, -shift, shiftedLeast, shiftedMost, shiftedSide) {
			t.Fatal("Wishart noise is beyond its bounds")
		}
		if !holds(t, gaussian(sigma), 2*upsilon, upsilon, 3*upsilon, gamma) ||
			!holds(t, gaussian(tight), 2*tightUpsilon, tightUpsilon, 3*tightUpsilon, tightSide) {
			t.Fatal("Gaussian noise is beyond its bounds")
		}
		if holds(t, gaussian(tight), 0, 0, math.Inf(1), math.Inf(1)) {
			unshifted++
		}
		if holds(t, gaussian(2*sigma), upsilon/8, upsilon/16, 3*upsilon/16, gamma/4) {
			narrow++
		}
	}
	if unshifted > 30 || narrow > 150 {
		t.Errorf("%d of 300 draws are positive definite without a shift, %d keep bounds an eighth as wide", unshifted, narrow)
	}
}

// linear simulates arms with rewards −1 or 1, whose means are linear functions of a context of three features.
type linear struct {
	truth [2][]float64
	rng   *rand.Rand
}

// play runs a machine for the given number of steps and returns its regret, in half ranges of rewards.
func (l linear) play(m *Machine, steps int) (regret float64) {
	counted := operators.ByCount(m)
	z := make([]float64, 3)
	for i := range steps {
		e := context(l.rng.NormFloat64(), l.rng.NormFloat64(), l.rng.NormFloat64())
		arm := m.choose(z, operators.Record{Event: e})
		means := [2]float64{}
		for a, truth := range l.truth {
			for k, x := range truth {
				means[a] += x * z[k]
			}
		}
		regret += max(means[0], means[1]) - means[arm]
		reward := -1.0
		if l.rng.Float64() < (1+means[arm])/2 {
			reward = 1
		}
		e.Numbers = []float64{float64(arm), reward}
		counted.Add(nil, operators.Record{Event: e, Identity: noise.Identity{Offset: int64(i)}})
	}
	return regret
}

// TestRegretIsWithinTheBound checks LinUCB without noise, H = λI: its regret is within the bound, and grows at most
// like a root of the steps. With noise at ε = 20 the regret is within the bound for noise, and above the lower bound
// for any private bandit.
func TestRegretIsWithinTheBound(t *testing.T) {
	world := func(seed uint64) linear {
		return linear{truth: [2][]float64{{0.6, 0, 0.3}, {-0.3, 0.5, 0}}, rng: rand.New(rand.NewPCG(seed, 4))}
	}
	var unshifted [3]float64
	for k, steps := range []int{500, 2000, 8000} {
		m := horizon(optest.Window("blt"), uint64(steps))
		m.Budget.Epsilon = 20
		c, m := config(t, m, "PLAYED=logged", "ARMS=a,b", "DIMENSION=3", "EMIT_EVERY=1", "CONFIDENCE=0.9",
			"REWARD_RANGE=-1:1", "WEIGHTS_MAX=1")
		exact, err := newMachine(c, mechtest.ZeroStream(t, m))
		if err != nil {
			t.Fatal(err)
		}
		exact.model.bounds = c.bound(0)
		exact.model.reset()
		unshifted[k] = world(1).play(exact, steps)
		private, err := newMachine(c, mechtest.Open(t, m, [32]byte{3}))
		if err != nil {
			t.Fatal(err)
		}
		noisy := world(1).play(private, steps)
		deviation, err := private.Stream.Deviation(0, 0)
		if err != nil {
			t.Fatal(err)
		}
		t.Logf("%d steps: regret %.1f without noise, bound %.0f; %.1f with noise, bound %.0f", steps, unshifted[k],
			c.regretBound(0), noisy, c.regretBound(deviation.Worst()))
		if unshifted[k] > c.regretBound(0) || noisy > c.regretBound(deviation.Worst()) {
			t.Error("regret is above its bound")
		}
		if least := math.Log(float64(steps)) / (200 * 20); noisy < least { // Corollary 15: (k−1)·ln n/(200ε)
			t.Errorf("regret %g is below what any private bandit has, %g", noisy, least)
		}
	}
	for k := range 2 {
		if unshifted[k+1] > 2.5*unshifted[k] {
			t.Errorf("regret without noise goes from %g to %g in four times the steps", unshifted[k], unshifted[k+1])
		}
	}
}

// TestIgnoringTheContextLosesHalf checks Claim 13 of the source paper, with two contexts and two arms, each right for
// one context. Ordinary privacy at a small ε makes actions nearly independent of the context. Actions that are
// independent of it lose half of the reward; joint privacy loses little.
func TestIgnoringTheContextLosesHalf(t *testing.T) {
	const steps = 4000
	m := optest.Life(4096)
	c, m := config(t, m, "PLAYED=logged", "ARMS=a,b", "DIMENSION=2")
	machine, err := newMachine(c, mechtest.Open(t, m, [32]byte{9}))
	if err != nil {
		t.Fatal(err)
	}
	counted := operators.ByCount(machine)
	rng, z := rand.New(rand.NewPCG(1, 13)), make([]float64, 2)
	blind, seeing := [2]int{}, 0
	for i := range steps {
		which := rng.IntN(2)
		e := context(float64(1-which), float64(which))
		arm := machine.choose(z, operators.Record{Event: e})
		for a := range blind {
			if a == which {
				blind[a]++
			}
		}
		reward := 0.0
		if arm == which {
			seeing++
			reward = 1
		}
		e.Numbers = []float64{float64(arm), reward}
		counted.Add(nil, operators.Record{Event: e, Identity: noise.Identity{Offset: int64(i)}})
	}
	if best := max(blind[0], blind[1]); float64(best) > 0.53*steps || float64(seeing) < 0.9*steps {
		t.Errorf("of %d steps the best fixed arm is right in %d, the machine in %d", steps, best, seeing)
	}
}
