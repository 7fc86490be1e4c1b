package experiment

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"oriel/cmd/internal/digits"
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

// assigned returns events of three arms with these rates of conversion. Every hundredth event is invalid.
func assigned(n int, rates ...float64) (l lines) {
	random := rand.New(rand.NewPCG(4, 31))
	for i := range n {
		arm, paid := []int{0, 0, 1, 2}[random.IntN(4)], 0
		if random.Float64() < rates[arm] {
			paid = 1
		}
		if i%100 == 77 {
			l = append(l, `{"variant":"A"}`)
			continue
		}
		l = append(l, fmt.Sprintf(`{"variant":"%c","paid":%d}`, "ABC"[arm], paid))
	}
	return l
}

func experimentOf(t *testing.T, events lines, env ...string) (*Report, error) {
	t.Helper()
	s, err := settings.Load(append([]string{
		"ORIEL_OPERATOR=aggregate", "ORIEL_CELLS=variant=A|B|C", "ORIEL_VALUE=paid=0:1", "ORIEL_STATISTICS=count,mean",
		"ORIEL_ARMS=variant", "ORIEL_PROPENSITIES=0.5|0.25|0.25", "ORIEL_ALWAYS_VALID=0.05", "ORIEL_NEAR=0.3",
		"ORIEL_TARGET=4000", "ORIEL_UNITS=single", "ORIEL_EPSILON=8", "ORIEL_DELTA=1e-6", "ORIEL_MECHANISM=blt",
		"ORIEL_WINDOW=lifetime", "ORIEL_MEMORY=256", "ORIEL_BATCH=50",
	}, env...), settings.Events, settings.Operator)
	if err != nil {
		t.Fatal(err)
	}
	return New(t.Context(), eval.Input{Settings: []settings.Settings{s}, Seeds: 2}, events)
}

// TestExperimentAgreesWithTheTruth checks that a better arm is found and an equal one is not. The test counts the true
// effect from the events. Without privacy the band must be the mixture sequence for the variance, and the analyst who
// peeks must have the result of a plain test at each look.
func TestExperimentAgreesWithTheTruth(t *testing.T) {
	const skipped = 3 * 50 // number of events before the experiment
	events := assigned(8000, 0.3, 0.5, 0.3)
	r, err := experimentOf(t, events, "ORIEL_EXPERIMENT_STEP=4")
	if err != nil {
		t.Fatal(err)
	}
	if r.Events != 8000 || r.Null != 80 || r.Control != "A" || r.Outcome != "paid" || len(r.Rows[0].Arms) != 2 {
		t.Fatalf("%+v", r)
	}
	var counts, paid [3]float64
	first, back := [3]float64{}, [3]int{}
	for i, e := range events[skipped:] {
		arm := strings.IndexByte("ABC", e[12])
		if strings.Contains(e, "paid") {
			counts[arm]++
			paid[arm] += float64(e[len(e)-2] - '0')
		}
		n := float64(i + 1)
		if (i+1)%50 > 0 || n < 1000 {
			continue
		}
		for k := 1; k < 3; k++ {
			p, q := paid[k]/counts[k], paid[0]/counts[0]
			z := (p - q) / math.Sqrt(p*(1-p)/counts[k]+q*(1-q)/counts[0])
			switch {
			case math.Abs(z) > 1.959964 && first[k] == 0:
				first[k] = n
			case math.Abs(z) <= 1.959964 && first[k] > 0:
				back[k]++
			}
		}
	}
	for k, a := range r.Rows[0].Arms {
		k++
		p, q := paid[k]/counts[k], paid[0]/counts[0]
		if math.Abs(float64(a.Truth)-(p-q)) > 1e-12 {
			t.Errorf("%s: the truth %g is %g", a.Arm, a.Truth, p-q)
		}
		peeked := first[k] > 0
		if a.Peeking.FoundAfter != digits.Number(first[k]) && peeked || a.Back != back[k] || peeked != a.Peeking.FoundAfter.Known() {
			t.Errorf("%s: peeking finds it after %g, and loses it at %d looks; want %g and %d", a.Arm, a.Peeking.FoundAfter, a.Back,
				first[k], back[k])
		}
		// The variance is v = E[(y − m)²|k]/π_k + E[(y − m)²|0]/π_0, with A = t/v and r = A(target)/(2 ln(1/α) + ln(1 + 2
		// ln(1/α))). Each of the two arms has α/2.
		v, n := 4*(p*(1-p)+(p-0.3)*(p-0.3))+2*(q*(1-q)+(q-0.3)*(q-0.3)), 8000.-skipped
		most := 2 * math.Log(2/0.05)
		information, mixing := n/v, 4000/v/(most+math.Log(1+most))
		want := math.Sqrt((information+mixing)*(math.Log((information+mixing)/mixing)+most)) / information
		got := float64(a.WithoutNoise.High-a.WithoutNoise.Low) / 2
		if got < want*(1-1e-3) || got > want*1.1 { // v is estimated over both arms, and rounded up to a grid
			t.Errorf("%s: without privacy ± %g, want %g", a.Arm, got, want)
		}
		private := float64(a.Private.High-a.Private.Low) / 2
		if private < got*(1-0.03) || private > 2*got || math.Abs(float64(a.Private.Effect-a.WithoutNoise.Effect)) > private {
			t.Errorf("%s: %+v beside %+v", a.Arm, a.Private, a.WithoutNoise)
		}
		if found := k == 1; found != (a.Found == 2) || found != a.Private.FoundAfter.Known() ||
			found != a.WithoutNoise.FoundAfter.Known() || a.Unfit > 0 {
			t.Errorf("%+v", a)
		}
		if a.Private.FoundAfter > 3000 || a.WithoutNoise.FoundAfter > 3000 { // the effect, 0.2, is seven standard errors
			t.Errorf("%s is found late: %+v", a.Arm, a)
		}
	}
	var said strings.Builder
	if err := r.Print(&said); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"not shown", "2 of 2", "0 of 2", "without privacy", "no test", "data's owner",
		"null events, which count in no arm: 80",
	} {
		if !strings.Contains(said.String(), want) {
			t.Errorf("%q is not said: %s", want, said.String())
		}
	}
	drawn, err := r.Slide().SVG()
	if err != nil || !strings.Contains(string(drawn), "effect on the mean paid, against A") {
		t.Errorf("the slide: %v", err)
	}
}

