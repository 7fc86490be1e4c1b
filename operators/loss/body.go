package loss

import "oriel/schemas/event"

// weight is an optional member of the bodies of all losses.
var weight = event.Member{Name: "weight", Kind: event.KindWeight, Optional: true, Default: 1}

var features = event.Member{Name: "features", Kind: event.KindFeatures}

// These are the bodies of events. Losses with the same body accept the same events.
var (
	classes = event.Body{
		Name:    "loss",
		Text:    "An event of the losses logistic, hinge (label -1, 0, 1, false, true) and squared, absolute (any number).",
		Members: []event.Member{features, {Name: "label", Kind: event.KindClass}, weight},
	}
	targets = event.Body{
		Name:    "target",
		Text:    "An event of the losses squared, absolute, quantile: event-loss with a label that is a number.",
		Members: []event.Member{features, {Name: "label", Kind: event.KindTarget}, weight},
	}
	level = event.Body{
		Name: "level",
		Text: "An event of the loss quantile in one dimension: the number that a threshold is learned of.",
		Members: []event.Member{
			{Name: "label", Kind: event.KindTarget, Text: "the number"},
			{
				Name: "features", Kind: event.KindFeatures, Text: "factor of the threshold; 1 when left out",
				Optional: true,
			},
			weight,
		},
	}
	linear = event.Body{
		Name:    "linear",
		Text:    "An event of the loss linear: its gradient, or its cost vector, which is the same under another name.",
		Members: []event.Member{{Name: "gradient", Also: "cost", Kind: event.KindVector}, weight},
	}
	portfolio = event.Body{
		Name:    "portfolio",
		Text:    "An event of the loss portfolio: for each asset its price divided by its price one period before.",
		Members: []event.Member{{Name: "relatives", Kind: event.KindRelatives}, weight},
	}
)

// Body returns the members of events for a loss in the given dimension, and false for a name that Parse does not know.
// All bodies have an optional weight, 1 if absent.
func Body(name string, dimension int) (event.Body, bool) {
	switch name {
	case "logistic", "hinge":
		return classes, true
	case "squared", "absolute":
		return targets, true
	case "quantile":
		if dimension == 1 {
			return level, true
		}
		return targets, true
	case "linear":
		return linear, true
	case "portfolio":
		return portfolio, true
	}
	return event.Body{}, false
}
