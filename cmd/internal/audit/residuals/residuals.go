package residuals

import (
	"context"
	"errors"

	"oriel/cmd/internal/audit/subject"
	"oriel/cmd/internal/audit/traffic"
	"oriel/cmd/internal/audit/work"
	"oriel/mechanisms/audit"
	"oriel/mechanisms/audit/residual"
)

// Steps returns the number of steps of a run with background traffic: to the middle of the second block and
// one window more, and at least to the last releases of the attacks, within the limits.
func Steps(a *subject.Subject, releases []uint64) uint64 {
	m := a.Mechanism
	span := m.Scope.Span()
	steps := max(subject.ShortestBackground, span+span/2+min(span, subject.LongestAttack))
	if steps > min(residual.MaxSteps, subject.LongestBackground/a.Places()) {
		steps = min(subject.OneBlock, max(subject.ShortestBackground, subject.LongestBackground/a.Places()))
	}
	if waits := a.Earliest() - 1; steps+waits <= min(residual.MaxSteps, subject.LongestBackground/a.Places()) {
		steps += waits
	}
	for _, last := range releases {
		if last*a.Places() <= subject.LongestBackground {
			steps = max(steps, last)
		}
	}
	return min(steps, m.Scope.End())
}

// Test plays runs and tests their residuals: the releases minus the known contributions. With restarts, half of
// the runs are interrupted and restored.
func Test(
	ctx context.Context, a *subject.Subject, x *residual.Noise, restarts bool, w work.Job,
) ([]residual.Test, uint64, error) {
	battery := residual.NewBattery(x)
	worker := func() (func(uint64) (*residual.Run, error), error) { return player(a, x, restarts) }
	err := work.Do(ctx, w, worker, battery.Add)
	return battery.Tests(), battery.Runs(), err
}

// player returns the function with which one worker plays a run.
func player(a *subject.Subject, x *residual.Noise, restarts bool) (func(number uint64) (*residual.Run, error), error) {
	c, err := traffic.Open(a, uint64(x.Steps()))
	if err != nil {
		return nil, err
	}
	observer := x.Observe()
	return func(number uint64) (*residual.Run, error) {
		observer.Start(number)
		observe := func(s traffic.Step) { observer.Release(s.Release, s.Contributions) }
		if err := c.Play("crowd", number, restarts && number%2 == 1, observe); err != nil {
			return nil, err
		}
		return observer.Result(), nil
	}, nil
}

// Short runs two tests on short streams of the private sum alone: minimal changes of a history and, for components with
// a clip, the clip.
func Short(a *subject.Subject) ([]residual.Test, error) {
	raw, calibration := audit.RawContributions(a.Mechanism, a.Calibration)
	stream, err := a.Stream(raw, calibration, a.Key())
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
