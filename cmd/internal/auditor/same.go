package auditor

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"oriel/mechanisms"
	"oriel/mechanisms/audit"
	"oriel/mechanisms/audit/given"
	"oriel/mechanisms/noise"
)

// Check is an exact one: it holds, or it is refuted.
type Check struct {
	Name   string `json:"check"`
	Looked string `json:"looked_at"`
	Count  uint64 `json:"count"` // of what was looked at
	Found  string `json:"found"`
	Holds  bool   `json:"holds"`
}

// What is played again for a check, and remembered, is bounded: runs, steps over all runs, and numbers of a run.
const (
	mostRepeated    = 32
	repeatedRecords = 1 << 16
	repeatedNumbers = 1 << 24
)

// repetitions is how many runs of how many steps a check plays.
func (a *Subject) repetitions(steps uint64) (runs, each uint64) {
	each = min(steps, max(2, repeatedNumbers/uint64(a.mechanism.Dimension)))
	return max(2, min(mostRepeated, repeatedRecords/(each*a.mechanism.Batch))), each
}

// recorded is a run's releases and decisions.
type recorded struct{ releases, decisions [][]float64 }

func record(c *crowded, purpose string, number uint64, broken bool) (out recorded, err error) {
	err = c.play(purpose, number, broken, func(s step) {
		out.releases = append(out.releases, slices.Clone(s.release))
		out.decisions = append(out.decisions, slices.Clone(s.decision))
	})
	return out, err
}

// differ returns the first step, from 1, at which two recordings are not equal bit for bit, or 0.
func differ(x, y [][]float64) int {
	for t := range x {
		if !slices.EqualFunc(x[t], y[t], func(a, b float64) bool { return math.Float64bits(a) == math.Float64bits(b) }) {
			return t + 1
		}
	}
	return 0
}

// restart plays runs with and without breaking them off.
func (a *Subject) restart(steps uint64) (Check, error) {
	runs, steps := a.repetitions(steps)
	check := Check{
		Name: "restart", Looked: "runs written down and read back, anywhere", Count: runs,
		Found: "releases and decisions are those of unbroken runs", Holds: true,
	}
	c, err := a.openCrowded(steps)
	if err != nil {
		return check, err
	}
	for run := range runs {
		whole, err := record(c, "crowd", run, false)
		if err != nil {
			return check, err
		}
		broken, err := record(c, "crowd", run, true)
		if err != nil {
			check.Holds, check.Found = false, fmt.Sprintf("run %d: a state is refused: %v", run, err)
			return check, nil
		}
		if t := max(differ(whole.releases, broken.releases), differ(whole.decisions, broken.decisions)); t > 0 {
			check.Holds, check.Found = false, fmt.Sprintf("run %d, step %d: another release or decision after a restart", run, t)
			return check, nil
		}
	}
	return check, nil
}

// decisions plays other events over the releases of a run: a decision is computed from releases alone, or it is another
// one.
func (a *Subject) decisions(steps uint64) (Check, error) {
	runs, steps := a.repetitions(steps)
	check := Check{
		Name: "decisions", Looked: "runs of other events over the same releases", Count: runs,
		Found: "decisions are the same bytes", Holds: true,
	}
	c, err := a.openCrowded(steps)
	if err != nil {
		return check, err
	}
	for run := range runs {
		original, err := record(c, "crowd", run, false)
		if err != nil {
			return check, err
		}
		scripted := *a
		scripted.stream = func(m mechanisms.Config, p mechanisms.Plan, key [32]byte) (*mechanisms.Stream, error) {
			release := func(dst []float64, step uint64) { copy(dst, original.releases[step-1]) }
			return mechanisms.NewStream(m, p, key, given.New(release))
		}
		other, err := scripted.openCrowded(steps)
		if err != nil {
			return check, err
		}
		again, err := record(other, "other crowd", run, false)
		if err != nil {
			return check, err
		}
		if t := differ(original.decisions, again.decisions); t > 0 {
			check.Holds, check.Found = false, fmt.Sprintf("run %d, step %d: the decision owes something to events beside releases", run, t)
			return check, nil
		}
	}
	return check, nil
}

// repetition plays the canary of an attack twice, and its neighbour.
func (a *Subject) repetition(t *Attack) (Check, error) {
	check := Check{
		Name: "repetition", Looked: "runs under the same identities, and under others", Count: 4,
		Found: "the same records have one noise, others another", Holds: true,
	}
	p, err := a.open()
	if err != nil {
		return check, err
	}
	err = audit.CheckHistory(t.play(p), t.Canary)
	for _, fault := range []error{audit.ErrRedrawn, audit.ErrReused, audit.ErrShared} {
		if errors.Is(err, fault) {
			check.Holds, check.Found = false, err.Error()
			return check, nil
		}
	}
	return check, err
}

// far sends draws of all sizes through the sum, over a sampler of the auditor's.
func (a *Subject) far() (Check, error) {
	check := Check{
		Name: "far draws", Looked: "draws of 1 to 29 scales, from sampler to release",
		Found: "all reach the release as they were drawn", Holds: true,
	}
	over := func(s noise.Sampler) (mechanisms.Sum, error) { return a.plan.SumOver(a.mechanism, s) }
	var err error
	check.Count, err = audit.CheckFar(a.mechanism, a.plan, over)
	if errors.Is(err, audit.ErrFar) {
		check.Holds, check.Found = false, err.Error()
		return check, nil
	}
	return check, err
}
