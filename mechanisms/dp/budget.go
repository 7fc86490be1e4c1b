package dp

import (
	"errors"
	"fmt"
	"math"
	"slices"
)

// Adjacency defines which two streams are neighbours. The zero value is invalid, because privacy has no default.
type Adjacency uint8

// The relations between neighbours. Under Replace and ZeroOut every event keeps its place, so that places, and with
// them the presence of events, are public. Under AddRemove neighbours differ in length.
const (
	Replace   Adjacency = iota + 1 // one event is exchanged for any other with the same public attributes
	ZeroOut                        // one event is exchanged for the null event
	AddRemove                      // all events of one unit are present in one stream, and absent in the other
)

// adjacencies are the names used in settings and decisions, in the order of the constants.
var adjacencies = []string{"replace", "zero-out", "add-remove"}

// String returns the name used in settings and decisions.
func (a Adjacency) String() string {
	if a.Validate() != nil {
		return fmt.Sprintf("adjacency(%d)", uint8(a))
	}
	return adjacencies[a-1]
}

// Validate refuses everything except the three constants.
func (a Adjacency) Validate() error {
	if a < Replace || a > AddRemove {
		return fmt.Errorf("dp: adjacency %d: not one of %v", uint8(a), adjacencies)
	}
	return nil
}

// ParseAdjacency is the inverse of String.
func ParseAdjacency(name string) (Adjacency, error) {
	i := slices.Index(adjacencies, name)
	if i < 0 {
		return 0, fmt.Errorf("dp: adjacency %q: not one of %v", name, adjacencies)
	}
	return Adjacency(i + 1), nil
}

// Budget bounds the loss of a mechanism: ε > 0, finite, and 0 ≤ δ < 1.
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

// DeltaWarning explains why this δ is a weak promise for a window of this many events, or returns "" if δ ≤ 1/events.
// For example, publishing one random event in full is (0, 1/events)-DP.
func DeltaWarning(delta float64, events uint64) string {
	if newFloat().Mul(exact(delta), newFloat().SetUint64(events)).Cmp(exact(1)) <= 0 {
		return ""
	}
	return fmt.Sprintf("δ = %g is too large: publishing one random event of the %d that are protected together would satisfy it. "+
		"Use well below 1/%d", delta, events, events)
}

// Curve gives µ of a Gaussian mechanism as a function of age. Its dynamic type must be comparable, so that guarantees
// can be compared.
type Curve interface {
	// Mu returns µ for all releases in an event's first age steps, rounded up. At user level these are the releases of
	// age steps, starting at the first step of a window, in which the user's events are exchanged.
	Mu(age uint64) float64
}

// UserCurve is a Curve at user level.
type UserCurve interface {
	Curve

	// MuAll returns µ for all releases in age steps, rounded up, if the user's events are exchanged in all of these
	// steps. It equals Mu up to the window.
	MuAll(age uint64) float64
}

// Compose returns the curve of mechanisms with independent noise and the same unit: µ(A) = √(Σµ_i(A)²), rounded up
// (PROOF.md, Lemma 5, for their concatenated noises; Dong, Roth and Su 2022, Corollary 3.3). At user level all must be
// UserCurves. It panics without a curve.
func Compose(curves ...Curve) Curve {
	last := len(curves) - 1
	whole := curves[last]
	for i := last - 1; i >= 0; i-- {
		whole = composed{curves[i], whole}
	}
	return whole
}

// composed is the composition of two curves. It holds values, so it is comparable.
type composed struct{ first, rest Curve }

// Mu returns √(Σµ_i(age)²), rounded up.
func (t composed) Mu(age uint64) float64 {
	return t.total(func(c Curve) float64 { return c.Mu(age) })
}

// MuAll returns √(Σµ_i²) of the curves' MuAll, rounded up.
func (t composed) MuAll(age uint64) float64 {
	return t.total(func(c Curve) float64 { return c.(UserCurve).MuAll(age) })
}

// total sums the squares over all curves, from first to last, and rounds the root once.
func (t composed) total(mu func(Curve) float64) float64 {
	var sum Total
	rest, more := t, true
	for more {
		sum.AddMu(mu(rest.first))
		last := rest.rest
		if rest, more = last.(composed); !more {
			sum.AddMu(mu(last))
		}
	}
	return sum.Mu()
}
