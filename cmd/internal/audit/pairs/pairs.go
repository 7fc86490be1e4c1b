package pairs

import (
	"fmt"
	"slices"

	"oriel/cmd/internal/audit/subject"
	"oriel/mechanisms"
	"oriel/operators"
	"oriel/operators/neighbours"
)

// Limits of the check of neighbours.
const (
	exchangedRecords = 1 << 12 // approximate number of records that the check plays
	leastExchanges   = 16
	mostExchanges    = 48
	// number of the first entries of exchangeKinds; these are tried at a stream's start and just before a decision
	plainKinds      = 4
	mostAxes        = 6
	shortExchange   = 12      // fewest steps of a pair of runs
	longExchange    = 1 << 11 // most records of a run that need not reach a decision
	longestExchange = 1 << 14 // most records of a run that must reach a decision
	exchangedAtMost = 1 << 17 // most records of all pairs together
)

// Check records and replays pairs of runs of the machine as the settings configure it.
func Check(a *subject.Subject) (subject.Check, error) {
	check := subject.Check{
		Name: "neighbours", Looked: "pairs of streams that differ in one unit, over the same noise", Holds: true,
	}
	steps, err := exchangedSteps(a)
	if err != nil {
		return check, err
	}
	p := &neighbouring{Subject: a, machine: machineOf(a), steps: steps, largest: map[int]float64{}}
	share := 0.0
	fault, err := p.deployed()
	for number, pair := range exchanges(a, steps) {
		if fault != "" || err != nil {
			break
		}
		fault, err = p.play(pair, uint64(number))
		check.Count++
	}
	if fault == "" && err == nil {
		fault, err = p.machine.CheckSums()
	}
	if fault == "" && err == nil && len(p.largest) > 0 {
		share, fault, err = p.machine.Loss(p.differences)
	}
	check.Found = "draws, decisions and public state are the same; contributions differ as the unit does"
	if share > 0 {
		check.Found += fmt.Sprintf(", and lose %.3f of the claim", share)
	}
	if check.Holds = fault == ""; !check.Holds {
		check.Found = fault
	}
	return check, err
}

// exchangedSteps returns the length of pairs of runs: up to the first decision or a few decisions, if the limits allow.
func exchangedSteps(a *subject.Subject) (uint64, error) {
	batch, end := a.Places(), a.Mechanism.Scope.End()
	least := min(max(a.Earliest()+1, min(shortExchange+a.Earliest(), longExchange/batch)), end)
	steps, _, err := a.ShownSteps(least)
	if err != nil || steps*batch <= longExchange {
		return steps, err
	}
	p, err := a.Open()
	if err != nil {
		return 0, err
	}
	for t := a.Earliest(); t*batch <= longestExchange && t <= end; t++ {
		if _, count := p.Machines[0].Due(t); count > 0 {
			return max(least, t), nil
		}
	}
	return least, nil
}

// neighbouring plays the pairs of runs of a subject.
type neighbouring struct {
	*subject.Subject
	machine     *neighbours.Subject
	steps       uint64
	differences [][]int64 // by component: the longest difference found between two contributions
	largest     map[int]float64
}

// deployed plays the machine over a stream that is opened as the service opens it, and describes a fault.
func (p *neighbouring) deployed() (fault string, err error) {
	busy := pairOfStreams{kind: exchangeKinds[0], direction: p.Dense(p.Random("neighbours", 0)), busy: true}
	source, err := newExchange(p.Subject, busy, 0)
	if err != nil {
		return "", err
	}
	stream, err := p.Stream(p.WholeMechanism, p.WholeCalibration, p.Key())
	if err != nil {
		return "", err
	}
	return p.machine.CompareDeployed(source, min(p.steps, shortExchange), stream)
}

