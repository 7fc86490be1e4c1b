package optest

import (
	"math"
	"slices"
	"strconv"

	"oriel/mechanisms"
)

// Law maps each possible output of a stream's life to its probability.
type Law map[string]float64

// lawOf computes the exact law of the output of a life. run plays one life from its start and returns its output. lawOf
// forces each possible sequence of draws in turn, and weights it by its probabilities. fast is the factor by which the
// rate of draws by law is too high: 1, or more as a planted fault.
func lawOf(stream *mechanisms.Stream, law mechanisms.Exponential, fast float64, run func() string) Law {
	out := Law{}
	var outcomes, choices []int
	rates := map[mechanisms.Exponential]float64{} // ε/2Δ of each law; cached, because there are few laws and many draws
	defer stream.DrawBy(nil)
	for {
		probability, at := 1.0, 0
		stream.DrawBy(func(d mechanisms.Draw, _ int) int {
			if at == len(outcomes) {
				outcomes, choices = append(outcomes, 0), append(choices, len(d.Scores))
			}
			rate, known := rates[d.Law]
			if !known {
				rate = d.Law.Epsilon.Up() / 2 * float64(d.Law.Sensitivity.Den) / float64(d.Law.Sensitivity.Num)
				if d.Law == law {
					rate *= fast
				}
				rates[d.Law] = rate
			}
			best, total := slices.Max(d.Scores), 0.0
			for _, q := range d.Scores {
				total += math.Exp(rate * float64(q-best))
			}
			probability *= math.Exp(rate*float64(d.Scores[outcomes[at]]-best)) / total
			at++
			return outcomes[at-1]
		})
		out[run()] += probability
		last := len(outcomes) - 1
		for last >= 0 && outcomes[last] == choices[last]-1 {
			last--
		}
		if last < 0 {
			return out
		}
		outcomes[last]++
		outcomes, choices = outcomes[:last+1], choices[:last+1]
	}
}

// LawOfSteps computes the law of lawOf for a life whose steps continue from a state. play plays one step from a state,
// and returns the state after it and the step's output. Lives with the same state and the same output so far have the
// same future. They are therefore played as one, and the work grows with the number of states instead of lives.
func LawOfSteps(stream *mechanisms.Stream, law mechanisms.Exponential, fast float64, start []byte, steps int,
	play func(step int, state []byte) (after []byte, output string),
) Law {
	type reached struct{ output, state string }
	lives := map[reached]float64{{state: string(start)}: 1}
	for step := range steps {
		next := map[reached]float64{}
		for life, chance := range lives {
			var all []reached // by the numbers that lawOf takes as outputs
			numbers := map[reached]int{}
			for number, p := range lawOf(stream, law, fast, func() string {
				after, output := play(step, []byte(life.state))
				to := reached{life.output + output, string(after)}
				number, known := numbers[to]
				if !known {
					number = len(all)
					numbers[to], all = number, append(all, to)
				}
				return strconv.Itoa(number)
			}) {
				at, _ := strconv.Atoi(number)
				next[all[at]] += chance * p
			}
		}
		lives = next
	}
	out := Law{}
	for life, p := range lives {
		out[life.output] += p
	}
	return out
}

// HockeyStick returns the least δ at which l and other are (ε, δ)-close in the direction from l to other.
func (l Law) HockeyStick(other Law, epsilon float64) (delta float64) {
	for output, p := range l {
		delta += max(0, p-math.Exp(epsilon)*other[output])
	}
	return delta
}
