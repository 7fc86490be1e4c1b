package auditor

import (
	"fmt"
	"slices"

	"oriel/mechanisms"
	"oriel/operators"
	"oriel/operators/neighbours"
)

// How much a check of neighbours plays.
const (
	exchangedRecords = 1 << 13 // of all pairs together, about
	leastExchanges   = 8
	mostAxes         = 6
	shortExchange    = 12 // steps of a pair of runs, at least
)

// neighbours records and replays pairs of runs of the machine as the settings say it.
func (a *Subject) neighbours() (Check, error) {
	check := Check{
		Name: "neighbours", Looked: "pairs of streams that differ in one unit, over the same noise", Holds: true,
	}
	steps, _, err := a.shownSteps(max(shortExchange, a.earliest()+2))
	if err != nil {
		return check, err
	}
	s := a.subjectOfNeighbours()
	var moved [][]int64
	largest := map[int]float64{}
	fault := ""
	for number, pair := range a.exchanges(steps) {
		source, err := a.newExchange(pair.kind, pair.direction, uint64(number), pair.busy, pair.at...)
		if err != nil {
			return check, err
		}
		report, err := s.Compare(source, steps, pair.at)
		if err != nil {
			return check, err
		}
		check.Count++
		if fault = report.Fault; fault != "" {
			fault = fmt.Sprintf("%s, %s", pair.kind.name, fault)
			break
		}
		moved = farther(moved, report.Moved, largest)
	}
	if fault == "" {
		fault, err = s.SumsAlone()
		if err != nil {
			return check, err
		}
	}
	share := 0.0
	if fault == "" && len(largest) > 0 {
		share, fault, err = s.Loss(moved)
		if err != nil {
			return check, err
		}
	}
	check.Found = fmt.Sprintf("control flow, decisions and public state are equal; contributions differ once, and lose %.3f of the claim", share)
	if check.Holds = fault == ""; !check.Holds {
		check.Found = fault
	}
	return check, nil
}

// farther keeps, by component, the longer of two differences.
func farther(moved, more [][]int64, largest map[int]float64) [][]int64 {
	if moved == nil {
		moved = slices.Clone(more)
	}
	none := []int64{}
	for k, v := range more {
		if d := square(v, append(none, make([]int64, len(v))...)); d > largest[k] {
			moved[k], largest[k] = v, d
		}
	}
	return moved
}

// subjectOfNeighbours is the machine with what opens it.
func (a *Subject) subjectOfNeighbours() *neighbours.Subject {
	s := neighbours.New(a.wholeMechanism, a.wholePlan, a.key(), func(stream *mechanisms.Stream) (operators.Machine, error) {
		return a.machine(a.operator, a.public, stream)
	})
	if output := operators.SecondTopicOf(a.operator); output != nil && output.Own {
		s.Own = true
		for i, x := range a.operator.Extras() {
			if x.Name == output.Key {
				s.KeyText = i
			}
		}
	}
	return s
}

// pairOfStreams is what a pair of runs differs in, and where.
type pairOfStreams struct {
	kind      exchangeKind
	direction []float64
	busy      bool // with other events
	at        []uint64
}

// exchanges are the pairs that are played.
func (a *Subject) exchanges(steps uint64) []pairOfStreams {
	var places []uint64
	first := a.earliest()
	for _, at := range []uint64{first, a.mechanism.Scope.Span(), a.mechanism.Scope.Span() + 1, first + 1, steps - 1, steps} {
		if at >= first && at <= steps && !slices.Contains(places, at) {
			places = append(places, at)
		}
	}
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
	var all []pairOfStreams
	count := max(leastExchanges, len(directions), len(exchangeKinds), min(64, exchangedRecords/int(steps*a.mechanism.Batch)))
	for i := range count {
		all = append(all, pairOfStreams{
			kind: exchangeKinds[i%len(exchangeKinds)], direction: directions[i%len(directions)], busy: i%3 != 1,
			at: []uint64{places[i%len(places)]},
		})
	}
	return all
}
