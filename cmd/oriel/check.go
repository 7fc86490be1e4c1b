package main

import (
	"fmt"

	"github.com/spf13/cobra"
)

// replaySave copies a partition's committed state to a checkpoint file.
func replaySave(cmd *cobra.Command, o replayOptions) error {
	return thisHost(version()).saveCheckpoint(cmd.Context(), o.partition, o.save)
}

// replayCheck compares published decisions with recomputed ones.
func replayCheck(cmd *cobra.Command, o replayOptions) error {
	bar := newBar(cmd.ErrOrStderr(), -1, "compared", false)
	compared, err := thisHost(version()).checkDecisions(cmd.Context(), o.partition, o.from, func(n int) { _ = bar.Set(n) })
	_ = bar.Finish()
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(cmd.OutOrStdout(), "partition %d: %d decisions compared, all equal\n", o.partition, compared)
	return err
}
