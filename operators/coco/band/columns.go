package band

import (
	"errors"
	"math"
	"math/bits"

	"oriel/mechanisms"
	"oriel/mechanisms/contribution"
	"oriel/mechanisms/protection"
	"oriel/operators/loss"
)

// Component is the index of the columns' component in a contribution.
const Component = 1

// Columns describes the columns of a contribution that count misses of a band.
type Columns struct {
	Number int    // number of columns, 1 or 2
	Share  uint32 // share of the budget µ²; the gradients' share is gradientShare
}

// gradientShare is the gradients' share of the budget beside a band. It is 2²⁴, so that Columns.Share rounds the least
// weight by less than a thousandth.
const gradientShare = 1 << 24

// Columns returns the columns of the configured band. Consider a contribution of a gradient in a ball of radius 1 and a
// mark of length w. Its sensitivity, and for comparison the sensitivity without a band, is:
//
//	replace   √(4 + 2w²) with two columns, √(4 + w²) with one; 2 without a band
//	zero-out  √(1 + w²); 1 without a band
//
// Gaussian noise of one size for this vector equals the noise of two components, each calibrated to its own
// sensitivity, whose shares of µ² are proportional to the squares of the sensitivities (PROOF.md, claim 6).
func (s Settings) Columns(l loss.Loss, unit protection.Unit) Columns {
	n := s.Marks(l)
	if n == 0 {
		return Columns{}
	}
	square := float64(s.Weight * s.Weight)
	switch {
	case unit.AgainstNull():
	case n == 1:
		square /= 4
	default:
		square /= 2
	}
	return Columns{Number: n, Share: uint32(float64(square*gradientShare) + 0.5)}
}

// NoiseFactor returns the factor by which the columns increase the noise of gradients.
func (x Columns) NoiseFactor() float64 { return math.Sqrt(1 + float64(x.Share)/gradientShare) }

// Validate refuses columns that no settings can have.
func (x Columns) Validate() error {
	if x != (Columns{}) && (x.Number < 1 || x.Number > 2 || x.Share == 0) {
		return errors.New("coco: params: columns of a band that are not 1 or 2 with a share")
	}
	return nil
}

// Components returns the number of components of a contribution with these columns.
func (x Columns) Components() int {
	if x == (Columns{}) {
		return 1
	}
	return 2
}

// Beside returns the contribution of a record: a gradient and, if there are columns, marks after it.
func (x Columns) Beside(gradient contribution.Component) contribution.Contribution {
	if x == (Columns{}) {
		return contribution.Contribution{Components: []contribution.Component{gradient}}
	}
	marks := contribution.Marks{Columns: x.Number}.Component()
	gradient.Name, gradient.Share = "gradient", gradientShare
	marks.Name, marks.Share = "band", x.Share
	return contribution.Contribution{Components: []contribution.Component{gradient, marks}}
}

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
