package arms

import (
	"encoding/binary"
	"errors"
	"math"
	"slices"

	"oriel/mechanisms"
	"oriel/operators"
	"oriel/operators/elementary"
)

// exp3Rule is exp3 with implicit exploration over rounds (SPEC.md §3). It draws an arm with a probability proportional
// to e^{−η·L}, where L is the estimated total of the arm's losses, measured from their mean.
type exp3Rule struct {
	variance float64 // bound on the mean square of a round's mean loss: ¼ plus the variance of the noise
	noise    deviation

	learned uint64    // number of rounds learned from
	middle  float64   // mean of the mean losses of all released rounds
	losses  []float64 // total estimated loss of each arm, measured from the middle

	scores []int64
}

func newExp3(arms, answers int, n deviation) *exp3Rule {
	perAnswer := n.variance / float64(answers)
	return &exp3Rule{
		variance: 0.25 + perAnswer/float64(answers), noise: n,
		losses: make([]float64, arms), scores: make([]int64, arms),
	}
}

// startup is the number of rounds for each arm that η adds to the rounds played, so that η is not too large in the
// first rounds.
const startup = 4

// rate returns η after the rounds learned so far: the best value if as many rounds are still to come.
func (w *exp3Rule) rate() float64 {
	k := float64(len(w.losses))
	rounds := float64(w.learned) + float64(startup*k)
	return math.Sqrt(float64(2*elementary.Log(k)) / float64(float64(k*w.variance)*rounds))
}

// largestScore is the score difference from which a probability counts as 0; it is then below e^−1024.
const largestScore = 1 << (operators.ProbabilityBits + 10)

func (w *exp3Rule) next(stream *mechanisms.Stream) (int, float64) {
	eta, least := w.rate(), slices.Min(w.losses)
	for i, l := range w.losses {
		w.scores[i] = -int64(min(largestScore, math.Floor(float64(float64(eta*(l-least))*(1<<operators.ProbabilityBits)))))
	}
	return w.draw(stream)
}

// draw draws an arm with exact integer probabilities proportional to the scores, and returns the arm's probability.
func (w *exp3Rule) draw(stream *mechanisms.Stream) (arm int, p float64) {
	arm = stream.Choose(0, w.scores, operators.ByProbabilities)
	all := 0.0
	for _, s := range w.scores {
		all += weight(s)
	}
	return arm, weight(w.scores[arm]) / all
}

func weight(score int64) float64 {
	return elementary.Exp(float64(score) / (1 << operators.ProbabilityBits))
}

// clip is the number of standard deviations of its noise to which a mean is clipped.
const clip = 6

// learn adds to the estimated loss of the arm that was played, measured from the mean of earlier releases, and adds
// nothing for the other arms. The mean is the same for all arms, so that subtracting it does not change the regret.
// Without it an arm would look better, or worse, than others only because it was drawn. Implicit exploration, γ = η/2
// in the divisor, bounds the effect of a small probability.
func (w *exp3Rule) learn(arm int, p float64, answers int, sum float64) {
	if answers == 0 {
		return
	}
	n, eta := float64(answers), w.rate()
	most := largest + float64(clip*math.Sqrt(w.noise.variance))/n
	mean := min(max(sum/n, -most), most)
	w.losses[arm] += (mean - w.middle) / (p + float64(eta/2))
	w.learned++
	w.middle += (mean - w.middle) / float64(w.learned)
}

func (w *exp3Rule) StateLen() int { return 16 + 8*len(w.losses) }

func (w *exp3Rule) AppendState(dst []byte) []byte {
	dst = binary.LittleEndian.AppendUint64(dst, w.learned)
	dst = binary.LittleEndian.AppendUint64(dst, math.Float64bits(w.middle))
	for _, l := range w.losses {
		dst = binary.LittleEndian.AppendUint64(dst, math.Float64bits(l))
	}
	return dst
}

func (w *exp3Rule) Restore(state []byte) error {
	learned, numbers := binary.LittleEndian.Uint64(state), make([]float64, 1+len(w.losses))
	for i := range numbers {
		numbers[i] = math.Float64frombits(binary.LittleEndian.Uint64(state[8+8*i:]))
		if math.IsNaN(numbers[i]) || math.IsInf(numbers[i], 0) {
			return errors.New("arms: state: an estimate is not finite")
		}
	}
	if learned > 1<<53 {
		return errors.New("arms: state: more rounds than there can be")
	}
	w.learned, w.middle, w.losses = learned, numbers[0], numbers[1:]
	return nil
}
