package audit

import (
	"encoding/binary"
	"math"
	"slices"
	"strings"

	"gonum.org/v1/gonum/stat/distuv"

	"oriel/mechanisms/audit/bound"
	"oriel/mechanisms/noise"
)

// odds is the law of |score| under the claim, by draws: a guess of the coin by the score's sign is right with probability 1/(1 + e^{−|score|}),
// also for a canary against the null event, since mirroring the noise at the middle of the two leaves exchanges the two streams.
type odds struct {
	losses []float64 // |score|, largest first
	right  []float64 // mean probability of a right guess over losses[:i+1]
}

func (l *Law) odds() odds {
	o := odds{losses: l.draws(drawCount(len(l.direction)))}
	slices.Sort(o.losses)
	slices.Reverse(o.losses)
	sum := 0.0
	for i, x := range o.losses {
		sum += 1 / (1 + math.Exp(-x))
		o.right = append(o.right, sum/float64(i+1))
	}
	return o
}

// drawCount keeps draws of pure noise below a second or so in any dimension.
func drawCount(n int) int { return min(1<<14, max(1<<10, 1<<22/n)) }

// normalDraws returns the k middle quantiles of |N(µ²/2, µ²)|.
func (l *Law) normalDraws(k int) []float64 {
	out := make([]float64, k)
	for i := range out {
		out[i] = math.Abs(l.reach*l.reach/2 + l.reach*distuv.UnitNormal.Quantile((float64(i)+0.5)/float64(k)))
	}
	return out
}

// nodeDraws draws noise of the claimed law under public seeds. It returns nil where no sampler has this scale.
func (l *Law) nodeDraws(k int) []float64 {
	sampler, err := l.sampler()
	if err != nil {
		return nil
	}
	n := len(l.direction)
	apart, values := difference(l.canary.With, l.canary.Without), make([]int64, n)
	here, there := make([]float64, n), make([]float64, n)
	out := make([]float64, k)
	seed := noise.Seed{}
	copy(seed[8:], "oriel audit: claimed law")
	for i := range out {
		for t, m := range l.signal {
			if !l.alone[t] {
				continue
			}
			binary.LittleEndian.PutUint64(seed[:], uint64(i)<<32|uint64(t))
			sampler.Fill(values, seed)
			for j, x := range values {
				here[j] = float64(x) * l.unit
				there[j] = here[j] + m*apart[j]
			}
			out[i] += (l.norm(there) - l.norm(here)) / l.scale
		}
		out[i] = math.Abs(out[i])
	}
	return out
}

// sampler returns the sampler of pure noise.
func (l *Law) sampler() (noise.Sampler, error) {
	if strings.Contains(l.config.Name, "gamma") {
		return noise.NewGamma(l.node, len(l.direction))
	}
	return noise.NewLaplace(l.node)
}

// best returns the threshold of |score| at which guesses promise the largest bound on ε in so many runs, and that bound.
func (o odds) best(runs int, delta, alpha float64) (threshold, epsilon float64) {
	threshold = math.Inf(1)
	for i := len(o.losses); i > 0; i = i * 7 / 8 {
		r := int(float64(runs) * float64(i) / float64(len(o.losses)))
		if b := bound.Epsilon(expected(o.right[i-1], r), r, runs, delta, alpha); b > epsilon {
			threshold, epsilon = o.losses[i-1], b
		}
	}
	return threshold, epsilon
}
