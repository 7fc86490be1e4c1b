package main

import (
	"github.com/spf13/cobra"

	"oriel/cmd/internal/service"
)

func lettersCommand() *cobra.Command {
	var once bool
	cmd := &cobra.Command{
		Use:   "letters",
		Short: "Write records that were no events to the dead-letter topic",
		Long: "Letters opens the sealed verdicts that `oriel run` writes beside its decisions, joins them with the input, and writes each\n" +
			"record that took its place as a null event to the dead-letter topic: key, value and headers, then oriel-reason,\n" +
			"oriel-detail (the broken rule, where it is known), oriel-topic, oriel-partition and oriel-offset. A letter that the topic\n" +
			"would not take is cut and has oriel-truncated and oriel-length; one whose record retention has deleted has oriel-lost and\n" +
			"no content. Where verdicts are missing, one letter with oriel-lost stands for all offsets up to oriel-until, and\n" +
			"oriel-reason says why. Each is written once, whatever crashes; any number of processes may run.\n\n" +
			"It is a process of its own, so that nothing about `oriel run` tells which events were bad. What this one logs and\n" +
			"writes does: it is for people who may read the input, and so are its topic and its group.\n\n" +
			"It needs ORIEL_BROKERS, ORIEL_NAME, ORIEL_INPUT_TOPIC, ORIEL_MASTER_KEY_FILE and the names of topics that are not the\n" +
			"default ones; of rights, to read the input, the verdicts and the changelog, and to write the dead-letter topic (to read it, too,\n" +
			"where the topic has letters and the group no offset). Run `oriel topics` once before.",
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			h := host(cmd)
			if err := h.Tune(); err != nil {
				return err
			}
			return service.WriteLetters(cmd.Context(), h, once)
		},
	}
	cmd.Flags().BoolVar(&once, "once", false, "end when the letters of all present verdicts have been written, for this process's share of partitions")
	return cmd
}
