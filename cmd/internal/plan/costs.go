package plan

import (
	"fmt"
	"strings"

	"oriel/cmd/internal/digits"
	"oriel/operators"
)

// Costs describes the clipping of cost vectors, for --json. The norms are those of events of weight 1, in loss units;
// they are null if the range of costs is unknown.
type Costs struct {
	Directions int           `json:"directions"`   // number of dimensions in which decisions can move
	Before     digits.Number `json:"norm_before"`  // largest norm of costs in the range, before the projection
	Longest    digits.Number `json:"norm_largest"` // largest norm after the projection
	Usual      digits.Number `json:"norm_rms"`     // root mean square norm of independent costs, uniform over the range

	costs operators.Costs
	in    *operators.Range
}

// costsOf returns nil if the operator's events are not costs, or if there is nothing to say about them.
func costsOf(o operators.Operator, in *operators.Range) *Costs {
	c := operators.CostsOf(o)
	if c == nil || in == nil && c.Directions == c.Coordinates && c.Reason == "" {
		return nil
	}
	out := &Costs{Directions: c.Directions, Before: digits.None, Longest: digits.None, Usual: digits.None, costs: *c, in: in}
	if in != nil {
		out.Before, out.Longest, out.Usual = digits.Number(c.Before(*in)), digits.Number(c.Longest(*in)), digits.Number(c.Usual(*in))
	}
	return out
}

// lines returns the costs as readable text.
func (c *Costs) lines() string {
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
