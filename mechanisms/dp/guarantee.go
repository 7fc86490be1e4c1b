package dp

import (
	"errors"
	"fmt"
	"math"
	"math/bits"
)

// Adjacency says which two streams count as neighbours. The zero value is invalid: privacy has no default.
type Adjacency uint8

// Replace exchanges one event for any other with the same public attributes: a leaf moves by at most twice its norm bound.
// ZeroOut exchanges it for the null event: a leaf moves by at most its norm bound.
const (
	Replace Adjacency = iota + 1
	ZeroOut
)

// String returns the name used in settings and decisions.
func (a Adjacency) String() string {
	switch a {
	case Replace:
		return "replace"
	case ZeroOut:
		return "zero-out"
	default:
		return fmt.Sprintf("adjacency(%d)", uint8(a))
	}
}

// Validate refuses everything but Replace and ZeroOut.
func (a Adjacency) Validate() error {
	if a != Replace && a != ZeroOut {
		return fmt.Errorf("dp: adjacency %d: neither replace nor zero-out", uint8(a))
	}
	return nil
}

// ParseAdjacency is the inverse of String.
func ParseAdjacency(name string) (Adjacency, error) {
	for _, a := range []Adjacency{Replace, ZeroOut} {
		if name == a.String() {
			return a, nil
		}
	}
	return 0, fmt.Errorf("dp: adjacency %q: neither replace nor zero-out", name)
}

// Budget is what one window may lose: ε > 0, finite, and 0 ≤ δ < 1.
type Budget struct {
	Epsilon, Delta float64
}

// Validate reports every problem at once.
func (b Budget) Validate() error {
	var errs []error
	if !(b.Epsilon > 0) || math.IsInf(b.Epsilon, 1) {
		errs = append(errs, fmt.Errorf("dp: epsilon %g: not positive and finite", b.Epsilon))
	}
	if !(b.Delta >= 0 && b.Delta < 1) {
		errs = append(errs, fmt.Errorf("dp: delta %g: not in [0, 1)", b.Delta))
	}
	return errors.Join(errs...)
}

// Guarantee is what a mechanism proves for every event of a stream: the joint law of all releases of the event's first Window
// steps changes by at most (Epsilon, Delta) between neighbours. A step holds Batch events.
type Guarantee struct {
	Mechanism      string
	Window, Batch  uint64
	Epsilon, Delta float64 // proved, of one window
	Adjacency      Adjacency
	Unit           string  // "event"
	Mu             float64 // Gaussian-DP parameter of one window, rounded up; 0 for a pure-ε mechanism
	Curve          Curve   // of a mechanism that knows µ at every age; nil for whole windows
}

// Curve is µ of a Gaussian mechanism as a function of age. Its dynamic type is comparable, so that guarantees are.
type Curve interface {
	// Mu returns µ of all releases of an event's first age steps, rounded up.
	Mu(age uint64) float64
}

// At returns ε(age) at the same δ: the loss over all releases of an event's first age steps, rounded up. An event that left its
// window stays in the running sum, under the noise of the leaf that took its place, so m = ⌈age/W⌉ windows cost µ√m (Gaussian) or
// mε (pure): mechanisms/windowtree, PROOF.md. With a Curve it is exact at every age. Age 0 is before the event's first release.
func (g Guarantee) At(age uint64) Budget {
	switch {
	case age == 0:
		return Budget{}
	case g.Curve != nil && age != g.Window:
		return Budget{Epsilon: GaussianEpsilon(g.Curve.Mu(age), g.Delta), Delta: g.Delta}
	default:
		return g.AtWindows((age-1)/g.Window + 1)
	}
}

// AtWindows returns At for an age of so many whole windows, however many steps those are; at least 1.
func (g Guarantee) AtWindows(windows uint64) Budget {
	switch {
	case windows == 1:
		return Budget{Epsilon: g.Epsilon, Delta: g.Delta}
	case g.Curve != nil:
		age := uint64(math.MaxUint64) // no stream has more steps
		if high, low := bits.Mul64(windows, g.Window); high == 0 {
			age = low
		}
		return g.At(age)
	case g.Mu == 0:
		return Budget{Epsilon: RoundUp(newFloat().Mul(exact(g.Epsilon), newFloat().SetUint64(windows))), Delta: g.Delta}
	default:
		return Budget{Epsilon: GaussianEpsilon(scaleMu(g.Mu, windows), g.Delta), Delta: g.Delta}
	}
}

// scaleMu returns µ√m rounded up.
func scaleMu(mu float64, windows uint64) float64 {
	if math.IsInf(mu, 1) {
		return mu
	}
	root := newFloat().Sqrt(newFloat().SetUint64(windows))
	return RoundUp(outward(root.Mul(root, exact(mu))))
}
