package coco

import (
	"math"

	"oriel/mechanisms"
	"oriel/operators"
	"oriel/operators/elementary"
	"oriel/operators/loss"
	"oriel/schemas"
)

// band follows the level of Config.Band (PROOF.md, claim 5). A step's events are held against the band that was public
// before it; a column counts misses, one of those above the band and one of those below, or, for sets of labels, one of
// labels that are outside. With M̃_t the noisy total of a column after t steps of B events,
//
//	u_{t+1} = u_1 + η·(M̃_t − t·B·s),     s = α/2 of two columns, α of one,     α = 1 − level,
//
// which is u_{t+1} = u_t + η·(m̃_t − B·s) for the noisy misses m̃_t of step t (Gibbs and Candès, arXiv:2106.00170,
// equation 2, with the noise of a release). u has no bounds. What is shown, and what events are held against, has.
type band struct {
	stream  *mechanisms.Stream
	reading *mechanisms.Reading // of increments since the last fold; nil: sums do not decay and are the totals
	rule    bandRule
	noise   *totalNoise
	fold    uint64    // steps after which increments become part of folded
	folded  []float64 // M̃ − t·B·s at the last fold, by column
	totals  []float64 // scratch
	shown   []float64 // of the steps that have closed: u, then l
}

// foldSteps are those of band.fold: a reading holds 2³² increments.
const foldSteps = 1 << 31

func newBand(c Config, stream *mechanisms.Stream) (*band, error) {
	rule := newBandRule(c)
	n := rule.columns()
	b := &band{
		stream: stream, rule: rule, fold: foldSteps, folded: make([]float64, n), totals: make([]float64, n), shown: make([]float64, n),
	}
	if _, decays := stream.Memory(); decays {
		var err error
		if b.reading, err = stream.Reading(bandComponent, 0); err != nil {
			return nil, err
		}
	}
	var err error
	if b.noise, err = newTotalNoise(stream, bandComponent); err != nil {
		return nil, err
	}
	b.show(0)
	return b, nil
}

// mark writes 1 in the column whose kind of miss an event is at the decision x, and 0 elsewhere.
func (b *band) mark(dst, x []float64, e schemas.Event) {
	clear(dst)
	if column := b.rule.miss(b.shown, x, e); column >= 0 {
		dst[column] = 1
	}
}

// step takes the release of step t, which has just closed.
func (b *band) step(t uint64) {
	if b.reading != nil {
		if before := t - 1; before > 0 && before%b.fold == 0 {
			for i := range b.folded {
				b.folded[i] = b.excess(i, before)
			}
			b.reading.Clear()
		}
		b.reading.Take()
	}
	b.show(t)
}

// show finds the band after t steps.
func (b *band) show(t uint64) {
	if b.reading != nil {
		b.reading.Write(b.totals)
	} else {
		copy(b.totals, b.stream.Sum(bandComponent))
	}
	for i := range b.shown {
		b.shown[i] = b.rule.start + float64(b.rule.rate*b.excess(i, t))
	}
	b.rule.clamp(b.shown)
}

// excess is M̃_t − t·B·s of a column, by totals, which are those since the last fold before step t.
func (b *band) excess(column int, t uint64) float64 {
	since := t
	if b.reading != nil && t > 0 {
		since = (t-1)%b.fold + 1
	}
	expected := float64(float64(since) * float64(b.stream.Batch()))
	return b.folded[column] + (b.totals[column] - float64(expected*b.rule.share))
}

// write tells the band after t steps: its ends around a prediction, its level, and what the share of events within it
// differs from the level by at most.
func (b *band) write(dst []schemas.ExtraValue, t uint64) {
	low, high := b.rule.ends(b.shown)
	dst[0].Number, dst[1].Number, dst[2].Number = low, high, b.rule.level
	dst[3].Number = b.rule.errorMost(t, b.stream.Batch(), b.noise)
}

