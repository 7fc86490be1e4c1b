package audit

import (
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"math"

	"gonum.org/v1/gonum/stat/distuv"

	"oriel/mechanisms/audit/bound"
	"oriel/mechanisms/dp"
	"oriel/mechanisms/protection"
)

// Coin returns the fair coin of a run: true if the run has the canary. The machine under audit must not see key.
func Coin(key [32]byte, run uint64) bool {
	h := sha256.Sum256(binary.LittleEndian.AppendUint64(append([]byte("oriel audit: coin"), key[:]...), run))
	return h[0]&1 == 1
}

// Audit counts how many coins are guessed right over the runs.
type Audit struct {
	law       *Law
	claim     Claim
	alpha     float64
	threshold float64 // a run with |score| below it makes no guess for ε
	learn     int     // number of runs at the start that train the learner
	learner   *learner

	runs, with  int
	byScore     guessCount // guesses by likelihood-ratio score, of all runs
	byThreshold guessCount
	byLearner   guessCount // guesses by learned statistic, of the runs after training
}

type guessCount struct{ made, right int }

func (g *guessCount) add(guess, coin bool) {
	g.made++
	if guess == coin {
		g.right++
	}
}

// Claim is the guarantee under test: the loss over the releases up to the canary's age, or over a full window if the
// window is longer. Mu is 0 for pure ε.
type Claim struct {
	Mu      float64 `json:"mu"`
	Epsilon float64 `json:"epsilon"`
	Delta   float64 `json:"delta"`
}

// ClaimAt returns the loss that a guarantee claims at an age.
func ClaimAt(g protection.Guarantee, age uint64) Claim {
	c := Claim{Mu: g.Mu, Epsilon: g.Epsilon, Delta: g.Delta}
	if _, decays := g.Scope.Memory(); !decays && age <= g.Scope.Span() {
		return c
	}
	c.Epsilon = g.At(age).Epsilon
	if g.Curve != nil {
		c.Mu = g.Curve.Mu(age)
	}
	return c
}

// New starts an audit of a law against a guarantee. runs is the planned number of runs: it fixes, before the first run,
// how many runs train the learner, and the |score| above which the coin is guessed for ε. The probability that any
// bound is wrong is at most α.
func New(law *Law, g protection.Guarantee, runs int, alpha float64) (*Audit, error) {
	if runs < 2 {
		return nil, fmt.Errorf("audit: %d runs: below 2", runs)
	}
	if !(alpha > 0 && alpha < 1) {
		return nil, fmt.Errorf("audit: alpha %g: not between 0 and 1", alpha)
	}
	a := &Audit{law: law, claim: ClaimAt(g, law.canary.Age()), alpha: alpha, learner: newLearner(law)}
	if law.Gaussian() != (a.claim.Mu > 0) {
		return nil, errors.New("audit: the guarantee is not of the law's kind")
	}
	a.learn = min(32*len(law.marks), runs/4)
	a.threshold, _ = law.likelihoodRatio().best(runs, a.claim.Delta, a.share())
	a.threshold *= 1 - 1e-9 // slightly lower, because pure noise reaches the largest score with positive probability
	return a, nil
}

// bounds returns the number of bounds computed; each has confidence 1 − α/bounds.
func (l *Law) bounds() float64 {
	if l.Gaussian() {
		return 3
	}
	return 2
}

func (a *Audit) share() float64 { return a.alpha / a.law.bounds() }

// Add counts the next run.
func (a *Audit) Add(r Run) {
	a.runs++
	if r.Canary {
		a.with++
	}
	a.byScore.add(r.Score > 0, r.Canary)
	if math.Abs(r.Score) >= a.threshold {
		a.byThreshold.add(r.Score > 0, r.Canary)
	}
	if a.runs <= a.learn {
		a.learner.add(r)
		if a.runs == a.learn {
			a.learner.fit()
		}
		return
	}
	a.byLearner.add(a.learner.guess(r), r.Canary)
}

// Report is the result of an audit.
type Report struct {
	Runs       int     `json:"runs"`
	WithCanary int     `json:"runs_with_canary"`
	Alpha      float64 `json:"alpha"`
	Claim      Claim   `json:"claim"`
	Reach      float64 `json:"reach"` // Law.Reach: the bound that infinitely many runs would give
	Bounds     []Bound `json:"bounds"`
}

// Bound is a lower bound on the loss. Claim is the loss that the guarantee allows. Law is the loss of this canary under
// the claimed noise, if it is known and smaller than Claim. A bound between Law and Claim shows that the claim holds
// but the noise is not the configured noise.
type Bound struct {
	Statistic string  `json:"statistic"` // "likelihood ratio" or "learned"
	Currency  string  `json:"currency"`  // "mu" or "epsilon"
	Guesses   int     `json:"guesses"`
	Right     int     `json:"right"`
	Value     float64 `json:"value"`
	Claim     float64 `json:"claim"`
	Law       float64 `json:"law"`
	TooFew    bool    `json:"too_few_runs,omitempty"` // with so few guesses the bound is 0 even if all are right
}

