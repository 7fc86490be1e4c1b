package linucb

import (
	"fmt"
	"math"

	"oriel/mechanisms"
	"oriel/operators/elementary"
	"oriel/operators/moments"
)

// bounds hold bounds on the noise of an arm's released moments, constant from the first step on, and the confidence
// width β that follows. With probability ORIEL_CONFIDENCE, all bounds hold at once (PROOF.md, Theorem 2).
type bounds struct {
	shift    float64 // κ, by which the matrix is shifted
	least    float64 // ρ_min, a lower bound on the eigenvalues of noise + κI + λI
	most     float64 // ρ_max, an upper bound on the eigenvalues of noise + κI + λI
	side     float64 // γ: bound on the noise of u, in the norm of the inverse of noise + κI + λI
	level    float64 // 2·ln(2K/α) for K arms and failure probability α
	size     float64 // S, bound on the norm of weights
	rounding float64 // bound on the rounding of features and rewards, over all steps
	features float64 // d, the number of features
}

// units is the least number of grid units that a feature of 1 has.
const units = 1 << 12

// bound returns the bounds for noise whose off-diagonal entries have the standard deviation sd.
func (c operator) bound(sd float64) bounds {
	d := c.rows.Features
	edge := moments.Edge(d, sd)
	if c.confidence == 0 {
		return bounds{shift: float64(c.shift * edge)}
	}
	arms, releases := float64(c.blocks()), float64((c.terms.Scope.End()+c.every-1)/c.every)
	failure := 1 - c.confidence
	tail := float64(2 * float64(sd*math.Sqrt(elementary.Log(float64(8*arms)*releases/failure))))
	upsilon := edge + tail // bound on the norm of each noise matrix
	side := float64(sd*moments.MaxLabel) / float64(c.rows.Label)
	length := math.Sqrt(float64(2 * elementary.Log(float64(float64(4*arms)*releases)/failure)))
	length += math.Sqrt(float64(d)) // bound on the expected norm of d normal numbers
	b := bounds{
		level: float64(2 * elementary.Log(float64(2*arms)/failure)), size: c.maxWeights, features: float64(d),
	}
	b.shift = float64(2 * upsilon)
	b.least, b.most = b.shift-upsilon+c.start, b.shift+upsilon+c.start
	off := float64(c.maxWeights*(float64(2*math.Sqrt(float64(d)))+2)) + moments.MaxLabel/float64(c.rows.Label)
	b.rounding = float64(math.Sqrt(c.events())*off) / units
	if b.least > 0 {
		b.side = float64(side*length) / math.Sqrt(b.least)
	}
	return b
}

// width returns β of an arm: Shariff and Sheffet, "Differentially Private Contextual Linear Bandits" (NeurIPS 2018),
// Proposition 4, for rewards in [−1, 1], which are sub-Gaussian with σ = 1.
func (b bounds) width(a *arm) float64 {
	if !a.known || !(b.least > 0) {
		return 0
	}
	growth := a.system.LogDeterminant() - float64(b.features*elementary.Log(b.least))
	return math.Sqrt(max(0, b.level+growth)) + float64(b.size*math.Sqrt(b.most)) + b.side + b.rounding
}

// regret describes in words the proved bound on the regret over the horizon, in rewards (SPEC.md), or states that there
// is no bound. It also states the shift.
func (c operator) regret(m mechanisms.Config) string {
	if c.confidence == 0 {
		text := moments.DescribeNoise(m, c.rows.Features, c.shift)
		text += fmt.Sprintf(". Weights of an arm are drawn to a norm of %.3g half reward ranges", c.maxWeights)
		return text + ". The width of ORIEL_WIDTH has no proof; the width of ORIEL_CONFIDENCE has one"
	}
	if c.doubling {
		return fmt.Sprintf("weights are within the width with probability %g at all steps; ORIEL_SOLVE=always has a bound on regret",
			c.confidence)
	}
	sd, err := moments.Deviation(m)
	if err != nil {
		return ""
	}
	if c.rounds(sd) {
		return "of so many events nothing is proved: rounding adds up to more than the noise of second moments has room for"
	}
	bound, most := c.regretBound(sd), c.events()*2*c.half
	text := fmt.Sprintf("regret within %.3g of rewards with probability %g, of %.3g that there are", bound, c.confidence, most)
	if c.served {
		text += ", where every play has its reward"
	}
	if bound >= most {
		return text + ": at this horizon the bound says nothing"
	}
	least, times := c.gapBound(sd)
	return text + fmt.Sprintf("; where each choice but the best brings less by a gap of at least %.3g, within %.3g over that gap",
		least, times)
}

// events returns nB as a float, because the product may exceed 64 bits.
func (c operator) events() float64 { return float64(c.terms.Scope.End()) * float64(c.batch) }

// rounds reports whether rounding over the horizon changes the diagonal of second moments by more than Theorem 2 of
// PROOF.md allows, for noise of standard deviation sd.
func (c operator) rounds(sd float64) bool {
	d := float64(c.rows.Features)
	return c.events()*0x1.7p-25 > sd*math.Sqrt(d)/(2*d+1) // each row rounds by half a unit of 2⁻²⁴, times √2
}

// lag bounds the number of earlier actions whose rows are missing from the model of an action: the actions since the
// model was solved and, if actions are served, the actions that wait for rewards.
func (c operator) lag() float64 {
	lag := float64(c.every)*float64(c.batch) - 1
	if c.served {
		lag += float64(c.waiting.Capacity)
	}
	return lag
}

// regretBound returns the bound of PROOF.md, in rewards: Shariff and Sheffet, "Differentially Private Contextual Linear
// Bandits" (NeurIPS 2018), Theorem 5, in a form that also holds for small bounds and for models that lag. sd is the
// standard deviation of a released number; n counts events.
func (c operator) regretBound(sd float64) float64 {
	squares, rounding := c.losses(sd)
	return (math.Sqrt(c.events()*squares) + float64(c.events()*rounding)) * c.half
}

// gapBound returns the bound of PROOF.md for actions whose loss is either 0 or at least a gap. For each gap of at least
// least, the regret is at most times divided by the gap, both in rewards (Theorem 6 of the same paper). At a gap of
// least it equals regretBound; for smaller gaps it is the weaker bound.
func (c operator) gapBound(sd float64) (least, times float64) {
	squares, rounding := c.losses(sd)
	above := math.Sqrt(squares / c.events())
	gap := above + rounding
	return gap * c.half, squares * float64(gap/above) * float64(gap/above) * float64(c.half*c.half)
}

// losses bounds the losses of actions, in half ranges. The loss of each play is at most a + rounding for some number a,
// and the squares of these numbers sum to at most squares.
func (c operator) losses(sd float64) (squares, rounding float64) {
	b, n, d := c.bound(sd), c.events(), float64(c.rows.Features)
	size := d * float64(c.blocks())
	growth := d * math.Log((b.most+n/d)/b.least)
	width := math.Sqrt(b.level+growth) + b.size*math.Sqrt(b.most) + b.side + b.rounding
	late, largest := 1+c.lag()/b.least, max(1, width)
	return float64(late*largest*largest) * 8 * size * math.Log(1+n/(size*b.least)),
		2 * width * (2*math.Sqrt(d) + 2) / units / math.Sqrt(b.least)
}
