package mapping

import (
	"math"
	"strings"
	"testing"

	"oriel/schemas/event"
	"oriel/schemas/text"
)

var tripBody = event.Body{Name: "trip", Members: []event.Member{
	{Name: "v", Kind: event.KindVector, Optional: true},
	{Name: "late", Kind: event.KindTarget, Optional: true},
	{Name: "rate", Kind: event.KindChoice, Choices: []string{"0.1", "true", "UA"}, Optional: true},
}}

var wordBody = event.Body{Name: "word", Members: []event.Member{{Name: "name", Kind: event.KindName}}}

// canary is a text in each record of canaries. It must not occur in any message.
const canary = "canary"

// canaries are records that each break a rule of a mapping with the content of a member.
var canaries = []struct {
	body             event.Body
	document, record string
	want             text.Code
}{
	{tripBody, `{"members":["late=y"]}`, `{"y":"canary"}`, text.UnreadableValue},
	{tripBody, `{"members":["late=y"]}`, `{"y":["canary"]}`, text.WrongType},
	{tripBody, `{"members":["late=y"]}`, `{"y":1,"y":"canary"}`, text.DuplicateName},
	{tripBody, `{"members":["late=y"]}`, `{"y":1e999,"x":"canary"}`, text.NumberOverflow},
	{tripBody, `{"members":["late=y"]}`, `{"y":1} "canary"`, text.TrailingData},
	{tripBody, `{"members":["late=y"]}`, `{"y":1,"canary"}`, text.JSONSyntax},
	{tripBody, `{"members":[{"name":"late","from":"y","scale":1e9}]}`, `{"y":1e308,"x":"canary"}`, text.NumberOverflow},
	{tripBody, `{"members":[{"name":"late","from":"y","offset":1e308}]}`, `{"y":1e308,"x":"canary"}`, text.NumberOverflow},
	{tripBody, `{"members":["rate=r"]}`, `{"r":"canary"}`, text.UnknownChoice},
	{tripBody, `{"members":["v=/l"]}`, `{"l":[1,"canary"]}`, text.UnreadableValue},
	{tripBody, `{"members":["v=/l"]}`, `{"l":[1,2,null],"x":"canary"}`, text.WrongDimension},
	{tripBody, `{"members":["v=/l"],"where":"x=1"}`, `{"x":"canary"}`, text.Filtered},
	{wordBody, `{"members":["name=w"]}`, `{"w":"canary\u0000"}`, text.UncleanName},
	{wordBody, `{"members":["name=w"]}`, `{"w":"canary` + strings.Repeat("x", text.MaxNameBytes) + `"}`, text.NameLength},
	{lossBody, `{"features":["f:bool"],"label":"l"}`, `{"f":"1","l":1,"x":"canary"}`, text.UnreadableValue},
	{lossBody, `{"features":["f:bool"],"label":"l"}`, `{"f":"canary","l":1}`, text.UnreadableValue},
	{lossBody, `{"features":["f:hour"],"label":"l"}`, `{"f":"canary","l":1}`, text.UnreadableValue},
	{lossBody, `{"features":["f"],"label":"l>3"}`, `{"l":{"x":"canary"}}`, text.WrongType},
	{lossBody, `{"features":["f"],"label":"l"}`, `{"f":"canary"}`, text.MissingMember},
	{lossBody, `{"features":["f"],"label":"l"}`, `{"l":7,"f":"canary"}`, text.LabelRange},
	{lossBody, `{"features":["f"],"label":"l"}`, `{"l":1,"f":{"canary":1}}`, text.WrongType},
}

func TestMessagesHoldNoContent(t *testing.T) {
	for _, c := range canaries {
		events := config(c.body)
		events.Dimension = 2
		var e event.Event
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
		var e event.Event
		if code := d.Decode(&e, []byte(record)); code != text.OK || e.Numbers[0] != want {
			t.Errorf("%s: %s, %v", record, code, e.Numbers)
		}
	}
}

func TestMappedRecordsHaveALimit(t *testing.T) {
	c := config(tripBody)
	c.MaxBytes = 13
	d := newDecoder(t, `{"members":["late=y"]}`, c)
	for record, want := range map[string]text.Code{
		``: text.Empty, `{"y":1      }`: text.OK, `{"y":1       }`: text.TooLarge,
	} {
		var e event.Event
		if code := d.Decode(&e, []byte(record)); code != want {
			t.Errorf("%q: %s, want %s", record, code, want)
		}
	}
}

func TestEveryNumberIsFinite(t *testing.T) {
	one, content := Value{Kind: Number, Number: 1}, Value{Kind: Text, Number: math.NaN()}
	for _, f := range []float64{math.Inf(1), math.Inf(-1), math.NaN()} {
		for _, values := range [][]Value{{{Kind: Number, Number: f}, one}, {one, content, {Kind: Number, Number: f}}} {
			if code := Finite(values); code != text.NumberOverflow {
				t.Errorf("%v: %s", values, code)
			}
		}
	}
	if code := Finite([]Value{one, content, {}}); code != text.OK {
		t.Errorf("finite numbers: %s", code)
	}
}

// instantSource is a source whose records have a time at every path.
type instantSource struct{}

func (instantSource) Fill(values []Value, _ []byte) text.Code {
	for i := range values {
		values[i] = Value{Kind: Time, Seconds: 7}
	}
	return text.OK
}

// TestTimesAreNotCompared checks that a comparison can only find whether a time is missing; any other comparison of a
// time makes the record invalid.
func TestTimesAreNotCompared(t *testing.T) {
	for label, want := range map[string]text.Code{
		"l!=": text.OK, "l>3": text.WrongType, "l!=3": text.WrongType,
	} {
		m, err := Parse([]byte(`{"features":[{"name":"h","from":"h","as":"hour"}],"label":"` + label + `"}`))
		if err != nil {
			t.Fatal(err)
		}
		d, err := m.Opener(func([]Path) (Source, error) { return instantSource{}, nil })(config(lossBody))
		if err != nil {
			t.Fatal(err)
		}
		var e event.Event
		if code := d.Decode(&e, []byte("{}")); code != want || code == text.OK && e.Label != 1 {
			t.Errorf("%s: %s, label %v", label, code, e.Label)
		}
	}
}

// TestNamesAreTextsOfAnyValue checks that a mapping makes a name of a text, a number or a truth value, and of a
// constant.
func TestNamesAreTextsOfAnyValue(t *testing.T) {
	for record, want := range map[string]string{
		`{"w":"e\u0301"}`: "\u00e9", `{"w":404}`: "404", `{"w":0.5}`: "0.5", `{"w":true}`: "true",
	} {
		var e event.Event
		d := newDecoder(t, `{"members":["name=w"]}`, config(wordBody))
		if code := d.Decode(&e, []byte(record)); code != text.OK || string(e.Name) != want {
			t.Errorf("%s: %v, %+q", record, code, e.Name)
		}
	}
	var e event.Event
	d := newDecoder(t, `{"members":[{"name":"name","constant":"all"}]}`, config(wordBody))
	if code := d.Decode(&e, []byte(`{}`)); code != text.OK || string(e.Name) != "all" {
		t.Errorf("a constant: %v, %+q", code, e.Name)
	}
}
