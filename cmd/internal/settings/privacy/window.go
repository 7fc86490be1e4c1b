package privacy

import (
	"math/bits"
	"strconv"

	"oriel/cmd/internal/settings/values"
	"oriel/mechanisms/protection"
	"oriel/operators/setting"
	"oriel/schemas/text"
)

// Words that ORIEL_WINDOW accepts besides a number of steps.
const (
	horizon  = "horizon"  // the stream ends after ORIEL_HORIZON steps
	lifetime = "lifetime" // unbounded: for per-step mechanisms, and for decaying sums
)

// PerStep reports whether the mechanism releases the sum of each step separately. Such a mechanism has no window.
func (s Privacy) PerStep() bool { return s.Facts().EachStep() }

// Decays reports whether the mechanism's sums decay over an unlimited lifetime. Such a mechanism has no window.
func (s Privacy) Decays() bool {
	return s.Window == lifetime && s.Facts().Filters()
}

// steps returns the number in ORIEL_WINDOW, or 0 if the value is a word.
func (s Privacy) steps() uint64 {
	n, err := text.ParseCount(s.Window)
	if err != nil {
		return 0
	}
	return n
}

// WrongWindow returns an error unless ORIEL_WINDOW is a number of steps or one of the words.
func (s Privacy) WrongWindow() error {
	return values.Unless(s.steps() > 0 || s.Window == horizon || s.Window == lifetime,
		"%s: not a number of steps above 0, horizon or lifetime", values.Shown(s.Window))
}

// scope returns how long events are protected, in the form that mechanisms take.
func (s Privacy) scope() protection.Scope {
	switch {
	case s.PerStep():
		return protection.PerStep{}
	case s.Decays():
		return protection.Decay{Steps: s.Memory}
	case s.Window != horizon:
		return protection.Window{Steps: s.steps()}
	case s.Facts().Filters(), !s.Facts().ReleasesSums():
		return protection.Lifetime{Steps: s.Horizon, Within: s.Horizon}
	default: // the mechanism is a tree
		return protection.Lifetime{Steps: s.Horizon, Within: powerAbove(s.Horizon)}
	}
}

// StreamRounds returns T, the number of steps over which a bound on accuracy must hold, or 0 if it is unknown. For a
// stream that ends, T is its length. For any other stream, T is ORIEL_ROUNDS.
func (s Privacy) StreamRounds() uint64 {
	if s.Window == horizon {
		return s.Horizon
	}
	return s.Rounds
}

// checkRounds refuses a horizon of a stream that does not end, and rounds that differ from the horizon.
func (s Privacy) checkRounds(p *setting.Problems) {
	p.Want("HORIZON", s.Horizon == 0 || s.Window == horizon,
		"%d: set, but only a stream with ORIEL_WINDOW=horizon ends; ORIEL_ROUNDS is the number of steps of other streams", s.Horizon)
	p.Want("ROUNDS", s.Rounds == 0 || s.Rounds == s.Horizon || s.Window != horizon,
		"%d: with ORIEL_WINDOW=horizon each stream ends after ORIEL_HORIZON=%d steps, which are its rounds; leave ORIEL_ROUNDS out",
		s.Rounds, s.Horizon)
}

// WindowText returns ORIEL_WINDOW for the canonical configuration: the number of steps, or the word. A word is not
// replaced by a number, because a stream that ends and a stream with a window of the same width are different
// deployments.
func (s Privacy) WindowText() string {
	switch {
	case s.PerStep(), s.Decays():
		return lifetime
	case s.Window == horizon:
		return horizon
	default:
		return strconv.FormatUint(s.steps(), 10)
	}
}

// checkWindow checks ORIEL_WINDOW for the mechanism. With ORIEL_WINDOW=horizon it checks ORIEL_HORIZON instead.
func (s Privacy) checkWindow(p *setting.Problems) {
	n, facts := s.steps(), s.Facts()
	most := facts.MaxWindow
	p.Want("MEMORY", s.Memory == 0 || s.Decays(),
		"set, but only ORIEL_MECHANISM=blt with ORIEL_WINDOW=lifetime forgets")
	switch {
	case s.Decays() && s.Memory == 0:
		p.Want("MEMORY", false, "not set; ORIEL_WINDOW=lifetime needs the number of steps that sums remember")
	case s.Decays():
	case s.PerStep():
		p.Want("WINDOW", s.Window == "" || s.Window == lifetime, "%q: ORIEL_MECHANISM=%s has no window, because it protects for ever: leave this setting out, or say lifetime", s.Window, s.Mechanism)
	case !facts.ReleasesSums() && s.Window != horizon:
		p.Want("WINDOW", false, "%q: ORIEL_MECHANISM=%s protects the whole life of a stream, which must end: say horizon, and set ORIEL_HORIZON",
			s.Window, s.Mechanism)
	case s.Window == lifetime:
		p.Want("WINDOW", false, "lifetime: ORIEL_MECHANISM=%s has a window; take blt, or say horizon for a stream that ends after ORIEL_HORIZON steps", s.Mechanism)
	case s.Window == horizon && s.Horizon == 0:
		p.Want("HORIZON", false, "not set; ORIEL_WINDOW=horizon needs the number of steps after which the stream ends")
	case s.Window == horizon:
		p.Want("HORIZON", s.Horizon <= most,
			"%d: above %d, the largest window of ORIEL_MECHANISM=%s", s.Horizon, most, s.Mechanism)
	case facts.Filters():
		p.Want("WINDOW", n >= 1 && n <= most, "%d: not within 1 to %d", n, most)
	default:
		p.Want("WINDOW", n >= 1 && n&(n-1) == 0, "%d: not a power of two; the next one is %d", n, powerAbove(n))
	}
}

// powerAbove returns the least power of two that is at least n, but at most 2⁶².
func powerAbove(n uint64) uint64 {
	if n <= 1 {
		return 1
	}
	return 1 << min(bits.Len64(n-1), 62)
}
