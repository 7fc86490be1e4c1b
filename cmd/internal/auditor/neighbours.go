package auditor

import (
	"fmt"
	"slices"

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

// neighbours records and replays pairs of runs of the machine as the settings configure it.
func (a *Subject) neighbours() (Check, error) {
	check := Check{
		Name: "neighbours", Looked: "pairs of streams that differ in one unit, over the same noise", Holds: true,
	}
	steps, err := a.exchangedSteps()
	if err != nil {
		return check, err
	}
	p := &neighbouring{Subject: a, machine: a.subjectOfNeighbours(), steps: steps, largest: map[int]float64{}}
	share := 0.0
	fault, err := p.deployed()
	for number, pair := range a.exchanges(steps) {
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
func (a *Subject) exchangedSteps() (uint64, error) {
	batch, end := a.mechanism.Batch, a.mechanism.Scope.End()
	least := min(max(a.earliest()+1, min(shortExchange+a.earliest(), longExchange/batch)), end)
	steps, _, err := a.shownSteps(least)
	if err != nil || steps*batch <= longExchange {
		return steps, err
	}
	p, err := a.open()
	if err != nil {
		return 0, err
	}
	for t := a.earliest(); t*batch <= longestExchange && t <= end; t++ {
		if _, count := p.both[0].Due(t); count > 0 {
			return max(least, t), nil
		}
	}
	return least, nil
}

// neighbouring plays the pairs of runs of a subject.
type neighbouring struct {
	*Subject
	machine     *neighbours.Subject
	steps       uint64
	differences [][]int64 // by component: the longest difference found between two contributions
	largest     map[int]float64
}

// deployed plays the machine over a stream that is opened as the service opens it, and describes a fault.
func (p *neighbouring) deployed() (fault string, err error) {
	busy := pairOfStreams{kind: exchangeKinds[0], direction: p.dense(p.random("neighbours", 0)), busy: true}
	source, err := p.newExchange(busy, 0)
	if err != nil {
		return "", err
	}
	stream, err := p.stream(p.wholeMechanism, p.wholeCalibration, p.key())
	if err != nil {
		return "", err
	}
	return p.machine.CompareDeployed(source, min(p.steps, shortExchange), stream)
}

// play plays one pair, and describes a fault.
func (p *neighbouring) play(pair pairOfStreams, number uint64) (fault string, err error) {
	source, err := p.newExchange(pair, number)
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
		if d := square(v, make([]int64, len(v))); d > p.largest[k] {
			p.differences[k], p.largest[k] = v, d
		}
	}
	if report.Fault != "" {
		return fmt.Sprintf("%s in step %d: %s", pair.kind.name, pair.at[0], report.Fault), nil
	}
	return "", nil
}

// subjectOfNeighbours returns the machine with the functions that open it.
func (a *Subject) subjectOfNeighbours() *neighbours.Subject {
	open := func(stream *mechanisms.Stream) (operators.Machine, error) {
		m, err := a.machine(a.operator, a.public, stream)
		if err != nil {
			return nil, err
		}
		return a.walkOf(m)
	}
	s := neighbours.New(a.wholeMechanism, a.wholeCalibration, a.key(), open)
	if output := operators.SecondTopicOf(a.operator); output != nil && output.Own {
		s.Own, s.Extras = true, a.operator.Extras()
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
func (a *Subject) exchanges(steps uint64) []pairOfStreams {
	places := a.places(steps)
	if len(places) == 0 {
		return nil
	}
	directions := [][]float64{a.dense(a.random("neighbours", 0)), a.dense(a.random("neighbours", 1))}
	for i := range min(mostAxes, a.numbers()) {
		number := i
		if i == mostAxes-1 {
			number = a.numbers() - 1
		}
		directions = append(directions, a.axis(number))
	}
	rng, last := a.random("pairs", 0), int(a.mechanism.Batch)-1
	var all []pairOfStreams
	add := func(kind exchangeKind, at uint64, place int) {
		all = append(all, pairOfStreams{
			kind: kind, direction: directions[len(all)%len(directions)], busy: rng.IntN(3) > 0, place: place,
			at: a.eventsFrom(at, steps),
		})
	}
	for _, kind := range exchangeKinds[:plainKinds] {
		for _, at := range slices.Compact([]uint64{places[0], steps}) {
			for _, place := range slices.Compact([]int{0, last}) {
				add(kind, at, place)
			}
		}
	}
	count := max(leastExchanges, exchangedRecords/int(steps*a.mechanism.Batch))
	for i := 0; i < len(exchangeKinds) || len(all) < min(count, mostExchanges); i++ {
		add(exchangeKinds[i%len(exchangeKinds)], places[rng.IntN(len(places))], last*rng.IntN(2))
	}
	return all[:min(len(all), max(len(exchangeKinds), exchangedAtMost/int(steps*a.mechanism.Batch)))]
}

// places returns the steps in which the first contribution of an exchanged unit is added. These are the first steps,
// the ends of a block, the last steps, and one step after the run; in the last case the event still waits when the run
// ends.
func (a *Subject) places(steps uint64) (places []uint64) {
	first, span := a.earliest(), a.mechanism.Scope.Span()
	for _, at := range []uint64{first, steps, steps + first - 1, span, span + 1, first + 1, steps - 1} {
		if at >= first && at < steps+first && first <= steps && !slices.Contains(places, at) {
			places = append(places, at)
		}
	}
	return places
}

// eventsFrom returns the steps of all events of a unit, starting with first.
func (a *Subject) eventsFrom(first, steps uint64) []uint64 {
	at := []uint64{first}
	separation, several := a.mechanism.Unit.EventSeparation()
	for t := first + separation; several && t <= steps && t < first+a.mechanism.ExchangeSteps(); t += separation {
		at = append(at, t)
	}
	return at
}
