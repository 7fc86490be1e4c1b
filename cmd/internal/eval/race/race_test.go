package race

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"
	"time"

	"oriel/cmd/internal/eval"
	"oriel/cmd/internal/settings"
	"oriel/operators"
	"oriel/pipeline/kafka/records"
)

// lines is a source of one stream.
type lines []string

func (l lines) Totals() []int64 { return []int64{int64(len(l))} }

func (l lines) Each(_ context.Context, f func(eval.Item) error) error {
	for i, line := range l {
		if err := f(eval.Item{Record: records.Record{
			Public: records.Public{Offset: int64(i), Timestamp: int64(1000 * i)}, Value: []byte(line),
		}}); err != nil {
			return err
		}
	}
	return nil
}

func load(t *testing.T, more ...string) settings.Settings {
	t.Helper()
	s, err := settings.Load(append([]string{
		"ORIEL_OPERATOR=coco", "ORIEL_UPDATE=projection", "ORIEL_LOSS=logistic", "ORIEL_SET=l2-ball", "ORIEL_RADIUS=5",
		"ORIEL_DIMENSION=3",
		"ORIEL_STRONG_CONVEXITY=0.01", "ORIEL_START_REGULARIZER=3", "ORIEL_MECHANISM=tree-gaussian", "ORIEL_WINDOW=64",
		"ORIEL_EPSILON=4", "ORIEL_DELTA=1e-6", "ORIEL_CLIP=1",
	}, more...), settings.Events, settings.Operator)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// sample returns events of a logistic model, with their features and labels.
func sample(n int) (l lines, xs [][3]float64, ys []float64) {
	rng := rand.New(rand.NewPCG(8, 8))
	for range n {
		x := [3]float64{0.7, 0.5 * rng.NormFloat64(), 0.5 * rng.NormFloat64()}
		norm := math.Sqrt(x[0]*x[0] + x[1]*x[1] + x[2]*x[2])
		for i := range x {
			x[i] /= norm
		}
		y := -1.0
		if rng.Float64() < probability(3*x[1]-2*x[2]-1) {
			y = 1
		}
		xs, ys = append(xs, x), append(ys, y)
		l = append(l, fmt.Sprintf(`{"features":[%v,%v,%v],"label":%v}`, x[0], x[1], x[2], y))
	}
	return l, xs, ys
}

func evaluate(t *testing.T, in eval.Input, source eval.Source, o ...Options) *Report {
	t.Helper()
	if in.Seeds == 0 {
		in.Seeds = 1
	}
	r, err := New(t.Context(), in, source, append(o, Options{})[0])
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// TestReferenceIsTheTextbooks compares the configured learner without noise with a plain implementation of follow the
// approximate leader over exact sums (operators/coco/SPEC.md §5.1 with ĝ = g). Each event must be scored before it is
// learned from, also if labels come late.
func TestReferenceIsTheTextbooks(t *testing.T) {
	l, xs, ys := sample(5000)
	for _, delay := range []int{0, 1, 300} {
		r := evaluate(t, eval.Input{Settings: []settings.Settings{load(t)}}, l, Options{Delay: Delay{Events: delay}})
		var sum, x [3]float64
		loss, late := 0.0, 0.0
		margin := func(i int) float64 { return ys[i] * (x[0]*xs[i][0] + x[1]*xs[i][1] + x[2]*xs[i][2]) }
		for i := range l {
			step := math.Log1p(math.Exp(-margin(i)))
			if loss += step; i >= len(l)/Stretches*(Stretches-1) {
				late += step
			}
			k := i - delay
			if k < 0 {
				continue
			}
			slope, norm := -ys[k]/(1+math.Exp(margin(k))), 0.0
			for j := range x {
				sum[j] += slope * xs[k][j]
				x[j] = -sum[j] / (0.01*float64(k+1) + 3)
				norm += x[j] * x[j]
			}
			if norm = math.Sqrt(norm); norm > 5 {
				for j := range x {
					x[j] *= 5 / norm
				}
			}
		}
		got := float64(r.Rows[1].Loss.Mean)
		if want := loss / float64(len(l)); r.Rows[1].Name != NoPrivacy || math.Abs(got-want) > 1e-6 {
			t.Errorf("delay %d: %s loses %g, want %g", delay, r.Rows[1].Name, got, want)
		}
	}
}

// TestBaseRateIsOfEventsBefore compares the base rate with plain counts of the earlier events.
func TestBaseRateIsOfEventsBefore(t *testing.T) {
	l, _, ys := sample(2000)
	r := evaluate(t, eval.Input{Settings: []settings.Settings{load(t)}}, l)
	loss, ones := 0.0, 0.0
	for i, y := range ys {
		p := (ones + 0.5) / (float64(i) + 1)
		if y > 0 {
			ones++
			loss -= math.Log(p)
		} else {
			loss -= math.Log(1 - p)
		}
	}
	last := r.Rows[len(r.Rows)-1]
	if want := loss / float64(len(ys)); last.Kind != KindBase || math.Abs(float64(last.Loss.Mean)-want) > 1e-9 {
		t.Errorf("%s loses %g, want %g", last.Name, last.Loss.Mean, want)
	}
}

// TestDelayByTime checks that a delay of ten seconds, over events a second apart, gives the same figures as a delay of
// ten events.
func TestDelayByTime(t *testing.T) {
	l, _, _ := sample(1000)
	in := eval.Input{Settings: []settings.Settings{load(t)}}
	events := evaluate(t, in, l, Options{Delay: Delay{Events: 9}})
	if times := evaluate(t, in, l, Options{Delay: Delay{Time: 10 * time.Second}}); times.Rows[0].Loss != events.Rows[0].Loss ||
		times.Rows[2].Loss != events.Rows[2].Loss {
		t.Errorf("10 s late %v, 9 events between %v", times.Rows[0].Loss, events.Rows[0].Loss)
	}
	if now := evaluate(t, in, l); now.Rows[0].Loss == events.Rows[0].Loss {
		t.Error("a delay changes nothing")
	}
}

// TestSeedsRepeatAndDiffer checks that equal calls give equal figures, and that different seeds give different noise,
// so that the mean differs from the worst value.
func TestSeedsRepeatAndDiffer(t *testing.T) {
	l, _, _ := sample(1500)
	in := eval.Input{Settings: []settings.Settings{load(t), load(t, "ORIEL_EPSILON=0.5")}, Seeds: 3}
	first, err := json.Marshal(evaluate(t, in, l))
	if err != nil {
		t.Fatal(err)
	}
	r := evaluate(t, in, l)
	if second, _ := json.Marshal(r); string(first) != string(second) {
		t.Error("two calls differ")
	}
	if row := r.Rows[0]; !(row.Loss.Worst > row.Loss.Mean) || !(row.AUC.Worst < row.AUC.Mean) {
		t.Errorf("worst of three seeds %v", row.Loss)
	}
	if !(r.Rows[1].Loss.Mean > r.Rows[0].Loss.Mean) || r.Rows[2].Kind != KindReference || len(r.Rows) != 4 {
		t.Errorf("%d rows; ε = 0.5 loses %g, ε = 4 %g", len(r.Rows), r.Rows[1].Loss.Mean, r.Rows[0].Loss.Mean)
	}
}

// TestNullEventsTakeTheirPlace checks that null events are counted by reason and are not scored.
func TestNullEventsTakeTheirPlace(t *testing.T) {
	l, _, _ := sample(300)
	l[7], l[20], l[21] = `{"features":[1,2],"label":1}`, `{"features":[1,2,3],"label":7}`, `{"features":[1,2],"label":1}`
	r := evaluate(t, eval.Input{Settings: []settings.Settings{load(t)}}, l)
	if r.Events != 297 || r.Null != 3 || r.Reasons["wrong_dimension"] != 2 || r.Reasons["label_range"] != 1 {
		t.Errorf("%d events, %d null: %v", r.Events, r.Null, r.Reasons)
	}
	var said strings.Builder
	if err := r.Print(&said); err != nil || !strings.Contains(said.String(),
		"(wrong_dimension 2, label_range 1); the first is offset 7 of partition 0: features: wrong_dimension: a dense vector has") ||
		!strings.Contains(said.String(), "outside the guarantee") {
		t.Errorf("%v: %s", err, said.String())
	}
	for text, i := range map[string]eval.Item{
		"line 8": {
			Place: eval.Place{Unit: "line", Number: 8}, Record: records.Record{Public: records.Public{Offset: 3}},
		},
		"offset 3 of partition 2": {Stream: 2, Record: records.Record{Public: records.Public{Offset: 3}}},
	} {
		if i.String() != text {
			t.Errorf("%v, want %s", i, text)
		}
	}
	if _, err := New(t.Context(), eval.Input{Settings: []settings.Settings{load(t)}, Seeds: 1},
		lines{"x"}, Options{}); err == nil {
		t.Error("nothing is scored, and nothing said")
	}
}

// TestEveryLossHasItsFigures checks which figures a report has for classes, for numeric targets, and for other losses.
func TestEveryLossHasItsFigures(t *testing.T) {
	rng := rand.New(rand.NewPCG(4, 4))
	targets, costs := lines{}, lines{}
	for range 3000 {
		a, b := rng.Float64(), rng.NormFloat64()
		targets = append(targets, fmt.Sprintf(`{"features":[1,%v,0],"label":%v}`, a, 2*a+0.1*b))
		costs = append(costs, fmt.Sprintf(`{"relatives":[%v,1,1]}`, 1+0.1*a))
	}
	l, _, _ := sample(3000)
	f := func(source lines, more ...string) Row {
		return evaluate(t, eval.Input{Settings: []settings.Settings{load(t, more...)}}, source).Rows[1]
	}
	known := func(x ...Figure) (all string) {
		for _, f := range x {
			all += map[bool]string{true: "-", false: "+"}[math.IsNaN(float64(f.Mean))]
		}
		return all
	}
	for _, c := range []struct {
		row  Row
		want string
	}{
		{f(l), "++++--"},
		{f(l, "ORIEL_LOSS=hinge"), "+++---"},
		{f(targets, "ORIEL_LOSS=squared"), "----+-"},
		{f(targets, "ORIEL_LOSS=absolute"), "-----+"},
		{f(targets, "ORIEL_LOSS=quantile", "ORIEL_QUANTILE=0.9"), "-----+"},
		{f(costs, "ORIEL_LOSS=portfolio", "ORIEL_SET=simplex", "ORIEL_RADIUS=1"), "------"},
	} {
		if got := known(c.row.AUC, c.row.LateAUC, c.row.Accuracy, c.row.ECE, c.row.R2, c.row.Coverage); got != c.want {
			t.Errorf("%s: figures %s, want %s", c.row.Name, got, c.want)
		}
	}
	if r2 := f(targets, "ORIEL_LOSS=squared").R2.Mean; r2 < 0.7 || r2 > 1 {
		t.Errorf("R² of a line: %g", r2)
	}
	if share := f(targets, "ORIEL_LOSS=absolute").Coverage.Mean; math.Abs(float64(share)-0.5) > 0.06 {
		t.Errorf("half of the labels are below the median: %g", share)
	}
	threshold := lines{}
	for range 3000 {
		threshold = append(threshold, fmt.Sprintf(`{"label":%v}`, rng.Float64()))
	}
	if share := f(threshold, "ORIEL_LOSS=quantile", "ORIEL_QUANTILE=0.9", "ORIEL_DIMENSION=1",
		"ORIEL_START_REGULARIZER=20",
		"ORIEL_STRONG_CONVEXITY=1e-6").Coverage.Mean; math.Abs(float64(share)-0.9) > 0.03 {
		t.Errorf("nine of ten labels are below the threshold: %g", share)
	}
}

// TestWealthIsCounted checks that the uniform portfolio, the last row, has the logarithm of wealth that plain
// multiplication gives. A learner must have more wealth. The table must show wealth in place of a loss near 0.
func TestWealthIsCounted(t *testing.T) {
	rng := rand.New(rand.NewPCG(6, 6))
	events, wealth := lines{}, 1.0
	for range 2000 {
		r := [3]float64{1 + 0.02*rng.Float64(), 1, 0.98 + 0.02*rng.Float64()}
		wealth *= (r[0] + r[1] + r[2]) / 3
		events = append(events, fmt.Sprintf(`{"relatives":[%v,%v,%v]}`, r[0], r[1], r[2]))
	}
	s := load(t, "ORIEL_LOSS=portfolio", "ORIEL_SET=simplex", "ORIEL_RADIUS=1", "ORIEL_STRONG_CONVEXITY=1e-4")
	r := evaluate(t, eval.Input{Settings: []settings.Settings{s}}, events)
	bare, base := r.Rows[1], r.Rows[2]
	if got := float64(base.Wealth.Mean); base.Name != "uniform portfolio" || math.Abs(got-math.Log(wealth)) > 1e-9 {
		t.Errorf("%s: log wealth %g, want %g", base.Name, got, math.Log(wealth))
	}
	if got := float64(bare.Wealth.Mean); !(got > math.Log(wealth)+5) {
		t.Errorf("log wealth %g without noise, %g evenly", got, math.Log(wealth))
	}
	var table strings.Builder
	if err := r.Print(&table); err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{
		"log wealth", "uniform portfolio: all wealth spread evenly", strconv.FormatFloat(math.Log(wealth), 'f', 3, 64),
	} {
		if !strings.Contains(table.String(), text) {
			t.Errorf("%q is not said: %s", text, table.String())
		}
	}
	if strings.Contains(table.String(), " loss") || strings.Contains(table.String(), "base rate") {
		t.Errorf("a loss or a base rate: %s", table.String())
	}
}

// TestFirstDecisionIsNoBaseRate checks that the last row keeps the first decision if the loss predicts nothing.
func TestFirstDecisionIsNoBaseRate(t *testing.T) {
	events := lines{}
	for range 200 {
		events = append(events, `{"cost":[0.5,1,0]}`)
	}
	r := evaluate(t, eval.Input{Settings: []settings.Settings{
		load(t, "ORIEL_LOSS=linear", "ORIEL_SET=simplex", "ORIEL_RADIUS=1"),
	}}, events)
	if base := r.Rows[2]; base.Name != "first decision" || math.Abs(float64(base.Loss.Mean)-0.5) > 1e-9 {
		t.Errorf("%s: loss %g, want 0.5", base.Name, float64(base.Loss.Mean))
	}
}

// TestCalibrationIsOfBins checks the calibration error: it must be 0.25 for predictions of 0.75 that come true in half
// of the cases.
func TestCalibrationIsOfBins(t *testing.T) {
	s := score{rule: &operators.Score{Predicts: operators.LogOdds}}
	for i := range 100 {
		e := scoredEvent{}
		e.decoded.Weight, e.decoded.Label = 2, float64(2*(i%2)-1)
		s.add(i*Stretches/100, &e.decoded, 1, math.Log(3))
	}
	if got := s.calibration(); math.Abs(got-0.25) > 1e-12 {
		t.Errorf("calibration error %g", got)
	}
	if s.right != 100 || s.total().mean() != 0.5 {
		t.Errorf("right %g, mean loss by weight %g", s.right, s.total().mean())
	}
}
