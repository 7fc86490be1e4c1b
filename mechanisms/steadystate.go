package mechanisms

import (
	"math"

	"oriel/mechanisms/protection"
)

const (
	// steadyPeriods is after how many periods, or steadySteps steps where noise never starts again, nothing of the
	// start is left: what a reading of the longest memory has kept of it is below 2⁻⁶².
	steadyPeriods = 1 << 16
	steadySteps   = 1 << 62
	// peakGrid is one over the relative distance of two ages at which Worst looks.
	peakGrid = 64
)

// SteadyState returns the standard deviation long after the start: of sums that decay at the end of a period, where it
// is the longest; of a stream that ends, at its end. Of a tree, whose releases hold now more nodes and now fewer, it is
// Worst.
func (d Deviation) SteadyState() float64 {
	switch {
	case d.nodes > 0:
		return float64(math.Sqrt(float64(d.nodes)) * d.scale)
	case d.end != protection.Endless:
		return d.At(d.end)
	case d.period > 0:
		return d.At(steadyPeriods * d.period)
	}
	return d.At(steadySteps)
}

// Worst returns the largest standard deviation that a step has, to a thousandth: of sums that decay, soon after their
// noise started again; of a tree with as many nodes as it has levels.
func (d Deviation) Worst() float64 {
	worst := d.SteadyState()
	if d.period == 0 {
		return worst // it grows with the step
	}
	for age := uint64(1); age < d.period; age += max(1, age/peakGrid) {
		worst = max(worst, d.At(steadyPeriods*d.period+age))
	}
	return worst
}
