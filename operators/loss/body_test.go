package loss

import (
	"fmt"
	"math"
	"testing"

	"oriel/schemas/event"
	"oriel/schemas/text"
)

// TestEveryLossTakesTheEventsOfItsBody checks that every event that the decoder accepts has a gradient.
func TestEveryLossTakesTheEventsOfItsBody(t *testing.T) {
	for _, name := range Names() {
		body, known := Body(name, 2)
		if !known {
			t.Fatalf("%s has no body", name)
		}
		vector, _ := body.Vector()
		value := fmt.Sprintf(`{%q:[0.5,2],"weight":0.5`, vector.Name)
		if label, some := body.Label(); some {
			value += fmt.Sprintf(`,%q:1`, label.Name)
		}
		d, err := event.NewJSONDecoder(event.Config{
			Body: body, Dimension: 2, MaxBytes: 100, Features: event.FeatureConfig{Norm: "none"},
		})
		if err != nil {
			t.Fatal(err)
		}
		var e event.Event
		if code := d.Decode(&e, []byte(value+"}")); code != text.OK || e.Weight != 0.5 {
			t.Fatalf("%s: %s: %v", name, value, code)
		}
		if !mustParse(t, name).Gradient(make([]float64, 2), []float64{0.5, 0.5}, e) {
			t.Errorf("%s: no gradient of %s", name, value)
		}
	}
	if _, known := Body("log", 2); known {
		t.Error("a loss that there is not has a body")
	}
}

// TestAThresholdTakesEventsWithOnlyALabel checks that in one dimension the quantile loss needs only a label, and also
// accepts a feature.
func TestAThresholdTakesEventsWithOnlyALabel(t *testing.T) {
	body, _ := Body("quantile", 1)
	d, err := event.NewJSONDecoder(event.Config{
		Body: body, Dimension: 1, MaxBytes: 100, Features: event.FeatureConfig{Norm: "unit"},
	})
	if err != nil {
		t.Fatal(err)
	}
	gradient := make([]float64, 1)
	for value, want := range map[string]float64{
		`{"label":7}`: -0.9, `{"label":-7,"weight":2}`: 0.2, `{"features":[1],"label":7}`: -0.9, `{"features":[0.5],"label":7}`: -0.45,
	} {
		var e event.Event
		if code := d.Decode(&e, []byte(value)); code != text.OK {
			t.Fatalf("%s: %v", value, code)
		}
		if !mustParse(t, "quantile").Gradient(gradient, []float64{0.5}, e) || math.Abs(gradient[0]-want) > 1e-15 {
			t.Errorf("%s: gradient %g, want %g", value, gradient[0], want)
		}
	}
	for value, want := range map[string]text.Code{
		`{"weight":1}`: text.MissingMember, `{"label":"7"}`: text.WrongType, `{"label":true}`: text.WrongType,
		`{"label":1,"weight":-1}`: text.WeightRange, `{"label":1,"value":1}`: text.UnknownName, `{"features":[1,2],"label":1}`: text.WrongDimension,
	} {
		var e event.Event
		if code := d.Decode(&e, []byte(value)); code != want {
			t.Errorf("%s: %v, want %v", value, code, want)
		}
	}
}
