package plan

import "math"

// Learner is what the projection update makes of a release: x_{T+1} is the projection of −ĝ_T/(λ₀ + µBT) on a set of radius R, so that the noise of a
// release stands in the decision divided by λ₀ + µBT (operators/coco, SPEC.md).
type Learner struct {
	Convexity float64 // µB, that a step adds, 1/length²
	Start     float64 // λ₀
	Radius    float64 // R, length
}

// DecisionNoise is the noise of the decision after so many steps, before projection.
type DecisionNoise struct {
	Steps     uint64 `json:"steps"`
	RMSVector Number `json:"rms_vector"` // length
}

// tenth is the share of the radius at which noise stops to drown what is learned.
const tenth = 0.1

// noise is the rms of a decision's noise vector after T steps, for releases of a given rms.
func (l Learner) noise(release float64, steps uint64) float64 {
	return release / (l.Start + l.Convexity*float64(steps))
}

// settles returns the first step after which a decision's noise is below a tenth of the radius.
func (l Learner) settles(release float64) float64 {
	return math.Ceil(max(1, (release/(tenth*l.Radius)-l.Start)/l.Convexity))
}

// decisions fills in what the releases of a row mean for decisions; rows that release no prefix sums have none.
func (r *Report) decisions(row *Mechanism, l *Learner) {
	row.Decisions, row.Settles = []DecisionNoise{}, none
	if l == nil || row.machine.stream.Once() {
		return
	}
	for _, age := range r.Ages {
		row.Decisions = append(row.Decisions, DecisionNoise{age.Steps, Number(l.noise(row.RMSVector, age.Steps))})
	}
	row.Settles = Number(l.settles(row.RMSVector))
}

func (r *Report) decisionRows() *grid {
	g := &grid{}
	head := []string{"", "below R/10"}
	second := []string{"", "after"}
	for _, age := range r.Ages {
		head, second = append(head, "T ="), append(second, count(age.Steps))
	}
	g.add(head...)
	g.add(second...)
	for i := range r.Mechanisms {
		m := &r.Mechanisms[i]
		if len(m.Decisions) == 0 {
			continue
		}
		after := digits(m.Settles) + " steps"
		if step := r.stepSeconds(); step > 0 {
			after += ", " + Duration(float64(m.Settles)*step)
		}
		row := []string{m.label(), after}
		for _, d := range m.Decisions {
			row = append(row, digits(d.RMSVector))
		}
		g.add(row...)
	}
	return g
}
