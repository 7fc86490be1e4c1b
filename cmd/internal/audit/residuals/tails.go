package residuals

import (
	"context"

	"oriel/cmd/internal/audit/subject"
	"oriel/cmd/internal/audit/work"
	"oriel/mechanisms"
	"oriel/mechanisms/audit/residual"
	"oriel/mechanisms/contribution"
)

// Far tails are tested where draws are cheap: in dimension wide, and in streams of wideSteps steps of null events.
const (
	wide      = 4096
	wideSteps = 256
)

// Wide is the subject's mechanism at a large dimension.
type Wide struct {
	config      mechanisms.Config
	calibration mechanisms.Calibration
	noise       *residual.Noise
}

// Widen returns the subject in a large dimension, with runs of at most about draws draws, if draws is not 0. It returns
// false if such a subject is impossible or useless. For example, gamma noise has only one draw for its vector's length
// in any dimension, and some noise distributions have no sampler in a large dimension.
func Widen(a *subject.Subject, draws int) (Wide, bool) {
	facts, _ := mechanisms.FactsOf(a.Mechanism.Name)
	if facts.Radial() {
		return Wide{}, false
	}
	x := Wide{config: a.Mechanism}
	x.config.Contribution = contribution.OneComponent(max(wide, a.Mechanism.Dimension()), a.Mechanism.Clip())
	x.config.Batch, x.config.Failure = 1, 0
	var err error
	if x.calibration, err = mechanisms.Calibrate(x.config); err != nil {
		return Wide{}, false
	}
	steps := uint64(wideSteps)
	if n := x.config.Dimension(); draws > 0 {
		steps = min(steps, uint64((draws+n-1)/n))
	}
	if facts.AtNodes() {
		steps = min(steps, x.config.Scope.Span()) // with so few steps, releases are single nodes of the tree
	}
	steps = min(steps, x.config.Scope.End())
	x.noise, err = residual.New(x.config, x.calibration, int(steps))
	return x, err == nil
}

// Runs returns the number of runs that together have this many draws.
func (x Wide) Runs(draws int) int {
	each := x.config.Dimension() * x.noise.Steps()
	return (draws + each - 1) / each
}

// FarTails counts the draws beyond each of several large multiples of the scale.
func FarTails(ctx context.Context, a *subject.Subject, x Wide, w work.Job) (residual.Tails, error) {
	var total residual.Tails
	worker := func() (func(uint64) (residual.Tails, error), error) { return wideRuns(a, x) }
	err := work.Do(ctx, w, worker, func(run residual.Tails) { total.Merge(run) })
	return total, err
}

// wideRuns returns the function with which one worker plays a run.
func wideRuns(a *subject.Subject, x Wide) (func(number uint64) (residual.Tails, error), error) {
	stream, err := a.Stream(x.config, x.calibration, a.Key())
	if err != nil {
		return nil, err
	}
	none := make([]float64, x.config.Dimension())
	start, z, rebuild := stream.AppendState(nil), make([]float64, x.config.Dimension()), x.noise.Rebuilder()
	return func(number uint64) (residual.Tails, error) {
		var run residual.Tails
		if err := stream.Restore(start); err != nil {
			return run, err
		}
		stream.Rekey(a.Derived("wide machine", number))
		rebuild.Start(number)
		for at := subject.IdentitiesOf(number); int(stream.Step()) < x.noise.Steps(); {
			stream.Add(at.Next(), nil)
			stream.Close()
			rebuild.Next(z, stream.Sum(0), none)
			run.Add(z)
		}
		return run, nil
	}, nil
}
