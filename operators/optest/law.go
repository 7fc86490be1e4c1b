package optest

import (
	"cmp"
	"maps"
	"math"
	"slices"
	"strconv"
	"testing"

	"oriel/mechanisms"
	"oriel/mechanisms/audit/bound"
)

// Law maps each possible output of a stream's life to its probability.
type Law map[string]float64

// LawOf computes the exact law of the output of a life. run plays one life from its start and returns its output. LawOf
// forces each possible sequence of draws in turn, and weights it by its probabilities. fast is the factor by which the
// rate of draws by law is too high: 1, or more as a planted fault.
func LawOf(stream *mechanisms.Stream, law mechanisms.Exponential, fast float64, run func() string) Law {
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

// LawOfSteps computes the law of LawOf for a life whose steps continue from a state. play plays one step from a state,
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
			var all []reached // by the numbers that LawOf takes as outputs
			numbers := map[reached]int{}
			for number, p := range LawOf(stream, law, fast, func() string {
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

// LargestRatio returns the logarithm of the largest ratio of probabilities between the two laws, and the output with
// this ratio.
func (l Law) LargestRatio(other Law) (most float64, where string) {
	for output, p := range l {
		if ratio := math.Log(p / other[output]); ratio > most {
			most, where = ratio, output
		}
	}
	return most, where
}

// Sampled plays lives with different keys, and counts their outputs.
func Sampled(lives int, run func(key [32]byte) string) map[string]int {
	counts := map[string]int{}
	for life := range lives {
		counts[run([32]byte{byte(life), byte(life >> 8), byte(life >> 16), 77})]++
	}
	return counts
}

// Holds checks that counts follow the law, by χ² over the outputs with an expected count of at least ten; all other
// outputs form one class. The statistic exceeds its limit with probability at most 1e-9: df + 2√(df·x) + 2x at x = ln
// 1e9 (Laurent and Massart, "Adaptive estimation of a quadratic functional by model selection", Annals of Statistics
// 28, 2000, Lemma 1).
func (l Law) Holds(tb testing.TB, counts map[string]int) {
	tb.Helper()
	lives := 0
	for output, n := range counts {
		if lives += n; l[output] == 0 {
			tb.Errorf("%q came out %d times, and cannot", output, n)
		}
	}
	got, classes, rest, expected := 0.0, 0, 0.0, 0.0
	square := func(n, want float64) {
		got += (n - want) * (n - want) / want
		classes++
	}
	for output, p := range l {
		if want := p * float64(lives); want >= 10 {
			square(float64(counts[output]), want)
		} else {
			rest, expected = rest+float64(counts[output]), expected+want
		}
	}
	if expected >= 10 {
		square(rest, expected)
	}
	df, x := float64(classes-1), math.Log(1e9)
	if most := df + 2*math.Sqrt(df*x) + 2*x; classes < 3 || got > most {
		tb.Errorf("χ² over %d classes of %d lives is %g, at most %g", classes, lives, got, most)
	}
}

// Shown returns two values of ε at δ, for an observer who knows both laws and sees complete lives. The first is what
// the counted lives demonstrate, and the second is the largest one that this number of lives could demonstrate. Both
// come from the likelihood-ratio test that is best for this number of lives. A demonstration takes the lower
// Clopper-Pearson limit of one rate and the upper limit of the other, each failing with probability 1e-6.
func Shown(with, without Law, hits, alarms map[string]int, lives int, delta float64) (shown, most float64) {
	outputs := slices.SortedFunc(maps.Keys(with), func(a, b string) int {
		return -cmp.Compare(with[a]*without[b], with[b]*without[a])
	})
	hit, alarm, best := 0.0, 0.0, 0.0
	until := 0
	for i, s := range outputs {
		hit, alarm = hit+with[s], alarm+without[s]
		n := float64(lives) // five standard deviations: rates that this number of lives cannot distinguish
		low, high := hit-5*math.Sqrt(hit/n), alarm+5*math.Sqrt(alarm/n)+25/n
		if epsilon := math.Log(max(1e-300, low-delta) / high); epsilon > best {
			until, best, most = i+1, epsilon, math.Log((hit-delta)/alarm)
		}
	}
	yes, no := 0, 0
	for _, s := range outputs[:until] {
		yes, no = yes+hits[s], no+alarms[s]
	}
	const alpha = 1e-6
	return math.Log(max(1e-300, bound.Lower(yes, lives, alpha)-delta) / (1 - bound.Lower(lives-no, lives, alpha))), most
}
