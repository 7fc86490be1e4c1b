package aggregate

import (
	"encoding/json"
	"slices"
	"testing"

	"oriel/operators/aggregate/dimension"
	"oriel/schemas/event"
	"oriel/schemas/text"
)

// TestEntries checks that taking the canonical form of an entry twice changes nothing, and that cells are named in
// order.
func TestEntries(t *testing.T) {
	for text, want := range map[string]string{
		"carrier=UA|AA":      "carrier=UA|AA",
		" hour = 0:24.0:24 ": "hour=0:24:24",
		"x=-0:1:2":           "x=0:1:2",
		"ratio=a:b":          "ratio=a:b",
	} {
		got, ok := cellsEntry(text)
		if again, fine := cellsEntry(got); !ok || got != want || !fine || again != got {
			t.Errorf("%q becomes %q, %v", text, got, ok)
		}
	}
	for _, text := range []string{
		"", "a", "a=", "A=x|y", "a=x||y", "a=x|x", "a=1:0:3", "a=0:1:0", "a=0:1:1.5",
		"a=NaN:1:2", "a=0:1e13:2", "=x|y",
	} {
		if got, ok := cellsEntry(text); ok {
			t.Errorf("%q is taken, as %q", text, got)
		}
	}
	s := specification{dimensions: []dimension.Dimension{
		{Name: "a", Choices: []string{"x", "y"}},
		{Name: "b", From: 0, To: 1, Bins: 2},
	}, other: true}
	want := []string{"a=x,b=0:0.5", "a=x,b=0.5:1", "a=y,b=0:0.5", "a=y,b=0.5:1", "other"}
	if got := s.labels(); !slices.Equal(got, want) || len(got) != s.cells() {
		t.Errorf("cells %v, want %v", got, want)
	}
	if cell, ok := s.cell([]float64{1, 0.75}); cell != 3 || !ok {
		t.Errorf("the last cell is %d", cell)
	}
}

// TestDescriptorAndEvents checks that the descriptor names every number of a decision, and that the decoder makes the
// expected events from records.
func TestDescriptorAndEvents(t *testing.T) {
	c, _ := config(t, life(8, 1), "CELLS=carrier=UA|AA,hour=0:24:2", "VALUE=delay=0:10", "STATISTICS=count,mean",
		"MEMORIES=4,8", "ELSEWHERE=other",
		"INCREMENTS=true", "WEIGHT_MAX=3")
	var d struct {
		Cells, Statistics, Increments []string
		Views                         []struct{ Memory uint64 }
	}
	if err := json.Unmarshal(c.Descriptor(), &d); err != nil {
		t.Fatal(err)
	}
	if n := len(d.Cells) * len(d.Statistics) * len(d.Views); n != 20 || d.Views[1].Memory != 8 ||
		!slices.Equal(d.Increments, []string{"count", "sum"}) {
		t.Errorf("descriptor %s", c.Descriptor())
	}
	decoder, err := event.NewJSONDecoder(event.Config{
		Body: c.spec.body(), MaxBytes: 1000,
		Features: event.FeatureConfig{Norm: "none"},
	})
	if err != nil {
		t.Fatal(err)
	}
	for s, want := range map[string]int{
		`{"carrier":"AA","hour":13,"delay":5}`:            3,
		`{"carrier":"B6","hour":13,"delay":5}`:            4,
		`{"carrier":"AA","hour":24,"delay":5,"weight":2}`: 4,
		`{"hour":0,"carrier":"UA","delay":-1e300}`:        0,
	} {
		var e event.Event
		if code := decoder.Decode(&e, []byte(s)); code != text.OK {
			t.Fatalf("%s: %v", s, code)
		}
		if cell, ok := c.spec.cell(e.Numbers[:2]); cell != want || !ok {
			t.Errorf("%s: cell %d, want %d", s, cell, want)
		}
	}
}

// FuzzEntries checks that each accepted entry has a canonical form with the same meaning.
func FuzzEntries(f *testing.F) {
	for _, text := range []string{"carrier=UA|AA", "hour=0:24:24", "a=1:2", "x=-1e9:1e9:7"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		got, ok := cellsEntry(text)
		if !ok {
			return
		}
		one, _ := dimension.Parse(text)
		two, fine := dimension.Parse(got)
		if !fine || one.Name != two.Name || one.From != two.From || one.To != two.To || one.Bins != two.Bins ||
			!slices.Equal(one.Choices, two.Choices) {
			t.Errorf("%q: %+v, %q: %+v", text, one, got, two)
		}
	})
}
