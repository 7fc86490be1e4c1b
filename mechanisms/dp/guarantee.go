package dp

import (
	"errors"
	"fmt"
	"math"
	"math/big"
	"math/bits"
)

// Adjacency says which two streams count as neighbours. The zero value is invalid: privacy has no default.
type Adjacency uint8

// Replace exchanges one event for any other with the same public attributes: a leaf moves by at most twice its norm
// bound. ZeroOut exchanges it for the null event: a leaf moves by at most its norm bound.
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

// Guarantee is what a mechanism proves: the joint law of all releases up to the last of any Window steps changes by at
// most (Epsilon, Delta) between neighbours that differ, among these steps, in one unit. A step holds Batch events.
//
// At event level the unit is one event. At user level it is all events of one user, each exchanged for any other of the
// same user id or for a null event, under both adjacencies; accepted events of one user are at least Separation steps
// apart.
//
// Window 0 means that the guarantee is one for ever: a unit is released once, or with a Memory in sums that decay,
// whose noise starts anew at public steps. The loss then grows to what is proved, with age if there is a Curve, and not
// beyond. At user level with a Memory the unit is all events of one user among any UserWindow steps. With a Horizon,
// which is at most Window, there is no release after step Horizon, and the guarantee is one for ever.
type Guarantee struct {
	Mechanism      string
	Window, Batch  uint64
	Epsilon, Delta float64 // proved, of one window
	Adjacency      Adjacency
	Unit           string  // "event", or "user" when Separation > 0
	Separation     uint64  // s, steps between accepted events of one user; 0 at event level
	UserWindow     uint64  // steps among which a user's events are exchanged, at user level with a memory; else 0
	Horizon        uint64  // T, the last step; 0 for a stream without end
	Memory         uint64  // H, steps: sums decay by 1 − 1/H a step; 0 for those that do not
	Mu             float64 // Gaussian-DP parameter of one window, rounded up; 0 for a pure-ε mechanism
	Curve          Curve   // of a Gaussian mechanism with a window or a memory, a UserCurve at user level; else nil
	Draws          Draws   // of a stream that releases no sum, and then all that Epsilon counts: there is no Mu
}

// Curve is µ of a Gaussian mechanism as a function of age. Its dynamic type is comparable, so that guarantees are.
type Curve interface {
	// Mu returns µ of all releases of an event's first age steps, rounded up. At user level these are age steps from the
	// first step of a window on, among whose steps the user's events are exchanged.
	Mu(age uint64) float64
}

// UserCurve is a Curve at user level.
type UserCurve interface {
	Curve

	// MuAll returns µ of all releases of age steps, rounded up, among all of which the user's events are exchanged. It is
	// Mu up to the window.
	MuAll(age uint64) float64
}

// At returns ε(age) at the same δ: the loss over all releases of a unit's first age steps, rounded up; at user level,
// of the events of one window followed to that age. A Gaussian mechanism has its Curve. Pure ε has m = ⌈age/W⌉ windows
// for mε: an event that left its window stays in the running sum, under the noise of the leaf that took its place. Age
// 0 is before the first release.
func (g Guarantee) At(age uint64) Budget {
	age = g.last(age)
	switch {
	case age == 0:
		return Budget{}
	case g.Window == 0:
		return g.forLife(age)
	case age == g.Window:
		return Budget{Epsilon: g.Epsilon, Delta: g.Delta}
	case g.Mu > 0:
		return g.gaussian(g.Curve.Mu(age))
	default:
		return g.times(whole((age-1)/g.Window + 1))
	}
}

// forLife is At of a guarantee for ever: all of it where there is no curve, or where the curve has come to its end.
func (g Guarantee) forLife(age uint64) Budget {
	whole := Budget{Epsilon: g.Epsilon, Delta: g.Delta}
	if g.Curve == nil {
		return whole
	}
	mu := g.Curve.Mu(age)
	if mu >= g.Mu {
		return whole
	}
	part := g.gaussian(mu)
	return Budget{Epsilon: min(part.Epsilon, g.Epsilon), Delta: g.Delta}
}

