package audit

import (
	"encoding/binary"
	"math"
	"slices"

	"gonum.org/v1/gonum/stat/distuv"

	"oriel/mechanisms"
	"oriel/mechanisms/audit/bound"
	"oriel/mechanisms/audit/definition"
	"oriel/mechanisms/noise"
)

// likelihoodRatio is the law of |score| under the claim, represented by draws. A guess of the coin by the score's sign
// is right with probability 1/(1 + e^{−|score|}). This also holds for a canary against the null event, because
// reflecting the noise at the midpoint of the two contributions exchanges the two streams.
type likelihoodRatio struct {
	losses []float64 // |score|, largest first
	right  []float64 // mean probability of a right guess over losses[:i+1]
}

func (l *Law) likelihoodRatio() likelihoodRatio {
	o := likelihoodRatio{losses: l.draws(drawCount(len(l.direction)))}
	slices.Sort(o.losses)
	slices.Reverse(o.losses)
	sum := 0.0
	for i, x := range o.losses {
		sum += 1 / (1 + math.Exp(-x))
		o.right = append(o.right, sum/float64(i+1))
	}
	return o
}

// drawCount returns the number of draws of pure noise, chosen so that they take about a second at most in any
// dimension.
func drawCount(n int) int { return min(1<<14, max(1<<10, 1<<22/n)) }

// normalDraws returns the k middle quantiles of |N(µ²/2, µ²)|.
func (l *Law) normalDraws(k int) []float64 {
	out := make([]float64, k)
	for i := range out {
		out[i] = math.Abs(l.reach*l.reach/2 + l.reach*distuv.UnitNormal.Quantile((float64(i)+0.5)/float64(k)))
	}
	return out
}

// nodeDraws draws noise of the claimed law under public seeds. It returns nil if no sampler has this scale.
func (l *Law) nodeDraws(k int) []float64 {
	var samplers []noise.Sampler
	for _, p := range l.components {
		sampler, err := l.sampler(p)
		if err != nil {
			return nil
		}
		samplers = append(samplers, sampler)
	}
	n, apart := len(l.direction), l.canaryShift()
	values, here, there := make([]int64, n), make([]float64, n), make([]float64, n)
	out := make([]float64, k)
	for i := range out {
		for t, m := range l.signal {
			if !l.alone[t] {
				continue
			}
			for at, p := range l.components {
				samplers[at].Fill(values[p.From:p.To], drawSeed(uint64(i)<<32|uint64(t), at))
				for j := p.From; j < p.To; j++ {
					here[j] = float64(values[j]) / p.Scale.Float64()
					there[j] = here[j] + m*apart[j]
				}
			}
			out[i] += l.norm(there) - l.norm(here)
		}
		out[i] = math.Abs(out[i])
	}
	return out
}

// drawSeed returns the public seed of one draw of a component.
func drawSeed(number uint64, part int) noise.Seed {
	seed := noise.Seed{}
	binary.LittleEndian.PutUint64(seed[:], number)
	copy(seed[8:], "oriel audit: claimed law")
	seed[30] ^= byte(part >> 8)
	seed[31] ^= byte(part)
	return seed
}

// sampler returns the sampler of a component's pure noise.
func (l *Law) sampler(p definition.Component) (noise.Sampler, error) {
	if facts, _ := mechanisms.FactsOf(l.config.Name); facts.Law == mechanisms.Gamma {
		return noise.NewGamma(p.Scale, p.To-p.From)
	}
	return noise.NewLaplace(p.Scale)
}

// best returns the threshold of |score| that promises the largest bound on ε in this many runs, and that bound.
func (o likelihoodRatio) best(runs int, delta, alpha float64) (threshold, epsilon float64) {
	threshold = math.Inf(1)
	for i := len(o.losses); i > 0; i = i * 7 / 8 {
		r := int(float64(runs) * float64(i) / float64(len(o.losses)))
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

// promises reports whether some threshold promises a bound above epsilon in this many runs.
func (o likelihoodRatio) promises(epsilon float64, runs int, delta, alpha float64) bool {
	for i := len(o.losses); i > 0; i = i * 7 / 8 {
		r := int(float64(runs) * float64(i) / float64(len(o.losses)))
		if bound.EpsilonAbove(epsilon, expected(o.right[i-1], r), r, runs, delta, alpha) {
			return true
		}
	}
	return false
}
