package band

import (
	"slices"

	"oriel/mechanisms"
	"oriel/operators"
	"oriel/schemas/decision"
	"oriel/schemas/event"
)

// Band adapts the ends of a band so that it keeps the level of the settings (PROOF.md, claim 5). Each event of a step
// is compared with the band that was public before the step. A column counts misses: for a band one column counts
// labels above it and one labels below it, and for sets one column counts labels outside. With M̃_t the noisy total of
// a column after t steps of B events,
//
//	z_{t+1} = a_{t+1} + η·(M̃_t − t·B·s),     s = α/2 with two columns, α with one,     α = 1 − level.
//
// With a constant anchor a, this is z_{t+1} = z_t + η·(m̃_t − B·s) for the noisy number m̃_t of misses in step t (Gibbs
// and Candès, arXiv:2106.00170, equation 2, with the noise of a release). z is unbounded. The end of the band is a
// bounded, increasing function of a mean z̄ of z over steps, because releases change more from one step to the next, by
// their noise, than over many steps.
//
// The anchor follows the level of z, within A of z_1. Without this, the misses that move z from z_1 would
// be missing, or in excess, for ever:
//
//	a_{t+1} = a_t + ρ·min(1, η·B)·η·(M̃_t − t·B·s).
//
// The anchor is the scorecaster of Angelopoulos, Candès and Tibshirani (arXiv:2307.16895, section 2.3).
type Band struct {
	stream  *mechanisms.Stream
	reading *mechanisms.Reading // increments since the last fold; nil if sums do not decay
	rule    Rule
	noise   *totalNoise
	pace    float64   // κ: z̄ ← z̄ + κ·(z − z̄) at each step
	lean    float64   // ρ·min(1, η·B): step of an anchor for each unexpected miss
	fold    uint64    // number of steps after which increments are added to folded
	folded  []float64 // M̃ − t·B·s at the last fold, by column
	totals  []float64 // M̃ − t·B·s since the last fold, without folded; scratch
	anchors []float64 // anchor a of the upper end, then of the lower end
	ends    []float64 // z of each end
	means   []float64 // z̄ of each end
	shown   []float64 // the public band: distance of each end from a prediction
}

// foldSteps is the value of band.fold, below the 2³² increments that a reading can hold.
const foldSteps = 1 << 31

// New returns a band before the first step of a stream, whose contribution has the columns of the rule.
func New(rule Rule, stream *mechanisms.Stream) (*Band, error) {
	n := rule.columns()
	batch := float64(stream.Batch())
	b := &Band{
		stream: stream, rule: rule, fold: foldSteps, folded: make([]float64, n), totals: make([]float64, n),
		anchors: slices.Repeat([]float64{rule.start}, n), ends: make([]float64, n), means: make([]float64, n),
		shown: make([]float64, n), pace: min(1, float64(float64(rule.pace*rule.rate)*batch)),
		lean: float64(anchorShare * min(1, float64(rule.rate*batch))),
	}
	if _, decays := stream.Memory(); decays {
		var err error
		if b.reading, err = stream.Reading(Component, 0); err != nil {
			return nil, err
		}
	}
	var err error
	if b.noise, err = newTotalNoise(stream, Component); err != nil {
		return nil, err
	}
	b.read()
	b.find(0)
	copy(b.means, b.ends)
	b.show()
	return b, nil
}

// Mark writes 1 in the column of the kind of miss that an event is at the decision x, and 0 in the other column.
func (b *Band) Mark(dst, x []float64, e event.Event) {
	clear(dst)
	if column := b.rule.miss(b.shown, x, e); column >= 0 {
		dst[column] = 1
	}
}

// Step updates the band with the release of step t, which has just closed.
func (b *Band) Step(t uint64) {
	if b.reading != nil {
		if before := t - 1; before > 0 && before%b.fold == 0 {
			for i := range b.folded {
				b.folded[i] = b.excess(i, before)
			}
			b.reading.Clear()
		}
		b.reading.Take()
	}
	b.read()
	b.follow(t)
	b.find(t)
	for i, u := range b.ends {
		b.means[i] += float64(b.pace * (u - b.means[i]))
	}
	b.show()
}

// read copies the totals of the newest release.
func (b *Band) read() {
	if b.reading != nil {
		b.reading.Write(b.totals)
	} else {
		copy(b.totals, b.stream.Sum(Component))
	}
}

// follow moves the anchors to their values after t steps.
func (b *Band) follow(t uint64) {
	low, high := b.rule.anchors()
	for i, a := range b.anchors {
		b.anchors[i] = min(max(a+float64(b.lean*float64(b.rule.rate*b.excess(i, t))), low), high)
	}
}

// find computes z after t steps.
func (b *Band) find(t uint64) {
	for i, a := range b.anchors {
		b.ends[i] = a + float64(b.rule.rate*b.excess(i, t))
	}
}

// show computes the public band from the means z̄, each clamped to within nearest of its z.
func (b *Band) show() {
	for i, z := range b.ends {
		b.shown[i] = b.rule.end(min(max(b.means[i], z-nearest), z+nearest))
	}
	b.rule.uncross(b.shown)
}

// excess returns M̃_t − t·B·s of a column. totals must be the totals since the last fold before step t.
func (b *Band) excess(column int, t uint64) float64 {
	since := t
	if b.reading != nil && t > 0 {
		since = (t-1)%b.fold + 1
	}
	expected := float64(float64(since) * float64(b.stream.Batch()))
	return b.folded[column] + (b.totals[column] - float64(expected*b.rule.share))
}

// Write sets the members of a decision after t steps.
func (b *Band) Write(m Members, values []decision.ExtraValue, t uint64) {
	low, high := b.rule.ends(b.shown)
	m.low.Set(values, low)
	m.high.Set(values, high)
	m.maxError.Set(values, b.rule.maxError(t, b.stream.Batch(), b.noise))
}

// Members are the handles of the members that state a band: its ends around a prediction, and a bound on the difference
// between the level and the share of events within the band.
type Members struct{ low, high, maxError operators.NumberMember }

// Declare declares the members of a band, and its level.
func (r *Rule) Declare(m *operators.Members) (d Members) {
	low := "Lower end of the band for labels, relative to the prediction."
	high := "Upper end of the band for labels, relative to the prediction."
	if r.sets {
		low = "0: a label is in the set of labels where 1 minus its probability is within band_low and band_high."
		high = "Upper end of 1 minus the probability of labels in the set."
	}
	d.low, d.high = m.Number("band_low", low), m.Number("band_high", high)
	m.Constant("band_level", "Share of events whose label must be within the band in the long run.", r.level)
	d.maxError = m.Number("band_error_most", "Most by which the share of all events so far within the bands of their time differs from "+
		"band_level, for every sequence of events, noise being within its bound with a probability of 0.95.")
	return d
}
