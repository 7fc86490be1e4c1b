package streams

import (
	"testing"

	"oriel/operators"
	"oriel/schemas/decision"
)

// TestRecordKeys checks that a decision has the same record key when it is published, and when it is read back and sent
// again.
func TestRecordKeys(t *testing.T) {
	opened := &Opened{
		extras: []decision.Extra{{Name: "score", Kind: decision.ExtraNumber}, {Name: "name", Kind: decision.ExtraText}},
		output: &operators.Output{Suffix: "actions", Key: "name"},
	}
	opened.keys = [DecisionTopics]int{opened.keyed(0), opened.keyed(1)}
	for name, want := range map[string]string{"call-7": "call-7", `a "b" \ é`: `a "b" \ é`, "": "3"} {
		s := &Stream{opened: opened, name: "3"}
		d := operators.Decision{
			Index: 1, Step: 1, Point: []float64{1}, Output: 1, Extras: []decision.ExtraValue{{Number: 2}, {Text: name}},
		}
		config := decision.Config{
			Stream: "3", Mechanism: "blt", Adjacency: "replace", Unit: "event", Epsilon: 1, Batch: 1,
		}
		line := decision.NewEncoder(config, opened.extras).Append(nil, d.Index, d.Step, d.Point, d.Extras)
		read, err := decision.Parse(line)
		if err != nil {
			t.Fatal(err)
		}
		if got, again := string(s.recordKey(d)), string(s.RecordKeyOf(1, read)); got != want || again != want {
			t.Errorf("%q: key %q, read back %q, want %q", name, got, again, want)
		}
		d.Output = 0
		if got, again := string(s.recordKey(d)), string(s.RecordKeyOf(0, read)); got != "3" || again != "3" {
			t.Errorf("first topic: key %q, read back %q", got, again)
		}
	}
}
