package service

import (
	"context"
	"fmt"
	"os"

	"oriel/cmd/internal/settings"
	"oriel/pipeline/changelog"
	"oriel/pipeline/deployment"
	"oriel/pipeline/replay"
)

// openDeployment gives a command what it needs to read what a deployment has sealed.
func (h Host) openDeployment(ctx context.Context) (changelog.Deployment, error) {
	s, err := settings.Load(h.Environ, settings.Kafka, settings.Deployment, settings.Events, settings.Operator)
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
	c, err := h.connect(ctx, s, config, deployment.ByService, nil, retrying(h.logger("warn", s.LogFormat), nil))
	if err != nil {
		return changelog.Deployment{}, err
	}
	return changelog.Deployment{Client: c.client, Config: config, Topics: c.topics, Model: model, Master: c.master}, nil
}

// SaveCheckpoint copies a partition's committed state to a checkpoint file.
func (h Host) SaveCheckpoint(ctx context.Context, partition int32, path string) error {
	d, err := h.openDeployment(ctx)
	if err != nil {
		return err
	}
	defer func() { _ = d.Client.Close() }()
	file, err := replay.Checkpoint(ctx, d, partition)
	if err != nil {
		return err
	}
	return os.WriteFile(path, file, 0o600)
}

// CheckDecisions compares the decisions that a partition has published behind a checkpoint file with recomputed ones,
// and returns how many are equal. progress is called with how many are equal so far.
func (h Host) CheckDecisions(
	ctx context.Context, partition int32, checkpoint string, progress func(int),
) (compared int, err error) {
	file, err := os.ReadFile(checkpoint)
	if err != nil {
		return 0, err
	}
	d, err := h.openDeployment(ctx)
	if err != nil {
		return 0, err
	}
	defer func() { _ = d.Client.Close() }()
	compared, err = replay.Check(ctx, d, partition, file, progress)
	if err != nil && compared > 0 {
		return compared, fmt.Errorf("after %d equal decisions: %w", compared, err)
	}
	return compared, err
}