// play plays one pair, and describes a fault.
func (p *neighbouring) play(pair pairOfStreams, number uint64) (fault string, err error) {
	source, err := newExchange(p.Subject, pair, number)
	if err != nil {
		return "", err
	}
	report, err := p.machine.Compare(source, p.steps, pair.at)
	if err != nil {
		return "", err
	}
	if p.differences == nil {
		p.differences = slices.Clone(report.Largest)
	}
	for k, v := range report.Largest {
		if d := subject.Square(v, make([]int64, len(v))); d > p.largest[k] {
			p.differences[k], p.largest[k] = v, d
		}
	}
	if report.Fault != "" {
		return fmt.Sprintf("%s in step %d: %s", pair.kind.name, pair.at[0], report.Fault), nil
	}
	return "", nil
}

// machineOf returns the machine with the functions that open it.
func machineOf(a *subject.Subject) *neighbours.Subject {
	s := neighbours.New(a.WholeMechanism, a.WholeCalibration, a.Key(), nil)
	s.Open = func(stream *mechanisms.Stream) (neighbours.Machine, error) {
		m, err := a.Machine(a.Operator, a.Params, stream)
		if err != nil {
			return nil, err
		}
		if a.WholeMechanism.Batch == 0 {
			return a.Stepped(m), nil
		}
		return walkOf(a, m)
	}
	if output := operators.SecondTopicOf(a.Operator); output != nil && output.Own {
		s.Own, s.Extras = true, a.Operator.Extras()
		for i, x := range s.Extras {
			if x.Name == output.Key {
				s.KeyText = i
			}
		}
	}
	return s
}

// pairOfStreams is the difference between the two runs of a pair, and its place.
type pairOfStreams struct {
	kind      exchangeKind
	direction []float64
	busy      bool // the streams contain other events besides the exchanged one
	place     int  // place of the exchanged records in their steps
	at        []uint64
}

// exchanges returns the pairs of streams that the check plays.
func exchanges(a *subject.Subject, steps uint64) []pairOfStreams {
	places := places(a, steps)
	if len(places) == 0 {
		return nil
	}
	directions := [][]float64{a.Dense(a.Random("neighbours", 0)), a.Dense(a.Random("neighbours", 1))}
	for i := range min(mostAxes, a.Numbers()) {
		number := i
		if i == mostAxes-1 {
			number = a.Numbers() - 1
		}
		directions = append(directions, a.Axis(number))
	}
	rng, last := a.Random("pairs", 0), int(a.Places())-1
	var all []pairOfStreams
	add := func(kind exchangeKind, at uint64, place int) {
		all = append(all, pairOfStreams{
			kind: kind, direction: directions[len(all)%len(directions)], busy: rng.IntN(3) > 0, place: place,
			at: eventsFrom(a, at, steps),
		})
	}
	for _, kind := range exchangeKinds[:plainKinds] {
		for _, at := range slices.Compact([]uint64{places[0], steps}) {
			for _, place := range slices.Compact([]int{0, last}) {
				add(kind, at, place)
			}
		}
	}
	count := max(leastExchanges, exchangedRecords/int(steps*a.Places()))
	for i := 0; i < len(exchangeKinds) || len(all) < min(count, mostExchanges); i++ {
		add(exchangeKinds[i%len(exchangeKinds)], places[rng.IntN(len(places))], last*rng.IntN(2))
	}
	return all[:min(len(all), max(len(exchangeKinds), exchangedAtMost/int(steps*a.Places())))]
}

// places returns the steps in which the first contribution of an exchanged unit is added. These are the first steps,
// the ends of a block, the last steps, and one step after the run; in the last case the event still waits when the run
// ends.
func places(a *subject.Subject, steps uint64) (places []uint64) {
	first, span := a.Earliest(), a.Mechanism.Scope.Span()
	for _, at := range []uint64{first, steps, steps + first - 1, span, span + 1, first + 1, steps - 1} {
		if at >= first && at < steps+first && first <= steps && !slices.Contains(places, at) {
			places = append(places, at)
		}
	}
	return places
}

// eventsFrom returns the steps of all events of a unit, starting with first.
func eventsFrom(a *subject.Subject, first, steps uint64) []uint64 {
	at := []uint64{first}
	separation, _ := a.Mechanism.Unit.EventSeparation()
	for t := first + separation; separation > 0 && t <= steps && t < first+a.Mechanism.ExchangeSteps(); t += separation {
		at = append(at, t)
	}
	return at
}
