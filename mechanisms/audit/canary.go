package audit

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"oriel/mechanisms"
)

// maxReleases bounds the memory of a law and the time to compute its weights.
const maxReleases = 1 << 17

// Canary is the difference of two neighbouring streams, and the number of releases that are observed. With and Without
// are an event's contributions in the two streams, in loss units. At user level all Count events of one user, Spacing
// steps apart, are exchanged; if all of them may be in one step, With and Without are their sums there, and Count is 1.
type Canary struct {
	Step     uint64 // step of the canary's first event, from 1
	Releases uint64 // number of releases in a run; the first event reaches the age Releases − Step + 1
	Count    uint64
	Spacing  uint64
	With     []float64
	Without  []float64
}

// NewCanary returns the canary of a configuration: one event, or at user level as many events as a window may have, at
// the smallest allowed spacing. The caller must fill in the contributions.
func NewCanary(c mechanisms.Config, step, age uint64) (Canary, error) {
	k := Canary{Step: step, Releases: step - 1 + age, Count: 1, Spacing: 1}
	switch {
	case step < 1 || step > maxReleases:
		return Canary{}, fmt.Errorf("audit: step %d of the canary: not in [1, %d]", step, maxReleases)
	case age < 1 || age > maxReleases || k.Releases > maxReleases:
		return Canary{}, fmt.Errorf("audit: age %d: not in [1, %d]", age, maxReleases-step+1)
	case k.Releases > c.Scope.End():
		return Canary{}, fmt.Errorf("audit: %d releases: the stream ends after %d", k.Releases, c.Scope.End())
	}
	if separation, _ := c.Unit.EventSeparation(); separation > 0 {
		k.Count, k.Spacing = (c.ExchangeSteps()-1)/separation+1, separation
	}
	return k, nil
}

// Age returns the age of the first event at the last release.
func (k Canary) Age() uint64 { return k.Releases - k.Step + 1 }

// At reports whether a canary event is in this step.
func (k Canary) At(step uint64) bool {
	return step >= k.Step && (step-k.Step)%k.Spacing == 0 && (step-k.Step)/k.Spacing < k.Count
}

// signal returns m_t, the number of canary events in release t, for releases 1 … Releases. kept is the share of a
// release that remains in the next release: 1 for prefix sums, 0 for single steps.
func (k Canary) signal(kept float64) []float64 {
	m, sum := make([]float64, k.Releases), 0.0
	for t := range m {
		sum *= kept
		if k.At(uint64(t + 1)) {
			sum++
		}
		m[t] = sum
	}
	return m
}

// Distance returns the ℓ2 distance of the two contributions in loss units, before any scaling of coordinates.
func (k Canary) Distance() float64 { return norm2(difference(k.With, k.Without)) }

func (k Canary) validate(n int) error {
	if len(k.With) != n || len(k.Without) != n {
		return fmt.Errorf("audit: contributions of %d and %d entries, want %d", len(k.With), len(k.Without), n)
	}
	if d := k.Distance(); !(d > 0) || math.IsInf(d, 1) {
		return errors.New("audit: the two contributions of the canary are equal, or not finite: nothing can be seen")
	}
	return nil
}

// marks returns the releases that the learned statistic uses: releases at a distance of a power of two from the canary,
// before and after it, the release before each of these, and the last releases. Noise that is missing, shared or
// retired at the border of a block or window shows there.
func (k Canary) marks() []int {
	var steps []int
	first, last := int(k.Step), int(k.Releases)
	add := func(t int) {
		if t >= 1 && t <= last {
			steps = append(steps, t-1)
		}
	}
	if last <= maxMarks {
		for t := range last {
			add(t + 1)
		}
		return steps
	}
	for distance := 1; distance <= last; distance *= 2 {
		add(first + distance - 1)
		add(first + distance)
		add(first - distance)
		add(last + 1 - distance)
	}
	add(first)
	slices.Sort(steps)
	return slices.Compact(steps)
}

// maxMarks is the largest number of releases that the learner uses. There are at most 4·17 candidates, of which it
// selects some.
const maxMarks = 64

func difference(x, y []float64) []float64 {
	out := make([]float64, len(x))
	for i := range x {
		out[i] = x[i] - y[i]
	}
	return out
}

func norm1(x []float64) float64 {
	sum := 0.0
	for _, v := range x {
		sum += math.Abs(v)
	}
	return sum
}

func norm2(x []float64) float64 { return math.Sqrt(dot(x, x)) }
