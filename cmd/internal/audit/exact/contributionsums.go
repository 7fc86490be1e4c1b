package exact

import (
	"fmt"
	"math"

	"oriel/cmd/internal/audit/subject"
	"oriel/cmd/internal/audit/traffic"
	"oriel/mechanisms"
	"oriel/mechanisms/lattice"
	"oriel/mechanisms/noise"
)

// sumRecord holds the contributions of a step to the private sums, by component.
type sumRecord struct{ components [][]lattice.Int128 }

// recordingSum is a private sum that records the contributions of each step.
type recordingSum struct {
	mechanisms.Sum
	record    *sumRecord
	component int
}

// Add records the contribution, and adds it.
func (n recordingSum) Add(dst []float64, v []lattice.Int128, chain *noise.Chain) {
	n.record.components[n.component] = append(n.record.components[n.component][:0], v...)
	n.Sum.Add(dst, v, chain)
}

// recordingIncrements is a recordingSum over a sum that also reports each step's noisy increments.
type recordingIncrements struct {
	recordingSum
	of mechanisms.Incremental
}

// Increments returns the increments of the wrapped sum.
func (n recordingIncrements) Increments() []lattice.Int128 { return n.of.Increments() }

// rounded returns the tolerance of a step's contribution sum, lattice units: some units for each record of background
// traffic, and the rounding of floating-point products.
func rounded(lambda int64) float64 { return 16 + 0x1p-44*float64(lambda) }

// ContributionSums compares the integers that steps add to the private sums, before any noise, with the reference
// model. At any budget, it finds a record that adds more than its contribution, or that adds another record's
// contribution a second time.
func ContributionSums(a *subject.Subject, steps uint64) (subject.Check, error) {
	runs, steps := a.Repetitions(steps)
	check := subject.Check{
		Name: "contribution sums", Looked: "contributions of steps, without noise, beside the reference model", Count: runs * steps,
		Found: "the two are one, but for rounding", Holds: true,
	}
	added, recorder := &sumRecord{components: make([][]lattice.Int128, len(a.WholeMechanism.Contribution.Components))}, *a
	recorder.Stream = added.stream
	c, err := traffic.Open(&recorder, steps)
	if err != nil {
		return check, err
	}
	for run := range runs {
		at := 0
		err := c.Play("crowd", run, false, func(s traffic.Step) {
			at++
			if fault := besides(a, added, s.Contributions); fault != "" && check.Holds {
				check.Holds, check.Found = false, fmt.Sprintf("run %d, step %d: %s", run, at, fault)
			}
		})
		if err != nil || !check.Holds {
			return check, err
		}
	}
	return check, nil
}

// stream opens a stream over a calibration's sums, each wrapped so that n records the contributions to it.
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

// besides describes the first coordinate at which the integers that a step added differ from the expected
// contributions.
func besides(a *subject.Subject, added *sumRecord, expected []float64) string {
	at := 0
	for k, of := range a.Components {
		for i, x := range added.components[a.First+k] {
			got, want := lattice.Grid{}.Float64(x), expected[at]/a.Integers[at]
			if off := math.Abs(got - want); !(off <= rounded(of.Grid.Lambda)) {
				return fmt.Sprintf("%.0f lattice units at coordinate %d, where the reference model has %.0f", got, i+1, want)
			}
			at++
		}
	}
	return ""
}
