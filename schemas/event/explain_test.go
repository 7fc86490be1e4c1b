package event

import (
	"strings"
	"testing"

	"oriel/schemas/text"
)

// explaining returns a decoder of a body with each kind of member.
func explaining(t *testing.T, kind Kind) *JSONDecoder {
	t.Helper()
	vector := Member{Name: "features", Kind: kind}
	if kind == KindVector {
		vector = Member{Name: "gradient", Also: "cost", Kind: kind}
	}
	d, err := NewJSONDecoder(Config{
		Body: Body{Name: "test", Members: []Member{
			vector,
			{Name: "label", Kind: KindClass},
			{Name: "tries", Kind: KindCount, Optional: true},
			{Name: "arm", Kind: KindChoice, Choices: []string{"a", "b"}, Optional: true},
			{Name: "weight", Kind: KindWeight, Optional: true},
		}},
		Operator: "coco", Dimension: 2, MaxBytes: 1 << 20, Features: FeatureConfig{Norm: "none"},
	})
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// TestProblemsNameTheMember checks that a message names the member at fault, and its position.
func TestProblemsNameTheMember(t *testing.T) {
	d := explaining(t, KindFeatures)
	f := func(value, want string) {
		t.Helper()
		var e Event
		code := d.Decode(&e, []byte(value))
		if got := d.Problem([]byte(value), code); got != want {
			t.Errorf("%s\n got %s\nwant %s", value, got, want)
		}
	}
	const known = ": events of coco have features, label, tries, arm, weight"
	f(`{"features":{"a":1},"label":1,"event_id":"secret"}`, `unknown_name: unknown member "event_id"`+known)
	f(`{ "Label" : 1 }`, `unknown_name: unknown member "Label"`+known)
	f(`{"a\"\n\u202e":1}`, `unknown_name: unknown member "a\"\n\u202e"`+known)
	f(`{"`+strings.Repeat("é", 60)+`":1}`, `unknown_name: unknown member "`+strings.Repeat("é", 32)+`…"`+known)
	f(`{"x`+strings.Repeat("é", 60)+`":1}`, `unknown_name: unknown member "x`+strings.Repeat("é", 31)+`…"`+known)
	f(`{"features":{"indices":[0],"x":1}}`,
		`features: unknown_name: unknown member "x" of features: a sparse vector has indices and values`)
	const feature = "; a feature is a number, text or boolean"
	f(`{"features":{"ok":"secret","device":{"os":1}}}`, "features: wrong_type: features.device is an object"+feature)
	f(`{"features":{"ok":true,"tags":["secret"]}}`, "features: wrong_type: features.tags is an array"+feature)
	f(`{"label":1,"features":{"ok":1.5,"a b":null}}`, `features: null_value: features."a b" is null`+feature)
	f(`{"features":{"":[]}}`, `features: wrong_type: features."" is an array`+feature)
	f(`{"features":[0,"secret"]}`, "features: wrong_type: features[1] is a text; it must be a number")
	f(`{"features":{"indices":[0],"values":[true]}}`, "features: wrong_type: features.values[0] is a boolean; it must be a number")
	f(`{"features":{"values":[1],"indices":"secret"}}`, "features: wrong_type: features.indices is a text; it must be an array of numbers")
	f(`{"features":"secret"}`, "features: wrong_type: features is a text; it must be an object of features by name, an array of numbers, "+
		"or an object of indices and values")
	f(`{"label":"secret"}`, "label: wrong_type: label is a text; it must be -1, 0, 1, false or true")
	f(`{"label":null}`, "label: null_value: label is null; it must be -1, 0, 1, false or true")
	f(`{"weight":[1]}`, "weight: wrong_type: weight is an array; it must be a number")
	f(`{"tries":{}}`, "tries: wrong_type: tries is an object; it must be a whole number")
	f(`{"arm":12}`, "arm: wrong_type: arm is a number; it must be a text")
	f(`{"label":1,"label":1}`, `label: duplicate_name: "label" stands twice`)
	f(`{"features":{"a":"secret","a":1}}`, `features: duplicate_name: features.a stands twice`)

	f(`{"label":1,"features":{"a":2,"price":1e999}}`, "features: number_overflow: features.price, at byte 38: "+text.NumberOverflow.Rule())
	f(`{"features":[1,-1e400]}`, "features: number_overflow: features[1], at byte 16: "+text.NumberOverflow.Rule())
	f(`{"weight":1e999}`, "weight: number_overflow: weight, at byte 11: "+text.NumberOverflow.Rule())
	f(`{"features":{"a b":"\ud800"}}`, `features: lone_surrogate: features."a b", at byte 20: `+text.LoneSurrogate.Rule())
	f(`{"label":1,"\udc00":2}`, "lone_surrogate: "+text.LoneSurrogate.Rule()+"; not from byte 12 on")
	f(`{"label":1,}`, "json_syntax: "+text.JSONSyntax.Rule()+"; not from byte 12 on")
	f(`{"label":1 "weight":2}`, "json_syntax: "+text.JSONSyntax.Rule()+"; not from byte 12 on")
	f(`{"label":01}`, "json_syntax: "+text.JSONSyntax.Rule()+"; not from byte 10 on")
	f(`{"label":True}`, "json_syntax: "+text.JSONSyntax.Rule()+"; not from byte 10 on")
	f(`{"label":1,"features":{"a":"secr`, "json_syntax: "+text.JSONSyntax.Rule()+"; it ends too early, after byte 32")
	f(`{"features":{"a":1},"label":1} {}`, "trailing_data: "+text.TrailingData.Rule()+"; not from byte 32 on")
	f("{\"label\":\"\xff\"}", "invalid_utf8: "+text.InvalidUTF8.Rule()+"; not from byte 11 on")

	// If the decoder knows no details of the fault, the message is the rule.
	f(`{"label":7}`, "label: label_range: "+text.LabelRange.Rule())
	f(`{"features":{"a":1}}`, "label: missing_member: "+text.MissingMember.Rule())
	f(`[1]`, "not_object: "+text.NotObject.Rule())
	f(`null`, "null_value: "+text.NullValue.Rule())
	f(``, "empty: "+text.Empty.Rule())

	d = explaining(t, KindVector)
	f(`{"x":1}`, `unknown_name: unknown member "x": events of coco have gradient or cost, label, tries, arm, weight`)
	f(`{"cost":{"indices":[0],"x":1}}`, `gradient: unknown_name: unknown member "x" of gradient: a sparse vector has indices and values`)
	f(`{"cost":1}`, "gradient: wrong_type: gradient is a number; it must be an array of numbers, or an object of indices and values")
	f(`{"gradient":{"values":"secret"}}`, "gradient: wrong_type: gradient.values is a text; it must be an array of numbers")
	d = explaining(t, KindRelatives)
	f(`{"features":{"a":1}}`, "features: wrong_type: features is an object; it must be an array of numbers")
	f(`{"features":[1,null]}`, "features: null_value: features[1] is null; it must be a number")
}

// FuzzExplain checks that no document causes a panic, and that the explanation is short and has one line.
func FuzzExplain(f *testing.F) {
	for _, value := range []string{
		`{"features":{"a":{}}}`, `{"features":[1,{}]}`, `{"features":{"indices":[[]]}}`, `{"x":1}`, `{"label":1,"label"`,
		`{"features":{"a":1,"a"`, `{"features":{"a":n`, `{"label":`, `{"features":{"indices":[0],"values":[}`, `{"`, `{"features":{"a":"`,
	} {
		f.Add([]byte(value), true)
		f.Add([]byte(value), false)
	}
	f.Fuzz(func(t *testing.T, value []byte, named bool) {
		kind := KindVector
		if named {
			kind = KindFeatures
		}
		d := explaining(&testing.T{}, kind)
		var e Event
		code := d.Decode(&e, value)
		if text := d.Problem(value, code); len(text) > 1000 || strings.ContainsAny(text, "\n\r\x00") {
			t.Errorf("%q: %q", value, text)
		}
	})
}
