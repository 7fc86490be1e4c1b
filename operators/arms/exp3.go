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

// exp3Rule is exp3 with implicit exploration over rounds (SPEC.md §3): it draws an arm with a probability proportional
// to e^{−η·L}, L what its losses are estimated to add up to, about their middle.
type exp3Rule struct {
	variance float64 // of a round's mean about zero, at most: ¼ and noise
	noise    deviation

	learned uint64    // rounds
	middle  float64   // of their means
	losses  []float64 // of each arm, estimated and added up, about the middle

	scores []int64
}

func newExp3(arms, answers int, n deviation) *exp3Rule {
	perAnswer := n.variance / float64(answers)
	return &exp3Rule{
		variance: 0.25 + perAnswer/float64(answers), noise: n,
		losses: make([]float64, arms), scores: make([]int64, arms),
	}
}

// startup is how many rounds an arm η counts from the first on, so that it is not too large for them.
const startup = 4

// rate is η after so many rounds: what would be best if there were as many to come as there were.
func (w *exp3Rule) rate() float64 {
	k := float64(len(w.losses))
	rounds := float64(w.learned) + float64(startup*k)
	return math.Sqrt(float64(2*elementary.Log(k)) / float64(float64(k*w.variance)*rounds))
}

// largestScore is where a probability is 0 but for one in e^1024.
const largestScore = 1 << (operators.ProbabilityBits + 10)

// next draws an arm.
func (w *exp3Rule) next(stream *mechanisms.Stream) (int, float64) {
	eta, least := w.rate(), slices.Min(w.losses)
	for i, l := range w.losses {
		w.scores[i] = -int64(min(largestScore, math.Floor(float64(float64(eta*(l-least))*(1<<operators.ProbabilityBits)))))
	}
	return w.draw(stream)
}

// draw draws an arm by the scores. The probability is that of these integers.
func (w *exp3Rule) draw(stream *mechanisms.Stream) (arm int, chance float64) {
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

// clip is how many standard deviations of noise a mean may be off, before it is clipped.
const clip = 6

// learn estimates what the arm has cost about the mean of what was released before, and nothing for the others. What
// is subtracted is the same for all arms, so that it moves no regret; without it an arm that is drawn looks better, or
// worse, than others for that alone. Implicit exploration γ = η/2 in the divisor bounds what a small probability can
// do.
func (w *exp3Rule) learn(arm int, chance float64, answers int, sum float64) {
	if answers == 0 {
		return
	}
	n, eta := float64(answers), w.rate()
	most := largest + float64(clip*math.Sqrt(w.noise.variance))/n
	mean := min(max(sum/n, -most), most)
	w.losses[arm] += (mean - w.middle) / (chance + float64(eta/2))
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
