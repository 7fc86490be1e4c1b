package servedtest

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"oriel/cmd/internal/servicetest"
	"oriel/pipeline/kafka/records"
	"oriel/schemas/decision"
)

// TestSparseDecisionsAreServed serves flows through a grid that start as one path, through kills. Published decisions
// must equal a replay of the input, each must be a complete flow from the source, and the audit's reference model must
// start at the same path as the service.
func TestSparseDecisionsAreServed(t *testing.T) {
	f := newFixture(t, 1, nil)
	var edges strings.Builder
	for i := range 5 {
		for j := range 5 {
			if j < 4 {
				fmt.Fprintf(&edges, "%d.%d>%d.%d\n", i, j, i, j+1)
			}
			if i < 4 {
				fmt.Fprintf(&edges, "%d.%d>%d.%d\n", i, j, i+1, j)
			}
		}
	}
	for name, value := range map[string]string{
		"OPERATOR": "coco", "LOSS": "linear", "UPDATE": "llo", "CONSTANTS": "search", "FIRST": "vertex", "SET": "flow",
		"EDGES": servicetest.WriteFile(t, "edges", []byte(edges.String())), "RADIUS": "2", "DIMENSION": "40",
		"STRONG_CONVEXITY":  "0.01",
		"START_REGULARIZER": "10", "MECHANISM": "blt", "WINDOW": "64", "EPSILON": "60", "CLIP": "1", "DECISIONS": "sparse",
	} {
		f.Env["ORIEL_"+name] = value
	}
	list := make([]records.Record, 320)
	for i := range list {
		text := fmt.Sprintf(`{"cost":{"indices":[%d,%d],"values":[0.9,-0.5]}}`, i%40, (7*i+3)%40)
		if i%50 == 7 {
			text = `{"cost":"` + servicetest.Canary + `"}`
		}
		list[i] = records.Record{Key: []byte(servicetest.Canary), Value: []byte(text)}
	}
	decisions, shown := f.servedThroughKills(list)
	f.auditDoesNotRefute()
	for _, r := range decisions {
		d, err := decision.Parse(r.Value)
		if err != nil || d.Form != decision.Sparse || len(d.Point) != 40 || math.Abs(d.Point[0]+d.Point[1]-2) > 1e-9 {
			t.Fatalf("%v: %s", err, r.Value)
		}
	}
	if len(decisions) != len(list) || !strings.Contains(shown, " … 40 coordinates]") {
		t.Errorf("%d decisions, tail: %s", len(decisions), servicetest.EndOf(shown))
	}
}
