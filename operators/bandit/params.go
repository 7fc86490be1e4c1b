package bandit

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"slices"

	"oriel/mechanisms"
	"oriel/operators/actions"
	"oriel/operators/convex"
	"oriel/operators/setting"
)

// Config holds the public settings, which are constant during the life of a deployment.
type Config struct {
	Set       convex.Set
	Losses    setting.Range
	Baseline  float64 // baseline of losses, as a fraction of the range of losses above its lower end
	Lipschitz float64 // L, in loss per length
	Rounds    uint64  // number of steps; 0: unknown, so that ζ and η must be configured
	Smoothing float64 // ζ; 0 means the paper's value
	Rate      float64 // η; 0 means the paper's value
	Shrink    bool    // actions stay in the set
	Projected bool    // centres are found by projection, not by linear minimisations
	Precision float64 // allowed error of centres by linear minimisations, a length; 0 means D/√B
	Doubling  bool    // starts anew after 1, 2, 4, … rounds, with the paper's ζ and η for each length
	Actions   actions.Config

	axes  bool   // directions are coordinates in turn, for an audit, whose canaries need one that they know
	shape *shape // shape of Set; nil until it is computed
}

// Validate reports all problems of the settings.
func (c Config) Validate() error {
	return errors.Join(c.Actions.Validate(), c.NewParams().validate())
}

// Params holds the values that depend on a platform's math library. They are computed once, when a stream is opened.
type Params struct {
	Episodes []Episode // one episode, or several with Doubling
	// Largest distance of a contribution's centre from zero, at most 1, which is the radius of contributions.
	Centres float64

	// Dimension is m, the dimension of the set's tangent space, which contains the directions.
	Dimension int
}

// NewParams returns the constants of all episodes.
func (c Config) NewParams() Params {
	c.shape = c.geometry()
	p := Params{Centres: 1, Dimension: c.shape.dimension}
	for e := range c.episodes() {
		rounds := c.Rounds
		if c.Doubling {
			rounds = 1 << e
		}
		p.Episodes = append(p.Episodes, c.episode(float64(rounds)*float64(c.Actions.Records)))
	}
	return p
}

// episode returns the configured ζ and η, or else the paper's values: ζ = D√m/T^¼, at most D, and with Shrink at most
// a quarter of the inner radius, and η = D/(T^¾·√m·L). T is the number of actions and m the dimension of directions
// (SPEC.md §2).
func (c Config) episode(total float64) Episode {
	p, shape := Episode{Smoothing: c.Smoothing, Rate: c.Rate, Shrink: 1}, c.geometry()
	m, diameter := float64(shape.dimension), c.Set.Diameter()
	if p.Smoothing == 0 {
		p.Smoothing = min(diameter, diameter*math.Sqrt(m)/math.Pow(total, 0.25))
		if c.Shrink {
			p.Smoothing = min(p.Smoothing, shape.radius/4)
		}
	}
	if p.Rate == 0 {
		p.Rate = diameter / (math.Pow(total, 0.75) * math.Sqrt(m) * c.Lipschitz)
	}
	if c.Shrink {
		p.Shrink = 1 - p.Smoothing/shape.radius
	}
	return p
}

// centres returns the distance from zero of the centres of the balls that contain contributions. It matters for
// zero-out, where noise is calibrated to the distance between a contribution and zero. With losses measured from the
// middle of their range the centres are at zero, and this distance is half of the distance between two contributions.
func (c Config) centres(m mechanisms.Config) float64 {
	if m.Unit.AgainstNull() {
		return math.Abs(1 - float64(2*c.Baseline))
	}
	return 1
}

// gain returns the factor from mapped to real units of a contribution and of a release: m/ζ times half of the range of
// losses.
func (c Config) gain(p Params, e Episode) float64 {
	return float64(float64(float64(p.Dimension)/e.Smoothing) * c.Losses.Half())
}

func (p Params) validate() error {
	for _, e := range p.Episodes {
		if !(e.Smoothing > 0 && e.Smoothing <= math.MaxFloat64 && e.Rate > 0 && e.Rate <= math.MaxFloat64) {
			return fmt.Errorf("bandit: ζ = %g, η = %g: not positive and finite", e.Smoothing, e.Rate)
		}
		if !(e.Shrink > 0 && e.Shrink <= 1) {
			return fmt.Errorf("bandit: ORIEL_SMOOTHING %g: not below %.4g, the radius of the ball in the set, so that plays cannot "+
				"stay in it", e.Smoothing, e.Smoothing/(1-e.Shrink)) // e.Shrink is 1 − ζ/r
		}
	}
	if p.Dimension < 1 || p.Dimension > setting.MaxDimension {
		return fmt.Errorf("bandit: directions of %d dimensions", p.Dimension)
	}
	if len(p.Episodes) < 1 || len(p.Episodes) > 64 || !(p.Centres >= 0 && p.Centres <= 1) {
		return fmt.Errorf("bandit: %d episodes, centres of %g", len(p.Episodes), p.Centres)
	}
	return nil
}

// The stored form of params is version ‖ dimension ‖ centres ‖ episodes.
const (
	paramsVersion = 1
	paramsHead    = 1 + 2*8 // length of everything before the episodes, bytes
	episodeLen    = 3 * 8
)

// AppendBinary appends the stored form of the params.
func (p Params) AppendBinary(dst []byte) []byte {
	dst = append(dst, paramsVersion)
	number := func(x float64) { dst = binary.LittleEndian.AppendUint64(dst, math.Float64bits(x)) }
	number(float64(p.Dimension))
	number(p.Centres)
	for _, e := range p.Episodes {
		number(e.Smoothing)
		number(e.Rate)
		number(e.Shrink)
	}
	return dst
}

// ParseParams reads the stored form that AppendBinary writes.
func ParseParams(b []byte) (Params, error) {
	if len(b) <= paramsHead || b[0] != paramsVersion || (len(b)-paramsHead)%episodeLen != 0 {
		return Params{}, fmt.Errorf("bandit: params: not one of version %d", paramsVersion)
	}
	rest := b[1:]
	number := func() float64 {
		x := math.Float64frombits(binary.LittleEndian.Uint64(rest))
		rest = rest[8:]
		return x
	}
	p := Params{Dimension: int(max(0, min(number(), setting.MaxDimension))), Centres: number()}
	for len(rest) > 0 {
		p.Episodes = append(p.Episodes, Episode{Smoothing: number(), Rate: number(), Shrink: number()})
	}
	if err := p.validate(); err != nil {
		return Params{}, err
	}
	if again := p.AppendBinary(nil); !slices.Equal(again, b) {
		return Params{}, errors.New("bandit: params: malformed")
	}
	return p, nil
}
