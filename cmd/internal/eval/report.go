package eval

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"oriel/cmd/internal/plan"
	"oriel/cmd/internal/settings"
	"oriel/mechanisms/protection"
	"oriel/operators"
	"oriel/pipeline/streams"
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

	first    string // description of the first null event
	records  int64
	odd      int // number of records with odd timestamps
	firstOdd string
	band     *operators.BandScore
}

// Row is one contender.
type Row struct {
	Name      string  `json:"name"`
	Kind      string  `json:"kind"`
	Mechanism string  `json:"mechanism"`
	Epsilon   float64 `json:"epsilon"` // proved ε; 0 for rows without privacy
	Delta     float64 `json:"delta"`
	Mu        float64 `json:"-"`            // µ of Gaussian noise; 0: other noise
	Window    uint64  `json:"window_steps"` // W: length of the window; 0: no window
	Memory    uint64  `json:"memory_steps"` // H: length of the memory; 0: sums do not decay
	Aged      Number  `json:"epsilon_after_1e6_steps"`

	Terms protection.Terms `json:"-"` // terms of rows with privacy

	Loss         Figure `json:"loss"`
	AUC          Figure `json:"auc"`
	LateAUC      Figure `json:"auc_second_half"`
	Accuracy     Figure `json:"accuracy"`
	ECE          Figure `json:"calibration_error"`
	R2           Figure `json:"r_squared"`
	Coverage     Figure `json:"coverage"`           // share of labels at or below the prediction
	Within       Figure `json:"within_band"`        // share of labels within the band or set that was published before the event
	Width        Figure `json:"band_width"`         // mean width of the band in units of labels, or mean number of labels in the set
	Wealth       Figure `json:"log_wealth"`         // Σ ln⟨x, r⟩ over decisions x and price relatives r; each stream starts with wealth 1
	WithoutNoise Number `json:"loss_without_noise"` // loss of the same learner without noise
	Gain         Number `json:"gain"`               // gain in mean loss over the last row, relative to the gain of the same learner without noise

	Curve       []Number `json:"loss_so_far"`     // mean loss up to the end of each stretch
	Stretch     []Number `json:"loss_by_stretch"` // mean loss within each stretch
	Reliability []Bin    `json:"reliability"`     // calibration by predicted probability

	WithinStretch []Number `json:"within_band_by_stretch,omitempty"`

	learner            string // canonical settings without those that affect only the noise of decisions
	wealthWithoutNoise Number // log wealth of the same learner without noise
}

// head begins the JSON report of numbers and of an experiment.
type head struct {
	Warning string `json:"warning"`
	Events  int    `json:"events"`
	Null    int    `json:"null_events"` // number of events that count in no figure, although each takes its place in a batch
	Streams int    `json:"streams"`
	Seeds   int    `json:"seeds"`
}

// rowHead begins a row of such a report.
type rowHead struct {
	Name      string  `json:"name"`
	Mechanism string  `json:"mechanism"`
	Epsilon   float64 `json:"epsilon"` // ε that the mechanism proves
	Delta     float64 `json:"delta"`
	Window    uint64  `json:"window_steps"`
	Memory    uint64  `json:"memory_steps"`
}

func (row *Row) head() rowHead {
	return rowHead{row.Name, row.Mechanism, row.Epsilon, row.Delta, row.Window, row.Memory}
}

// Number is a figure, null in JSON if it does not exist.
type Number = plan.Number

// Figure is a figure over the seeds: its mean and its worst value.
type Figure struct {
	Mean  Number `json:"mean"`
	Worst Number `json:"worst"`
}

// Bin compares predicted probabilities with the share of events that came true.
type Bin struct {
	Weight    float64 `json:"weight"`
	Predicted Number  `json:"predicted"`
	Share     Number  `json:"share"`
}

// configured returns the model of settings, and the row that describes them.
func configured(s settings.Settings) (streams.Model, Row, error) {
	m := s.Model()
	g, err := s.Guarantee(m)
	if err != nil {
		return m, Row{}, err
	}
	row := Row{
		Name: s.Mechanism, Kind: KindPrivate, Mechanism: s.Mechanism, Epsilon: g.Epsilon, Delta: g.Delta, Mu: g.Mu,
		Window: g.Scope.Figures().Window, Aged: Number(g.At(1e6).Epsilon), Terms: g.Terms, learner: learner(s),
	}
	var decays bool
	if row.Memory, decays = s.Terms().Scope.Memory(); decays {
		row.Name += ", for life"
	}
	return m, row, nil
}

// learner returns the canonical configuration without the settings that affect only noise.
func learner(s settings.Settings) string {
	var lines []string
	for line := range strings.Lines(s.Canonical()) {
		name, _, _ := strings.Cut(line, "=")
		switch name {
		case "ADJACENCY", "AGE_WEIGHT", "DELTA", "EPSILON", "HORIZON", "MECHANISM", "POLES", "WINDOW":
		default:
			lines = append(lines, line)
		}
	}
	return strings.Join(lines, "")
}

