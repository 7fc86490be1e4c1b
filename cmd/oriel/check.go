package main

import (
	"fmt"
	"os"

	"github.com/spf13/cobra"
)

// replaySave copies a partition's committed state to a checkpoint file.
func replaySave(cmd *cobra.Command, o replayOptions) error {
	d, err := thisHost(version()).openDeployment(cmd.Context())
	if err != nil {
		return err
	}
	defer func() { _ = d.Client.Close() }()
	file, err := d.Checkpoint(cmd.Context(), o.partition)
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
	d, err := thisHost(version()).openDeployment(cmd.Context())
	if err != nil {
		return err
	}
	defer func() { _ = d.Client.Close() }()
	bar := newBar(cmd.ErrOrStderr(), -1, "compared", false)
	compared, err := d.Check(cmd.Context(), o.partition, file, func(n int) { _ = bar.Set(n) })
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
