package numbers

import (
	"fmt"
	"math"
	"slices"

	"oriel/cmd/internal/digits"
	"oriel/cmd/internal/eval"
	"oriel/schemas/decision"
)

// Report is the object that `oriel eval --json` prints for an operator that publishes numbers.
type Report struct {
	eval.Head
	Reasons map[string]int `json:"null_reasons"`
	Rows    []Row          `json:"rows"`

	nulls string // the null events in words
}

// Row is the accuracy of the numbers of one setting.
type Row struct {
	eval.RowHead

	Kinds []Kind   `json:"kinds"`   // accuracy over all streams and seeds
	Last  []Shown  `json:"numbers"` // numbers in the first stream's last decision with the first seed
	Steps []uint64 `json:"steps"`   // steps of the first stream at which numbers are compared with the true ones

	releases int // number of compared releases
}

// Kind compares the numbers of one statistic and memory with the true numbers, over cells, the releases at 64
// checkpoints along each stream, and seeds. A release that is the newest at several checkpoints counts once.
type Kind struct {
	Statistic string        `json:"statistic"`
	Memory    string        `json:"memory"`
	Releases  int           `json:"releases"`  // number of compared releases; per-step releases are independent of each other
	Compared  int           `json:"compared"`  // how many of their numbers have a true value; the mean of a cell without events has none
	Shown     int           `json:"shown"`     // how many of the compared numbers the decisions show
	RMS       digits.Number `json:"rms_error"` // root mean square error of the shown numbers; null if none is shown
	Half      digits.Number `json:"median_half_interval"`
	Covered   digits.Number `json:"covered"` // share of true values within the 95 % intervals
}

// Shown is a private number, its interval at 95 %, and the true value, which is null if it does not exist.
type Shown struct {
	Statistic string        `json:"statistic"`
	Cell      string        `json:"cell"`
	Memory    string        `json:"memory"`
	Value     digits.Number `json:"value"`
	Low       digits.Number `json:"low"`
	High      digits.Number `json:"high"`
	Truth     digits.Number `json:"truth"`
	Shown     bool          `json:"shown"` // false: Value is mostly noise, and only the interval is meaningful
}

// exact returns the true values from a decision over sums without noise. A true value does not exist if the interval is
// the whole public range: for example, the mean of a cell without events.
func (x *comparison) exact(d decision.Decision) ([]float64, error) {
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
func (x *comparison) beside(d decision.Decision, truths []float64) ([]Shown, error) {
	numbers, err := x.numbers.Read(d)
	if err != nil {
		return nil, err
	}
	if len(truths) != len(numbers) {
		panic("BUG: eval: other numbers beside the truth")
	}
	shown := make([]Shown, len(numbers))
	for i, n := range x.numbers.Names {
		at := numbers[i]
		shown[i] = Shown{
			n.Statistic, n.Cell, n.Memory, digits.Number(at.Value), digits.Number(at.Low), digits.Number(at.High),
			digits.Number(truths[i]),
			at.Shown,
		}
	}
	return shown, nil
}

// count adds numbers to their tallies.
func (x *comparison) count(shown []Shown) {
	for _, n := range shown {
		if !n.Truth.Known() {
			continue
		}
		k := slices.IndexFunc(x.tallies, func(t tally) bool {
			return t.statistic == n.Statistic && t.memory == n.Memory
		})
		if k < 0 {
			k = len(x.tallies)
			x.tallies = append(x.tallies, tally{statistic: n.Statistic, memory: n.Memory})
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

// newReport computes the report's figures from the tallies.
func newReport(in eval.Input, all []*comparison, events int, totals []int64) (r *Report, err error) {
	r = &Report{}
	if r.Head, r.Reasons, r.nulls, err = eval.NewHead(in, all[0].Exact.Runner, events, len(totals)); err != nil {
		return nil, err
	}
	for _, x := range all {
		if len(x.row.Steps) == 0 {
			return nil, fmt.Errorf("%d events of the first stream make no decision (ORIEL_BATCH, ORIEL_EMIT_EVERY)", totals[0])
		}
		for _, t := range x.tallies {
			slices.Sort(t.halves)
			x.row.Kinds = append(x.row.Kinds, Kind{
				Statistic: t.statistic, Memory: t.memory, Releases: x.row.releases, Compared: t.total,
				Shown: t.shown, RMS: digits.Number(math.Sqrt(t.squares / float64(t.shown))), // NaN if no number is shown
				Half: digits.Number(t.halves[t.total/2]), Covered: digits.Number(float64(t.covered) / float64(t.total)),
			})
		}
		r.Rows = append(r.Rows, x.row)
	}
	return r, nil
}
