package auditor

import (
	"context"
	"errors"
	"time"

	"oriel/mechanisms/audit"
	"oriel/mechanisms/audit/residual"
)

// Limits of a run with background traffic.
const (
	shortestBackground = 64      // fewest steps; the statistics compare steps with each other and need this many
	longestBackground  = 1 << 20 // largest number of records
	oneBlock           = 1 << 12 // number of steps of a run that cannot reach a second block
)

// backgroundSteps returns the number of steps of a run with background traffic: to the middle of the second block and
// one window more, and at least to the last release of each attack, within the limits.
func (a *Subject) backgroundSteps(attacks []*Attack) uint64 {
	m := a.mechanism
	span := m.Scope.Span()
	steps := max(shortestBackground, span+span/2+min(span, longestAttack))
	if steps > min(residual.MaxSteps, longestBackground/m.Batch) {
		steps = min(oneBlock, max(shortestBackground, longestBackground/m.Batch))
	}
	if waits := a.earliest() - 1; steps+waits <= min(residual.MaxSteps, longestBackground/m.Batch) {
		steps += waits
	}
	for _, t := range attacks {
		if t.Canary.Releases*m.Batch <= longestBackground {
			steps = max(steps, t.Canary.Releases)
		}
	}
	return min(steps, m.Scope.End())
}

// residuals plays runs and tests their residuals: the releases minus the known contributions. With restarts, half of
// the runs are interrupted and restored.
func (a *Subject) residuals(
	ctx context.Context, x *residual.Noise, restarts bool, w repeatedRuns,
) ([]residual.Test, uint64, error) {
	battery := residual.NewBattery(x)
	worker := func() (func(uint64) (*residual.Run, error), error) { return a.backgroundRuns(x, restarts) }
	err := do(ctx, w, worker, battery.Add)
	return battery.Tests(), battery.Runs(), err
}

// backgroundRuns returns the function with which one worker plays a run.
func (a *Subject) backgroundRuns(x *residual.Noise, restarts bool) (func(number uint64) (*residual.Run, error), error) {
	c, err := a.openBackground(uint64(x.Steps()))
	if err != nil {
		return nil, err
	}
	observer := x.Observe()
	return func(number uint64) (*residual.Run, error) {
		observe := func(s step) { observer.Release(s.release, s.contributions) }
		if err := c.play("crowd", number, restarts && number%2 == 1, observe); err != nil {
			return nil, err
		}
		return observer.Result(number), nil
	}, nil
}

// short runs two tests on short streams of the private sum alone: minimal changes of a history and, for components with
// a clip, the clip.
func (a *Subject) short() ([]residual.Test, error) {
	raw, calibration := audit.RawContributions(a.mechanism, a.calibration)
	stream, err := a.stream(raw, calibration, a.key())
	if err != nil {
		return nil, err
	}
	start := stream.AppendState(nil)
	history, errHistory := audit.CheckChain(raw, calibration, stream)
	tests := []residual.Test{history}
	errRestore := stream.Restore(start)
	clip, errClip := audit.CheckClip(raw, calibration, stream)
	if clip.Count > 0 {
		tests = append(tests, clip)
	}
	return tests, errors.Join(errHistory, errRestore, errClip)
}

// work returns a job of this many runs or, if runs is 0, of as many runs as the time limit allows.
func (o Options) work(what string, runs int, limit time.Duration) repeatedRuns {
	w := repeatedRuns{what: what, runs: uint64(runs), progress: o.Progress}
	if runs == 0 {
		w.runs, w.deadline = 1<<62, time.Now().Add(limit)
	}
	return w
}
