package coco

import (
	"math"
	"math/bits"

	"oriel/mechanisms"
)

// totalNoise bounds the standard deviation of the noise in a component's totals since the start, as a function of the
// step. Without a memory it is that of a release. With one, noise of different blocks is independent: after q whole
// blocks of P steps and r more, the variance is at most q·V(P) + V(r), V that of a window in the middle of a block
// (mechanisms/decay, Filter.WindowVariance), which is more than at a block's start.
type totalNoise struct {
	largest float64   // of a release, where sums do not decay
	period  uint64    // P, 0 where sums do not decay
	whole   float64   // V(P)
	windows []float64 // V of at most 2^i steps
}

// noisy is a stream, or what one is opened from.
type noisy interface {
	Memory() (steps uint64, decays bool)
	Deviation(component int, memory uint64) (mechanisms.Deviation, error)
	NoiseLaw(component int) (mechanisms.NoiseLaw, error)
	WindowDeviation(component int, steps uint64) float64
}

func newTotalNoise(m noisy, component int) (*totalNoise, error) {
	if _, decays := m.Memory(); !decays {
		d, err := m.Deviation(component, 0)
		if err != nil {
			return nil, err
		}
		return &totalNoise{largest: d.Worst()}, nil
	}
	law, err := m.NoiseLaw(component)
	if err != nil {
		return nil, err
	}
	variance := func(steps uint64) float64 {
		d := m.WindowDeviation(component, steps)
		return float64(d * d)
	}
	n := &totalNoise{period: law.Period, whole: variance(law.Period)}
	most := 0.0
	for i := range bits.Len64(law.Period) + 1 {
		most = max(most, variance(1<<i))
		n.windows = append(n.windows, most)
	}
	return n, nil
}

// at returns the bound after t steps; it does not fall.
func (n *totalNoise) at(t uint64) float64 {
	if n.period == 0 {
		return n.largest
	}
	variance := float64(float64(t/n.period) * n.whole)
	if rest := t % n.period; rest > 0 {
		variance += n.windows[bits.Len64(rest-1)]
	}
	return math.Sqrt(variance)
}
