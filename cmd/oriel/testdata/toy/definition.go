package toy

import (
	"encoding/json"
	"strings"

	"oriel/operators"
	"oriel/operators/setting"
	"oriel/schemas/decision"
	"oriel/schemas/event"
)

// Definition is the toy in the table of operators.
var Definition = operators.Definition{
	Name: "toy", Text: "an operator of a test",
	Settings: []setting.Row{
		{
			Name: "TOY_ARMS", Kind: setting.List, Unit: "name,…", Range: "at least two words", Required: true,
			Text: "actions that can be played", Entry: entry,
		},
		{
			Name: "TOY_DIMENSION", Kind: setting.Count, Unit: "coordinates", Range: "1 to 64", Required: true, Decodes: true,
			Text: "of contexts",
		},
		{
			Name: "TOY_CLIP", Kind: setting.Number, Unit: "length", Range: "> 0", Default: "1",
			Text: "of rewards and of contexts",
		},
		{
			Name: "TOY_TIMEOUT", Kind: setting.Count, Unit: "steps", Range: "1 to 1000", Default: "8",
			Text: "that a play waits",
		},
		{
			Name: "TOY_LABEL", Kind: setting.Text, Unit: "name", Default: "none",
			Text: "came later: it has a canonical line only where it is set",
		},
		{
			Name: "TOY_CONSTANT", Kind: setting.Count, Unit: "bool", Range: "0, 1", Default: "0",
			Text: "adds a constant in the place of rewards, beside contexts that are cut short: the clip then pays for too much",
		},
	},
	Events: events, New: configure,
}

func entry(text string) (string, bool) {
	return text, strings.Trim(text, "abcdefghijklmnopqrstuvwxyz") == ""
}

var body = event.Body{
	Name: "toy", Text: "The feedback of a play; the record key names it.",
	Members: []event.Member{
		{Name: "context", Kind: event.KindVector, Text: "What was seen."},
		{Name: "reward", Kind: event.KindNumber, Text: "What came of it."},
	},
}

func events(v *setting.Values) operators.Events {
	d := v.Count("TOY_DIMENSION")
	v.Want("TOY_DIMENSION", d >= 1 && d <= 64, "%d: not within 1 to 64", d)
	return operators.Events{Body: body, Dimension: int(min(d, 64)), Keyed: true}
}

func configure(v *setting.Values) (operators.Operator, error) {
	arms, timeout := v.Entries("TOY_ARMS"), v.Count("TOY_TIMEOUT")
	v.Want("TOY_ARMS", len(arms) >= 2, "%d arms: not at least two", len(arms))
	v.Want("TOY_TIMEOUT", timeout >= 1 && timeout <= 1000, "%d: not within 1 to 1000", timeout)
	v.Positive("TOY_CLIP", v.Number("TOY_CLIP"))
	if err := v.Err(); err != nil {
		return nil, err
	}
	return operator{
		arms: arms, dimension: int(v.Count("TOY_DIMENSION")), clip: v.Number("TOY_CLIP"), timeout: timeout, batch: v.Batch,
		constant: v.Count("TOY_CONSTANT") == 1,
	}, nil
}

// members are the members of plays.
type members struct {
	operators.Members
	arm, play operators.TextMember
	scores    operators.NumbersMember
}

func (c operator) members() *members {
	m := &members{}
	m.arm = m.Text("arm", "What is played.")
	m.play = m.Text("play", "The key of the record that gives its feedback.")
	m.scores = m.Numbers("scores", "What the arm was drawn from.", len(c.arms))
	return m
}

func (c operator) Extras() []decision.Extra { return c.members().Extras() }

func (c operator) SecondTopic() *operators.Output {
	return &operators.Output{Suffix: "plays", Text: "plays, for whoever carries them out"}
}

func (c operator) Descriptor() []byte {
	text, err := json.Marshal(map[string]any{"arms": c.arms})
	if err != nil {
		panic("BUG: toy: " + err.Error())
	}
	return text
}
