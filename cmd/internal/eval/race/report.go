package race

import (
	"math"
	"slices"

	"oriel/cmd/internal/digits"
	"oriel/cmd/internal/eval"
	"oriel/mechanisms/protection"
	"oriel/operators"
)

// Kinds of rows of a report.
const (
	KindPrivate   = "private"   // a configured setting
	KindReference = "reference" // the same learner over the same contributions, without noise
	KindBase      = "base"      // the running base rate, or the first decision if the operator predicts nothing

	NoPrivacy = "no privacy"
	BaseRate  = "base rate"
)

// baseName returns the name of the last row.
func baseName(p operators.Prediction) string {
	switch p {
	case operators.Growth:
		return "uniform portfolio"
	case operators.Nothing:
		return "first decision"
	default:
		return BaseRate
	}
}

// Report is the object that `oriel eval --json` prints. A figure that does not exist is null.
type Report struct {
	Warning   string `json:"warning"`
	Events    int    `json:"events"` // number of scored events
	Undefined int    `json:"undefined_events"`
	Null      int    `json:"null_events"` // number of events that were not learned from, although each takes its place in a batch
	Streams   int    `json:"streams"`
	Seeds     int    `json:"seeds"`
	Delay     string `json:"delay"`
	Predicts  string `json:"predicts"`

	Reasons map[string]int `json:"null_reasons"`
	Rows    []Row          `json:"rows"` // private rows in the configured order, then references, then the base rate

	nulls    string // the null events in words
	records  int64
	odd      int // number of records with odd timestamps
	firstOdd string
	band     *operators.BandScore
}

// Row is one predictor.
type Row struct {
	Name      string        `json:"name"`
	Kind      string        `json:"kind"`
	Mechanism string        `json:"mechanism"`
	Epsilon   float64       `json:"epsilon"` // proved ε; 0 for rows without privacy
	Delta     float64       `json:"delta"`
	Mu        float64       `json:"-"`            // µ of Gaussian noise; 0: other noise
	Window    uint64        `json:"window_steps"` // W: length of the window; 0: no window
	Memory    uint64        `json:"memory_steps"` // H: length of the memory; 0: sums do not decay
	Aged      digits.Number `json:"epsilon_after_1e6_steps"`

	Terms protection.Terms `json:"-"` // terms of rows with privacy

	Loss         Figure        `json:"loss"`
	AUC          Figure        `json:"auc"`
	LateAUC      Figure        `json:"auc_second_half"`
	Accuracy     Figure        `json:"accuracy"`
	ECE          Figure        `json:"calibration_error"`
	R2           Figure        `json:"r_squared"`
	Coverage     Figure        `json:"coverage"`           // share of labels at or below the prediction
	Within       Figure        `json:"within_band"`        // share of labels within the band or set that was published before the event
	Width        Figure        `json:"band_width"`         // mean width of the band in units of labels, or mean number of labels in the set
	Wealth       Figure        `json:"log_wealth"`         // Σ ln⟨x, r⟩ over decisions x and price relatives r; each stream starts with wealth 1
	WithoutNoise digits.Number `json:"loss_without_noise"` // loss of the same learner without noise
	Gain         digits.Number `json:"gain"`               // gain in mean loss over the last row, relative to the gain of the same learner without noise

	Curve       []digits.Number `json:"loss_so_far"`     // mean loss up to the end of each stretch
	Stretch     []digits.Number `json:"loss_by_stretch"` // mean loss within each stretch
	Reliability []Bin           `json:"reliability"`     // calibration by predicted probability

	WithinStretch []digits.Number `json:"within_band_by_stretch,omitempty"`

	learner            string        // canonical settings without those that affect only the noise of decisions
	wealthWithoutNoise digits.Number // log wealth of the same learner without noise
}

// Figure is a figure over the seeds: its mean and its worst value.
type Figure struct {
	Mean  digits.Number `json:"mean"`
	Worst digits.Number `json:"worst"`
}

// Bin compares predicted probabilities with the share of events that came true.
type Bin struct {
	Weight    float64       `json:"weight"`
	Predicted digits.Number `json:"predicted"`
	Share     digits.Number `json:"share"`
}

// report turns scores into figures.
func (r *race) report() (*Report, error) {
	out := &Report{
		Warning: eval.Warning,
		Streams: len(r.totals), Seeds: r.in.Seeds, Delay: r.delay.String(), Predicts: predicts[r.rule.Predicts],
		Events: r.base.score.total().count, band: r.rule.Band, odd: r.odd, firstOdd: r.firstOdd,
	}
	for _, n := range r.seen {
		out.records += n
	}
	// The machine without noise has processed every record, even if the private rows read published decisions.
	out.Null, out.Reasons, out.nulls = r.entries[0].Exact.predictor.(*machine).Nulls()
	if out.Events == 0 {
		return nil, eval.NoEvents("no event can be scored", out.Null, out.nulls)
	}
	add := func(row Row, runs ...*scored) {
		row.figures(runs)
		out.Rows = append(out.Rows, row)
		for _, x := range runs {
			out.Undefined = max(out.Undefined, x.score.undefined)
		}
	}
	for _, e := range r.entries {
		h, g := e.Head, e.Guarantee
		add(Row{
			Name: h.Name, Kind: KindPrivate, Mechanism: h.Mechanism, Epsilon: h.Epsilon, Delta: h.Delta, Mu: g.Mu,
			Window: h.Window, Memory: h.Memory, Aged: digits.Number(g.At(1e6).Epsilon), Terms: g.Terms, learner: e.Learner,
		}, e.Private...)
	}
	for i, e := range r.entries {
		first := slices.IndexFunc(r.entries, func(x *eval.Entry[*scored]) bool { return x.Exact == e.Exact })
		if first == i {
			add(Row{Name: NoPrivacy, Kind: KindReference, Memory: e.Head.Memory, learner: e.Learner}, e.Exact)
		}
	}
	add(Row{Name: baseName(r.rule.Predicts), Kind: KindBase}, r.base)
	out.gains()
	return out, nil
}

