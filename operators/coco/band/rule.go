package band

import (
	"math"

	"oriel/mechanisms"
	"oriel/operators/description"
	"oriel/operators/elementary"
	"oriel/operators/loss"
	"oriel/operators/setting"
	"oriel/schemas/event"
)

// Rule holds the constants of a band. An end is at distance c·sinh(z) from the prediction. So a miss changes an end
// that is beyond c by a share of itself, and a smaller end by a share of c; c is a twentieth of the range. For a set of
// labels the end is z/4, a probability.
type Rule struct {
	sets    bool // the band is a set of labels of two classes; otherwise it is a band around a number
	level   float64
	share   float64 // s, the expected share of misses in a column
	labels  setting.Range
	reach   float64 // R·X, the largest |⟨a, x⟩|
	rate    float64 // η, the change of z by one miss
	start   float64 // z_1, the first z
	leeway  float64 // A, the largest distance of an anchor from z_1
	pace    float64 // κ for one event, in units of η
	cutoff  float64 // Z: at z ≥ Z no event misses on this side, and at z ≤ −Z every event does
	unit    float64 // c, or ¼ for sets
	most    float64 // D and a little more, the largest end; least is the smallest end
	least   float64
	predict func(x []float64, e event.Event) float64
}

const (
	// firstEnd and firstSet are z_1. The first band reaches 0.29 of the range: 2·sinh(1.8)/20. The first set leaves out
	// labels of probability below a quarter. If the right end differs by a factor of e (for sets, by a quarter), the
	// band makes 1/η misses too many or too few until it is right. The values are about the middle of the ends that
	// streams reach.
	firstEnd, firstSet = 1.8, 3
	least20th          = 0.05
	quarter            = 0.25

	// anchorLeeway lets an anchor reach the values that nearly all streams need: ends from 0 to 3 times the range, and
	// for sets all probabilities from 0 to 0.999. anchorShare is ρ. With η = 1/500, an anchor moves over 32 000 events.
	// Misses move z faster, over 6 000 events if labels are normal, so that the two do not oscillate.
	anchorLeeway = 3
	anchorShare  = 1.0 / 64

	// The mean z̄ approaches the newest z by the share meansPace·η at each event. With η = 1/500 this takes 1 700
	// events, fewer than misses need to move z. The noise of z̄ is about half the noise of z.
	meansPace = 0.3
	// nearest is the largest allowed distance between z and the mean from which the public end is computed.
	nearest = 1

	// beyond makes the largest ends exceed all residuals, even after rounding.
	beyond = 0x1p-20
)

// NewRule returns the constants of a band under a loss. reach is the largest absolute value of a prediction ⟨a, x⟩.
func NewRule(s Settings, l loss.Loss, reach float64) Rule {
	r := Rule{
		sets: setsOf(l), level: s.Level, share: (1 - s.Level) / 2, labels: s.Labels,
		reach: reach, rate: s.Step, predict: loss.Predict, pace: meansPace,
		leeway: anchorLeeway,
	}
	if q, ok := l.(loss.Quantile); ok {
		r.predict = q.Predict
	}
	if r.sets {
		r.share, r.start, r.unit, r.cutoff, r.most, r.least = 1-s.Level, firstSet, quarter, 1/quarter, 1, -beyond
		return r
	}
	r.start, r.unit = firstEnd, float64(least20th*(r.labels.High-r.labels.Low))
	r.most = float64(max(r.labels.High+r.reach, r.reach-r.labels.Low) * (1 + beyond))
	r.least = -r.most
	x := r.most / r.unit
	r.cutoff = elementary.Log(x + math.Sqrt(float64(x*x)+1)) // asinh(x)
	return r
}

// columns returns 2 for misses above and below a band, or 1 for labels outside a set.
func (r *Rule) columns() int {
	if r.sets {
		return 1
	}
	return 2
}

// anchors returns the bounds of an anchor.
func (r *Rule) anchors() (low, high float64) { return r.start - r.leeway, r.start + r.leeway }

// end returns the end of a band for z.
func (r *Rule) end(z float64) float64 {
	u := float64(r.unit * z)
	if !r.sets {
		e := elementary.Exp(min(math.Abs(z), r.cutoff))
		u = math.Copysign(float64(r.unit*(e-1/e)/2), z)
	}
	return min(max(u, r.least), r.most)
}

// uncross moves the lower end so that it is at most the upper end. No event then misses on both sides. If the ends
// meet, every event misses.
func (r *Rule) uncross(shown []float64) {
	if !r.sets {
		shown[1] = max(shown[1], -shown[0])
	}
}

// ends returns the ends of the band relative to a prediction.
func (r *Rule) ends(shown []float64) (low, high float64) {
	if r.sets {
		return 0, shown[0]
	}
	return -shown[1], shown[0]
}

// miss returns the column in which an event counts as a miss, or −1 if it is within the band.
func (r *Rule) miss(shown, x []float64, e event.Event) int {
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

// wrong returns 1 − σ(z): the probability of the other class, if the event's label has margin z.
func wrong(z float64) float64 {
	u := elementary.Exp(-math.Abs(z))
	if z > 0 {
		return u / (1 + u)
	}
	return 1 / (1 + u)
}

// maxError bounds |share of events within − level| after t steps of B events, for every sequence without null events
// (PROOF.md, claim 5). The bound of each column is (Y/η + B + max|N|)/(tB), where N is the noise of the column's total.
// With probability 0.95, at all t steps and in all k columns at once, |N| is at most √(2 ln(kt/0.05)) times its largest
// deviation. Before the first step the bound is 1.
func (r *Rule) maxError(t, batch uint64, noise *totalNoise) float64 {
	if t == 0 {
		return 1
	}
	b, k := float64(batch), float64(r.columns())
	most := float64(math.Sqrt(float64(2*elementary.Log(float64(k*float64(t))/0.05))) * noise.at(t))
	all := r.maxOffset()/r.rate + b + most
	return min(1, float64(k*all)/float64(float64(t)*b))
}

// maxOffset returns Y, the largest distance of z from its anchor at which an event can still miss on one side, or be
// within the band on the other.
func (r *Rule) maxOffset() float64 {
	return max(r.cutoff-r.start, r.start) + nearest + r.leeway
}

// Describe returns the description of the band for `oriel plan`, in a contribution with the given columns.
func (r *Rule) Describe(columns Columns, batch uint64) *description.Band {
	return &description.Band{
		Level: r.level, Noise: columns.NoiseFactor(),
		MaxError: func(opened *mechanisms.Mechanism) (func(step uint64) float64, error) {
			noise, err := newTotalNoise(opened, Component)
			return func(step uint64) float64 { return r.maxError(step, batch, noise) }, err
		},
	}
}
