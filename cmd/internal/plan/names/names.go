package names

import (
	"fmt"
	"math"
	"strings"

	"oriel/cmd/internal/digits"
	"oriel/mechanisms"
	law "oriel/mechanisms/names"
	"oriel/mechanisms/protection"
)

// Report holds the figures of one configuration. Counts are of events, or of persons with a unit user-period.
type Report struct {
	Threshold int64         `json:"threshold"` // τ
	Deviation float64       `json:"deviation"`
	Published int64         `json:"published_count"` // least count that is published in 99.5 % of steps
	Leak      float64       `json:"probability_of_a_lonely_name"`
	Lonely    digits.Number `json:"lonely_names_a_year"` // at most: each event of the rate has a name of its own; null: no rate
	Passing   digits.Number `json:"lonely_names_published_a_year"`
	Advised   digits.Number `json:"advised_delta"` // 10⁻³ over Lonely
	Laws      []Law         `json:"laws"`

	names uint64 // m
}

// Law compares both laws at one budget for all of a unit's counts in so many steps.
type Law struct {
	Steps    uint64  `json:"steps"`
	Laplace  Figures `json:"once-laplace"`
	Gaussian Figures `json:"once-gaussian"`
}

// Figures are those of a law; null if the law has none at this budget.
type Figures struct {
	Threshold digits.Number `json:"threshold"`
	Deviation digits.Number `json:"deviation"`
}

const (
	published = 0.995
	year      = 365.25 * 86400 // seconds
	advised   = 1e-3           // names of single persons a year, at most
)

// steps are the numbers of steps in which a unit may be, such as the hours of a day or of a week.
var steps = []uint64{1, 2, 3, 5, 10, 24, 168}

// New computes a report of an opened stream. rate is the number of events a second, or 0.
func New(c mechanisms.Config, stream *mechanisms.Stream, rate float64) *Report {
	l := stream.Names()
	r := &Report{
		Threshold: l.Threshold, Deviation: l.Deviation, Published: 1, Leak: l.Leak,
		Lonely: digits.None, Passing: digits.None, Advised: digits.None, names: c.Unit.StepEvents(),
	}
	for l.Reaches(r.Published) < published {
		r.Published++
	}
	if rate > 0 {
		r.Lonely = digits.Number(rate * year)
		r.Passing, r.Advised = r.Lonely*digits.Number(l.Leak), advised/r.Lonely
		digit := math.Pow(10, math.Floor(math.Log10(float64(r.Advised)))) // rounded down to one digit
		r.Advised = digits.Number(math.Floor(float64(r.Advised)/digit) * digit)
	}
	for _, h := range steps {
		r.Laws = append(r.Laws, Law{h, figuresOf(c, "once-laplace", h), figuresOf(c, "once-gaussian", h)})
	}
	return r
}

// figuresOf calibrates a law to h times the counts of a unit at the same budget: they may be in one step or in h.
func figuresOf(c mechanisms.Config, mechanism string, h uint64) Figures {
	c.Name, c.Unit = mechanism, protection.UserPeriod{PeriodSteps: 1, Values: h * c.Unit.StepEvents()}
	l, err := lawOf(c)
	if err != nil {
		return Figures{digits.None, digits.None}
	}
	return Figures{digits.Number(l.Threshold), digits.Number(l.Deviation)}
}

func lawOf(c mechanisms.Config) (*law.Law, error) {
	p, err := mechanisms.Calibrate(c)
	if err != nil {
		return nil, err
	}
	stream, err := mechanisms.Open(c, p, [32]byte{})
	if err != nil {
		return nil, err
	}
	return stream.Names(), nil
}

// Title returns the title of Text.
func (r *Report) Title() string {
	return fmt.Sprintf("Names: published from %d on, with noise of deviation %s", r.Threshold, digits.Three(r.Deviation))
}

// Text returns the report without the table of laws.
func (r *Report) Text() string {
	var b strings.Builder
	line := func(format string, args ...any) { fmt.Fprintf(&b, format+"\n", args...) }
	line("a name with count %d or more is published in 99.5 %% of the steps", r.Published)
	line("a name of one person is published with probability %s in a step", digits.Short(r.Leak))
	if r.Lonely.Known() {
		line("at this rate a year has at most %s names of single persons, of which %s are published on average",
			digits.Count(uint64(r.Lonely)), digits.Three(r.Passing))
		if float64(r.Passing) > advised*float64(r.names) {
			line("Advised: ORIEL_DELTA=%.0e or less, which is 10⁻³ over the number of names of single persons", r.Advised)
		}
	} else {
		line("of L names of single persons L times as many are published on average; take ORIEL_DELTA=10⁻³/L or less")
	}
	return b.String()
}

// RowsTitle returns the title of Rows.
func (r *Report) RowsTitle() string {
	return "Threshold and deviation, if the same ε and δ are of all steps together that a unit is in"
}

// Rows returns the table of laws.
func (r *Report) Rows() *digits.Table {
	return digits.TableOf(r.Laws,
		digits.Col("steps", func(l Law) string { return fmt.Sprint(l.Steps) }),
		digits.Col("once-laplace\nthreshold", func(l Law) string { return digits.Four(l.Laplace.Threshold) }),
		digits.Col("\ndeviation", func(l Law) string { return digits.Three(l.Laplace.Deviation) }),
		digits.Col("once-gaussian\nthreshold", func(l Law) string { return digits.Four(l.Gaussian.Threshold) }),
		digits.Col("\ndeviation", func(l Law) string { return digits.Three(l.Gaussian.Deviation) }),
	)
}
