package eval

import (
	"fmt"
	"math"
	"slices"

	"oriel/schemas/decision"
)

// NumbersReport is the object that `oriel eval --json` prints for an operator that publishes numbers.
type NumbersReport struct {
	head
	Reasons map[string]int `json:"null_reasons"`
	Rows    []NumbersRow   `json:"rows"`

	first string // description of the first null event
}

// NumbersRow is the accuracy of the numbers of one setting.
type NumbersRow struct {
	rowHead

	Kinds []NumbersKind `json:"kinds"`   // accuracy over all streams and seeds
	Last  []ShownNumber `json:"numbers"` // numbers in the first stream's last decision with the first seed
	Steps []uint64      `json:"steps"`   // steps of the first stream at which numbers are compared with the true ones

	path     [][]ShownNumber // compared numbers, by Steps
	releases int             // number of compared releases
}

// NumbersKind compares the numbers of one statistic and memory with the true numbers, over cells, the releases at 64
// checkpoints along each stream, and seeds. A release that is the newest at several checkpoints counts once.
type NumbersKind struct {
	Statistic string `json:"statistic"`
	Memory    string `json:"memory"`
	Releases  int    `json:"releases"`  // number of compared releases; per-step releases are independent of each other
	Compared  int    `json:"compared"`  // how many of their numbers have a true value; the mean of a cell without events has none
	Shown     int    `json:"shown"`     // how many of the compared numbers the decisions show
	RMS       Number `json:"rms_error"` // root mean square error of the shown numbers; null if none is shown
	Half      Number `json:"median_half_interval"`
	Covered   Number `json:"covered"` // share of true values within the 95 % intervals
}

// ShownNumber is a private number, its interval at 95 %, and the true value, which is null if it does not exist.
type ShownNumber struct {
	Statistic string `json:"statistic"`
	Cell      string `json:"cell"`
	Memory    string `json:"memory"`
	Value     Number `json:"value"`
	Low       Number `json:"low"`
	High      Number `json:"high"`
	Truth     Number `json:"truth"`
	Shown     bool   `json:"shown"` // false: Value is mostly noise, and only the interval is meaningful
}

// exact returns the true values from a decision over sums without noise. A true value does not exist if the interval is
// the whole public range: for example, the mean of a cell without events.
func (x *truthComparison) exact(d decision.Decision) ([]float64, error) {
	numbers, err := x.numbers.Read(d)
	if err != nil {
		return nil, err
	}
	truths := make([]float64, len(numbers))
	for i := range x.numbers.Names {
		if truths[i] = numbers[i].Value; !numbers[i].Shown {
			truths[i] = math.NaN()
		}
	}
	return truths, nil
}

// beside pairs the numbers of a decision with the true values.
func (x *truthComparison) beside(d decision.Decision, truths []float64) ([]ShownNumber, error) {
	numbers, err := x.numbers.Read(d)
	if err != nil {
		return nil, err
	}
	if len(truths) != len(numbers) {
		panic("BUG: eval: other numbers beside the truth")
	}
	shown := make([]ShownNumber, len(numbers))
	for i, n := range x.numbers.Names {
		at := numbers[i]
		shown[i] = ShownNumber{
			n.Statistic, n.Cell, n.Memory, Number(at.Value), Number(at.Low), Number(at.High), Number(truths[i]),
			at.Shown,
		}
	}
	return shown, nil
}

// count adds numbers to their tallies.
func (x *truthComparison) count(shown []ShownNumber) {
	for _, n := range shown {
		if !n.Truth.Known() {
			continue
		}
		k := slices.IndexFunc(x.tallies, func(t shownTally) bool {
			return t.statistic == n.Statistic && t.memory == n.Memory
		})
		if k < 0 {
			k = len(x.tallies)
			x.tallies = append(x.tallies, shownTally{statistic: n.Statistic, memory: n.Memory})
		}
		t := &x.tallies[k]
		if n.Shown {
			off := float64(n.Value - n.Truth)
			t.squares += off * off
			t.shown++
		}
		t.halves = append(t.halves, float64(n.High-n.Low)/2)
		t.total++
		if n.Low <= n.Truth && n.Truth <= n.High {
			t.covered++
		}
	}
}

// report computes the report's figures from the tallies.
func (f *numbersField) report() (*NumbersReport, error) {
	truth := f.pairs[0].truth
	r := &NumbersReport{
		head:    head{Warning: Warning, Events: f.events, Streams: len(f.totals), Seeds: f.in.Seeds},
		Reasons: map[string]int{}, first: truth.first,
	}
	if r.Null = truth.countNull(r.Reasons); r.Null == r.Events {
		return nil, noEvents("no event counts", r.Null, reasons(r.Reasons, r.first))
	}
	for _, x := range f.pairs {
		if len(x.row.path) == 0 {
			return nil, fmt.Errorf("%d events of the first stream make no decision (ORIEL_BATCH, ORIEL_EMIT_EVERY)", f.totals[0])
		}
		x.row.Last = x.row.path[len(x.row.path)-1]
		for _, t := range x.tallies {
			slices.Sort(t.halves)
			x.row.Kinds = append(x.row.Kinds, NumbersKind{
				Statistic: t.statistic, Memory: t.memory, Releases: x.row.releases, Compared: t.total,
				Shown: t.shown, RMS: Number(math.Sqrt(t.squares / float64(t.shown))), // NaN if no number is shown
				Half: Number(t.halves[t.total/2]), Covered: Number(float64(t.covered) / float64(t.total)),
			})
		}
		r.Rows = append(r.Rows, x.row)
	}
	return r, nil
}
