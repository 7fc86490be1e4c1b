package main

import (
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"oriel/cmd/internal/settings"
	"oriel/pipeline/changelog"
	"oriel/pipeline/deployment"
	"oriel/pipeline/replay"
)

// replaySave copies a partition's committed state to a checkpoint file.
func replaySave(cmd *cobra.Command, o replayOptions) error {
	d, err := openDeployment(cmd)
	if err != nil {
		return err
	}
	defer func() { _ = d.Client.Close() }()
	file, err := replay.Checkpoint(cmd.Context(), d, o.partition)
	if err != nil {
		return err
	}
	return os.WriteFile(o.save, file, 0o600)
}

// replayCheck compares published decisions with recomputed ones.
func replayCheck(cmd *cobra.Command, o replayOptions) error {
	file, err := os.ReadFile(o.from)
	if err != nil {
		return err
	}
	d, err := openDeployment(cmd)
	if err != nil {
		return err
	}
	defer func() { _ = d.Client.Close() }()
	bar := newBar(cmd.ErrOrStderr(), -1, "compared", false)
	compared, err := replay.Check(cmd.Context(), d, o.partition, file, func(n int) { _ = bar.Set(n) })
	_ = bar.Finish()
	if err != nil && compared > 0 {
		return fmt.Errorf("after %d equal decisions: %w", compared, err)
	}
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(cmd.OutOrStdout(), "partition %d: %d decisions compared, all equal\n", o.partition, compared)
	return err
}

func openDeployment(cmd *cobra.Command) (changelog.Deployment, error) {
	h := thisHost()
	s, err := settings.Load(h.environ, settings.Kafka, settings.Deployment, settings.Events, settings.Operator)
	if err != nil {
		return changelog.Deployment{}, err
	}
	model, err := s.Model()
	if err != nil {
		return changelog.Deployment{}, err
	}
	config, err := s.DeploymentOf(model)
	if err != nil {
		return changelog.Deployment{}, err
	}
	c, err := h.connect(cmd.Context(), s, config, deployment.ByService, nil, retrying(h.logger("warn", s.LogFormat), nil))
	if err != nil {
		return changelog.Deployment{}, err
	}
	return changelog.Deployment{Client: c.client, Config: config, Topics: c.topics, Model: model, Master: c.master}, nil
}
