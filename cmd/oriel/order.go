package main

import (
	"github.com/spf13/cobra"

	"oriel/cmd/internal/service"
)

func orderCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "order",
		Short: "Write the order of the input's partitions, beside the service",
		Long: "Order looks at the ends of the input's partitions each commit interval and writes them to the order log, until it is\n" +
			"asked to stop. It is for ORIEL_STREAM=topic with ORIEL_SEQUENCER=other, which all processes of the deployment must have;\n" +
			"without, the process of `oriel run` that has the stream does this itself, and the time that events take to be processed\n" +
			"can delay a look, and so move the order by some events. This process reads no event.\n\n" +
			"Any number of processes may run, on other machines than the service's. While none does, the stream stands still.\n\n" +
			"It needs ORIEL_BROKERS, ORIEL_NAME, ORIEL_INPUT_TOPIC, ORIEL_MASTER_KEY_FILE, ORIEL_COMMIT_INTERVAL as the service has it, and the\n" +
			"names of topics that are not the default ones; of rights, to describe the input, to read the changelog, and to read and write\n" +
			"the order topic.",
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			h := host(cmd)
			if err := h.Tune(); err != nil {
				return err
			}
			return service.WriteOrder(cmd.Context(), h)
		},
	}
}
