package plan

import (
	"fmt"
	"math"
	"sort"

	"oriel/cmd/internal/digits"
	"oriel/mechanisms/protection"
	"oriel/operators"
)

// DecisionNoise is the noise of the decision after a number of steps, before projection.
type DecisionNoise struct {
	Steps     uint64        `json:"steps"`
	RMSVector digits.Number `json:"rms_vector"` // root mean square length of the noise
}

// tenth is the share of the radius below which noise no longer hides what the model has learned.
const tenth = 0.1

// noiseAfter returns the root mean square of a decision's noise vector after T steps. release is the root mean square
// of a release's noise.
func noiseAfter(d operators.Damping, s protection.Scope, release float64, steps uint64) float64 {
	return release / d.After(s, steps)
}

// settles returns the first step after which a decision's noise stays below a tenth of the radius, or +Inf if there is
// none.
func settles(d operators.Damping, s protection.Scope, release, radius float64) float64 {
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

// decisions fills in how much noise the releases of a row cause in decisions, if the operator provides this. A row that
// releases no prefix sums has no such figures.
func (r *Report) decisions(row *Mechanism, o operators.Operator) {
	row.Decisions, row.Settles = []DecisionNoise{}, digits.None
	d := o.Describe(row.machine.config)
	if d.Damping == nil || row.machine.stream.PerStep() {
		return
	}
	scope, release := row.machine.config.Scope, row.machine.decides().RMSVector
	for _, age := range r.Ages {
		row.Decisions = append(row.Decisions, DecisionNoise{
			age.Steps,
			digits.Number(noiseAfter(*d.Damping, scope, release, age.Steps)),
		})
	}
	if d.Radius > 0 {
		row.Settles = digits.Number(settles(*d.Damping, scope, release, d.Radius))
	}
}

// decisionTitle returns the table's title. It names the radius if decisions are in a set that has one.
func (r *Report) decisionTitle() string {
	const title = "Noise of the decision after T steps, rms of the vector"
	if !r.Setting.Radius.Known() {
		return title
	}
	return fmt.Sprintf(title+" before projection; the radius R is %g", r.Setting.Radius)
}

func (r *Report) decisionRows() *grid {
	g, bounded := &grid{}, r.Setting.Radius.Known()
	head, second := []string{""}, []string{""}
	if bounded {
		head, second = append(head, "below R/10"), append(second, "after")
	}
	for _, age := range r.Ages {
		head, second = append(head, "T ="), append(second, digits.Count(age.Steps))
	}
	g.add(head...)
	g.add(second...)
	for _, m := range r.Mechanisms {
		if len(m.Decisions) == 0 {
			continue
		}
		after := digits.Four(m.Settles) + " steps"
		if math.IsInf(float64(m.Settles), 1) {
			after = "stays above"
		} else if step := r.stepSeconds(); step > 0 {
			after += ", " + digits.Duration(float64(m.Settles)*step)
		}
		row := []string{m.label()}
		if bounded {
			row = append(row, after)
		}
		for _, d := range m.Decisions {
			row = append(row, digits.Four(d.RMSVector))
		}
		g.add(row...)
	}
	return g
}
