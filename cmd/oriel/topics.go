package main

import (
	"github.com/spf13/cobra"

	"oriel/cmd/internal/service"
)

func topicsCommand() *cobra.Command {
	var inputPartitions int
	cmd := &cobra.Command{
		Use:   "topics",
		Short: "Create or check the deployment's topics, and write its manifest",
		Long: "Topics creates the decision, verdict, changelog and dead-letter topics that are missing, with as many partitions as the input,\n" +
			"adds partitions to them when the input has grown (it never takes any away; with ORIEL_USER_ID it refuses), checks the\n" +
			"settings of those that exist, and writes the manifest (configuration and wrapped name key) to each changelog partition\n" +
			"that has none. It is safe to run again; with another configuration it refuses.\n\n" +
			"It needs the settings of `oriel run`, except ORIEL_START and ORIEL_STATE_DIR.\n\n" +
			"The input topic is yours: it must exist, unless --input-partitions says how to create it.",
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return service.PrepareTopics(cmd.Context(), service.ThisHost(version()), inputPartitions)
		},
	}
	cmd.Flags().IntVar(&inputPartitions, "input-partitions", 0, "create the input topic with so many partitions if it does not exist")
	return cmd
}
