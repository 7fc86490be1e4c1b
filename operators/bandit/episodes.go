package bandit

import (
	"math/bits"

	"oriel/operators/actions"
)

// Episode is what holds for some rounds: for all of them, or with Doubling for those from 2^e to 2^(e+1) − 1.
type Episode struct {
	Smoothing float64 // ζ
	Rate      float64 // η
	Shrink    float64 // 1 − ζ/r, by which centres are drawn to the centre of the inner ball; 1: they are not
}

// margin is the share of the inner ball's centre in each play, so that rounding moves no play across a face. Plans from
// before planOfTangents have none.
const margin = 0x1p-20

// share is the share of a centre in what is played about.
func (p Params) share(e Episode) float64 {
	if p.earlier() || e.Shrink == 1 {
		return e.Shrink
	}
	return max(0, e.Shrink-margin)
}

// episodeOf returns the number e of the episode that a round is in, and its first round.
func (c Config) episodeOf(round uint64) (e int, first uint64) {
	if !c.Doubling {
		return 0, 1
	}
	e = bits.Len64(round) - 1
	return e, 1 << e
}

// episodes is how many there are.
func (c Config) episodes() int {
	e, _ := c.episodeOf(max(1, c.Rounds))
	return e + 1
}

// begun is what doubling knows of its episode: the sum of the rounds before it, which a centre is not made of. The sum
// is a release, and so is the difference of two.
type begun struct {
	before []float64 // the release that stands for all leaves of rounds before, zero where there is none
	since  []float64 // scratch: what was released after it
}

// turn takes the release of a step, after which the round is published, and returns the sum that the round's centre is
// made of; nil: no contribution of the round's episode is in a release yet. A contribution of round r is added in step
// r + delay.
func (b *begun) turn(released []float64, first, round uint64, p actions.Config) []float64 {
	step, last := round-1, first-1+p.Delay // the last step whose leaves are all of rounds before the episode
	if step <= last {
		if step == last {
			copy(b.before, released)
		}
		return nil
	}
	for i, s := range released {
		b.since[i] = s - b.before[i]
	}
	return b.since
}
