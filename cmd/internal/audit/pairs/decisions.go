package pairs

import (
	"fmt"

	"oriel/cmd/internal/audit/subject"
	"oriel/cmd/internal/audit/traffic"
	"oriel/operators"
	"oriel/operators/neighbours"
)

// Decisions plays background traffic, and then other events over the same releases and draws. Decisions must be the
// same, because they are computed from releases and draws alone.
func Decisions(a *subject.Subject, steps uint64) (subject.Check, error) {
	runs, steps := a.Repetitions(steps)
	check := subject.Check{
		Name: "decisions", Looked: "runs of other events over the same releases", Count: runs,
		Found: "decisions are the same bytes", Holds: true,
	}
	machine, draws := machineOf(a), uint64(0)
	for run := range runs {
		source, err := newCrowds(a, run)
		if err != nil {
			return check, err
		}
		report, err := machine.CompareDecisions(source, steps)
		if err != nil {
			return check, err
		}
		if report.Fault != "" {
			check.Holds, check.Found = false, fmt.Sprintf("run %d, %s", run, report.Fault)
			break
		}
		draws += report.Draws
	}
	if draws > 0 {
		check.Looked = "runs of other events over the same releases and draws"
	}
	return check, nil
}

// crowds is a neighbours.Source of two streams of background traffic with the same keys. All their events differ,
// except for some that decisions answer.
type crowds struct {
	subject *subject.Subject
	both    [2]crowd
	users   int // number of users so far
}

type crowd struct {
	reference operators.ReferenceModel
	traffic   *traffic.Traffic
	all       []float64 // scratch space of the reference model
}

func newCrowds(a *subject.Subject, run uint64) (*crowds, error) {
	s := &crowds{subject: a}
	for i, purpose := range []string{"crowd", "other crowd"} {
		reference, err := operators.ReferenceModelOf(a.Operator, a.Params)
		if err != nil {
			return nil, err
		}
		reference.Begin()
		s.both[i] = crowd{reference, traffic.New(a, reference), make([]float64, a.WholeMechanism.Contribution.Entries())}
		s.both[i].traffic.Begin(purpose, run)
	}
	return s, nil
}

// Next implements neighbours.Source.
func (s *crowds) Next(_ uint64, place int) neighbours.Couple {
	var both [2]operators.Record
	same := false
	s.users++
	for i, c := range s.both {
		if place == 0 {
			c.traffic.Step()
		}
		both[i], same = c.traffic.At(uint64(place))
		if s.subject.Users != nil && s.subject.WholeMechanism.Batch > 0 {
			both[i].Key = fmt.Appendf(nil, "user %d", s.users)
		}
		c.reference.Contribution(c.all, both[i])
	}
	return neighbours.Couple{Record: both[0], Neighbour: both[1], Exchanged: !same}
}

// Observe implements neighbours.Source.
func (s *crowds) Observe(decisions []operators.Decision) {
	for _, c := range s.both {
		c.reference.Observe(decisions)
	}
}

// drawnPairs is the number of pairs of runs.
const drawnPairs = 24

// Exchange plays pairs of runs with the same draws, one run with a canary and one without. The number and the
// distribution of the draws must be the calibration's, and the canary must not move a score by more than its
// sensitivity.
func Exchange(a *subject.Subject, steps uint64) (subject.Check, error) {
	check := subject.Check{
		Name: "exchange", Looked: "runs that differ in one event, over the same draws", Count: drawnPairs, Holds: true,
	}
	d, due := a.Mechanism.Draws, uint64(0) // number of draws: exact if draws have an interval, else an upper bound
	if d.Every > 0 {
		due = d.K * (steps / d.Every)
	} else {
		due = d.K * min(d.MaxDraws, steps)
	}
	machine, share := machineOf(a), 0.0
	for run := range uint64(drawnPairs) {
		rng := a.Random("exchange", run)
		first := a.Earliest()
		u, at := a.Dense(rng), first+rng.Uint64N(steps+1-first)
		if run%2 == 0 {
			at = first // all draws come after this step
		}
		source, err := newExchange(a, pairOfStreams{kind: exchangeKinds[0], direction: u, at: []uint64{at}}, run)
		if err != nil {
			return check, err
		}
		report, err := machine.Compare(source, steps, []uint64{at})
		if err != nil {
			return check, err
		}
		fault := report.Fault
		if made := report.Draws; fault == "" && (made > due || d.Every > 0 && made != due) {
			fault = fmt.Sprintf("%d draws in %d steps, the account has %d", made, steps, due)
		}
		if fault != "" {
			check.Holds, check.Found = false, fmt.Sprintf("run %d: %s", run, fault)
			return check, nil
		}
		share = max(share, report.Share)
	}
	check.Found = fmt.Sprintf("draws are the account's, and their laws move by up to %.3f of it", share)
	return check, nil
}
