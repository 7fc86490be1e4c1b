package settings

import (
	"math/bits"
	"strconv"
	"strings"
)

// Words that ORIEL_WINDOW takes beside a number of steps.
const (
	horizon  = "horizon"  // as many as ORIEL_HORIZON, after which the stream ends
	lifetime = "lifetime" // all there will ever be: of the mechanisms that release each step once
)

// ogd is the update that learns from releases of single steps.
const ogd = "ogd"

// once tells whether the mechanism releases each step once, and so has no window.
func (s Settings) once() bool { return strings.HasPrefix(s.Mechanism, "once-") }

// steps is the number in ORIEL_WINDOW, 0 if it is a word.
func (s Settings) steps() uint64 {
	n, err := strconv.ParseUint(s.Window, 10, 64)
	if err != nil {
		return 0
	}
	return n
}

// window gives W and the horizon T, as the mechanism takes them: W is 0 when there is no window, T when the stream does not end.
func (s Settings) window() (window, end uint64) {
	switch {
	case s.once():
		return 0, 0
	case s.Window != horizon:
		return s.steps(), 0
	case s.Mechanism == blt:
		return s.Horizon, s.Horizon
	default: // of a tree
		return powerAbove(s.Horizon), s.Horizon
	}
}

// canonicalWindow is ORIEL_WINDOW in the canonical configuration: the number of steps, or the word, since a stream that ends is not
// one that goes on.
func (s Settings) canonicalWindow() string {
	switch {
	case s.once():
		return lifetime
	case s.Window == horizon:
		return horizon
	default:
		return strconv.FormatUint(s.steps(), 10)
	}
}

// checkWindow checks ORIEL_WINDOW for the mechanism, and ORIEL_HORIZON where it stands for it.
func (s Settings) checkWindow(c *checker) {
	n := s.steps()
	most := uint64(1) << 62
	if s.Mechanism == blt {
		most = maxFilter
	}
	switch {
	case s.once():
		c.want("WINDOW", s.Window == "" || s.Window == lifetime, "%q: ORIEL_MECHANISM=%s has no window, it protects for ever: leave it out, or say lifetime", s.Window, s.Mechanism)
	case s.Window == lifetime:
		c.want("WINDOW", false, "lifetime: ORIEL_MECHANISM=%s has a window; say horizon for a stream that ends after ORIEL_HORIZON steps", s.Mechanism)
	case s.Window == horizon && s.Horizon == 0:
		c.want("HORIZON", false, "not set; ORIEL_WINDOW=horizon needs the number of steps after which the stream ends")
	case s.Window == horizon:
		c.want("HORIZON", s.Horizon <= most, "%d: above %d, the largest window of ORIEL_MECHANISM=%s", s.Horizon, most, s.Mechanism)
	case n == 0 && s.Window != "0":
		c.want("WINDOW", false, "%q: not a number of steps, horizon or lifetime", s.Window)
	case s.Mechanism == blt:
		c.want("WINDOW", n >= 1 && n <= most, "%d: not within 1 to %d", n, most)
	default:
		c.want("WINDOW", n >= 1 && n&(n-1) == 0, "%d: not a power of two; the next one is %d", n, powerAbove(n))
	}
}

// checkPair refuses an update with releases that it cannot learn from.
func (s Settings) checkPair(c *checker) {
	if s.Update == ogd {
		c.want("UPDATE", s.once(), "ogd: learns from releases of single steps, ORIEL_MECHANISM=%s releases prefix sums; take once-gaussian or once-gamma, or ORIEL_UPDATE=projection", s.Mechanism)
	} else {
		c.want("UPDATE", !s.once(), "%s: learns from prefix sums, ORIEL_MECHANISM=%s releases single steps; take ORIEL_UPDATE=ogd, or blt", s.Update, s.Mechanism)
	}
	c.want("MECHANISM", !s.once() || s.UserID == "", "%s: has no user level, and ORIEL_USER_ID is set: a user's events over a whole life have no bound", s.Mechanism)
}

// powerAbove is the least power of two that is at least n, up to 2⁶².
func powerAbove(n uint64) uint64 {
	if n <= 1 {
		return 1
	}
	return 1 << min(bits.Len64(n-1), 62)
}
