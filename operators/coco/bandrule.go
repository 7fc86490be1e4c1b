package coco

import (
	"math"

	"oriel/operators"
	"oriel/operators/elementary"
	"oriel/operators/loss"
	"oriel/schemas"
)

// bandRule is what settings say of a band. An end is c·sinh(z) from the prediction, so that a miss moves it by a share
// of itself where it is beyond c, a twentieth of the range, and by a share of c about 0; of a set z/4 is the end, a
// probability.
type bandRule struct {
	sets    bool // of labels of two classes; else a band around a number
	level   float64
	share   float64 // s
	labels  operators.Range
	reach   float64 // |⟨a, x⟩| at most: R·X
	rate    float64 // η, of z a miss
	start   float64 // z_1
	leeway  float64 // A: how far an anchor is from z_1 at most; 0: it stays there
	pace    float64 // κ at an event, in η
	far     float64 // Z: from here on no event misses, and from −Z on each does
	unit    float64 // c, or ¼
	most    float64 // of what is shown: D, and a little more
	least   float64
	predict func(x []float64, e schemas.Event) float64
}

const (
	// The first band is 0.29 of the range: 2·sinh(1.8)/20. The first set leaves out labels with less than a quarter of the
	// probability. Each factor of e, or quarter, that an end is off costs 1/η misses, too many or too few, and these are
	// about the middle of what streams come to.
	firstEnd, firstSet = 1.8, 3
	least20th          = 0.05
	quarter            = 0.25

	// anchorLeeway lets an anchor reach what nearly all streams come to: of numbers ends from 0 to 3 times the range, of
	// sets all but probabilities beyond 0.999 and below 0. anchorShare is ρ. An anchor moves over 32 000 events for η =
	// 1/500: much later than misses move z, which takes 6 000 where labels are normal, so that the two do not swing.
	anchorLeeway = 3
	anchorShare  = 1.0 / 64

	// A mean over steps goes to the newest z at an event by meansPace, in η: within 1 700 events for η = 1/500, sooner
	// than misses move z. Its noise is about half that of z. Plans before version 7 have earlierPace.
	meansPace, earlierPace = 0.3, 0.5
	// nearest is how far what is shown is from z at most.
	nearest = 1

	// beyond makes the ends of what is shown lie outside of all residuals, rounded ones too.
	beyond = 0x1p-20
)

// newBandRule returns the rule of a plan, whose anchors may move.
func newBandRule(c Config, anchored bool) bandRule {
	r := bandRule{
		sets: c.predictsSets(), level: c.Band.Level, share: (1 - c.Band.Level) / 2, labels: c.Band.Labels,
		reach: float64(c.Set.MaxNorm() * c.FeaturesMax), rate: c.Band.Step, predict: loss.Predict, pace: earlierPace,
	}
	if anchored {
		r.leeway, r.pace = anchorLeeway, meansPace
	}
	if q, ok := c.Loss.(loss.Quantile); ok {
		r.predict = q.Predict
	}
	if r.sets {
		r.share, r.start, r.unit, r.far, r.most, r.least = 1-c.Band.Level, firstSet, quarter, 1/quarter, 1, -beyond
		return r
	}
	r.start, r.unit = firstEnd, float64(least20th*(r.labels.High-r.labels.Low))
	r.most = float64(max(r.labels.High+r.reach, r.reach-r.labels.Low) * (1 + beyond))
	r.least = -r.most
	x := r.most / r.unit
	r.far = elementary.Log(x + math.Sqrt(float64(x*x)+1)) // asinh
	return r
}

// columns is 2, of misses above and below a band, or 1, of labels outside of a set.
func (r *bandRule) columns() int {
	if r.sets {
		return 1
	}
	return 2
}

// anchors returns the bounds of an anchor.
func (r *bandRule) anchors() (low, high float64) { return r.start - r.leeway, r.start + r.leeway }

// end is that of z.
func (r *bandRule) end(z float64) float64 {
	u := float64(r.unit * z)
	if !r.sets {
		e := elementary.Exp(min(math.Abs(z), r.far))
		u = math.Copysign(float64(r.unit*(e-1/e)/2), z)
	}
	return min(max(u, r.least), r.most)
}

// part lets no event miss on both sides: the lower end is at most the upper one, and where they meet each event misses.
func (r *bandRule) part(shown []float64) {
	if !r.sets {
		shown[1] = max(shown[1], -shown[0])
	}
}

// ends are those of the band relative to a prediction.
func (r *bandRule) ends(shown []float64) (low, high float64) {
	if r.sets {
		return 0, shown[0]
	}
	return -shown[1], shown[0]
}

// miss returns the column of the miss that an event is, or −1.
func (r *bandRule) miss(shown, x []float64, e schemas.Event) int {
	f := min(max(r.predict(x, e), -r.reach), r.reach)
	if r.sets {
		if wrong(float64(e.Label*f)) > shown[0] {
			return 0
		}
		return -1
	}
	residual := min(max(e.Label, r.labels.Low), r.labels.High) - f
	switch {
	case residual > shown[0]:
		return 0
	case residual < -shown[1] || shown[1] == -shown[0]:
		return 1
	}
	return -1
}

// wrong is 1 − σ(z), the probability of the class that a label of margin z is not.
func wrong(z float64) float64 {
	u := elementary.Exp(-math.Abs(z))
	if z > 0 {
		return u / (1 + u)
	}
	return 1 / (1 + u)
}

// errorMost bounds |share of events within − level| after t steps of B events, for every sequence of events without
// null ones (PROOF.md, claim 5): (Y/η + B + max|N|)/(tB) a column, N the noise of its total. |N| is within √(2
// ln(kt/0.05)) times its largest deviation at all t steps and k columns at once with a probability of 0.95. 1 before
// the first step.
func (r *bandRule) errorMost(t, batch uint64, noise *totalNoise) float64 {
	if t == 0 {
		return 1
	}
	b, k := float64(batch), float64(r.columns())
	most := float64(math.Sqrt(float64(2*elementary.Log(float64(k*float64(t))/0.05))) * noise.at(t))
	all := r.farthest()/r.rate + b + most
	return min(1, float64(k*all)/float64(float64(t)*b))
}

// farthest returns Y, which bounds how far z is from its anchor where an event can still miss on one side, or be within
// on the other. Plans before version 7 keep the simpler bound Z + 1 + z_1.
func (r *bandRule) farthest() float64 {
	if r.leeway == 0 {
		return r.far + nearest + r.start
	}
	return max(r.far-r.start, r.start) + nearest + r.leeway
}
