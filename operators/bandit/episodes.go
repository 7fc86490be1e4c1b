package bandit

import (
	"math/bits"

	"oriel/operators/actions"
)

// Episode holds the constants of an interval of rounds. Without Doubling there is one interval; with Doubling episode e
// has the rounds from 2^e to 2^(e+1) − 1.
type Episode struct {
	Smoothing float64 // ζ, the distance of actions from their centre
	Rate      float64 // η, the learning rate
	Shrink    float64 // 1 − ζ/r, the factor that scales centres towards the inner ball's centre; 1: none
}

// margin is the weight of the inner ball's centre in each action, so that rounding cannot move an action out of the
// set.
const margin = 0x1p-20

// share returns the weight of the mirror's centre in the point that a round's actions surround.
func (e Episode) share() float64 {
	if e.Shrink == 1 {
		return e.Shrink
	}
	return max(0, e.Shrink-margin)
}

// surrounded writes to dst the point that a round's actions surround: the mirror's centre, moved towards the middle so
// far that all actions are in the set.
func (e Episode) surrounded(dst, middle, centre []float64) {
	share := e.share()
	for i, x := range centre {
		dst[i] = middle[i] + float64(share*(x-middle[i]))
	}
}

// episodeOf returns the number e of the episode that contains a round, and the episode's first round.
func (c Config) episodeOf(round uint64) (e int, first uint64) {
	if !c.Doubling {
		return 0, 1
	}
	e = bits.Len64(round) - 1
	return e, 1 << e
}

// episodes returns the number of episodes.
func (c Config) episodes() int {
	e, _ := c.episodeOf(max(1, c.Rounds))
	return e + 1
}

// episodeStart holds the start of the current episode with Doubling: the sum of the contributions of earlier rounds,
// which the centres of this episode must not use. That sum is a release, and the difference of two releases is
// post-processing.
type episodeStart struct {
	before []float64 // the release that has all contributions of earlier rounds, or zero
	since  []float64 // scratch: the latest release minus before
}

// turn takes the release of a step, after which the given round is published. It returns the sum that determines the
// round's centre. It returns nil as long as no release has a contribution of the round's episode. A contribution of
// round r is added in step r + Delay.
func (b *episodeStart) turn(released []float64, first, round uint64, p actions.Config) []float64 {
	step, last := round-1, first-1+p.Delay // last is the last step that adds only rounds before the episode
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
