package servedtest

import (
	"bytes"
	"fmt"
	"maps"
	"strings"
	"testing"

	"oriel/cmd/internal/servicetest"
	"oriel/mechanisms/mechtest/tiertest"
	"oriel/pipeline/kafka/records"
	"oriel/schemas/decision"
)

// TestSetsAreServed serves sets of places that cover events, and sets of elements that events reward, and kills the
// service in the middle. The sets must have the most wanted elements, no other contents of an event may appear, and
// published decisions must equal a replay of the input.
func TestSetsAreServed(t *testing.T) {
	for name, more := range map[string]map[string]string{
		"places": {
			"ORIEL_RULE": "histogram", "ORIEL_WINDOW": "lifetime", "ORIEL_MEMORY": "256", "ORIEL_MECHANISM": "blt",
		},
		"values": {
			"ORIEL_RULE": "argmax", "ORIEL_ELEMENTS": "6", "ORIEL_WINDOW": "256", "ORIEL_MECHANISM": "tree-gaussian",
		},
		"draws": {
			"ORIEL_RULE": "draws", "ORIEL_ELEMENTS": "6", "ORIEL_WINDOW": "horizon", "ORIEL_HORIZON": "2000",
			"ORIEL_MECHANISM": "draws", "ORIEL_EPSILON": "600",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			servesSets(t, more, tiertest.Runs(name == "values", true))
		})
	}
}

func servesSets(t *testing.T, more map[string]string, audits bool) {
	t.Helper()
	f := newFixture(t, 1, nil)
	for _, other := range []string{"LOSS", "DIMENSION", "UPDATE", "SET", "RADIUS", "STRONG_CONVEXITY", "CLIP"} {
		delete(f.Env, "ORIEL_"+other)
	}
	f.Env["ORIEL_OPERATOR"], f.Env["ORIEL_PICK"], f.Env["ORIEL_EPSILON"] = "submodular", "2", "60"
	f.Env["ORIEL_EMIT_EVERY"], f.Env["ORIEL_LOG_LEVEL"] = "1", "debug"
	maps.Copy(f.Env, more)
	histogram := more["ORIEL_RULE"] == "histogram"
	if histogram {
		f.Env["ORIEL_PLACES"] = servicetest.WriteFile(t, "places",
			[]byte("north:60:10\nsouth:-40:170\neast:35:139\nwest:37:-122\n"))
	}
	list := make([]records.Record, 640)
	for i := range list {
		best := 1 + i%2*2 // elements 1 and 3, that is south and west, in turn
		text := `{"place":"` + []string{"", "south", "", "west"}[best] + `"}`
		if !histogram {
			text = fmt.Sprintf(`{"values":{"indices":[0,%d],"values":[0.1,1.5]}}`, best)
		}
		if i%50 == 7 {
			text = `{"place":"` + servicetest.Canary + `","values":["` + servicetest.Canary + `"]}`
		}
		list[i] = records.Record{Key: []byte(servicetest.Canary), Value: []byte(text)}
	}
	decisions, shown := f.servedThroughKills(list)
	if audits {
		f.auditDoesNotRefute()
	}
	value := decisions[len(decisions)-1].Value
	last, err := decision.Parse(value)
	if err != nil {
		t.Fatal(err)
	}
	if p := last.Point; len(p) != 2 || p[0]+p[1] != 4 || p[0] != 1 && p[0] != 3 {
		t.Errorf("the last set is %v: %s", p, value)
	}
	if histogram && (!bytes.Contains(value, []byte(`"value":`)) || !strings.Contains(shown, "places=")) {
		t.Errorf("the last decision is %s, tail: %s", value, servicetest.EndOf(shown))
	}
	said := map[bool]string{true: "2 of 4 elements", false: "2 of 6 elements"}[histogram]
	if text := f.Must("plan"); !strings.Contains(text, said) {
		t.Errorf("plan: %s", text)
	}
}
