package audit

import (
	"encoding/binary"
	"iter"
	"math"
	"slices"

	"gonum.org/v1/gonum/stat/distuv"

	"oriel/mechanisms/audit/bound"
	"oriel/mechanisms/noise"
)

// likelihoodRatio is the law of |score| under the claim, represented by draws. A guess of the coin by the score's sign
// is right with probability 1/(1 + e^{−|score|}). It is true also for a canary exchanged for the null event, because
// reflecting the noise at the midpoint of the two contributions exchanges the two streams.
type likelihoodRatio struct {
	losses []float64 // |score|, largest first
	right  []float64 // right[i]: mean probability of a right guess over losses[:i+1]
}

func (l *Law) likelihoodRatio() likelihoodRatio {
	// This many draws take at most about a second in any dimension.
	o := likelihoodRatio{losses: l.draws(min(1<<14, max(1<<10, 1<<22/len(l.direction))))}
	slices.Sort(o.losses)
	slices.Reverse(o.losses)
	sum := 0.0
	for i, x := range o.losses {
		sum += 1 / (1 + math.Exp(-x))
		o.right = append(o.right, sum/float64(i+1))
	}
	return o
}

// normalDraws returns the k middle quantiles of |N(µ²/2, µ²)|.
func (l *Law) normalDraws(k int) []float64 {
	out := make([]float64, k)
	for i := range out {
		out[i] = math.Abs(l.reach*l.reach/2 + l.reach*distuv.UnitNormal.Quantile((float64(i)+0.5)/float64(k)))
	}
	return out
}

// nodeDraws draws noise of the claimed law from public seeds. It returns nil if no sampler has this scale.
func (l *Law) nodeDraws(k int) []float64 {
	var samplers []noise.Sampler
	for _, p := range l.components {
		sampler, err := p.Sampler(l.config.Name)
		if err != nil {
			return nil
		}
		samplers = append(samplers, sampler)
	}
	n, shift := len(l.direction), l.canaryShift()
	values, draw, shifted := make([]int64, n), make([]float64, n), make([]float64, n)
	out := make([]float64, k)
	for i := range out {
		for t, m := range l.signal {
			if !l.singleNode[t] {
				continue
			}
			for at, p := range l.components {
				samplers[at].Fill(values[p.From:p.To], drawSeed(uint64(i)<<32|uint64(t), at))
				for j := p.From; j < p.To; j++ {
					draw[j] = float64(values[j]) / p.Scale.Float64()
					shifted[j] = draw[j] + m*shift[j]
				}
			}
			out[i] += l.norm(shifted) - l.norm(draw)
		}
		out[i] = math.Abs(out[i])
	}
	return out
}

// drawSeed returns the public seed of one draw of a component.
func drawSeed(number uint64, component int) noise.Seed {
	seed := noise.Seed{}
	binary.LittleEndian.PutUint64(seed[:], number)
	copy(seed[8:], "oriel audit: claimed law")
	seed[30] ^= byte(component >> 8)
	seed[31] ^= byte(component)
	return seed
}

// guesses yields indices of losses. With each it yields the expected number of guesses in this many runs, if a guess
// requires a |score| of at least this loss.
func (o likelihoodRatio) guesses(runs int) iter.Seq2[int, int] {
	return func(yield func(losses, guesses int) bool) {
		for i := len(o.losses); i > 0; i = i * 7 / 8 {
			if !yield(i, int(float64(runs)*float64(i)/float64(len(o.losses)))) {
				return
			}
		}
	}
}

// best returns the threshold of |score| with the largest expected bound on ε in this many runs, and this bound.
func (o likelihoodRatio) best(runs int, delta, alpha float64) (threshold, epsilon float64) {
	threshold = math.Inf(1)
	for i, r := range o.guesses(runs) {
		right := expected(o.right[i-1], r)
		if !bound.EpsilonAbove(epsilon, right, r, runs, delta, alpha) {
			continue
		}
		if b := bound.Epsilon(right, r, runs, delta, alpha); b > epsilon {
			threshold, epsilon = o.losses[i-1], b
		}
	}
	return threshold, epsilon
}

// promises reports whether a threshold exists whose expected bound in this many runs is above epsilon.
func (o likelihoodRatio) promises(epsilon float64, runs int, delta, alpha float64) bool {
	for i, r := range o.guesses(runs) {
		if bound.EpsilonAbove(epsilon, expected(o.right[i-1], r), r, runs, delta, alpha) {
			return true
		}
	}
	return false
}
