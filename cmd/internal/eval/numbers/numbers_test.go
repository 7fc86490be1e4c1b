package numbers

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"oriel/cmd/internal/eval"
	"oriel/cmd/internal/figure"
	"oriel/cmd/internal/figure/figuretest"
	"oriel/cmd/internal/settings"
	"oriel/pipeline/kafka/records"
)

// lines is a source of one stream.
type lines []string

func (l lines) Totals() []int64 { return []int64{int64(len(l))} }

func (l lines) Each(_ context.Context, f func(eval.Item) error) error {
	for i, line := range l {
		if err := f(eval.Item{Record: records.Record{Public: records.Public{Offset: int64(i)}, Value: []byte(line)}}); err != nil {
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

// TestPicturesNameWhatTheyDraw checks that each statistic of each setting has a strip, with both in its heading, and
// that the picture names what it leaves out. A panel of an empty cell must not be painted.
func TestPicturesNameWhatTheyDraw(t *testing.T) {
	r := numbersOf(t, rows(2000), "ORIEL_MECHANISM=blt", "ORIEL_WINDOW=lifetime", "ORIEL_MEMORY=512",
		"ORIEL_MEMORIES=64,512", "ORIEL_STATISTICS=count,sum,mean")
	other := r.Rows[0]
	other.Epsilon = 0.5
	r.Rows = append(r.Rows, other)
	slide := r.Slide()
	texts := figuretest.Texts(t, slide)
	for _, want := range []string{
		"count, ε = 4, blt", "count, ε = 0.5, blt", "sum, ε = 4, blt", "mean, ε = 4, blt", "mean, ε = 0.5, blt",
		"not drawn: memory 64",
	} {
		if !slices.Contains(texts, want) {
			t.Errorf("%q is not in %q", want, texts)
		}
	}
	if slices.Contains(texts, "-0") || len(slide.Below) != 5 {
		t.Errorf("%d strips below the first: %q", len(slide.Below), texts)
	}
	figuretest.Legible(t, slide)
	r.Rows = append(r.Rows, other, other, other)
	if texts = figuretest.Texts(t, r.Slide()); !slices.ContainsFunc(texts, func(text string) bool {
		return strings.HasPrefix(text, "not drawn: mean, ε = 0.5")
	}) {
		t.Errorf("15 strips: %q", texts)
	}
}

// TestReleasesCountOnce covers 640 events in steps of 64, which make 10 releases, and 64 checkpoints. Each release must
// count once for each seed.
func TestReleasesCountOnce(t *testing.T) {
	r := numbersOf(t, rows(640), "ORIEL_MECHANISM=once-gaussian", "ORIEL_BATCH=64")
	count := r.Rows[0].Kinds[0]
	if count.Statistic != "count" || count.Releases != 3*10 || count.Compared != 3*10*2 || count.Shown != count.Compared {
		t.Errorf("%+v", count)
	}
	if len(r.Rows[0].Steps) < 30 { // the plot shows all steps
		t.Errorf("places %v", r.Rows[0].Steps)
	}
	mean := r.Rows[0].Kinds[1]
	if mean.Compared != 3*10 {
		t.Errorf("%+v", mean)
	}
}

// TestNumbersOfNoiseAreNotShown checks that the mean of a cell without events appears in no line, table or error.
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
	slide := r.Slide()
	line := slide.Below[0].Left.(*figure.Chart).Lines[0]
	for i, at := range line.Points {
		if math.IsNaN(at.Y) != (at.X == 1) || math.IsNaN(line.Band[i].High) != (at.X == 1) {
			t.Errorf("point %+v of %+v", at, line.Band[i])
		}
	}
	figuretest.Legible(t, slide)
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
