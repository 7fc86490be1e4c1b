package main

import (
	"context"
	"os"

	"github.com/spf13/cobra"

	"oriel/cmd/internal/exit"
)

// execute runs the command line and returns the process's exit code.
func execute(ctx context.Context, cmd *cobra.Command) int {
	running := false
	for _, c := range cmd.Commands() {
		work := c.RunE
		c.RunE = func(cmd *cobra.Command, args []string) error {
			running = true
			return work(cmd, args)
		}
	}
	called, err := cmd.ExecuteContextC(ctx)
	if err == nil {
		return 0
	}
	if !running { // cobra's own: an unknown command or flag, a missing one, two that exclude each other
		err = exit.WrongUse("%w; `%s --help` says what it takes", err, called.CommandPath())
	}
	return exit.Report(os.Stderr, err)
}
