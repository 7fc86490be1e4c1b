package coco

import (
	"math"
	"math/bits"

	"oriel/mechanisms"
)

// totalNoise bounds the standard deviation of the noise in a component's totals since the start, as a function of the
// step. Without a memory the bound is the largest deviation of a release. With a memory, the noise of different blocks
// is independent. Let V(k) be the variance of a window of k steps in the middle of a block (mechanisms/decay,
// Filter.WindowVariance), which exceeds the variance at the start of a block. After q complete blocks of P steps and r
// more steps, the variance is at most q·V(P) + V(r).
type totalNoise struct {
	largest float64   // largest deviation of a release, if sums do not decay
	period  uint64    // P; 0 if sums do not decay
	whole   float64   // V(P), the variance over a complete block
	windows []float64 // windows[i] is the largest V(k) of k = 1, 2, 4, …, 2^i
}

// noisy is a stream, or the calibration from which a stream is opened.
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

// at returns the bound after t steps. It never decreases with t.
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