var predicts = map[operators.Prediction]string{
	operators.Nothing: "nothing", operators.LogOdds: "log-odds", operators.Side: "class", operators.Mean: "mean",
	operators.Quantile: "quantile", operators.Growth: "nothing",
}

// figures computes means over seeds, and the worst values.
func (row *Row) figures(runs []*scored) {
	figure := func(of func(*score) float64, worst func(...float64) float64) Figure {
		var all []float64
		sum := 0.0
		for _, r := range runs {
			x := of(&r.score)
			all, sum = append(all, x), sum+x
		}
		return Figure{digits.Number(sum / float64(len(all))), digits.Number(worst(all...))}
	}
	nothing := func(*score) float64 { return math.NaN() }
	when := func(ok bool, of func(*score) float64) func(*score) float64 {
		if ok {
			return of
		}
		return nothing
	}
	p := runs[0].score.rule.Predicts
	classes, odds := p == operators.LogOdds || p == operators.Side, p == operators.LogOdds
	row.Loss = figure(func(s *score) float64 { return s.total().mean() }, most)
	row.AUC = figure(when(classes, func(s *score) float64 { return auc(&s.halves[0], &s.halves[1]) }), least)
	row.LateAUC = figure(when(classes, func(s *score) float64 { return auc(&s.halves[1]) }), least)
	row.Accuracy = figure(when(classes, func(s *score) float64 { return s.right / s.total().weight }), least)
	row.ECE = figure(when(odds, (*score).calibration), most)
	row.R2 = figure(when(p == operators.Mean, func(s *score) float64 { return 1 - s.squares/s.labels.squares }), least)
	row.Coverage = figure(when(p == operators.Quantile, func(s *score) float64 { return s.covered / s.labels.weight }),
		least)
	row.Wealth = figure(when(p == operators.Growth, func(s *score) float64 { return -s.total().loss }), least)
	band := runs[0].score.rule.Band
	row.Within, row.Width = Figure{digits.None, digits.None}, Figure{digits.None, digits.None}
	if _, has := runs[0].predictor.(banded); has && band != nil {
		row.Within, row.Width = figure((*score).bandShare, farthest(band.Level)), figure((*score).bandWidth, most)
	}
	row.curves(runs, odds)
	row.bandCurve(runs)
}

func most(x ...float64) float64  { return slices.Max(x) }
func least(x ...float64) float64 { return slices.Min(x) }

// curves computes means over the seeds.
func (row *Row) curves(runs []*scored, odds bool) {
	so := make([]tally, len(runs))
	for k := range Stretches {
		var curve, stretch float64
		for i, r := range runs {
			so[i].add(r.score.stretches[k])
			curve += so[i].mean() / float64(len(runs))
			stretch += r.score.stretches[k].mean() / float64(len(runs))
		}
		row.Curve, row.Stretch = append(row.Curve, digits.Number(curve)), append(row.Stretch, digits.Number(stretch))
	}
	for k := 0; odds && k < reliable; k++ {
		var b bin
		for _, r := range runs {
			x := r.score.bins[k]
			b = bin{b.weight + x.weight, b.predicted + x.predicted, b.ones + x.ones}
		}
		n := float64(len(runs))
		row.Reliability = append(row.Reliability, Bin{
			b.weight / n, digits.Number(b.predicted / b.weight), digits.Number(b.ones / b.weight),
		})
	}
}

// gains sets each row's gain over the base rate, relative to the gain of the row's reference.
func (r *Report) gains() {
	base := float64(r.Rows[len(r.Rows)-1].Loss.Mean)
	for i := range r.Rows {
		row := &r.Rows[i]
		row.Gain, row.WithoutNoise, row.wealthWithoutNoise = digits.None, digits.None, digits.None
		for _, reference := range r.Rows {
			if reference.Kind != KindReference || row.Kind != KindPrivate || reference.learner != row.learner {
				continue
			}
			row.WithoutNoise, row.wealthWithoutNoise = reference.Loss.Mean, reference.Wealth.Mean
			if whole := base - float64(row.WithoutNoise); whole > 0 {
				row.Gain = digits.Number((base - float64(row.Loss.Mean)) / whole)
			}
		}
	}
}

// base returns the name of the last row.
func (r *Report) base() string { return r.Rows[len(r.Rows)-1].Name }

// references counts the rows without noise.
func (r *Report) references() (n int) {
	for i := range r.Rows {
		if r.Rows[i].Kind == KindReference {
			n++
		}
	}
	return n
}
