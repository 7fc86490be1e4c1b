package main

import (
	"github.com/spf13/cobra"

	"oriel/cmd/internal/program"
	"oriel/cmd/internal/service"
)

func experimentCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "experiment",
		Short: "Give a running deployment its next experiment",
		Args:  cobra.NoArgs,
		RunE:  func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(nextExperimentCommand())
	return cmd
}

func nextExperimentCommand() *cobra.Command {
	var step uint64
	cmd := &cobra.Command{
		Use:   "next",
		Short: "End the present experiment at a later step, and start the next one there",
		Long: "Next ends the present experiment of each stream at a step to come, and starts the next one with it: from nothing, with the same\n" +
			"arms, outcome and settings, and an error probability of its own. The stream, its key and its privacy stay. Decisions say of\n" +
			"which experiment they are, and numbers of earlier ones stay in the topic.\n\n" +
			"The first step is public, and recorded in the changelog. It is at least 2000 events and 20 steps after all that a process can\n" +
			"have read, so that no published decision is computed anew. A process that has the stream takes it over again within seconds.\n\n" +
			"Whoever runs this command may have chosen the moment by what decisions say, and they say something about the noise of the next\n" +
			"steps. The bands, e-values and verdict allow for every such choice, and are wider for it. The command prints by how much;\n" +
			"`oriel plan --want-effect` prints it before. The further ahead --step lies, the less it costs.\n\n" +
			"It needs the settings of `oriel topics`, and a stream that was opened with ORIEL_ALWAYS_VALID by this version or a\n" +
			"later one. If it is interrupted between several streams, run it again: it goes on with those that lack the experiment. Without\n" +
			"--step it refuses while the newest experiment has not started.",
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return service.NextExperiment(cmd.Context(), host(cmd), cmd.OutOrStdout(), step)
		},
	}
	program.Var(cmd.Flags(), &step, "step", 0, "first step of the next experiment. 0: the first possible one")
	return cmd
}
