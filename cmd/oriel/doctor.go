package main

import (
	"time"

	"github.com/spf13/cobra"

	"oriel/cmd/internal/doctor"
	"oriel/cmd/internal/exit"
	"oriel/cmd/internal/program"
)

func doctorCommand() *cobra.Command {
	var o doctor.Options
	var skip bool
	cmd := &cobra.Command{
		Use:   "doctor",
		Short: "Check settings, key, brokers, rights, topics, records, disk and whether each stream can go on, and change nothing",
		Long: "Doctor takes the settings of `oriel run` and prints a line a check: ok, or the problem and its remedy; a warning where the\n" +
			"service would run nevertheless; - where there was nothing to check. It creates no topic, writes no record, joins no group and\n" +
			"begins no transaction, so that it may run beside the service. Run it as the user, and on the machine, of `oriel run`.\n\n" +
			"The check of records reads private data: the newest record of up to 16 partitions of the input. It prints partition, offset,\n" +
			"the rule that a record breaks and the member of the settings, and of the record only an unknown schema id. It is wrong if all\n" +
			"of them break one. Leave it out by --no-record where others see the output or the exit code.\n\n" +
			"The last check makes the steps with which `oriel run` takes its streams over, and finds everything that it would refuse. It decodes\n" +
			"events only where a transaction is not whole, and never with --no-record.\n\n" +
			"Exit codes: 0 nothing is wrong, 1 something is, 2 settings cannot be read.",
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if o.Patience < time.Second {
				return exit.WrongUse("--patience %v: less than 1s", o.Patience)
			}
			o.Record = !skip
			return doctor.Examine(cmd.Context(), host(cmd), o, cmd.OutOrStdout())
		},
	}
	cmd.Flags().BoolVar(&skip, "no-record", false, "decode no records of the input")
	program.Var(cmd.Flags(), &o.Patience, "patience", doctor.Patience, "how long a check may ask brokers or a registry")
	return cmd
}
