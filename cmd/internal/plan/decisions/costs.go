package decisions

import (
	"fmt"
	"math"
	"sort"
	"strings"

	"oriel/cmd/internal/digits"
	"oriel/cmd/internal/plan/opened"
	"oriel/mechanisms/protection"
	"oriel/operators"
	"oriel/operators/description"
	"oriel/operators/setting"
)

// Costs describes the clipping of cost vectors, for --json. The norms are those of events of weight 1, in loss units;
// they are null if the range of costs is unknown.
type Costs struct {
	Directions int           `json:"directions"`   // number of dimensions in which decisions can move
	Before     digits.Number `json:"norm_before"`  // largest norm of costs in the range, before the projection
	Longest    digits.Number `json:"norm_largest"` // largest norm after the projection
	Usual      digits.Number `json:"norm_rms"`     // root mean square norm of independent costs, uniform over the range

	costs description.Costs
	in    *setting.Range
}

// CostsOf returns nil if the operator's events are not costs, or if there is nothing to say about them.
func CostsOf(o operators.Operator, in *setting.Range) *Costs {
	c := operators.CostsOf(o)
	if c == nil || in == nil && c.Directions == c.Coordinates && c.Reason == "" {
		return nil
	}
	out := &Costs{
		Directions: c.Directions, Before: digits.None, Longest: digits.None, Usual: digits.None, costs: *c,
		in: in,
	}
	if in != nil {
		out.Before, out.Longest, out.Usual = digits.Number(c.Before(*in)), digits.Number(c.Longest(*in)),
			digits.Number(c.Usual(*in))
	}
	return out
}

// String returns the costs as readable text.
func (c *Costs) String() string {
	var b strings.Builder
	switch {
	case c.costs.Reason != "":
		fmt.Fprintf(&b, "\ncosts are clipped as they are: %s", strings.TrimPrefix(c.costs.Reason, "convex: "))
	case c.Directions < c.costs.Coordinates:
		fmt.Fprintf(&b, "\na cost vector is projected on the %s in which decisions can move, of %d, and then clipped: "+
			"no decision\nis another one for the projection, and the clip, with the noise, can be smaller",
			digits.Counted(c.Directions, "direction"), c.costs.Coordinates)
	default:
		b.WriteString("\ndecisions can move in all directions: a cost vector is clipped as it is")
	}
	if c.in == nil {
		b.WriteString("\nwith --costs LOW:HIGH, the range that each cost is in, plan says which clip shortens none")
		return b.String()
	}
	longest, usual := float64(c.Longest), float64(c.Usual)
	fmt.Fprintf(&b, "\ncosts from %g to %g: no cost vector then has a norm above %s (%s before projection): ORIEL_CLIP=%s shortens none;\n"+
		"vectors of independent costs all over the range have about %s. Noise is in proportion to the clip, and a clip that "+
		"most\nvectors exceed gives them one length, so that events count alike and noise is least beside them", c.in.Low, c.in.High, digits.Upper(longest), digits.Upper(float64(c.Before)),
		digits.Upper(longest), digits.Four(usual))
	return b.String()
}

// Noise is the noise of the decision after a number of steps, before projection.
type Noise struct {
	Steps     uint64        `json:"steps"`
	RMSVector digits.Number `json:"rms_vector"` // root mean square length of the noise
}

// tenth is the share of the radius below which noise no longer hides what the model has learned.
const tenth = 0.1

// noiseAfter returns the root mean square of a decision's noise vector after T steps. release is the root mean square
// of a release's noise.
func noiseAfter(d description.Damping, s protection.Scope, release float64, steps uint64) float64 {
	return release / d.After(s, steps)
}

// settles returns the first step after which a decision's noise stays below a tenth of the radius, or +Inf if there is
// none.
func settles(d description.Damping, s protection.Scope, release, radius float64) float64 {
	if memory, decays := s.Memory(); decays {
		enough := func(steps int) bool { return noiseAfter(d, s, release, uint64(steps)) < tenth*radius }
		last := int(min(100*memory, math.MaxInt32)) // steps after the last add no weight
		if !enough(last) {
			return math.Inf(1)
		}
		return float64(max(1, sort.Search(last, enough)))
	}
	return math.Ceil(max(1, (release/(tenth*radius)-d.Start)/d.Step))
}

// NoiseOf returns the noise of decisions after each of these numbers of steps, and the number of steps until it stays
// below a tenth of the radius. Both are empty if the operator does not provide this, or if the mechanism releases no
// prefix sums.
func NoiseOf(m *opened.Mechanism, d description.Figures, steps []uint64) (after []Noise, settled digits.Number) {
	after = []Noise{}
	if d.Damping == nil || m.PerStep() {
		return after, digits.None
	}
	scope, release := m.Config.Scope, m.Decides().RMSVector
	for _, t := range steps {
		after = append(after, Noise{t, digits.Number(noiseAfter(*d.Damping, scope, release, t))})
	}
	if !(d.Radius > 0) {
		return after, digits.None
	}
	return after, digits.Number(settles(*d.Damping, scope, release, d.Radius))
}