// TestExperimentsInTurnAgreeWithTheTruth checks that each experiment of a stream has a result of its own, whose events,
// effect and verdict come only from the experiment's own steps.
func TestExperimentsInTurnAgreeWithTheTruth(t *testing.T) {
	events := append(assigned(4000, 0.3, 0.5, 0.3), assigned(4000, 0.3, 0.3, 0.5)...)
	r, err := experimentOf(t, events, "ORIEL_EXPERIMENT_STEP=1,81")
	if err != nil {
		t.Fatal(err)
	}
	arms := r.Rows[0].Arms
	if len(arms) != 4 {
		t.Fatalf("%+v", arms)
	}
	for i, a := range arms {
		number, better := i/2+1, i == 0 || i == 3
		if a.Number != number || (a.Found == 2) != better || (a.Truth > 0.15) != better {
			t.Errorf("%+v: want experiment %d, better %v", a, number, better)
		}
	}
	var text strings.Builder
	if err := r.Print(&text); err != nil || !strings.Contains(text.String(), "C, experiment 2") {
		t.Errorf("%v: %s", err, text.String())
	}
	slide := r.Slide()
	texts := figuretest.Texts(t, slide)
	if !slices.Contains(texts, "experiment 1, ε = 8, blt") || !slices.Contains(texts, "experiment 2, ε = 8, blt") {
		t.Errorf("the picture has %q", texts)
	}
	figuretest.Legible(t, slide)
	second := slide.Below[0].Left.(*figure.Chart).Lines // the verdict of the second experiment is about its other arm
	if last := second[1].Points; last[len(last)-1].Y < 0.15 || second[1].End != "C" {
		t.Errorf("the second experiment's effects: %+v", last[len(last)-1])
	}
}

// TestExperimentsWithoutAVerdict covers two cases: arms that do not have the configured probabilities get no verdict,
// and too few events give no look.
func TestExperimentsWithoutAVerdict(t *testing.T) {
	r, err := experimentOf(t, assigned(2000, 0.1, 0.9, 0.1), "ORIEL_PROPENSITIES=0.2|0.4|0.4")
	if err != nil {
		t.Fatal(err)
	}
	if a := r.Rows[0].Arms[0]; a.Unfit != 2 || a.Found != 0 {
		t.Errorf("%+v", a)
	}
	var said strings.Builder
	if err := r.Print(&said); err != nil || !strings.Contains(said.String(), "arms do not fit") {
		t.Errorf("%v: %s", err, said.String())
	}
	_, err = experimentOf(t, assigned(900, 0.1, 0.1, 0.1))
	if err == nil || !strings.Contains(err.Error(), "no look: 900 events") {
		t.Error(err)
	}
}

// TestPathsAreThinned checks that a path keeps every 2^k-th look, and that all subjects with the same looks keep the
// same ones.
func TestPathsAreThinned(t *testing.T) {
	x := trial{every: 1}
	var all []float64
	for k := range 5000 {
		x.keep(point{events: float64(k)})
		all = append(all, float64(k))
		every := 1
		for (len(all)+every-1)/every > mostPoints {
			every *= 2
		}
		if k%61 > 0 {
			continue
		}
		var got, want []float64
		for _, p := range x.path {
			got = append(got, p.events)
		}
		for i := 0; i < len(all); i += every {
			want = append(want, all[i])
		}
		if !slices.Equal(got, want) {
			t.Fatalf("after %d looks: %d, want %d", k+1, len(got), len(want))
		}
	}
}
