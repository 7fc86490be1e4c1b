package loss

import "oriel/schemas"

// weight is an optional member of the bodies of all losses.
var weight = schemas.Member{Name: "weight", Kind: schemas.KindWeight, Optional: true, Default: 1}

var features = schemas.Member{Name: "features", Kind: schemas.KindFeatures}

// These are the bodies of events. Losses with the same body accept the same events.
var (
	classes = schemas.Body{
		Name:    "loss",
		Text:    "An event of the losses logistic, hinge (label -1, 0, 1, false, true) and squared, absolute (any number).",
		Members: []schemas.Member{features, {Name: "label", Kind: schemas.KindClass}, weight},
	}
	targets = schemas.Body{
		Name:    "target",
		Text:    "An event of the losses squared, absolute, quantile: event-loss with a label that is a number.",
		Members: []schemas.Member{features, {Name: "label", Kind: schemas.KindTarget}, weight},
	}
	level = schemas.Body{
		Name: "level",
		Text: "An event of the loss quantile in one dimension: the number that a threshold is learned of.",
		Members: []schemas.Member{
			{Name: "label", Kind: schemas.KindTarget, Text: "the number"},
			{
				Name: "features", Kind: schemas.KindFeatures, Text: "what the threshold is multiplied with; 1 when left out",
				Optional: true,
			},
			weight,
		},
	}
	linear = schemas.Body{
		Name:    "linear",
		Text:    "An event of the loss linear: its gradient, or its cost vector, which is the same under another name.",
		Members: []schemas.Member{{Name: "gradient", Also: "cost", Kind: schemas.KindVector}, weight},
	}
	portfolio = schemas.Body{
		Name:    "portfolio",
		Text:    "An event of the loss portfolio: for each asset its price divided by its price one period before.",
		Members: []schemas.Member{{Name: "relatives", Kind: schemas.KindRelatives}, weight},
	}
)

// Body returns the members of events for a loss in the given dimension, and false for a name that Parse does not know.
// All bodies have an optional weight, 1 if absent.
func Body(name string, dimension int) (schemas.Body, bool) {
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
	return schemas.Body{}, false
}
