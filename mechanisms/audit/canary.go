package audit

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"oriel/mechanisms"
)

// maxReleases bounds the memory of a law and the time of its weights.
const maxReleases = 1 << 17

// Canary is what two neighbouring streams differ in, and how long they are looked at. With and Without are an event's
// leaves in the two streams, loss units; at user level all Count events of one user, Spacing steps apart, are
// exchanged.
type Canary struct {
	Step     uint64 // of the first event, from 1
	Releases uint64 // of a run, from step 1: the first event reaches the age Releases − Step + 1
	Count    uint64
	Spacing  uint64
	With     []float64
	Without  []float64
}

// NewCanary returns the canary of a configuration: one event, or as many events of one user as fit a window, as near to
// each other as they may be. The contributions are the caller's to fill in.
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
	if separation, several := c.Unit.EventSeparation(); several {
		k.Count, k.Spacing = (c.ExchangeSteps()-1)/separation+1, separation
	}
	return k, nil
}

// Age is the age that the first event reaches.
func (k Canary) Age() uint64 { return k.Releases - k.Step + 1 }

// At reports whether a canary event is in this step.
func (k Canary) At(step uint64) bool {
	return step >= k.Step && (step-k.Step)%k.Spacing == 0 && (step-k.Step)/k.Spacing < k.Count
}

// signal returns m_t of releases 1 … Releases, where a release keeps so much of the one before: 1 in prefix sums, 0 in
// single steps.
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

// Distance returns the ℓ2 distance of the two contributions, loss units; scales of coordinates do not count.
func (k Canary) Distance() float64 { return norm2(difference(k.With, k.Without)) }

func (k Canary) validate(n int) error {
	if len(k.With) != n || len(k.Without) != n {
		return fmt.Errorf("audit: leaves of %d and %d entries, want %d", len(k.With), len(k.Without), n)
	}
	if d := k.Distance(); !(d > 0) || math.IsInf(d, 1) {
		return errors.New("audit: the two leaves of the canary are equal, or not finite: nothing can be seen")
	}
	return nil
}

// marks returns the releases that the learned statistic looks at: those at and just before steps that are powers of two
// away from the canary, in both directions, and the last ones. Noise that is missing, shared or retired at the border
// of a block or of a window shows there.
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
	for away := 1; away <= last; away *= 2 {
		add(first + away - 1)
		add(first + away)
		add(first - away)
		add(last + 1 - away)
	}
	add(first)
	slices.Sort(steps)
	return slices.Compact(steps)
}

// maxMarks releases are learned from as they are; more are chosen from. 4·17 can be chosen at most.
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
