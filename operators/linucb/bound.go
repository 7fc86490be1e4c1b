package linucb

import (
	"fmt"
	"math"

	"oriel/mechanisms"
	"oriel/operators/moments"
)

// regret tells people what is proved of the regret over the horizon, in rewards: SPEC.md, or that nothing is, and what
// the shift is.
func (c operator) regret(m mechanisms.Config) string {
	if c.confidence == 0 {
		told := moments.DescribeNoise(m, c.rows.Features, c.shift)
		return told + ". The width of ORIEL_WIDTH has no proof; that of ORIEL_CONFIDENCE has one"
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
		text += ": at this horizon the bound says nothing"
	}
	return text
}

// events is nB, as a float: the product may be beyond 64 bits.
func (c operator) events() float64 { return float64(c.terms.Scope.End()) * float64(c.batch) }

// rounds tells whether the diagonal of second moments is rounded by more, over the horizon, than Theorem 2 of PROOF.md
// has room for, beside noise of a standard deviation.
func (c operator) rounds(sd float64) bool {
	d := float64(c.rows.Features)
	return c.events()*0x1.7p-25 > sd*math.Sqrt(d)/(2*d+1) // half a unit of 2⁻²⁴ a row, times √2
}

// lag is of how many plays before it, at most, the model of a play has not the rows: those since it was solved, and
// where actions are served those that wait.
func (c operator) lag() float64 {
	lag := float64(c.every)*float64(c.batch) - 1
	if c.served {
		lag += float64(c.waiting.Capacity)
	}
	return lag
}

// regretBound is that of PROOF.md, rewards: Shariff and Sheffet, "Differentially Private Contextual Linear Bandits"
// (NeurIPS 2018), Theorem 5, in a form that holds for small bounds, too, and for models that are late. sd is of a
// released number; n counts events.
func (c operator) regretBound(sd float64) float64 {
	b, n, d := c.bound(sd), c.events(), float64(c.rows.Features)
	whole := d * float64(c.blocks())
	grown := d * math.Log((b.most+n/d)/b.least)
	width := math.Sqrt(b.level+grown) + b.size*math.Sqrt(b.most) + b.side + b.rounding
	late := math.Sqrt(1 + c.lag()/b.least)
	rounded := 2 * width * n * (2*math.Sqrt(d) + 2) / units / math.Sqrt(b.least)
	return (late*max(1, width)*math.Sqrt(8*n*whole*math.Log(1+n/(whole*b.least))) + rounded) * c.half
}
