package mapping

import (
	"math"
	"strings"
	"testing"

	"oriel/schemas"
)

var tripBody = schemas.Body{Name: "trip", Members: []schemas.Member{
	{Name: "v", Kind: schemas.KindVector, Optional: true},
	{Name: "late", Kind: schemas.KindTarget, Optional: true},
	{Name: "rate", Kind: schemas.KindChoice, Choices: []string{"0.1", "true", "UA"}, Optional: true},
}}

// canary is a text in each record of canaries. It must not occur in any message.
const canary = "canary"

// canaries are records that each break a rule of a mapping with the content of a member.
var canaries = []struct {
	body             schemas.Body
	document, record string
	want             schemas.Code
}{
	{tripBody, `{"members":["late=y"]}`, `{"y":"canary"}`, schemas.UnreadableValue},
	{tripBody, `{"members":["late=y"]}`, `{"y":["canary"]}`, schemas.WrongType},
	{tripBody, `{"members":["late=y"]}`, `{"y":1,"y":"canary"}`, schemas.DuplicateName},
	{tripBody, `{"members":["late=y"]}`, `{"y":1e999,"x":"canary"}`, schemas.NumberOverflow},
	{tripBody, `{"members":["late=y"]}`, `{"y":1} "canary"`, schemas.TrailingData},
	{tripBody, `{"members":["late=y"]}`, `{"y":1,"canary"}`, schemas.JSONSyntax},
	{tripBody, `{"members":[{"name":"late","from":"y","scale":1e9}]}`, `{"y":1e308,"x":"canary"}`, schemas.NumberOverflow},
	{tripBody, `{"members":[{"name":"late","from":"y","offset":1e308}]}`, `{"y":1e308,"x":"canary"}`, schemas.NumberOverflow},
	{tripBody, `{"members":["rate=r"]}`, `{"r":"canary"}`, schemas.UnknownChoice},
	{tripBody, `{"members":["v=/l"]}`, `{"l":[1,"canary"]}`, schemas.UnreadableValue},
	{tripBody, `{"members":["v=/l"]}`, `{"l":[1,2,null],"x":"canary"}`, schemas.WrongDimension},
	{tripBody, `{"members":["v=/l"],"where":"x=1"}`, `{"x":"canary"}`, schemas.Filtered},
	{lossBody, `{"features":["f:bool"],"label":"l"}`, `{"f":"1","l":1,"x":"canary"}`, schemas.UnreadableValue},
	{lossBody, `{"features":["f:bool"],"label":"l"}`, `{"f":"canary","l":1}`, schemas.UnreadableValue},
	{lossBody, `{"features":["f:hour"],"label":"l"}`, `{"f":"canary","l":1}`, schemas.UnreadableValue},
	{lossBody, `{"features":["f"],"label":"l>3"}`, `{"l":{"x":"canary"}}`, schemas.WrongType},
	{lossBody, `{"features":["f"],"label":"l"}`, `{"f":"canary"}`, schemas.MissingMember},
	{lossBody, `{"features":["f"],"label":"l"}`, `{"l":7,"f":"canary"}`, schemas.LabelRange},
	{lossBody, `{"features":["f"],"label":"l"}`, `{"l":1,"f":{"canary":1}}`, schemas.WrongType},
}

func TestMessagesHoldNoContent(t *testing.T) {
	for _, c := range canaries {
		events := config(c.body)
		events.Dimension = 2
		var e schemas.Event
		d := newDecoder(t, c.document, events)
		code := d.Decode(&e, []byte(c.record))
		if code != c.want || !strings.Contains(c.record, canary) {
			t.Errorf("%s, %s: %s, want %s", c.document, c.record, code, c.want)
		}
		text := d.Problem([]byte(c.record), code)
		if strings.Contains(text, canary) || !strings.Contains(text, code.String()) {
			t.Errorf("%s, %s: it says %q", c.document, c.record, text)
		}
	}
}

func TestNumbersAreTextsInFull(t *testing.T) {
	d := newDecoder(t, `{"members":["rate=r"]}`, config(tripBody))
	for record, want := range map[string]float64{`{"r":0.1}`: 0, `{"r":1e-1}`: 0, `{"r":true}`: 1, `{"r":"UA"}`: 2} {
		var e schemas.Event
		if code := d.Decode(&e, []byte(record)); code != schemas.OK || e.Numbers[0] != want {
			t.Errorf("%s: %s, %v", record, code, e.Numbers)
		}
	}
}

func TestMappedRecordsHaveALimit(t *testing.T) {
	c := config(tripBody)
	c.MaxBytes = 13
	d := newDecoder(t, `{"members":["late=y"]}`, c)
	for record, want := range map[string]schemas.Code{
		``: schemas.Empty, `{"y":1      }`: schemas.OK, `{"y":1       }`: schemas.TooLarge,
	} {
		var e schemas.Event
		if code := d.Decode(&e, []byte(record)); code != want {
			t.Errorf("%q: %s, want %s", record, code, want)
		}
	}
}

func TestEveryNumberIsFinite(t *testing.T) {
	one, text := Value{Kind: Number, Number: 1}, Value{Kind: Text, Number: math.NaN()}
	for _, f := range []float64{math.Inf(1), math.Inf(-1), math.NaN()} {
		for _, values := range [][]Value{{{Kind: Number, Number: f}, one}, {one, text, {Kind: Number, Number: f}}} {
			if code := Finite(values); code != schemas.NumberOverflow {
				t.Errorf("%v: %s", values, code)
			}
		}
	}
	if code := Finite([]Value{one, text, {}}); code != schemas.OK {
		t.Errorf("finite numbers: %s", code)
	}
}

// instantSource is a source whose records have a time at every path.
type instantSource struct{}

func (instantSource) Fill(values []Value, _ []byte) schemas.Code {
	for i := range values {
		values[i] = Value{Kind: Time, Seconds: 7}
	}
	return schemas.OK
}

// TestTimesAreNotCompared checks that a comparison can only find whether a time is missing; any other comparison of a
// time makes the record invalid.
func TestTimesAreNotCompared(t *testing.T) {
	for label, want := range map[string]schemas.Code{
		"l!=": schemas.OK, "l>3": schemas.WrongType, "l!=3": schemas.WrongType,
	} {
		m, err := Parse([]byte(`{"features":[{"name":"h","from":"h","as":"hour"}],"label":"` + label + `"}`))
		if err != nil {
			t.Fatal(err)
		}
		d, err := m.Opener(func([]Path) (Source, error) { return instantSource{}, nil })(config(lossBody))
		if err != nil {
			t.Fatal(err)
		}
		var e schemas.Event
		if code := d.Decode(&e, []byte("{}")); code != want || code == schemas.OK && e.Label != 1 {
			t.Errorf("%s: %s, label %v", label, code, e.Label)
		}
	}
}
