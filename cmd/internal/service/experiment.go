package service

import (
	"context"
	"fmt"
	"io"
	"math"

	"oriel/pipeline/changelog"
	"oriel/pipeline/deployment"
)

// NextExperiment starts the next experiment of each of the deployment's streams at the given step, or at the first
// possible one if step is 0. It prints the number and the first step of each stream's experiment, and what its start
// costs in width.
func NextExperiment(ctx context.Context, h Host, out io.Writer, step uint64) error {
	s, d, err := h.openDeployment(ctx, deployment.ByAll)
	if err != nil {
		return err
	}
	defer func() { _ = d.Client.Close() }()
	learner := s.Learner()
	given, err := d.NextExperiment(ctx, learner, step)
	for _, added := range given {
		_, _ = fmt.Fprintf(out, "stream %s: experiment %d starts with step %d, %d steps ahead\n  %s\n",
			d.Config.StreamName(added.Partition), added.Number, added.Step, added.Step-1-added.Announced, costOf(added))
	}
	return err
}

// costOf says what the start of an experiment costs in width.
func costOf(added changelog.AddedExperiment) string {
	if added.Wider == 0 {
		return "ORIEL_HORIZON ends before its first look, so it will never have a band."
	}
	return fmt.Sprintf("Its start may have been chosen after looking at decisions, so at ORIEL_TARGET events its bands are %.1f %% wider.",
		math.Ceil((added.Wider-1)*1000)/10)
}
