package subject

import (
	"fmt"

	"oriel/operators"
)

// These limits bound the replays of a check: runs, records of all runs, and released numbers of a run.
const (
	mostRepeated    = 32
	repeatedRecords = 1 << 16
	repeatedNumbers = 1 << 24
)

// spare is the number of places in a step by the clock besides those of the events of one unit.
const spare = 3

// Places returns the number of places for records in a step: B, or by the clock enough for all events of a unit. By the
// clock a null record at a place stands for no record.
func (a *Subject) Places() uint64 {
	if a.WholeMechanism.Batch > 0 {
		return a.WholeMechanism.Batch
	}
	return a.WholeMechanism.Unit.StepEvents() + spare
}

// Repetitions returns how many runs a check plays, and how many steps each run has.
func (a *Subject) Repetitions(steps uint64) (runs, each uint64) {
	each = min(steps, max(2, repeatedNumbers/uint64(a.Mechanism.Dimension())))
	return max(2, min(a.Repeated, repeatedRecords/(each*a.Places()))), each
}

// leastShown is the minimum number of steps with the largest number of decisions that a check of decisions plays, if
// runs are long enough to reach them.
const leastShown = 3

// ShownSteps returns the number of steps that a check of decisions plays: steps, or more if decisions are rare or
// feedback waits. It also describes the decisions that no affordable run reaches.
func (a *Subject) ShownSteps(steps uint64) (uint64, []string, error) {
	limit := min(LongestBackground/a.Places(), max(2, repeatedNumbers/uint64(a.Mechanism.Dimension())))
	limit = min(limit, a.Mechanism.Scope.End())
	if a.shown.first != a.Earliest() || a.shown.limit != limit {
		p, err := a.Open()
		if err != nil {
			return 0, nil, err
		}
		*a.shown = shownIn(p.Machines[0].Machine, a.Earliest(), limit)
	}
	if a.shown.most == 0 {
		return min(steps, limit), []string{fmt.Sprintf("decisions: none that an event could be in is published in the first %d steps", limit)}, nil
	}
	return min(max(steps, a.shown.last), limit), nil, nil
}

// shown is a scan of the steps from first to limit for those with the largest number of decisions.
type shown struct {
	first, limit uint64
	most         int    // largest number of decisions of a step
	last         uint64 // step number leastShown, or the last, of those with so many decisions
}

// shownIn scans the steps of a machine. The scan takes milliseconds, so a subject keeps it.
func shownIn(m operators.Machine, first, limit uint64) shown {
	s, found := shown{first: first, limit: limit}, 0
	for t := first; t <= limit; t++ {
		_, count := m.Due(t)
		if count > s.most {
			s.most, found = count, 0
		}
		if count == s.most && count > 0 && found < leastShown {
			found++
			s.last = t
		}
	}
	return s
}

// Limits of a run with background traffic.
const (
	ShortestBackground = 64      // fewest steps; the statistics compare steps with each other and need this many
	LongestBackground  = 1 << 20 // largest number of records
	OneBlock           = 1 << 12 // number of steps of a run that cannot reach a second block
	LongestAttack      = 1024    // largest number of releases for which a canary is followed
)

// DrawingSteps returns the number of steps of a run of draws: several intervals between draws.
func (a *Subject) DrawingSteps() uint64 {
	m := a.Mechanism
	return max(1, min(m.Scope.End(), max(ShortestBackground, 4*m.Draws.Every)+a.Lag, LongestBackground/a.Places()))
}
