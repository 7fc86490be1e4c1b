package linucb

import (
	"math"

	"oriel/operators/elementary"
	"oriel/operators/moments"
)

// bounds are of the noise of an arm's released moments, constant from the first step on, and what follows of the width.
// With ORIEL_CONFIDENCE all hold at once with that probability: PROOF.md, Theorem 2.
type bounds struct {
	shift    float64 // κ
	least    float64 // ρ_min: the smallest eigenvalue of noise and shift and λ
	most     float64 // ρ_max: the largest
	side     float64 // γ: the noise of u in the norm of their inverse
	level    float64 // 2·ln(2K/α)
	size     float64 // S
	rounding float64 // of features and rewards, over all steps
	features float64 // d
}

// units are at least as many as a feature of 1 has.
const units = 1 << 12

// bound returns the bounds for noise of a standard deviation, off the diagonal.
func (c operator) bound(sd float64) bounds {
	d := c.rows.Features
	edge := moments.Edge(d, sd)
	if c.confidence == 0 {
		return bounds{shift: float64(c.shift * edge)}
	}
	arms, releases := float64(c.blocks()), float64((c.terms.Scope.End()+c.every-1)/c.every)
	failure := 1 - c.confidence
	tail := float64(2 * float64(sd*math.Sqrt(elementary.Log(float64(8*arms)*releases/failure))))
	upsilon := edge + tail // on the norm of each noise matrix
	side := float64(sd*moments.Whole) / float64(c.rows.Label)
	length := math.Sqrt(float64(2 * elementary.Log(float64(float64(4*arms)*releases)/failure)))
	length += math.Sqrt(float64(d)) // of d normal numbers
	b := bounds{
		level: float64(2 * elementary.Log(float64(2*arms)/failure)), size: c.most, features: float64(d),
	}
	b.shift = c.shifted(float64(2*upsilon), sd, float64(arms*releases))
	b.least, b.most = b.shift-upsilon+c.start, b.shift+upsilon+c.start
	off := float64(c.most*(float64(2*math.Sqrt(float64(d)))+2)) + moments.Whole/float64(c.rows.Label)
	b.rounding = float64(math.Sqrt(c.events())*off) / units
	if b.least > 0 {
		b.side = float64(side*length) / math.Sqrt(b.least)
	}
	return b
}

// width is β of an arm: Shariff and Sheffet, "Differentially Private Contextual Linear Bandits" (NeurIPS 2018),
// Proposition 4, for rewards in [−1, 1], which are sub-Gaussian with σ = 1.
func (b bounds) width(a *arm) float64 {
	if !a.known || !(b.least > 0) {
		return 0
	}
	grown := a.system.LogDeterminant() - float64(b.features*elementary.Log(b.least))
	return math.Sqrt(max(0, b.level+grown)) + float64(b.size*math.Sqrt(b.most)) + b.side + b.rounding
}
