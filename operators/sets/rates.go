package sets

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"

	"oriel/mechanisms"
	"oriel/mechanisms/dp"
	"oriel/mechanisms/protection"
	"oriel/operators/description"
	"oriel/operators/elementary"
)

// rates holds the constants of the rule draws. They are computed when a stream is opened, and stored in its params.
type rates struct {
	share        float64 // γ, the share of rounds that explore
	explorations uint64  // number of explorations in a life; with capped coins the largest number
	maxEpsilon   float64 // largest ε of a draw
}

// rates computes the rates for R rounds of B records, and sets of k of N elements (SPEC.md, Rates).
func (c Config) rates(m mechanisms.Config) (rates, error) {
	rounds, k, n := float64(c.Horizon), float64(c.Pick), float64(len(c.Elements))
	records, nLogN := float64(m.Batch), float64(n*elementary.Log(n))
	if !(m.Budget.Delta > 0) && c.Share == 0 {
		return rates{}, errors.New("sets: ORIEL_DELTA: not set, and only an ORIEL_SHARE has no need of it")
	}
	r := rates{share: c.Share}
	if c.Share == 0 {
		x := float64(float64(k*k)*nLogN) / float64(math.Sqrt(float64(c.spread()*8*dp.ZCDPRho(m.Budget)))*records)
		r.share = max(cubeRoot(float64(x*x)/rounds), float64(k*cubeRoot(nLogN/rounds)))
	}
	r.share = min(1, r.share)
	r.explorations = uint64(max(1, math.Floor(float64(r.share*rounds))))
	if c.Capped {
		r.explorations = uint64(max(1, min(rounds, math.Floor(float64(2*r.share*rounds)))))
	}
	eta := min(1, math.Sqrt(float64(k*nLogN)/float64(r.share*rounds))) / records
	r.maxEpsilon = eta // for rewards in [0, 1], one of which is exchanged
	if m.Unit.AgainstNull() {
		r.maxEpsilon = eta / 2 // half of it, because rewards are centred at ½
	}
	return r, nil
}

// spread returns 4 for fixed coins, and 2 for capped coins, whose privacy account covers twice as many explorations.
// The best γ is (k²·N·ln N/(√(8·spread·ρ)·B))^(2/3)·R^(−1/3), or, if privacy costs nothing, k·(N·ln N/R)^(1/3).
func (c Config) spread() float64 {
	if c.Capped {
		return 2
	}
	return 4
}

func cubeRoot(x float64) float64 { return elementary.Exp(elementary.Log(x) / 3) }

// line returns the text of rates in params.
func (r rates) line() string {
	return fmt.Sprintf("%s %d %s", bitsOf(r.share), r.explorations, bitsOf(r.maxEpsilon))
}

func bitsOf(x float64) string { return strconv.FormatUint(math.Float64bits(x), 16) }

// parseRates reads the text that line returns.
func parseRates(line string) (r rates, ok bool) {
	parts := strings.Split(line, " ")
	if len(parts) != 3 {
		return rates{}, false
	}
	share, err := strconv.ParseUint(parts[0], 16, 64)
	most, errMost := strconv.ParseUint(parts[1], 10, 64)
	loss, errLoss := strconv.ParseUint(parts[2], 16, 64)
	r = rates{share: math.Float64frombits(share), explorations: most, maxEpsilon: math.Float64frombits(loss)}
	ok = err == nil && errMost == nil && errLoss == nil && r.share > 0 && r.share <= 1 && most > 0 && r.maxEpsilon > 0 &&
		r.maxEpsilon <= math.MaxFloat64
	return r, ok
}

// describeDraws describes how often rounds explore, and the proved regret bound.
func (c operator) describeDraws(m mechanisms.Config) description.Figures {
	d := description.Figures{
		Draws: true, Mechanisms: []string{mechanisms.ExponentialMechanism},
		Distance: "the result of an exploration, in one of all cells: an exchange changes one sum by at most 1, for all later draws",
	}
	r, err := c.rates(m)
	if m.Scope.End() == protection.Endless || err != nil {
		return d
	}
	eta := m.Draws.MaxEpsilon
	if m.Unit.AgainstNull() {
		eta *= 2
	}
	if p, err := mechanisms.Calibrate(m); err == nil {
		eta = c.eta(m, p)
	}
	d.Steps = fmt.Sprintf("%d of %d elements; %d of %d rounds explore, and behind each all are drawn anew, η = %.4g; ", c.Pick,
		len(c.Elements), r.explorations, c.Horizon, eta)
	events := float64(c.Horizon) * float64(m.Batch)
	if bound := c.regretBound(r, eta, float64(m.Batch)); bound < events {
		d.Steps += fmt.Sprintf("%.4g answers, if all come in the round of their plays, cost at most %.4g less than 1 − 1/e of "+
			"the best set, in the mean", events, bound)
	} else {
		d.Steps += "nothing is proved of so few: give ORIEL_SHARE"
	}
	return d
}

// eta returns η of a calibration, in units of rewards.
func (c Config) eta(m mechanisms.Config, p mechanisms.Calibration) float64 {
	e := p.DrawLaw(m).Epsilon.Up()
	if m.Unit.AgainstNull() {
		return 2 * e
	}
	return e
}

// regretBound returns a bound on the expected (1−1/e)-regret over T answers: k(ηB·T + kN·ln N/(γη) + coins) + γT
// (SPEC.md, Theorem 1).
func (c Config) regretBound(r rates, eta, records float64) float64 {
	k, n := float64(c.Pick), float64(len(c.Elements))
	rounds, share := float64(c.Horizon), r.share
	if !c.Capped {
		share = float64(r.explorations) / rounds
	}
	if eta*records > 1 {
		return math.Inf(1)
	}
	events := rounds * records
	return k*(eta*records*events+k*n*math.Log(n)/(share*eta)+c.coins(r, rounds)*records) + share*events
}

// coins bounds the expected number of rounds that a position loses because the conditional probability of exploring is
// not always γ. For fixed coins it is 2√((1−γ)R/γ). For capped coins all R rounds count as lost if M rounds explore
// before the end, which has probability at most e^{M−γR}(γR/M)^M.
func (c Config) coins(r rates, rounds float64) float64 {
	most := float64(r.explorations)
	if !c.Capped {
		return 2 * math.Sqrt((rounds-most)*rounds/most)
	}
	mean := r.share * rounds
	if most >= rounds {
		return 0
	}
	return rounds * math.Exp(most-mean-most*math.Log(most/mean))
}
