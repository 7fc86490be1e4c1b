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
