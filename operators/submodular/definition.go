package submodular

import (
	"slices"

	"oriel/mechanisms"
	"oriel/operators"
	"oriel/operators/setting"
	"oriel/schemas/event"
)

// Definition is the entry of submodular in the registry of operators.
var Definition = operators.Definition{
	Name: "submodular", Text: "the k elements that together serve events best, such as places of depots",
	Settings: settings, Events: events, New: configure,
}

// These are the values of ORIEL_RULE.
const (
	byHistogram = "histogram"
	byArgmax    = "argmax"
	byDraws     = "draws"
	byLeaders   = "leaders"
	byShares    = "shares"
)

// These are the values of ORIEL_RATE.
const (
	tight   = "tight"
	bounded = "bounded"
	printed = "printed"
)

const (
	maxPlaces   = 1 << 10
	maxElements = 1 << 14
	maxTable    = 1 << 20
	maxPick     = 1 << 8
)

var settings = []setting.Row{
	{
		Name: "RULE", Kind: setting.Text, Unit: "name", Required: true,
		Choices: []string{byHistogram, byArgmax, byDraws, byLeaders, byShares},
		Text: "algorithm for the set: histogram, argmax, draws, leaders or shares; the operator's README.md " +
			"explains each",
	},
	{
		Name: "PICK", Kind: setting.Count, Unit: "elements",
		Bounds: setting.From(1, maxPick), Range: "1 to 256, below the elements", Required: true,
		Text: "k, the size of the set",
	},
	{
		Name: "FUNCTION", Kind: setting.Text, Unit: "name", Choices: functions, Default: functions[facility],
		Text: "value f(S) of a set to an event with values v_a: facility, probabilistic, modular, saturating " +
			"or quadratic; formulas in the operator's README.md",
	},
	{
		Name: "PLACES", Kind: setting.File, Unit: "file",
		Range: "2 to 1024 lines name:latitude:longitude, one for each place",
		Entry: placeEntry, Decodes: true,
		Text: "public places, degrees: events are at them, and elements are the same places. Replay must have the same file",
	},
	{
		Name: "TYPES", Kind: setting.File, Unit: "file", Range: "2 to 1024 lines name:value:value:…, one for each type",
		Entry: typeEntry, Decodes: true,
		Text: "public types of events, with the value of each element for events of the type, in [0, 1]; instead of ORIEL_PLACES",
	},
	{
		Name: "CATCHMENT", Kind: setting.Number, Unit: "km", Bounds: setting.From(0.001, 20100), Default: "1000",
		Text: "with ORIEL_PLACES an event values a place at 1 − distance/catchment, and at 0 beyond",
	},
	{
		Name: "ELEMENTS", Kind: setting.Count, Unit: "elements", Default: "0", Decodes: true,
		Bounds: setting.From(2, maxElements).OrZero(),
		Text:   "N, the number of elements, if each event has the value of each element; not with ORIEL_PLACES or ORIEL_TYPES",
	},
	{
		Name: "COPIES", Kind: setting.Count, Unit: "copies",
		Bounds: setting.From(0, maxCopies), Range: "0 to 1024; with ORIEL_RULE=shares", Default: "0",
		Text: "K of ORIEL_RULE=shares: number of learners in a row; 0: the number in the source's proof",
	},
	{
		Name: "VALUES_NORM", Kind: setting.Number, Unit: "norm", Default: "0",
		Bounds: setting.From(0.001, 1e3).OrZero(), Range: "0, or 0.001 to the root of half of the elements",
		Text: "M of argmax, leaders and shares: values of an event are scaled down to √Σv_a² ≤ M, which needs " +
			"less noise. 0: no bound",
	},
	setting.EmitEvery("1000",
		"number of steps between two decisions with a new set; the privacy account covers all steps. With draws, fewer decisions cost less privacy"),
	{
		Name: "RATE", Kind: setting.Text, Unit: "name", Default: tight,
		Choices: []string{tight, bounded},
		Text: "learning rate of draws, leaders and shares. tight: as fast as the noise allows. bounded: the " +
			"rate for which the regret bound is proved",
	},
}

