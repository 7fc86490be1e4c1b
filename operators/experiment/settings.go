package experiment

import "math"

// Settings are the public parameters of an experiment, fixed before its first event.
type Settings struct {
	Propensities []float64 // π_k, the control first; all are positive
	Alpha        float64   // α of all contrasts together
	Near         float64   // m, in units of the outcome's range: within (0, 1)
	Target       float64   // expected number of events, near which sequences are narrowest
	Events       float64   // B, the number of events in a step
	Start        uint64    // number of steps of the stream before the experiment
	Announced    uint64    // number of steps, below Start, that the choice of Start may depend on
	Lift         bool      // ratios of means are estimated, too; 0 must be the start of the outcome's range

	Noise    Noise
	Count    float64 // standard deviation of one draw in an arm's count
	Value    float64 // standard deviation of one draw in an arm's sum of x̃ = 2y − 1
	Square   float64 // standard deviation of one draw in an arm's sum of x̃² − ½; 0: squares are not released
	Rounding float64 // bound on the change that rounding makes to an arm's count or sum of x̃ in a step
}

// Validate refuses a law of noise under which the one-sided test and the bound on rounding might not hold.
func (s *Settings) Validate() error { return s.Noise.average() }

// FirstLook is the number of events at the first look. Sums of fewer events are not close to normal.
const FirstLook = 1000

// These constants define the public grid of ratios w = v·B/s², where s is the standard deviation of a draw in a
// contrast. The factor between neighbours is fine near the variance that Near implies, and coarse elsewhere.
const (
	fine   = 1.05
	coarse = 1.2

	fineAbove   = 2.0     // up to this multiple of the variance at Near the factor is fine
	fineBelow   = 1.0 / 8 // and down to this multiple of the variance at Near
	coarseBelow = 1.0 / 64
)

// grid returns the ratios in ascending order. In any contrast, mean or lift, v·B/s² is a mean of π_k·q_k·B/h_k² over
// arms, weighted by h_k²/π_k², with h_k² = Value²/4 + (½ − x)²·Count² for a centre x, and q_k = E[(y − x)²|A=k] ≤
// max(x, 1 − x)². The largest ratio of the grid is above each of these.
func (s *Settings) grid() []float64 {
	least, most := 1.0, 0.0
	for _, p := range s.Propensities {
		least, most = min(least, p), max(most, p)
	}
	centre := float64(s.variance(s.Near)*s.Events) / s.armNoise(s.Near)
	small := min(s.Value, s.Count)
	top := float64(2*most*s.Events) / float64(small*small) // because max(x, 1−x)² ≤ 2·(¼ + (½ − x)²)
	from, to := float64(fineAbove*most*centre), float64(fineBelow*least*centre)
	var down []float64
	for w := top; ; {
		down = append(down, w)
		if w <= float64(coarseBelow*least*centre) || len(down) == maxGrid {
			break
		}
		if w <= from && w > to {
			w /= fine
		} else {
			w /= coarse
		}
	}
	up := make([]float64, len(down))
	for i, w := range down {
		up[len(down)-1-i] = w
	}
	return up
}

// maxGrid is the largest length of the grid, which grows as noise becomes small.
const maxGrid = 512

// armNoise returns h², the variance of a draw in Σ(y − centre) of an arm.
func (s *Settings) armNoise(centre float64) float64 {
	half := 0.5 - centre
	return float64(s.Value*s.Value)/4 + float64(float64(half*half)*float64(s.Count*s.Count))
}

// TargetSteps returns the number of steps that contain Target events.
func (s *Settings) TargetSteps() uint64 { return uint64(max(1, math.Ceil(s.Target/s.Events))) }

// contrasts returns the number of arms that are compared with the control.
func (s *Settings) contrasts() int { return len(s.Propensities) - 1 }

// alpha returns the α of one contrast.
func (s *Settings) alpha() float64 { return s.Alpha / float64(s.contrasts()) }
