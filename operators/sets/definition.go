package sets

import (
	"slices"

	"oriel/mechanisms"
	"oriel/operators"
	"oriel/operators/actions"
	"oriel/operators/setting"
	"oriel/schemas/event"
)

// Definition is the entry of sets in the registry of operators.
var Definition = operators.Definition{
	Name: "sets", Text: "k of N elements, learned from the quality of the whole set that was played",
	Settings: settings, Events: events, New: configure,
}

// These are the values of the settings for rules and coins.
const (
	halving = "halving"
	draws   = "draws"

	fixed  = "fixed"
	capped = "capped"
)

const (
	maxElements = 1 << 12
	maxPick     = 1 << 8
	maxTries    = 1 << 20
)

var settings = slices.Insert([]setting.Row{
	{
		Name: "RULE", Kind: setting.Text, Unit: "name", Choices: []string{halving, draws}, Default: halving,
		Text: "halving: each element is tried together with the set so far, and the worse half is dropped. " +
			"draws: exponential weights, with ORIEL_MECHANISM=draws",
	},
	{
		Name: "ELEMENTS", Kind: setting.List, Unit: "name,…", Range: "2 to 4096 names of 1 to 64 bytes, each once",
		Required: true, Entry: setting.ShortName, Text: "names of the elements",
	},
	{
		Name: "PICK", Kind: setting.Count, Unit: "elements",
		Bounds: setting.From(1, maxPick), Range: "1 to 256, below the elements", Required: true,
		Text: "k, the size of the set",
	},
	{
		Name: "WORTH_RANGE", Kind: setting.Text, Form: setting.IsRange,
		Unit: "low:high", Range: "ends up to 1e12 in size", Default: "0:1",
		Text: "public range of the value of a set: values outside are clamped to it",
	},
	{
		Name: "TRIES", Kind: setting.Count, Unit: "rounds",
		Bounds: setting.From(1, maxTries), Range: "1 to 1048576; with ORIEL_RULE=halving", Default: "4",
		Text: "number of tries of each element before the worse half is dropped; after each drop the number doubles",
	},
	{
		Name: "EPOCH", Kind: setting.Count, Unit: "steps",
		Bounds: setting.From(0, 1<<40), Range: "0, or 1 to 2^40; with ORIEL_RULE=halving", Default: "0",
		Text: "length of an epoch, after which halving starts anew, because the best set may change; 0: never",
	},
	{
		Name: "SHARE", Kind: setting.Number, Unit: "share",
		Bounds: setting.From(0, 1), Range: "0, or above 0, at most 1; with ORIEL_RULE=draws", Default: "0",
		Text: "share of rounds that explore; 0: the share that the proof allows. On short streams this share is 1, so that no learned set is ever played",
	},
	{
		Name: "COINS", Kind: setting.Text, Unit: "name", Choices: []string{fixed, capped}, Default: fixed,
		Text: "rounds of ORIEL_RULE=draws that explore. fixed: a known number of rounds. capped: each at " +
			"random, at most twice the expected number",
	},
}, 4, actions.Settings("all of one set")...)

var body = event.Body{
	Name: "sets", Text: "The value of the set of a play; the record key is the play's index.",
	Members: []event.Member{{Name: "worth", Kind: event.KindNumber, Text: "The value of the set to the event."}},
}

func events(*setting.Values) operators.Events { return operators.Events{Body: body, Keyed: true} }

func configure(v *setting.Values) (operators.Operator, error) {
	c := Config{
		Elements: v.Entries("ELEMENTS"), Pick: int(min(v.Count("PICK"), maxPick+1)), Draws: v.Text("RULE") == draws,
		Tries: v.Count("TRIES"), Epoch: v.Count("EPOCH"), Actions: actions.Read(v), Value: v.Range("WORTH_RANGE"),
		Horizon: v.Rounds, Share: v.Number("SHARE"), Capped: v.Text("COINS") == capped,
	}
	v.Want("ELEMENTS", len(c.Elements) >= 2 && len(c.Elements) <= maxElements, "%d: not 2 to %d", len(c.Elements),
		maxElements)
	v.Distinct("ELEMENTS", c.Elements)
	v.Want("PICK", c.Pick >= 1 && c.Pick <= maxPick && c.Pick < len(c.Elements),
		"%d: not from 1 to %d, and below the %d elements", v.Count("PICK"), maxPick, len(c.Elements))
	v.Want("PICK", c.cells() <= setting.MaxDimension, "%d: times %d elements is above %d", c.Pick, len(c.Elements),
		setting.MaxDimension)
	v.Want("TRIES", !c.Draws || c.Tries == defaultTries, "%d: set, but ORIEL_RULE=%s halves nothing", c.Tries, draws)
	v.Want("EPOCH", !c.Draws || c.Epoch == 0, "%d: set, but ORIEL_RULE=%s has none", c.Epoch, draws)
	v.Want("EPOCH", c.Epoch == 0 || c.Draws || c.Epoch > c.explores(), "%d: steps in which halving ends are %d", c.Epoch,
		c.explores())
	v.Want("COINS", c.Draws || !c.Capped, "%s: only ORIEL_RULE=%s has any", capped, draws)
	v.Want("SHARE", c.Draws || c.Share == 0, "%g: only ORIEL_RULE=%s has one", c.Share, draws)
	facts, known := mechanisms.FactsOf(v.Mechanism)
	v.Want("MECHANISM", !known || !c.Draws || !facts.ReleasesSums(), "%s: ORIEL_RULE=%s takes %s, which releases no sum",
		v.Mechanism, draws, mechanisms.ExponentialMechanism)
	v.Want("MECHANISM", !known || c.Draws || facts.EachStep() && !facts.Discrete(),
		"%s: each round is released once; set ORIEL_MECHANISM=once-gamma, of pure ε, or once-gaussian", v.Mechanism)
	v.Want("DELAY", !c.Draws || c.Horizon == 0 || c.Actions.Delay < c.Horizon,
		"%d: not below the %d steps of the stream, so that nothing is learned", c.Actions.Delay, c.Horizon)
	if err := v.Err(); err != nil {
		return nil, err
	}
	return operator{Config: c}, c.Actions.Validate()
}

const defaultTries = 4
