package service

import (
	"context"
	"errors"
	"fmt"
	"os"

	"oriel/cmd/internal/settings"
	"oriel/pipeline/changelog"
	"oriel/pipeline/deployment"
	"oriel/pipeline/notice"
	"oriel/pipeline/replay"
)

// openDeployment opens a deployment for a command that reads or changes its sealed records.
func (h Host) openDeployment(
	ctx context.Context, use deployment.Use,
) (s settings.Settings, d changelog.Deployment, err error) {
	s, d, _, err = h.Load()
	if err != nil {
		return s, d, err
	}
	d, err = h.connect(ctx, s, d, use, nil, clientPatience, retrying(h.logger("warn", s.LogFormat), notice.Operators, nil))
	if err != nil {
		return s, d, err
	}
	s, d.Model, _, err = h.AsOpened(ctx, s, d)
	if err != nil {
		err = errors.Join(err, d.Client.Close())
	}
	return s, d, err
}

// SaveCheckpoint copies a partition's committed state to a checkpoint file.
func (h Host) SaveCheckpoint(ctx context.Context, partition int32, path string) error {
	_, d, err := h.openDeployment(ctx, deployment.ByService)
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

// CheckDecisions recomputes the decisions that a partition published after a checkpoint, compares them with the
// published ones, and returns the number of equal decisions. It calls progress with the number of equal decisions so
// far.
func (h Host) CheckDecisions(
	ctx context.Context, partition int32, checkpoint string, progress func(int),
) (compared int, err error) {
	file, err := os.ReadFile(checkpoint)
	if err != nil {
		return 0, err
	}
	_, d, err := h.openDeployment(ctx, deployment.ByService)
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
