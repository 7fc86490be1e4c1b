package loss

import (
	"fmt"
	"math"
	"strings"

	"oriel/schemas/event"
)

// Loss is a convex loss with its subgradient. It holds no state and may be shared.
type Loss interface {
	// Gradient writes w·∇ℓ(x) to dst, which is as long as x, and overwrites all of it. It returns false, and leaves dst
	// unspecified, if the loss is undefined or an entry is not finite. The loss is undefined for a label that is no
	// class, for ⟨x, r⟩ ≤ 0, for another dimension, and for a negative weight. Such an event counts as null.
	Gradient(dst, x []float64, e event.Event) bool

	// Value returns w·ℓ(x), or NaN if the loss is not defined.
	Value(x []float64, e event.Event) float64
}

// Names lists the losses that Parse knows.
func Names() []string {
	return []string{"linear", "logistic", "hinge", "squared", "absolute", "portfolio", "quantile"}
}

// Parse returns the loss of the given name. quantile is τ in (0, 1) for the loss quantile, and is otherwise ignored.
func Parse(name string, quantile float64) (Loss, error) {
	switch name {
	case "linear":
		return Linear{}, nil
	case "logistic":
		return Logistic{}, nil
	case "hinge":
		return Hinge{}, nil
	case "squared":
		return Squared{}, nil
	case "absolute":
		return Absolute{}, nil
	case "portfolio":
		return Portfolio{}, nil
	case "quantile":
		if !(quantile > 0 && quantile < 1) {
			return nil, fmt.Errorf("loss: quantile %g: not between 0 and 1", quantile)
		}
		return Quantile{quantile}, nil
	}
	return nil, fmt.Errorf("loss: name %q: not one of %s", name, strings.Join(Names(), ", "))
}

// valid reports whether the weight is finite and non-negative.
func valid(weight float64) bool { return weight >= 0 && weight <= math.MaxFloat64 }

// class reports whether the label is −1 or 1.
func class(label float64) bool { return label == 1 || label == -1 }

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
