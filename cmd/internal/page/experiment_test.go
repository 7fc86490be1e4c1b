package page

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"oriel/operators"
	"oriel/pipeline/notice"
	"oriel/schemas/decision"
)

// tested is an experiment of three arms with steps of one event.
var tested = &operators.Experiment{
	Arms: []string{"A", "B", "C"}, Alpha: 0.05, Outcome: "paid", High: 1, Target: 5000, First: 1, Looks: 1000, Lift: true,
}

// find publishes a decision of the experiment.
func (m *model) find(id int32, events float64, verdict string, stop float64, effects []float64) {
	around := func(by float64) (list []float64) {
		for _, x := range effects {
			list = append(list, x+by)
		}
		return list
	}
	var extras []decision.Extra
	var values []decision.ExtraValue
	add := func(kind decision.ExtraKind, name string, v decision.ExtraValue) {
		extras, values = append(extras, decision.Extra{Name: name, Kind: kind}), append(values, v)
	}
	for name, list := range map[string][]float64{
		"effect": effects, "effect_low": around(-0.01), "effect_high": around(0.01), "effect_e": {3, 4},
		"effect_p": {0.3, 0.2},
		"lift":     {1.1, 1.2}, "lift_low": {1, 1.1}, "lift_high": {1.3, math.MaxFloat64},
		"arm_mean": {0.1, 0.11, 0.12}, "arm_mean_low": {0, 0, 0}, "arm_mean_high": {1, 1, 1},
	} {
		add(decision.ExtraNumbers, name, decision.ExtraValue{Numbers: list})
	}
	for name, x := range map[string]float64{
		"stop_allowed": stop, "balance_e": 0.4, "looks": events, "recent": 0.48, "other": 7,
		"experiment": 1, "experiment_step": 1,
	} {
		add(decision.ExtraNumber, name, decision.ExtraValue{Number: x})
	}
	add(decision.ExtraText, "verdict", decision.ExtraValue{Text: verdict})
	e := decision.NewEncoder(decision.Config{
		Stream: fmt.Sprint(id), Mechanism: "m", Window: 8, Batch: 1, Epsilon: 1, Adjacency: "replace", Unit: "event",
	}, extras)
	m.l.Published(id, e.Append(nil, uint64(events), uint64(events), []float64{1}, values))
}

// TestVerdictsInWords checks the text for each state of an experiment. It must say what was found and whether to stop.
// It must never claim that there is no difference, and must show no number before the first look.
func TestVerdictsInWords(t *testing.T) {
	m := newModel()
	m.page.about.Experiment = tested
	m.l.State(0, notice.Running)
	for _, c := range []struct {
		events  float64
		verdict string
		stop    float64
		state   string
		says    string
		then    string
	}{
		{999, "not shown", 0, "early", "Too early to say: the first look has 1000 events.", ""},
		{1000, "not shown", 1, "open", "Not shown: no arm has been found better than A so far.", "does not say that"},
		{2000, "C better", 1, "found", "C is better than A.", "never take the verdict back"},
		{3000, "B better, C better", 1, "found", "B and C are better than A.", "You may stop"},
		{4000, "arms are not drawn as the settings say", 0, "unfit", "No verdict: arms are not", "Use none of the numbers"},
	} {
		m.find(0, c.events, c.verdict, c.stop, []float64{0.01, 0.02})
		var frame struct{ Decisions []decided }
		if err := json.Unmarshal(m.page.nowFrame(), &frame); err != nil || len(frame.Decisions) != 1 {
			t.Fatal(err, frame)
		}
		d := frame.Decisions[0]
		x := d.Experiment
		if x.State != c.state || !strings.HasPrefix(x.Says, c.says) || !strings.Contains(strings.Join(x.Then, " "), c.then) {
			t.Errorf("%g events, %s: %+v", c.events, c.verdict, x)
		}
		if names := fmt.Sprint(d.Members); names != "[{other 7}]" {
			t.Errorf("members beside those in words: %s", names)
		}
		for k, a := range x.Arms {
			better := strings.Contains(c.verdict, a.Name+" better")
			if a.Name != tested.Arms[k] || a.Better != better {
				t.Errorf("%s: arm %+v", c.verdict, a)
			}
		}
		want := fmt.Sprintf(`{"name":"C","better":%t,"effect":[0.02,0.01,0.03],"lift":[1.2,1.1,null],"mean":[0.12,0,1],"e":4,"p":0.2}`,
			strings.Contains(c.verdict, "C better"))
		if c.state == "early" {
			want = `{"name":"C","better":false,"effect":[null,null,null],"lift":[null,null,null],"mean":[null,null,null],"e":null,"p":null}`
		}
		var raw struct {
			Decisions []struct {
				Experiment struct{ Arms []json.RawMessage }
			}
		}
		if err := json.Unmarshal(m.page.nowFrame(), &raw); err != nil || string(raw.Decisions[0].Experiment.Arms[2]) != want {
			t.Errorf("%s: %s, want %s", c.verdict, raw.Decisions[0].Experiment.Arms[2], want)
		}
	}
	text := newAboutExperiment(tested).Reads
	if !strings.Contains(text, "probability 95 %") || !strings.Contains(text, "mean paid of A") {
		t.Error(text)
	}
}

// TestEffectsSpanTheExperiment compares effects with a history that keeps all looks. Every 2^k-th look must be kept, at
// most mostEffects of them, and none of another partition.
func TestEffectsSpanTheExperiment(t *testing.T) {
	m := newModel()
	m.page.about.Experiment = tested
	m.l.State(0, notice.Running)
	var all []float64
	for k := range 1500 {
		events := 900 + 10*float64(k)
		m.find(0, events, "not shown", 1, []float64{events / 1e5, events / 5e4})
		m.page.sample(m.at)
		if k%3 == 0 {
			m.page.sample(m.at) // a sample without a new decision
		}
		if events < tested.Looks {
			continue
		}
		all = append(all, events)
		every := 1
		for (len(all)+every-1)/every > mostEffects {
			every *= 2
		}
		if k%7 > 0 {
			continue
		}
		var want []float64
		for i := 0; i < len(all); i += every {
			want = append(want, all[i])
		}
		var got effectsFrame
		if err := json.Unmarshal(m.page.effectsFrame(0, 2), &got); err != nil || !slices.Equal(got.Events, want) {
			t.Fatalf("after %d looks: %d, want %d: %v", len(all), len(got.Events), len(want), err)
		}
		last := len(want) - 1
		if math.Abs(float64(got.Value[last])-want[last]/5e4) > 1e-6 || !(got.Low[last] < got.Value[last]) ||
			!(got.Value[last] < got.High[last]) {
			t.Fatalf("at %g: %g from %g to %g", want[last], got.Value[last], got.Low[last], got.High[last])
		}
	}
	// The next experiment of the stream must have a history of its own.
	m.page.partitions[0].effects.add(&experiment{Number: 2, State: "open", Events: 1000, Arms: make([]arm, 3)})
	if got := string(m.page.effectsFrame(0, 2)); got != `{"events":[1000],"value":[0],"low":[0],"high":[0]}` {
		t.Errorf("experiment 2: %s", got)
	}
	const none = `{"events":[],"value":[],"low":[],"high":[]}`
	for _, text := range [][]byte{m.page.effectsFrame(1, 1), m.page.effectsFrame(0, 0), m.page.effectsFrame(0, 3)} {
		if string(text) != none {
			t.Errorf("%s", text)
		}
	}
}