func events(v *setting.Values) operators.Events {
	n, setting, parse, member := v.Count("ELEMENTS"), "PLACES", parsePlace, "place"
	v.Want("TYPES", len(v.Entries("TYPES")) == 0 || len(v.Entries("PLACES")) == 0, "set, and so is ORIEL_PLACES")
	if len(v.Entries("TYPES")) > 0 {
		setting, parse, member = "TYPES", parseType, "type"
	}
	names := v.Entries(setting)
	if len(names) == 0 {
		v.Want("ELEMENTS", n >= 2 && n <= maxElements, "%d: not within 2 to %d; or set ORIEL_PLACES or ORIEL_TYPES", n,
			maxElements)
		return operators.Events{Dimension: int(min(n, maxElements)), Body: event.Body{
			Name: "values", Text: "The value of each element to the event.", Members: []event.Member{
				{
					Name: "values", Kind: event.KindVector,
					Text: "Of each element, or of those that are not 0; clamped to [0, 1].",
				},
			},
		}}
	}
	v.Want("ELEMENTS", n == 0, "%d: set, but ORIEL_%s lists the elements that can be chosen", n, setting)
	list := make([]string, len(names))
	for i, name := range names {
		p, _ := parse(name)
		list[i] = p.name
	}
	v.Want(setting, len(list) >= 2 && len(list) <= maxPlaces, "%d: not 2 to %d", len(list), maxPlaces)
	v.Distinct(setting, list)
	return operators.Events{Body: event.Body{
		Name: member, Text: "Which " + member + " the event has.", Members: []event.Member{
			{Name: member, Kind: event.KindChoice, Choices: slices.Compact(list), Text: "One of the public " + member + "s."},
		},
	}}
}

func configure(v *setting.Values) (operators.Operator, error) {
	c := operator{
		rule:    v.Text("RULE"),
		copies:  int(min(v.Count("COPIES"), maxCopies+1)),
		printed: v.Text("RATE") == printed, bounded: v.Text("RATE") == bounded, norm: v.Number("VALUES_NORM"),
		pick: int(min(v.Count("PICK"), maxPick+1)), catchment: v.Number("CATCHMENT"),
		function: function(max(0, slices.Index(functions, v.Text("FUNCTION")))),
		elements: int(min(v.Count("ELEMENTS"), maxElements)),
		every:    v.Count("EMIT_EVERY"), batch: v.Batch, terms: v.Terms,
	}
	for _, entry := range v.Entries("PLACES") {
		p, _ := parsePlace(entry)
		c.types = append(c.types, p)
	}
	if len(c.types) > 0 {
		c.elements = len(c.types)
	}
	for _, entry := range v.Entries("TYPES") {
		p, _ := parseType(entry)
		c.types, c.elements = append(c.types, p), len(p.values)
		v.Want("TYPES", len(c.types[0].values) == len(p.values), "%d values, and %d of another type", len(p.values),
			len(c.types[0].values))
	}
	v.Want("TYPES", len(c.types)*c.elements <= maxTable, "%d types and %d elements: more than %d values", len(c.types),
		c.elements, maxTable)
	v.Want("RULE", c.rule != byHistogram || len(c.types) > 0,
		"%s: counts the events of public places or types, and ORIEL_PLACES and ORIEL_TYPES are not set; take %s",
		byHistogram, byArgmax)
	v.Want("PICK", c.pick >= 1 && c.pick <= maxPick && c.pick < c.elements,
		"%d: not from 1 to %d, and below the %d elements", v.Count("PICK"), maxPick, c.elements)
	v.Want("PICK", c.rule == byHistogram || c.pick*c.elements <= setting.MaxDimension, "%d: times %d elements is above %d numbers",
		c.pick, c.elements, setting.MaxDimension)
	v.Want("VALUES_NORM", c.norm == 0 || c.norm >= 0.001 && float64(2*c.norm*c.norm) <= float64(c.elements),
		"%g: not 0, or from 0.001 to √(%d/2), above which it would only add to the sensitivity", c.norm, c.elements)
	v.Want("VALUES_NORM", c.norm == 0 || c.rule != byHistogram && c.rule != byDraws,
		"%g: ORIEL_RULE=%s has no gains that are summed", c.norm, c.rule)
	v.Want("RATE", c.rule == byDraws || c.tuned() || !c.printed && !c.bounded, "%s: only ORIEL_RULE=%s, %s and %s have one",
		v.Text("RATE"), byDraws, byLeaders, byShares)
	v.Want("COPIES", c.rule == byShares || c.copies == 0, "%d: only ORIEL_RULE=%s has any", c.copies, byShares)
	v.Want("COPIES", c.copies*c.elements <= setting.MaxDimension, "%d: times %d elements is above %d numbers", c.copies,
		c.elements, setting.MaxDimension)
	v.Want("FUNCTION", c.rule != byShares || c.function != saturating, "%s: has no smooth extension to chances",
		functions[saturating])
	facts, known := mechanisms.FactsOf(v.Mechanism)
	v.Want("MECHANISM", !known || c.rule != byDraws || !facts.ReleasesSums(),
		"%s: ORIEL_RULE=%s takes %s, which releases no sum", v.Mechanism, byDraws, mechanisms.ExponentialMechanism)
	v.Want("MECHANISM", facts.ReleasesSums() || c.rule == byDraws,
		"%s: releases no sum, and ORIEL_RULE=%s needs sums; set ORIEL_MECHANISM=blt", v.Mechanism, c.rule)
	v.Want("MECHANISM", !known || !facts.EachStep(), "%s: sets follow from sums, and this mechanism releases single steps; set ORIEL_MECHANISM=blt",
		v.Mechanism)
	return c, v.Err()
}
