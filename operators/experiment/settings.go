package experiment

import "math"

// Settings are the public parameters of an experiment, fixed before its first event.
type Settings struct {
	Propensities []float64 // π_k, the control first; all positive
	Alpha        float64   // of all contrasts together
	Near         float64   // m, in units of the outcome's range: within (0, 1)
	Target       float64   // events about which sequences are narrowest
	Events       float64   // B, of a step
	Start        uint64    // steps of the stream before the experiment
	Lift         bool      // ratios of means too: the outcome's range starts at 0
	Pooled       bool      // a contrast varies at least as outcomes of all arms together do; see PROOF.md, As coded

	Noise    Noise
	Count    float64 // standard deviation of one draw in an arm's count
	Value    float64 // in an arm's sum of x̃ = 2y − 1
	Square   float64 // in an arm's sum of x̃² − ½; 0: it is not released
	Rounding float64 // most by which rounding moves an arm's count or sum of x̃ at a step
}

// Validate refuses a law of noise under which the one-sided test and the bound on rounding might not hold.
func (s *Settings) Validate() error { return s.Noise.average() }

// FirstLook is the number of events at the first look. Sums of fewer events are not close to normal.
const FirstLook = 1000

// The public grid of ratios w = v·B/s², where s is the deviation of a draw in a contrast. Its ratio is fine near the
// variance that Near implies, and coarse elsewhere.
const (
	fine   = 1.05
	coarse = 1.2

	fineAbove   = 2.0     // times the variance at Near, up to here by fine
	fineBelow   = 1.0 / 8 // and down to here
	coarseBelow = 1.0 / 64
)

// grid returns the ratios in ascending order. In any contrast, mean or lift v·B/s² is a mean of π_k·q_k·B/h_k² over
// arms, weighted by h_k²/π_k², with h_k² = Value²/4 + (½ − x)²·Count² for a centre x, and q_k = E[(y − x)²|A=k] ≤
// max(x, 1 − x)². The largest ratio of the grid is above each of these.
func (s *Settings) grid() []float64 {
	least, most := 1.0, 0.0
	for _, p := range s.Propensities {
		least, most = min(least, p), max(most, p)
	}
	centre := float64(s.variance(s.Near)*s.Events) / s.armNoise(s.Near)
	small := min(s.Value, s.Count)
	top := float64(2*most*s.Events) / float64(small*small) // max(x, 1−x)² ≤ 2·(¼ + (½ − x)²)
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

// maxGrid bounds the length of the grid, because with little noise the grid spans a longer range.
const maxGrid = 512

// armNoise returns h², the variance of a draw in Σ(y − centre) of an arm.
func (s *Settings) armNoise(centre float64) float64 {
	half := 0.5 - centre
	return float64(s.Value*s.Value)/4 + float64(float64(half*half)*float64(s.Count*s.Count))
}

// targetSteps returns the number of steps that have Target events.
func (s *Settings) targetSteps() uint64 { return uint64(max(1, math.Ceil(s.Target/s.Events))) }

// contrasts returns how many arms are compared with the control.
func (s *Settings) contrasts() int { return len(s.Propensities) - 1 }

// alpha returns the α of one contrast.
func (s *Settings) alpha() float64 { return s.Alpha / float64(s.contrasts()) }
