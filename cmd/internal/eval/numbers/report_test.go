package numbers

import (
	"math"
	"strings"
	"testing"

	"oriel/cmd/internal/digits"
	"oriel/cmd/internal/eval"
)

// TestTalliesOfNumbers checks the tally of two errors, one of them within its interval. A cell without a true value
// must not count. A number that is not shown must count its interval and no error.
func TestTalliesOfNumbers(t *testing.T) {
	x := comparison{Entry: &eval.Entry[*machine]{Exact: &machine{Runner: &eval.Runner{}}}}
	x.count([]Shown{
		{"mean", "a", "all", 3, 2, 4, 2.5, true},
		{"mean", "b", "all", 3, 2, 6, 1.5, true},
		{"mean", "c", "all", 3, -60, 180, digits.Number(math.NaN()), false},
		{"mean", "d", "all", 60, 1, 5, 9, false},
		{"count", "a", "all", 9, 8, 10, 9, true},
	})
	x.row.Steps = []uint64{1}
	r, err := newReport(eval.Input{}, []*comparison{&x}, 3, []int64{3})
	if err != nil {
		t.Fatal(err)
	}
	mean, count := r.Rows[0].Kinds[0], r.Rows[0].Kinds[1]
	if mean.Compared != 3 || mean.Shown != 2 || mean.Covered*3 != 1 ||
		math.Abs(float64(mean.RMS)-math.Sqrt(1.25)) > 1e-12 || mean.Half != 2 {
		t.Errorf("%+v", mean)
	}
	if count.Compared != 1 || count.Covered != 1 || count.RMS != 0 {
		t.Errorf("%+v", count)
	}
}

// TestNumbersInATable checks that shares have four decimals, and that the columns of unknown numbers, and of the
// control's differences, are empty.
func TestNumbersInATable(t *testing.T) {
	numbers := []Shown{
		{"share_difference", "a", "all", 0.0123, -0.00456, 0.02, -0.00001, true}, {"mean", "a", "all", 0, -60, 180, 5, false},
	}
	for statistic, want := range map[string]string{
		"share_difference": "0.0123\t-0.0046\t0.0200\t0.0000\t", "mean": "–\t-60.0\t180\t5.00\t", "count": "\t\t\t\t",
	} {
		if got := strings.Join(numberCells(numbers, statistic), "\t") + "\t"; got != want {
			t.Errorf("%s: %q, want %q", statistic, got, want)
		}
	}
}