// AtWindows returns At for an age of so many whole windows, or memories, however many steps those are; at least 1.
func (g Guarantee) AtWindows(windows uint64) Budget {
	if g.Mu == 0 && g.Horizon == 0 && g.Window > 0 {
		return g.times(whole(windows))
	}
	age := uint64(math.MaxUint64) // no stream has more steps
	if high, low := bits.Mul64(windows, max(g.Window, g.Memory, 1)); high == 0 {
		age = low
	}
	return g.At(age)
}

// AtAll returns the loss over all releases of any age steps, rounded up, when all events of a user among them are
// exchanged: at user level what At is for those of one window. Pure ε has ε·m(m+1)/2 for m = ⌈age/W⌉: the events of the
// first window cost mε, those of the next (m−1)ε, and so on. It panics at event level.
func (g Guarantee) AtAll(age uint64) Budget {
	if g.Separation == 0 {
		panic("BUG: dp: all events of a user at event level")
	}
	age = g.last(age)
	switch {
	case age <= max(g.Window, g.UserWindow):
		return g.At(age)
	case g.Mu > 0:
		return g.gaussian(g.Curve.(UserCurve).MuAll(age))
	default:
		m := whole((age-1)/g.Window + 1)
		sum := newFloat().Add(m, exact(1)) // below 2⁶⁵, and the product below 2¹²⁹
		return g.times(sum.Mul(sum, m).Quo(sum, exact(2)))
	}
}

// Group returns the loss of one window when units of it are exchanged at once, k events of one person, say, that no
// separation bounds: kµ (Gaussian) or kε (pure), rounded up. Nothing smaller is true of every mechanism with that µ or
// ε (Dong, Roth and Su 2022, Theorem 2.14). Of draws with no sums beside them it is that of kε and k²ρ at δ.
func (g Guarantee) Group(units uint64) Budget {
	switch {
	case units == 0:
		return Budget{}
	case units == 1:
		return Budget{Epsilon: g.Epsilon, Delta: g.Delta}
	case g.Mu > 0:
		return g.gaussian(RoundUp(newFloat().Mul(exact(g.Mu), whole(units))))
	case g.Delta > 0: // of draws alone
		total := g.Draws.of(units)
		return Budget{Epsilon: total.Epsilon(g.Delta), Delta: g.Delta}
	default:
		return g.times(whole(units))
	}
}

// Lives returns the loss of a unit whose step is released in so many lives of a stream, each with noise of its own:
// √F·µ for F lives, or Fε (pure), rounded up. A deployment that goes on after another one is a second life
// (mechanisms/forget/PROOF.md, Theorem 3).
func (g Guarantee) Lives(lives uint64) Budget {
	if lives == 0 {
		return Budget{}
	}
	if g.Mu == 0 {
		return g.Group(lives)
	}
	var total Total
	total.AddMu(g.Mu)
	total = total.Times(lives)
	return Budget{Epsilon: total.Epsilon(g.Delta), Delta: g.Delta}
}

// last returns the age at which the releases of age steps end: no release follows the horizon.
func (g Guarantee) last(age uint64) uint64 {
	if g.Horizon > 0 {
		return min(age, g.Horizon)
	}
	return age
}

// gaussian returns the budget of µ at this δ.
func (g Guarantee) gaussian(mu float64) Budget {
	return Budget{Epsilon: GaussianEpsilon(mu, g.Delta), Delta: g.Delta}
}

// times returns the budget of count times ε, a whole number below 2¹³⁰: the product of 53 bits more is exact.
func (g Guarantee) times(count *big.Float) Budget {
	return Budget{Epsilon: RoundUp(newFloat().Mul(exact(g.Epsilon), count)), Delta: g.Delta}
}

func whole(x uint64) *big.Float { return newFloat().SetUint64(x) }