// bandExtras are the members of decisions that write fills.
func bandExtras(c Config) []schemas.Extra {
	if c.Band.Level == 0 {
		return nil
	}
	low := "Lower end of the band for labels, relative to the prediction."
	high := "Upper end of the band for labels, relative to the prediction."
	if c.predictsSets() {
		low = "0: a label is in the set of labels where 1 minus its probability is within band_low and band_high."
		high = "Upper end of 1 minus the probability of labels in the set."
	}
	return []schemas.Extra{
		{Name: "band_low", Kind: schemas.ExtraNumber, Text: low},
		{Name: "band_high", Kind: schemas.ExtraNumber, Text: high},
		{Name: "band_level", Kind: schemas.ExtraNumber, Text: "Share of events whose label is to be within the band."},
		{
			Name: "band_error_most", Kind: schemas.ExtraNumber,
			Text: "Most by which the share of all events so far within the bands of their time differs from band_level, for every " +
				"sequence of events, noise being within its bound with a probability of 0.95.",
		},
	}
}

// bandRule is what settings say of a band.
type bandRule struct {
	sets    bool // of labels of two classes; else a band around a number
	level   float64
	share   float64 // s
	labels  operators.Range
	reach   float64 // |⟨a, x⟩| at most: R·X
	rate    float64 // η, a miss
	start   float64 // u_1 = l_1
	least   float64 // of what is shown: all events are misses there
	most    float64 // of what is shown, D: none is
	predict func(x []float64, e schemas.Event) float64
}

// u_1: a band of three eighths of the range, and sets without labels that have less than a quarter of the probability.
// An end that has to move by d of a range of 1 costs d/η misses, too many or too few, and these are about the middle of
// what streams come to.
const (
	firstEnd   = 3.0 / 16
	firstWrong = 0.75
)

// beyond makes the ends of what is shown lie outside of all residuals, rounded ones too.
const beyond = 0x1p-20

func newBandRule(c Config) bandRule {
	r := bandRule{
		sets: c.predictsSets(), level: c.Band.Level, share: (1 - c.Band.Level) / 2, labels: c.Band.Labels,
		reach: float64(c.Set.MaxNorm() * c.FeaturesMax), predict: loss.Predict,
	}
	if q, ok := c.Loss.(loss.Quantile); ok {
		r.predict = q.Predict
	}
	if r.sets {
		r.share, r.rate, r.start, r.least, r.most = 1-c.Band.Level, c.Band.Step, firstWrong, -beyond, 1
		return r
	}
	length := r.labels.High - r.labels.Low
	r.rate, r.start = float64(c.Band.Step*length), float64(firstEnd*length)
	r.most = float64(max(r.labels.High+r.reach, r.reach-r.labels.Low) * (1 + beyond))
	r.least = -r.most
	return r
}

// columns is 2, of misses above and below a band, or 1, of labels outside of a set.
func (r *bandRule) columns() int {
	if r.sets {
		return 1
	}
	return 2
}

// clamp brings what u and l are to what is shown. No event may miss on both sides, so that the lower end is at most the
// upper one; where they meet each event misses.
func (r *bandRule) clamp(shown []float64) {
	for i, u := range shown {
		shown[i] = min(max(u, r.least), r.most)
	}
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

// errorMost bounds |share of events within − level| after t steps of B events, for every sequence of events without null
// ones (PROOF.md, claim 5): ((D + |u_1|)/η + B + max|N|)/(tB) a column, N the noise of its total. |N| is within
// √(2 ln(kt/0.05)) times its largest deviation at all t steps and k columns at once with a probability of 0.95. 1 before
// the first step.
func (r *bandRule) errorMost(t, batch uint64, noise *totalNoise) float64 {
	if t == 0 {
		return 1
	}
	b, k := float64(batch), float64(r.columns())
	most := float64(math.Sqrt(float64(2*elementary.Log(float64(k*float64(t))/0.05))) * noise.at(t))
	all := (r.most+math.Abs(r.start))/r.rate + b + most
	return min(1, float64(k*all)/float64(float64(t)*b))
}
