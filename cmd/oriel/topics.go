package main

import (
	"github.com/spf13/cobra"

	"oriel/cmd/internal/program"
	"oriel/cmd/internal/service"
)

func topicsCommand() *cobra.Command {
	var inputPartitions int
	var leaveOut []uint
	cmd := &cobra.Command{
		Use:   "topics",
		Short: "Create or check the deployment's topics, and write its manifest",
		Long: "Topics creates the decision, verdict, changelog, order and dead-letter topics that are missing, checks the settings of\n" +
			"those that exist, and writes the manifest (configuration and wrapped name key) to each changelog partition that has none.\n" +
			"It is safe to run again; with another configuration it refuses.\n\n" +
			"With ORIEL_STREAM=topic they have one partition, however many the input has and will have. With ORIEL_STREAM=partition\n" +
			"they have as many as the input, are given more when the input has grown (it never takes any away; with ORIEL_USER_ID it\n" +
			"refuses), and there is no order topic. A new deployment on several partitions must say which.\n\n" +
			"It needs the settings of `oriel run`, except ORIEL_START and ORIEL_STATE_DIR.\n\n" +
			"With ORIEL_SCHEMA_REGISTRY it freezes the schemas of all versions of ORIEL_SCHEMA_SUBJECT; `oriel schema pull` adds later ones.\n" +
			"With ORIEL_DECISIONS_FORMAT=protobuf or avro, and no ORIEL_DECISIONS_SCHEMA_ID, it registers the schema of decisions there, as\n" +
			"NAME-value of each topic of decisions, before it opens the deployment, and freezes the id.\n\n" +
			"The input topic is yours: it must exist, unless --input-partitions says how to create it.",
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return service.PrepareTopics(cmd.Context(), host(cmd), inputPartitions, leaveOut)
		},
	}
	program.Var(cmd.Flags(), &inputPartitions, "input-partitions", 0, "create the input topic with this many partitions if it does not exist")
	leaveOutFlag(cmd.Flags(), &leaveOut)
	return cmd
}
