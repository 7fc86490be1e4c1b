package linucb

import (
	"fmt"
	"math"

	"oriel/mechanisms"
	"oriel/operators/moments"
)

// regret tells people what is proved of the regret over the horizon, in rewards: SPEC.md, or that nothing is, and what
// the shift is.
func (c configured) regret(m mechanisms.Config) string {
	if c.sure == 0 {
		told := moments.DescribeNoise(m, c.memory, c.rows.Features, c.shift)
		return told + "; the width of ORIEL_WIDTH has no proof, ORIEL_CONFIDENCE has one"
	}
	if c.rarely {
		return fmt.Sprintf("weights are within the width with probability %g at all steps; ORIEL_SOLVE=always has a bound on regret",
			c.sure)
	}
	sd, err := moments.Deviation(m, 0)
	if err != nil {
		return ""
	}
	bound, most := c.regretBound(sd), float64(c.horizon*c.batch)*2*c.half
	text := fmt.Sprintf("regret within %.3g of rewards with probability %g, of %.3g that there are", bound, c.sure, most)
	if bound >= most {
		text += ": at this horizon the bound says nothing"
	}
	return text
}

// regretBound is that of PROOF.md, rewards: Shariff and Sheffet, "Differentially Private Contextual Linear Bandits"
// (NeurIPS 2018), Theorem 5, in a form that holds for small bounds, too. sd is of a released number; n counts events.
func (c configured) regretBound(sd float64) float64 {
	b, n, d := c.bound(sd), float64(c.horizon*c.batch), float64(c.rows.Features)
	whole := d * float64(c.blocks())
	grown := d * math.Log((b.most+n/d)/b.least)
	width := math.Sqrt(b.level+grown) + b.size*math.Sqrt(b.most) + b.side + b.rounding
	return max(1, width) * math.Sqrt(8*n*whole*math.Log(1+n/(whole*b.least))) * c.half
}
