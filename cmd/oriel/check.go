package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"oriel/cmd/internal/service"
)

// replaySave copies a partition's committed state to a checkpoint file.
func replaySave(cmd *cobra.Command, o replayOptions) error {
	return service.ThisHost(version()).SaveCheckpoint(cmd.Context(), o.Partition, o.save)
}

// replayCheck compares published decisions with recomputed ones.
func replayCheck(cmd *cobra.Command, o replayOptions) error {
	bar := newBar(cmd.ErrOrStderr(), -1, "compared", false)
	h := service.ThisHost(version())
	compared, err := h.CheckDecisions(cmd.Context(), o.Partition, o.from, func(n int) { _ = bar.Set(n) })
	_ = bar.Finish()
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(cmd.OutOrStdout(), "partition %d: %d decisions compared, all equal\n", o.Partition, compared)
	return err
}
