package page

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"oriel/cmd/internal/score"
	"oriel/pipeline/notice"
	"oriel/schemas/decision"
)

// TestBandsInWords checks that the page states the range that labels are expected in, the level, and the bound on the
// level, in one text, and no member twice. A bound that allows every share must not be shown as a bound.
func TestBandsInWords(t *testing.T) {
	for _, c := range []struct {
		predicts       string
		low, high, err float64
		want, never    string
	}{
		{"mean", -41.25, 77.5, 0.00401, "A band from prediction − 41.25 to prediction + 77.5 must hold the labels of 90 % of all", "set"},
		{"quantile", 3, 77.5, 0.00401, "from 90 % by at most 0.401 percentage points, whatever", "too few"},
		{"mean", 3, 77.5, 0.9, "from prediction + 3 to prediction + 77.5 must hold the labels of 90 % of all", "at most"},
		{"mean", -1, 1, 0.95, "There are too few events yet to bound the share that was within. This is not", "at most"},
		{"mean", -1, 1, 0.89, "differs from 90 % by at most 89 percentage points", "too few"},
		{score.LogOdds, 0, 0.75, 0.01, "It has each label to which the model gives a probability of at least 0.25.", "prediction"},
	} {
		m := newModel()
		m.page.about.Vectors.Predicts = c.predicts
		m.l.State(0, notice.Running)
		var extras []decision.Extra
		var values []decision.ExtraValue
		for i, name := range append([]string{"other"}, bandMembers...) {
			extras = append(extras, decision.Extra{Name: name, Kind: decision.ExtraNumber})
			values = append(values, decision.ExtraValue{Number: []float64{7, c.low, c.high, 0.9, c.err}[i]})
		}
		e := decision.NewEncoder(decision.Config{
			Stream: "0", Mechanism: "m", Window: 8, Batch: 1, Epsilon: 1, Adjacency: "replace", Unit: "event",
		}, extras)
		m.l.Published(0, e.Append(nil, 1, 1, []float64{1}, values))
		var frame struct{ Decisions []decided }
		if err := json.Unmarshal(m.page.nowFrame(), &frame); err != nil || len(frame.Decisions) != 1 {
			t.Fatal(err, frame)
		}
		d := frame.Decisions[0]
		if !strings.Contains(d.Band, c.want) || strings.Contains(d.Band, c.never) {
			t.Errorf("%+v: %s", c, d.Band)
		}
		if fmt.Sprint(d.Members) != "[{other 7}]" {
			t.Errorf("members beside the band: %v", d.Members)
		}
	}
}

// TestDecisionsOfTimeZeroHaveATime checks that the page shows the time of a decision whose events are at the very start
// of 1970, and none for a decision without a time.
func TestDecisionsOfTimeZeroHaveATime(t *testing.T) {
	for _, at := range []int64{0, decision.NoTime, 5} {
		m := newModel()
		m.l.State(0, notice.Running)
		e := decision.NewEncoder(decision.Config{
			Stream: "0", Mechanism: "m", Window: 8, Batch: 1, Epsilon: 1, Adjacency: "replace", Unit: "event",
		}, nil)
		m.l.Published(0, e.AppendTimed(nil, 1, 1, at, []float64{1}, nil))
		frame := string(m.page.nowFrame())
		has := strings.Contains(frame, fmt.Sprintf(`"until":%d,`, at))
		if has != (at >= 0) || strings.Contains(frame, `"until"`) != has {
			t.Errorf("time %d: %s", at, frame)
		}
	}
}
