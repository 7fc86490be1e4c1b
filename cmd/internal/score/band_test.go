package score

import (
	"testing"
	"time"

	"oriel/schemas/decision"
	"oriel/schemas/event"
)

// TestAnswersHaveTheBand checks that answers contain the band if the decision has one, and that the bytes of other
// answers are unchanged.
func TestAnswersHaveTheBand(t *testing.T) {
	member := func(name, json string) decision.ExtraMember { return decision.ExtraMember{Name: name, JSON: json} }
	members := func(low, high string) []decision.ExtraMember {
		return []decision.ExtraMember{
			member("memory", "64"), member("band_low", low), member("band_high", high), member("band_level", "0.9"),
			member("band_error_most", "0.01"),
		}
	}
	answer := func(predicts string, members []decision.ExtraMember) string {
		b, err := BandOf(members)
		if err != nil {
			t.Fatal(err)
		}
		d := Descriptor{Predicts: predicts, Vector: Vector{Dimension: 1}}
		m := &Model{Stream: "s", Step: 3, Time: decision.NoTime, Weights: []float64{2}, Band: b}
		return string(d.AppendAnswer(nil, m, event.Vector{Values: []float64{1}}, time.Time{}))
	}
	for _, x := range []struct {
		predicts string
		members  []decision.ExtraMember
		want     string
	}{
		{"mean", nil, `{"stream":"s","step":3,"predicts":"mean","score":2,"deviation":null}`},
		{
			"mean", members("-1.5", "4"),
			`{"stream":"s","step":3,"predicts":"mean","score":2,"deviation":null,"band":[0.5,6],"band_level":0.9}`,
		},
		{
			LogOdds, members("0", "0.5"),
			`{"stream":"s","step":3,"predicts":"probability","score":0.8807970779778823,"deviation":null,"log_odds":2,` +
				`"log_odds_deviation":null,"labels":[1],"band_level":0.9}`,
		},
		{
			LogOdds, members("0", "0.9"),
			`{"stream":"s","step":3,"predicts":"probability","score":0.8807970779778823,"deviation":null,"log_odds":2,` +
				`"log_odds_deviation":null,"labels":[-1,1],"band_level":0.9}`,
		},
	} {
		if got := answer(x.predicts, x.members); got != x.want {
			t.Errorf("%s: %s, want %s", x.predicts, got, x.want)
		}
	}
	if _, err := BandOf(members("-1", `"x"`)); err == nil {
		t.Error("a band that is no number is taken")
	}
}
