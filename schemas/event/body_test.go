package event

import (
	"encoding/json"
	"fmt"
	"math"
	"strings"
	"testing"

	"oriel/schemas/text"
)

func TestBodyRefuses(t *testing.T) {
	f := func(want string, members ...Member) {
		t.Helper()
		if err := (Body{Name: "test", Members: members}).Validate(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%+v: %v, want %q", members, err, want)
		}
	}
	number := Member{Name: "a", Kind: KindNumber}
	f("0 members")
	f("a name has", Member{Kind: KindNumber})
	f("a name has", Member{Name: "A", Kind: KindNumber})
	f("a name has", Member{Name: "a b", Kind: KindNumber})
	f("a name has", Member{Name: "a", Also: "B", Kind: KindNumber})
	f("given twice", number, number)
	f("given twice", Member{Name: "a", Also: "a", Kind: KindNumber})
	f("given twice", number, Member{Name: "b", Also: "a", Kind: KindNumber})
	f("given twice", Member{Name: "b", Also: "a", Kind: KindNumber}, number)
	f("no such kind", Member{Name: "a"})
	f("no such kind", Member{Name: "a", Kind: KindName + 1})
	f("a default is a finite number", Member{Name: "a", Kind: KindName, Optional: true, Default: 1})
	f("more than one", Member{Name: "a", Kind: KindName}, Member{Name: "b", Kind: KindName})
	f("only numbers", Member{Name: "a", Kind: KindWeight, Most: 1})
	f("the lower one", Member{Name: "a", Kind: KindNumber, Least: 1})
	f("the lower one", Member{Name: "a", Kind: KindNumber, Least: math.NaN(), Most: 1})
	f("the lower one", Member{Name: "a", Kind: KindNumber, Most: math.Inf(1)})
	f("whole numbers", Member{Name: "a", Kind: KindCount, Most: 1.5})
	f("whole numbers", Member{Name: "a", Kind: KindCount, Most: 1 << 54})
	f("have a list", Member{Name: "a", Kind: KindChoice})
	f("have a list", Member{Name: "a", Kind: KindNumber, Choices: []string{"x"}})
	f("only choices are open", Member{Name: "a", Kind: KindNumber, Open: true})
	f("a choice is given twice", Member{Name: "a", Kind: KindChoice, Choices: []string{"x", "y", "x"}})
	f("not UTF-8", Member{Name: "a", Kind: KindChoice, Choices: []string{"\xff"}})
	f("may be left out", Member{Name: "a", Kind: KindNumber, Default: 1})
	f("finite", Member{Name: "a", Kind: KindNumber, Optional: true, Default: math.NaN()})
	f("finite", Member{Name: "a", Kind: KindVector, Optional: true, Default: 1})
	f("default of a class", Member{Name: "a", Kind: KindClass, Optional: true, Default: 2})
	f("at least 0", Member{Name: "a", Kind: KindWeight, Optional: true, Default: -1})
	f("default of a choice", Member{Name: "a", Kind: KindChoice, Choices: []string{"x"}, Optional: true, Default: 1})
	f("default of a choice", Member{Name: "a", Kind: KindChoice, Choices: []string{"x"}, Optional: true, Default: 0.5})
	f("more than one vector", Member{Name: "a", Kind: KindVector}, Member{Name: "b", Kind: KindRelatives})
	f("more than one vector", Member{Name: "a", Kind: KindClass}, Member{Name: "b", Kind: KindTarget})
	f("more than one vector", Member{Name: "a", Kind: KindWeight}, Member{Name: "b", Kind: KindWeight})
	var many []Member
	for i := range MaxMembers + 1 {
		many = append(many, Member{Name: fmt.Sprintf("a%d", i), Kind: KindNumber})
	}
	f("33 members", many...)
	if err := (Body{Name: "test", Members: many[1:]}).Validate(); err != nil {
		t.Error(err)
	}
	if err := (Body{Name: "two words", Members: many[1:]}).Validate(); err == nil {
		t.Error("a name of two words is taken")
	}
}

// playBody is a body without a vector, for events of an action and its reward.
var playBody = Body{Name: "play", Members: []Member{
	{Name: "arm", Kind: KindChoice, Choices: []string{"north", "south"}},
	{Name: "reward", Kind: KindNumber, Most: 1},
	{Name: "tries", Kind: KindCount, Optional: true, Default: -1},
}}

const playDocument = `{"arm":"s\u006futh","reward":0.25,"tries":3}`

func TestABodyWithoutVectorNeedsNoDimension(t *testing.T) {
	d := newTestDecoder(t, Config{Body: playBody, MaxBytes: 100})
	var e Event
	if code := d.Decode(&e, []byte(playDocument)); code != text.OK ||
		!sameEvent(e, Event{Weight: 1, Numbers: []float64{1, 0.25, 3}}) {
		t.Errorf("%v: %+v", code, e)
	}
}

