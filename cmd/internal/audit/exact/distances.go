package exact

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"oriel/cmd/internal/audit/subject"
	"oriel/cmd/internal/audit/traffic"
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

// Distances compares, in integers, the contributions of two events that may arrive at the same moment: with each other,
// and with zero. No pair may be farther apart than the quantiser claims, because the noise is calibrated to the claim.
// The pairs include numbers that no valid event has.
func Distances(a *subject.Subject) (subject.Check, error) {
	check := subject.Check{
		Name: "distances", Looked: "contributions that quantisers return, of two events in each other's place", Count: pairs,
		Found: "none is farther from another or from zero than is claimed", Holds: true,
	}
	if a.Earliest() > a.WholeMechanism.Scope.End() {
		check.Count, check.Found = 0, "no event adds anything within the horizon"
		return check, nil
	}
	c, err := traffic.Open(a, shortRun)
	if err != nil {
		return check, err
	}
	for pair := range uint64(pairs) {
		first, second, err := pairOf(c, pair)
		if pair == 0 && errors.Is(err, subject.ErrUnseen) {
			check.Count, check.Found = 0, "no event of these settings adds to the sums"
			return check, nil
		}
		if err != nil {
			return check, err
		}
		for k := range a.Components {
			q := a.Mechanism.Contribution.Components[k].Quantiser
			if q == nil {
				continue
			}
			from, to := a.Bounds(a.First + k)
			if fault := beyondSensitivity(a, q, k, first[from:to], second[from:to]); fault != "" {
				check.Holds, check.Found = false, fmt.Sprintf("pair %d, component %d: %s", pair, a.First+k, fault)
				return check, nil
			}
		}
	}
	return check, nil
}

// pairOf returns the numbers of two events after the same history.
func pairOf(c *traffic.Background, pair uint64) (first, second []float64, err error) {
	var both [2][]float64
	a := c.Subject
	c.Steps = 1 + pair%shortRun
	if end := a.WholeMechanism.Scope.End(); end != protection.Endless {
		c.Steps = min(c.Steps, end-a.Earliest())
	}
	for i := range both {
		if err := c.Play("pair", pair, false, func(traffic.Step) {}); err != nil {
			return nil, nil, err
		}
		u, factor := a.Dense(c.Traffic.Random()), math.Exp2(float64(c.Traffic.Random().IntN(8)-6))
		if pair%2 == 0 {
			u, factor = a.Axis(int(pair/2)%a.Numbers()), 1
		}
		r, other := c.Reference.Canary(u, factor)
		if i == 1 {
			r = other
		}
		at := subject.IdentitiesOf(pair)
		at.ID.Partition++ // no identity of the run is used twice
		s := c.Sender(u, func(step uint64) bool { return step == a.Earliest() })
		s.Pair = func() (operators.Record, operators.Record) { return r, r }
		if !c.Until(a.Earliest(), s, &at, true) {
			return nil, nil, fmt.Errorf("%w: pair %d", subject.ErrUnseen, pair)
		}
		both[i] = slices.Clone(c.All)
	}
	return both[0], both[1], nil
}

// beyondSensitivity describes which claim of a quantiser two vectors of numbers break, if any. It then sets entries of
// the second vector to hostile values such as NaN. For these vectors it checks only the distance from zero, because an
// entry that it replaces may be a public number, which neighbours share.
func beyondSensitivity(a *subject.Subject, q contribution.Quantiser, k int, first, second []float64) string {
	grid, size := a.Components[k].Grid, a.Components[k].To-a.Components[k].From
	squareReplace, squareZero := q.Distances(grid)
	replace, zeroOut := lattice.Grid{}.Float64(squareReplace), lattice.Grid{}.Float64(squareZero)
	x, y := subject.Quantised(q, grid, size, first), subject.Quantised(q, grid, size, second)
	if d := subject.Square(x, y); d > replace {
		return fmt.Sprintf("contributions are %.9g lattice units apart, claimed is %.9g", math.Sqrt(d), math.Sqrt(replace))
	}
	none := make([]int64, size)
	long := func(vector []int64) string {
		if d := subject.Square(vector, none); d > zeroOut {
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
			if fault := long(subject.Quantised(q, grid, size, second)); fault != "" {
				return fault
			}
		}
		second[i] = kept
	}
	return ""
}
