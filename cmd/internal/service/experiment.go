package service

import (
	"context"
	"fmt"
	"io"

	"oriel/pipeline/deployment"
)

// NextExperiment gives the deployment's streams their next experiment. It starts with the given step, or with the first
// possible one where step is 0. It prints the number and first step of each stream's experiment.
func NextExperiment(ctx context.Context, h Host, out io.Writer, step uint64) error {
	s, d, err := h.openDeployment(ctx, deployment.ByAll)
	if err != nil {
		return err
	}
	defer func() { _ = d.Client.Close() }()
	learner, err := s.Learner()
	if err != nil {
		return err
	}
	given, err := d.NextExperiment(ctx, learner, step)
	for _, turn := range given {
		_, _ = fmt.Fprintf(out, "stream %s: experiment %d starts with step %d\n",
			d.Config.StreamName(turn.Partition), turn.Number, turn.Step)
	}
	return err
}
