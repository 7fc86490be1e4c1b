package residual

import (
	"fmt"
	"math"
)

// Tails counts draws, and how many of them exceed each level in absolute value.
type Tails struct {
	Draws  uint64
	beyond [len(levels)]uint64
}

// Add counts standardised draws.
func (t *Tails) Add(z []float64) {
	t.Draws += uint64(len(z))
	for _, v := range z {
		if v = math.Abs(v); v > levels[0] {
			for k, level := range levels {
				if v > level {
					t.beyond[k]++
				}
			}
		}
	}
}

// Merge adds the counts of other.
func (t *Tails) Merge(other Tails) {
	t.Draws += other.Draws
	for k, count := range other.beyond {
		t.beyond[k] += count
	}
}

// Test checks at each level whether too few draws exceed it, for example because draws are clamped, or too many.
func (t Tails) Test(name string) Test {
	f := newFinder(name, fmt.Sprintf("draws beyond %.1f … %.1f of their scale", levels[0], levels[len(levels)-1]), t.Draws)
	for k, level := range levels {
		p := beyond(level)
		f.look(binomialTail(t.beyond[k], t.Draws, p), "%d beyond %.1f, %.4g expected", t.beyond[k], level, float64(t.Draws)*p)
	}
	return f.test()
}

// Reach returns the largest clamp, in scales, that this many draws reveal at level p. Beyond it, an absence of draws is
// no evidence of a clamp.
func (t Tails) Reach(p float64) float64 {
	low, high := 0.0, 40.0
	for range 60 {
		middle := (low + high) / 2
		if float64(len(levels))*binomialTail(0, t.Draws, beyond(middle)) < p {
			low = middle
		} else {
			high = middle
		}
	}
	return low
}