// report turns scores into figures.
func (f *field) report() (*Report, error) {
	rule, exact := f.rows[0].rule, f.exact()
	r := &Report{
		Warning: Warning,
		Streams: len(f.totals), Seeds: f.in.Seeds, Delay: f.in.Delay.String(), Predicts: predicts[rule.Predicts],
		Events: f.racers[len(f.racers)-1].score.total().count, Reasons: map[string]int{}, first: exact.first, band: rule.Band,
		odd: f.odd, firstOdd: f.firstOdd,
	}
	for _, n := range f.seen {
		r.records += n
	}
	r.Null = exact.countNull(r.Reasons)
	for _, e := range f.rows {
		row := e.Row
		row.figures(e.racers)
		r.Rows = append(r.Rows, row)
		for _, x := range e.racers {
			r.Undefined = max(r.Undefined, x.score.undefined)
		}
	}
	if r.Events == 0 {
		return nil, fmt.Errorf("no event can be scored: %d null events%s", r.Null, r.reasons())
	}
	r.gains()
	return r, nil
}

// exact returns the first reference. It has processed every record, even if the private rows read published decisions.
func (f *field) exact() *machine {
	for _, e := range f.rows {
		if m, ok := e.racers[0].contender.(*machine); ok && e.Kind == KindReference {
			return m
		}
	}
	panic("BUG: eval: no reference")
}

var predicts = map[operators.Prediction]string{
	operators.Nothing: "nothing", operators.LogOdds: "log-odds", operators.Side: "class", operators.Mean: "mean",
	operators.Quantile: "quantile", operators.Growth: "nothing",
}

// figures computes means over seeds, and the worst values.
func (row *Row) figures(racers []*contestant) {
	figure := func(of func(*score) float64, worst func(...float64) float64) Figure {
		var all []float64
		sum := 0.0
		for _, r := range racers {
			x := of(&r.score)
			all, sum = append(all, x), sum+x
		}
		return Figure{Number(sum / float64(len(all))), Number(worst(all...))}
	}
	nothing := func(*score) float64 { return math.NaN() }
	when := func(ok bool, of func(*score) float64) func(*score) float64 {
		if ok {
			return of
		}
		return nothing
	}
	p := racers[0].score.rule.Predicts
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
	band := racers[0].score.rule.Band
	row.Within, row.Width = Figure{none, none}, Figure{none, none}
	if _, has := racers[0].contender.(banded); has && band != nil {
		row.Within, row.Width = figure((*score).bandShare, farthest(band.Level)), figure((*score).bandWidth, most)
	}
	row.curves(racers, odds)
	row.bandCurve(racers)
}

func most(x ...float64) float64  { return slices.Max(x) }
func least(x ...float64) float64 { return slices.Min(x) }

// curves computes means over the seeds.
func (row *Row) curves(racers []*contestant, odds bool) {
	so := make([]tally, len(racers))
	for k := range Stretches {
		var curve, stretch float64
		for i, r := range racers {
			so[i].add(r.score.stretches[k])
			curve += so[i].mean() / float64(len(racers))
			stretch += r.score.stretches[k].mean() / float64(len(racers))
		}
		row.Curve, row.Stretch = append(row.Curve, Number(curve)), append(row.Stretch, Number(stretch))
	}
	for k := 0; odds && k < reliable; k++ {
		var b bin
		for _, r := range racers {
			x := r.score.bins[k]
			b = bin{b.weight + x.weight, b.predicted + x.predicted, b.ones + x.ones}
		}
		n := float64(len(racers))
		row.Reliability = append(row.Reliability, Bin{
			b.weight / n, Number(b.predicted / b.weight), Number(b.ones / b.weight),
		})
	}
}

// gains sets each row's gain over the base rate, relative to the gain of the row's reference.
func (r *Report) gains() {
	base := float64(r.Rows[len(r.Rows)-1].Loss.Mean)
	for i := range r.Rows {
		row := &r.Rows[i]
		row.Gain, row.WithoutNoise, row.wealthWithoutNoise = none, none, none
		for _, reference := range r.Rows {
			if reference.Kind != KindReference || row.Kind != KindPrivate || reference.learner != row.learner {
				continue
			}
			row.WithoutNoise, row.wealthWithoutNoise = reference.Loss.Mean, reference.Wealth.Mean
			if whole := base - float64(row.WithoutNoise); whole > 0 {
				row.Gain = Number((base - float64(row.Loss.Mean)) / whole)
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

// reasons lists why events were null, the most frequent reason first.
func (r *Report) reasons() string { return reasons(r.Reasons, r.first) }

func reasons(counts map[string]int, first string) string {
	if len(counts) == 0 {
		return ""
	}
	names := slices.Collect(maps.Keys(counts))
	slices.SortFunc(names, func(a, b string) int { return cmp.Or(counts[b]-counts[a], strings.Compare(a, b)) })
	for i, name := range names {
		names[i] = fmt.Sprintf("%s %d", name, counts[name])
	}
	return " (" + strings.Join(names, ", ") + "); the first is " + first
}
