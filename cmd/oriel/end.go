package main

import (
	"github.com/spf13/cobra"

	"oriel/cmd/internal/service"
)

func endCommand() *cobra.Command {
	var skip bool
	cmd := &cobra.Command{
		Use:   "end NAME",
		Short: "End the deployment for good, and print the offsets at which it stopped",
		Long: "End fences every process of the deployment NAME, which must be ORIEL_NAME, and writes to each partition of its changelog\n" +
			"that the stream has ended. Afterwards no process can publish anything under this name, and none starts. Nothing undoes it.\n\n" +
			"It prints a line topic,partition,offset for each partition of the input: the first record that the deployment has not used.\n" +
			"A new deployment whose ORIEL_START names a file with these lines starts there, so that no record is used by both and their\n" +
			"losses do not add up. If the command is interrupted, run it again; it prints the same lines.\n\n" +
			"Stop the processes first. The command refuses to end a stream whose last transaction has sent decisions and was not\n" +
			"committed, because readers of uncommitted records may have seen them: `oriel run` completes it.\n\n" +
			"It needs the settings of `oriel run`, except ORIEL_START, ORIEL_STATE_DIR and the master key. Master key and changelog may be lost.",
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return service.End(cmd.Context(), host(cmd), cmd.OutOrStdout(), args[0], skip)
		},
	}
	cmd.Flags().BoolVar(&skip, "skip", false,
		"where a last transaction was not committed, print the end of the input: the records before it are used by no deployment")
	return cmd
}
