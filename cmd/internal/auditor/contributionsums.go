package auditor

import (
	"fmt"
	"math"

	"oriel/mechanisms"
	"oriel/mechanisms/lattice"
	"oriel/mechanisms/noise"
)

// sumRecord holds the contributions of a step to the private sums, by component.
type sumRecord struct{ components [][]int64 }

// recordingSum is a private sum that records the contributions of each step.
type recordingSum struct {
	mechanisms.Sum
	record    *sumRecord
	component int
}

// Add records the contribution, and adds it.
func (n recordingSum) Add(dst []float64, v []int64, chain *noise.Chain) {
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

// contributionSums compares the integers that steps add to the private sums, before any noise, with the reference
// model. At any budget, it finds a record that adds more than its contribution, or that adds another record's
// contribution a second time.
func (a *Subject) contributionSums(steps uint64) (Check, error) {
	runs, steps := a.repetitions(steps)
	check := Check{
		Name: "contribution sums", Looked: "contributions of steps, without noise, beside the reference model", Count: runs * steps,
		Found: "the two are one, but for rounding", Holds: true,
	}
	added, recorder := &sumRecord{components: make([][]int64, len(a.wholeMechanism.Contribution.Components))}, *a
	recorder.stream = added.stream
	c, err := recorder.openBackground(steps)
	if err != nil {
		return check, err
	}
	for run := range runs {
		at := 0
		err := c.play("crowd", run, false, func(s step) {
			at++
			if fault := a.besides(added, s.contributions); fault != "" && check.Holds {
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
func (a *Subject) besides(added *sumRecord, expected []float64) string {
	at := 0
	for k, of := range a.components {
		for i, x := range added.components[a.first+k] {
			want := expected[at] / a.integers[at]
			if off := math.Abs(float64(x) - want); !(off <= rounded(of.Grid.Lambda)) {
				return fmt.Sprintf("%d lattice units at coordinate %d, where the reference model has %.0f", x, i+1, want)
			}
			at++
		}
	}
	return ""
}
