package plan

import (
	"encoding/json"
	"testing"
)

// wireNumbers is the part of --json on which readers rely. It repeats the names of the members, so that a changed name
// fails the test.
type wireNumbers struct {
	Level   float64          `json:"level"`
	Cells   int              `json:"cells"`
	Counted string           `json:"counted"`
	Value   string           `json:"value"`
	Views   []wireView       `json:"views"`
	Ratios  []map[string]any `json:"ratios"`
	Sums    []struct {
		Steps uint64     `json:"steps"`
		Count wireSpread `json:"count"`
		Sum   wireSpread `json:"sum"`
	} `json:"increments"`
}

type wireView struct {
	Mechanism   string     `json:"mechanism"`
	Configured  bool       `json:"configured"`
	Window      uint64     `json:"window_steps"`
	View        string     `json:"view"`
	Memory      uint64     `json:"memory_steps"`
	Steps       uint64     `json:"steps,omitempty"`
	Events      *float64   `json:"events"`
	CellEvents  *float64   `json:"events_of_a_cell"`
	Deviation   float64    `json:"deviation"`
	Count       wireSpread `json:"count"`
	Sum         wireSpread `json:"sum"`
	ShownFrom   *float64   `json:"ratios_shown_from"`
	OverOptimum *float64   `json:"variance_over_optimum"`
}

type wireSpread struct {
	Deviation *float64    `json:"deviation"`
	Half      *float64    `json:"half_width"`
	Worst     *float64    `json:"worst_half_width"`
	Window    *[2]float64 `json:"interval,omitempty"` // of whole numbers
}

func TestNumbersAsJSON(t *testing.T) {
	r := numbersOf(t, "ORIEL_INCREMENTS=true", "ORIEL_BATCH=1000")
	data, err := json.Marshal(r.Numbers)
	if err != nil {
		t.Fatal(err)
	}
	var wire wireNumbers
	strict(t, data, &wire)
	v := wire.Views[0]
	if v.Events == nil || *v.Events != 64000 || v.Count.Half == nil || v.Sum.Worst == nil || v.Deviation <= 0 {
		t.Errorf("JSON: %s", data)
	}
	if total := wire.Views[1]; total.Events != nil || total.Memory != 0 || total.Configured {
		t.Errorf("a total of ever more events: %+v", total)
	}
	for _, name := range []string{"view", "statistic", "events", "half_width", "half_width_at_ends"} {
		if _, ok := wire.Ratios[0][name]; !ok {
			t.Errorf("no %s in %v", name, wire.Ratios[0])
		}
	}
}
