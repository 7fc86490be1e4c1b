package auditor

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"oriel/mechanisms/contribution"
	"oriel/mechanisms/lattice"
	"oriel/mechanisms/protection"
	"oriel/operators"
)

// Limits of the check of distances, which compares pairs of events, each pair at the end of a run of up to shortRun
// steps.
const (
	pairs       = 64
	shortRun    = 8
	mostHostile = 64 // largest number of entries that are replaced one by one with hostile values
)

// hasQuantiser reports whether an audited component has a quantiser, which defines contributions and their sensitivity
// itself.
func (a *Subject) hasQuantiser() bool {
	return slices.ContainsFunc(a.mechanism.Contribution.Components, func(c contribution.Component) bool {
		return c.Quantiser != nil
	})
}

// distances compares, in integers, the contributions of two events that may arrive at the same moment: with each other,
// and with zero. No pair may be farther apart than the quantiser claims, because the noise is calibrated to the claim.
// The pairs include numbers that no valid event has.
func (a *Subject) distances() (Check, error) {
	check := Check{
		Name: "distances", Looked: "contributions that quantisers return, of two events in each other's place", Count: pairs,
		Found: "none is farther from another or from zero than is claimed", Holds: true,
	}
	if a.earliest() > a.wholeMechanism.Scope.End() {
		check.Count, check.Found = 0, "no event adds anything within the horizon"
		return check, nil
	}
	c, err := a.openBackground(shortRun)
	if err != nil {
		return check, err
	}
	for pair := range uint64(pairs) {
		first, second, err := c.pairOf(pair)
		if pair == 0 && errors.Is(err, errUnseen) {
			check.Count, check.Found = 0, "no event of these settings adds to the sums"
			return check, nil
		}
		if err != nil {
			return check, err
		}
		for k := range a.components {
			q := a.mechanism.Contribution.Components[k].Quantiser
			if q == nil {
				continue
			}
			from, to := a.bounds(a.first + k)
			if fault := a.beyondSensitivity(q, k, first[from:to], second[from:to]); fault != "" {
				check.Holds, check.Found = false, fmt.Sprintf("pair %d, component %d: %s", pair, a.first+k, fault)
				return check, nil
			}
		}
	}
	return check, nil
}

// pairOf returns the numbers of two events after the same history.
func (c *background) pairOf(pair uint64) (first, second []float64, err error) {
	var both [2][]float64
	a := c.subject
	c.steps = 1 + pair%shortRun
	if end := a.wholeMechanism.Scope.End(); end != protection.Endless {
		c.steps = min(c.steps, end-a.earliest())
	}
	for i := range both {
		if err := c.play("pair", pair, false, func(step) {}); err != nil {
			return nil, nil, err
		}
		u, factor := a.dense(c.traffic.own.rng), math.Exp2(float64(c.traffic.own.rng.IntN(8)-6))
		if pair%2 == 0 {
			u, factor = a.axis(int(pair/2)%a.numbers()), 1
		}
		r, other := c.reference.Canary(u, factor)
		if i == 1 {
			r = other
		}
		if !c.arrives(r, pair) {
			return nil, nil, fmt.Errorf("%w: pair %d", errUnseen, pair)
		}
		both[i] = slices.Clone(c.all)
	}
	return both[0], both[1], nil
}

// arrives plays an event and null records until the event's contribution is added, and reports whether it adds one.
func (c *background) arrives(event operators.Record, number uint64) (adds bool) {
	records, lag := c.reference.Records(event)
	at := placesOf(number)
	at.id.Partition++ // no identity of the run is used twice
	for step := range uint64(len(records)) + lag {
		for place := range c.subject.mechanism.Batch {
			r := operators.Record{Null: true}
			if place == 0 && step < uint64(len(records)) {
				r = records[step]
			}
			r.Identity = at.next()
			if adds = c.add(r); step+1 == uint64(len(records))+lag {
				return adds
			}
		}
	}
	return false
}

// beyondSensitivity describes which claim of a quantiser two vectors of numbers break, if any. It then sets entries of
// the second vector to hostile values such as NaN. For these vectors it checks only the distance from zero, because an
// entry that it replaces may be a public number, which neighbours share.
func (a *Subject) beyondSensitivity(q contribution.Quantiser, k int, first, second []float64) string {
	grid, size := a.components[k].Grid, a.components[k].To-a.components[k].From
	squareReplace, squareZero := q.Distances(grid)
	replace, zeroOut := lattice.Grid{}.Float64(squareReplace), lattice.Grid{}.Float64(squareZero)
	x, y := quantised(q, grid, size, first), quantised(q, grid, size, second)
	if d := square(x, y); d > replace {
		return fmt.Sprintf("contributions are %.9g lattice units apart, claimed is %.9g", math.Sqrt(d), math.Sqrt(replace))
	}
	none := make([]int64, size)
	long := func(vector []int64) string {
		if d := square(vector, none); d > zeroOut {
			return fmt.Sprintf("a contribution is %.9g lattice units long, claimed is %.9g", math.Sqrt(d), math.Sqrt(zeroOut))
		}
		return ""
	}
	for _, vector := range [][]int64{x, y} {
		if fault := long(vector); fault != "" {
			return fault
		}
	}
	for i := range min(len(second), mostHostile) {
		kept := second[i]
		for _, bad := range []float64{math.NaN(), math.Inf(1), math.Inf(-1), 1e300, -1e300, 1e-300, 0x1p62, 1, -1} {
			second[i] = bad
			if fault := long(quantised(q, grid, size, second)); fault != "" {
				return fault
			}
		}
		second[i] = kept
	}
	return ""
}

// quantised returns the integers into which the quantiser turns a contribution's numbers.
func quantised(q contribution.Quantiser, grid lattice.Grid, size int, numbers []float64) []int64 {
	vector := make([]int64, size)
	q.Quantise(grid, vector, numbers)
	return vector
}

// square returns the square of a distance, rounded once.
func square(x, y []int64) float64 {
	difference := make([]int64, len(x))
	for i := range x {
		difference[i] = x[i] - y[i]
	}
	return lattice.Grid{}.Float64(lattice.SquaredLength(difference))
}