// Errors of Report.Err, by what the report refutes: the claim, or the law of the noise.
var (
	ErrClaim = errors.New("audit: the mechanism loses more than it claims")
	ErrLaw   = errors.New("audit: the mechanism loses more than its noise allows at this canary, though not more than it claims")
)

// Err returns ErrClaim, ErrLaw or nil. For an honest mechanism it returns an error with probability at most α.
func (r Report) Err() error {
	var err error
	for _, b := range r.Bounds {
		switch {
		case b.Value > b.Claim:
			return fmt.Errorf("%w: %s, %s is at least %.4g, claimed %.4g", ErrClaim, b.Statistic, b.Currency, b.Value, b.Claim)
		case b.Value > b.Law:
			err = fmt.Errorf("%w: %s, %s is at least %.4g, expected at most %.4g", ErrLaw, b.Statistic, b.Currency, b.Value,
				b.Law)
		}
	}
	return err
}

// Report returns the bounds from the runs added so far.
func (a *Audit) Report() Report {
	r := Report{Runs: a.runs, WithCanary: a.with, Alpha: a.alpha, Claim: a.claim, Reach: a.law.reach}
	limitMu, limitEpsilon := a.law.limits(a.claim)
	mu := func(statistic string, g guessCount) {
		value := bound.Mu(g.right, g.made, a.share())
		few := bound.Mu(g.made, g.made, a.share()) <= 0
		r.Bounds = append(r.Bounds, Bound{statistic, "mu", g.made, g.right, value, a.claim.Mu, limitMu, few})
	}
	epsilon := func(statistic string, g guessCount) {
		value := bound.Epsilon(g.right, g.made, a.runs, a.claim.Delta, a.share())
		few := bound.Epsilon(g.made, g.made, a.runs, a.claim.Delta, a.share()) <= 0
		r.Bounds = append(r.Bounds, Bound{statistic, "epsilon", g.made, g.right, value, a.claim.Epsilon, limitEpsilon, few})
	}
	if a.law.Gaussian() {
		mu("likelihood ratio", a.byScore)
		epsilon("likelihood ratio", a.byThreshold)
		mu("learned", a.byLearner)
		return r
	}
	epsilon("likelihood ratio", a.byThreshold)
	epsilon("learned", a.byLearner)
	return r
}

// limits returns Reach as µ and as ε, or the claim if it is smaller. A margin covers the rounding of contributions and
// draws to the lattice, and conjugate gradients. For several events of a user under pure noise, and for an event after
// the first step of a tree, Reach counts only nodes that a release contains alone, so it is no limit.
func (l *Law) limits(c Claim) (mu, epsilon float64) {
	const margin = 1.005
	switch {
	case l.Gaussian():
		return min(c.Mu, margin*l.reach), min(c.Epsilon, dp.GaussianEpsilon(margin*l.reach, c.Delta))
	case l.canary.Count > 1 || l.config.Scope.Span() > 0 && l.canary.Step > 1:
		return 0, c.Epsilon
	}
	return 0, min(c.Epsilon, margin*l.reach)
}

// RunsFor returns how many runs give a bound of at least share·Reach with probability 0.84, if the claimed law holds.
// ok is false if that takes more than 2³¹ runs.
func (l *Law) RunsFor(share, delta, alpha float64) (runs int, ok bool) {
	const limit = 1 << 31
	alpha /= l.bounds()
	enough := func(n int) bool {
		right := distuv.UnitNormal.CDF(l.reach / 2)
		return bound.Mu(expected(right, n), n, alpha) >= share*l.reach
	}
	if !l.Gaussian() {
		o := l.likelihoodRatio()
		enough = func(n int) bool { return o.promises(share*l.reach, n, delta, alpha) }
	}
	runs = least(limit, enough)
	return runs, runs < limit
}

// least returns the smallest n in [1, limit] for which enough holds, or limit if there is none. enough must be
// monotone: once true, it stays true for every larger n.
func least(limit int, enough func(n int) bool) int {
	high := 1
	for high < limit && !enough(high) {
		high = min(2*high, limit)
	}
	low := high / 2
	for high-low > 1 {
		if middle := low + (high-low)/2; enough(middle) {
			high = middle
		} else {
			low = middle
		}
	}
	return high
}

// expected returns a number of right guesses that r guesses, each right with probability p, reach with probability at
// least 0.84: the mean minus one standard deviation.
func expected(p float64, r int) int {
	n := float64(r)
	return max(0, int(n*p-math.Sqrt(n*p*(1-p))))
}
