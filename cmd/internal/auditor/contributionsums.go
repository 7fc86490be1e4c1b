package auditor

import (
	"fmt"
	"math"

	"oriel/mechanisms"
	"oriel/mechanisms/lattice"
	"oriel/mechanisms/noise"
)

// sumRecord keeps what a step adds to the private sums, by component.
type sumRecord struct{ parts [][]int64 }

// recordingSum is a private sum that tells a note what a step adds to it.
type recordingSum struct {
	mechanisms.Sum
	note *sumRecord
	part int
}

// Add notes the contribution, and adds it.
func (n recordingSum) Add(dst []float64, v []int64, chain *noise.Chain) {
	n.note.parts[n.part] = append(n.note.parts[n.part][:0], v...)
	n.Sum.Add(dst, v, chain)
}

// recordingIncrements is a noting of a sum that says what a step adds with its noise.
type recordingIncrements struct {
	recordingSum
	of mechanisms.Incremental
}

// Increments returns those of the sum.
func (n recordingIncrements) Increments() []lattice.Int128 { return n.of.Increments() }

// rounded is how far a step's contribution sum may be from a second opinion, lattice units: some units for each record
// of a crowd, and what products of floating point lose.
func rounded(lambda int64) float64 { return 16 + 0x1p-44*float64(lambda) }

// contributionSums compares what steps add to the private sums, in integers and before any noise, with what the twin
// says. A record that adds more than its contribution, or the contribution of another record again, is found here at
// any budget.
func (a *Subject) contributionSums(steps uint64) (Check, error) {
	runs, steps := a.repetitions(steps)
	check := Check{
		Name: "leaf sums", Looked: "what steps add, without noise, beside a second opinion", Count: runs * steps,
		Found: "the two are one, but for rounding", Holds: true,
	}
	told, noted := &sumRecord{parts: make([][]int64, len(a.wholeMechanism.Contribution.Components))}, *a
	noted.stream = told.stream
	c, err := noted.openBackground(steps)
	if err != nil {
		return check, err
	}
	for run := range runs {
		at := 0
		err := c.play("crowd", run, false, func(s step) {
			at++
			if fault := a.besides(told, s.contributions); fault != "" && check.Holds {
				check.Holds, check.Found = false, fmt.Sprintf("run %d, step %d: %s", run, at, fault)
			}
		})
		if err != nil || !check.Holds {
			return check, err
		}
	}
	return check, nil
}

// stream opens a stream over the sums of a plan, which tell what is added to them.
func (n *sumRecord) stream(c mechanisms.Config, p mechanisms.Calibration, key [32]byte) (*mechanisms.Stream, error) {
	sums, err := p.SumsOver(c, nil)
	if err != nil {
		return nil, err
	}
	for k, sum := range sums {
		one := recordingSum{sum, n, k}
		sums[k] = one
		if x, ok := sum.(mechanisms.Incremental); ok {
			sums[k] = recordingIncrements{one, x}
		}
	}
	return mechanisms.NewStream(c, p, key, sums...)
}

// besides says at which coordinate a step adds something else than its contributions.
func (a *Subject) besides(told *sumRecord, leaves []float64) string {
	at := 0
	for k, of := range a.components {
		for i, x := range told.parts[a.first+k] {
			want := leaves[at] / a.integers[at]
			if off := math.Abs(float64(x) - want); !(off <= rounded(of.Grid.Lambda)) {
				return fmt.Sprintf("%d lattice units at coordinate %d, where the second opinion is %.0f", x, i+1, want)
			}
			at++
		}
	}
	return ""
}