// TestMemberAtFaultIsNamed checks that the member at fault is named, so that people know where to look.
func TestMemberAtFaultIsNamed(t *testing.T) {
	d := newTestDecoder(t, Config{Body: playBody, MaxBytes: 100})
	f := func(doc, want string) {
		t.Helper()
		var e Event
		if code := d.Decode(&e, []byte(doc)); code == text.OK || d.Member(code) != want {
			t.Errorf("%s: %v names %q, want %q", doc, code, d.Member(code), want)
		}
	}
	f(`{"arm":"west"}`, "arm")
	f(`{"arm":"north","reward":2}`, "reward")
	f(`{"arm":"north","reward":1,"tries":1.5}`, "tries")
	f(`{"arm":"north","arm":"north"}`, "arm")
	f(`{"arm":"north"}`, "reward")
	f(`{"tries":1}`, "arm")
	f(`{}`, "arm")
	f(`{"arm":"north","reward":1,"x":1}`, "")
	f(`{"arm":"north","reward":1}}`, "")
	f(`[]`, "")
}

// TestOpenChoices checks that an open choice accepts any text. A text that is not in the list must have the number −1.
// The JSON Schema must list the texts as examples.
func TestOpenChoices(t *testing.T) {
	body := Body{
		Name: "visit", Members: []Member{{Name: "arm", Kind: KindChoice, Choices: []string{"north", "south"}, Open: true}},
	}
	d, err := NewJSONDecoder(Config{Body: body, MaxBytes: 100, Features: FeatureConfig{Norm: "none"}})
	if err != nil {
		t.Fatal(err)
	}
	for s, want := range map[string]float64{`{"arm":"south"}`: 1, `{"arm":"west"}`: -1, `{"arm":""}`: -1, `{"arm":"s\u006futh"}`: 1} {
		var e Event
		if code := d.Decode(&e, []byte(s)); code != text.OK || e.Numbers[0] != want {
			t.Errorf("%s: %v, %v", s, code, e.Numbers)
		}
	}
	for _, s := range []string{`{"arm":1}`, `{"arm":null}`, `{"arm":"x}`} {
		var e Event
		if code := d.Decode(&e, []byte(s)); code == text.OK {
			t.Errorf("%s is an event", s)
		}
	}
	if schema := body.Members[0].typeSchema(); schema != `"type": "string", "examples": ["north", "south"]` {
		t.Errorf("schema %s", schema)
	}
}

// TestNamesAreClean checks that an event has the clean form of a name, in both ways of making events. A name that has
// none must give its rule, without the name.
func TestNamesAreClean(t *testing.T) {
	c := Config{MaxBytes: 1000, Body: Body{Name: "search", Members: []Member{
		{Name: "name", Kind: KindName}, {Name: "other", Kind: KindNumber, Optional: true},
	}}}
	d, err := NewJSONDecoder(c)
	if err != nil {
		t.Fatal(err)
	}
	a, err := NewAssembler(c)
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{
		"weather":           "weather",
		"e\u0301\U0001f600": "\u00e9\U0001f600",
		`{"name":"=1+1"}`:   `{"name":"=1+1"}`,
		"":                  text.NameLength.String(),
		"canary" + strings.Repeat("x", text.MaxNameBytes): text.NameLength.String(),
		"canary\n":     text.UncleanName.String(),
		"canary\u0378": text.UncleanName.String(),
	} {
		line, _ := json.Marshal(map[string]any{"name": name})
		for _, decode := range []func(e *Event) text.Code{
			func(e *Event) text.Code { return d.Decode(e, line) },
			func(e *Event) text.Code {
				a.Begin(e)
				if code := a.Text(0, []byte(name)); code != text.OK {
					return code
				}
				return a.End()
			},
		} {
			e := Event{Name: []byte("of the event before")}
			code := decode(&e)
			got := string(e.Name)
			if code != text.OK {
				got = code.String()
			}
			if got != want {
				t.Errorf("%+q: %+q, want %+q", name, got, want)
			}
		}
		if code := d.Decode(&Event{}, line); code != text.OK {
			problem := d.Problem(line, code)
			if !strings.HasPrefix(problem, "name: "+want) || strings.Contains(problem, "canary") {
				t.Errorf("%+q: %s", name, problem)
			}
		}
		if code := d.Decode(&Event{}, []byte(`{"name":1}`)); code != text.WrongType {
			t.Errorf("a number: %v", code)
		}
		if code := d.Decode(&Event{}, []byte(`{"other":1}`)); code != text.MissingMember {
			t.Errorf("no name: %v", code)
		}
	}
	if a.Begin(&Event{}); a.Text(1, []byte("x")) != text.WrongType || a.Number(0, 1) != text.WrongType {
		t.Error("a name is a number, or a number is a text")
	}
	var e Event
	line := []byte(`{"name":"\u00e9\u1ea1"}`)
	if n := testing.AllocsPerRun(100, func() { d.Decode(&e, line) }); n != 0 {
		t.Errorf("%v allocations", n)
	}
}
