package auditor

import (
	"context"

	"oriel/mechanisms"
	"oriel/mechanisms/audit/residual"
	"oriel/mechanisms/contribution"
)

// Far tails are tested where draws are cheap: in dimension wide, and in streams of wideSteps steps of null events.
const (
	wide      = 4096
	wideSteps = 256
)

// widenedSubject is the subject's mechanism at a large dimension.
type widenedSubject struct {
	config      mechanisms.Config
	calibration mechanisms.Calibration
	noise       *residual.Noise
}

// widen returns the subject in a large dimension, with runs of at most about draws draws, if draws is not 0. It returns
// false if such a subject is impossible or useless. For example, gamma noise has only one draw for its vector's length
// in any dimension, and some noise distributions have no sampler in a large dimension.
func (a *Subject) widen(draws int) (widenedSubject, bool) {
	facts, _ := mechanisms.FactsOf(a.mechanism.Name)
	if facts.Law == mechanisms.Gamma {
		return widenedSubject{}, false
	}
	x := widenedSubject{config: a.mechanism}
	x.config.Contribution = contribution.OneComponent(max(wide, a.mechanism.Dimension()), a.mechanism.Clip())
	x.config.Batch, x.config.Failure = 1, 0
	var err error
	if x.calibration, err = mechanisms.Calibrate(x.config); err != nil {
		return widenedSubject{}, false
	}
	steps := uint64(wideSteps)
	if n := x.config.Dimension(); draws > 0 {
		steps = min(steps, uint64((draws+n-1)/n))
	}
	if facts.Structure == mechanisms.Tree {
		steps = min(steps, x.config.Scope.Span()) // with so few steps, releases are single nodes of the tree
	}
	steps = min(steps, x.config.Scope.End())
	x.noise, err = residual.New(x.config, x.calibration, int(steps))
	return x, err == nil
}

// runs returns the number of runs that together have this many draws.
func (x widenedSubject) runs(draws int) int {
	each := x.config.Dimension() * x.noise.Steps()
	return (draws + each - 1) / each
}

// farTails counts the draws beyond each of several large multiples of the scale.
func (a *Subject) farTails(ctx context.Context, x widenedSubject, w repeatedRuns) (residual.Tails, error) {
	var total residual.Tails
	worker := func() (func(uint64) (residual.Tails, error), error) { return a.wideRuns(x) }
	err := do(ctx, w, worker, func(run residual.Tails) { total.Merge(run) })
	return total, err
}

// wideRuns returns the function with which one worker plays a run.
func (a *Subject) wideRuns(x widenedSubject) (func(number uint64) (residual.Tails, error), error) {
	stream, err := a.stream(x.config, x.calibration, a.derived("wide machine", 0))
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
		rebuild.Start()
		for at := placesOf(number); int(stream.Step()) < x.noise.Steps(); {
			stream.Add(at.next(), nil)
			rebuild.Next(z, stream.Sum(0), none)
			run.Add(z)
		}
		return run, nil
	}, nil
}
