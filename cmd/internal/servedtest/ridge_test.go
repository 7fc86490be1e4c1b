package servedtest

import (
	"bytes"
	"fmt"
	"math"
	"strings"
	"testing"

	"oriel/cmd/internal/servicetest"
	"oriel/mechanisms/mechtest/tiertest"
	"oriel/pipeline/kafka/records"
	"oriel/schemas/decision"
)

// TestRidgeIsServed serves regression weights from private second moments and from residuals, over each kind of sum,
// and kills the service in the middle. The weights must be close to the true ones, no other contents of an event may
// appear, and published decisions must equal a replay of the input.
func TestRidgeIsServed(t *testing.T) {
	for name, more := range map[string]map[string]string{
		"moments for life": {
			"ORIEL_UPDATE": "moments", "ORIEL_WINDOW": "lifetime", "ORIEL_MEMORY": "256", "ORIEL_MECHANISM": "blt",
		},
		"innovation in a window": {
			"ORIEL_UPDATE": "innovation", "ORIEL_RESIDUAL_MAX": "60", "ORIEL_WINDOW": "256", "ORIEL_MECHANISM": "blt",
		},
		"moments in a tree": {"ORIEL_UPDATE": "moments", "ORIEL_WINDOW": "64", "ORIEL_MECHANISM": "tree-gaussian"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			servesRidge(t, more, tiertest.Runs(name == "moments in a tree", true))
		})
	}
}

func servesRidge(t *testing.T, more map[string]string, audits bool) {
	t.Helper()
	const whole = 640
	f := newFixture(t, 1, nil)
	for _, other := range []string{"LOSS", "SET", "RADIUS", "STRONG_CONVEXITY", "CLIP"} {
		delete(f.Env, "ORIEL_"+other)
	}
	f.Env["ORIEL_OPERATOR"], f.Env["ORIEL_LABEL_RANGE"], f.Env["ORIEL_EPSILON"] = "ridge", "-60:180", "60"
	f.Env["ORIEL_EMIT_EVERY"], f.Env["ORIEL_LOG_LEVEL"] = "1", "debug"
	for key, value := range more {
		f.Env[key] = value
	}
	list := make([]records.Record, whole)
	for i := range list {
		x := float64(i%7)/3 - 1
		list[i] = records.Record{
			Key: []byte(servicetest.Canary),
			Value: fmt.Appendf(nil, `{"features":[%g,0.5,0,0,0,0,0,0],"label":%g,"weight":%g}`, x/2, 60+80*x,
				0.5+float64(i%2)),
		}
		if i%50 == 7 {
			list[i].Value = []byte(`{"features":["` + servicetest.Canary + `"],"label":1}`)
		}
	}
	decisions, shown := f.servedThroughKills(list)
	if audits {
		f.auditDoesNotRefute()
	}
	if !strings.Contains(shown, "residual_deviation=") {
		t.Errorf("tail: %s", servicetest.EndOf(shown))
	}
	last, err := decision.Parse(decisions[len(decisions)-1].Value)
	if err != nil {
		t.Fatal(err)
	}
	// The true weight of the first feature is 160. The regulariser and the shift shrink it at most by half at this ε.
	if w := last.Point[0]; !(w > 40 && w < 240) || math.Abs(last.Point[5]) > 60 {
		t.Errorf("weights %v", last.Point)
	}
	for _, text := range []string{`"deviation":[`, `"offset":60,`, `"residual_deviation":`, `"doublings":0`} {
		if !bytes.Contains(decisions[len(decisions)-1].Value, []byte(text)) {
			t.Errorf("the last decision does not say %s: %s", text, decisions[len(decisions)-1].Value)
		}
	}
	if text := f.Must("plan"); !strings.Contains(text, "second moments of rows (x; s·y)") {
		t.Errorf("plan: %s", text)
	}
}
