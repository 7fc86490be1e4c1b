package numbers

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"oriel/cmd/internal/eval"
	"oriel/cmd/internal/settings"
	"oriel/pipeline/kafka/records"
)

// lines is a source of one stream.
type lines []string

func (l lines) Totals() []int64 { return []int64{int64(len(l))} }

func (l lines) Each(_ context.Context, f func(eval.Item) error) error {
	for i, line := range l {
		if err := f(eval.Item{Record: records.Record{
			Public: records.Public{Offset: int64(i)},
			Value:  []byte(line),
		}}); err != nil {
			return err
		}
	}
	return nil
}

// rows returns events of an aggregate over cells a and b. Cell b has no events.
func rows(n int) (l lines) {
	for i := range n {
		l = append(l, fmt.Sprintf(`{"cell":"a","value":%d}`, i%10))
	}
	return l
}

func numbersOf(t *testing.T, events lines, env ...string) *Report {
	t.Helper()
	s, err := settings.Load(append([]string{
		"ORIEL_OPERATOR=aggregate", "ORIEL_CELLS=cell=a|b", "ORIEL_VALUE=value=0:10", "ORIEL_STATISTICS=count,mean",
		"ORIEL_EPSILON=4", "ORIEL_DELTA=1e-6",
	}, env...), settings.Events, settings.Operator)
	if err != nil {
		t.Fatal(err)
	}
	in := eval.Input{Settings: []settings.Settings{s}, Seeds: 3}
	r, err := New(t.Context(), in, events)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// TestReleasesCountOnce covers 640 events in steps of 64, which make 10 releases, and 64 checkpoints. Each release must
// count once for each seed.
func TestReleasesCountOnce(t *testing.T) {
	r := numbersOf(t, rows(640), "ORIEL_MECHANISM=once-gaussian", "ORIEL_BATCH=64")
	count := r.Rows[0].Kinds[0]
	if count.Statistic != "count" || count.Releases != 3*10 || count.Compared != 3*10*2 || count.Shown != count.Compared {
		t.Errorf("%+v", count)
	}
	if len(r.Rows[0].Steps) < 30 {
		t.Errorf("places %v", r.Rows[0].Steps)
	}
	mean := r.Rows[0].Kinds[1]
	if mean.Compared != 3*10 {
		t.Errorf("%+v", mean)
	}
}

// TestNumbersOfNoiseAreNotShown checks that the mean of a cell without events appears in no table or error.
func TestNumbersOfNoiseAreNotShown(t *testing.T) {
	r := numbersOf(t, rows(2000), "ORIEL_MECHANISM=blt", "ORIEL_WINDOW=lifetime", "ORIEL_MEMORY=512")
	for _, n := range r.Rows[0].Last {
		if want := n.Statistic == "count" || n.Cell == "cell=a"; n.Shown != want {
			t.Errorf("%+v: shown %t", n, n.Shown)
		}
		if n.Statistic == "mean" && n.Cell == "cell=b" && n.Truth.Known() {
			t.Errorf("%+v: no events have a mean", n)
		}
	}
	mean := r.Rows[0].Kinds[1]
	if mean.Shown == 0 || mean.Shown >= mean.Compared || !(mean.RMS < 2) {
		t.Errorf("%+v: errors are of shown numbers, after the first places", mean)
	}
	var out strings.Builder
	if err := r.Print(&out); err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(out.String()) {
		if strings.HasPrefix(strings.TrimSpace(line), "cell=b ") && strings.Count(line, "–") != 2 {
			t.Errorf("%q: want a dash for the mean and for its truth", line)
		}
	}
}
