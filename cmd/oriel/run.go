package main

import (
	"fmt"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"oriel/cmd/internal/doctor"
	"oriel/cmd/internal/exit"
	"oriel/cmd/internal/program"
	"oriel/cmd/internal/service"
	"oriel/cmd/internal/settings"
	"oriel/operators/setting"
)

func runCommand() *cobra.Command {
	catchUp := false
	c := &cobra.Command{
		Use:   "run",
		Short: "Run the service: events in, decisions out",
		Long: "Run takes its share of the input's partitions, restores or opens their streams, and commits decisions until it is\n" +
			"told to stop (SIGTERM). `oriel topics` must have run with the same settings before.\n\n" +
			"Settings:\n" + settingsHelp(),
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			h := host(cmd)
			if err := h.Tune(); err != nil {
				return err
			}
			h.CatchUp = catchUp
			return service.Run(cmd.Context(), h)
		},
	}
	c.Flags().BoolVar(&catchUp, "catch-up", false,
		"with ORIEL_STEP: publish all steps of an outage of more than a day, one decision each")
	return c
}

func settingsHelp() string {
	var b strings.Builder
	for _, g := range settings.Groups() {
		if title := g.Title(); title != "" {
			fmt.Fprintf(&b, "\n%s\n", title)
		}
		w := tabwriter.NewWriter(&b, 0, 4, 2, ' ', 0)
		for _, v := range g.Settings {
			fmt.Fprintf(w, "  %s%s\t%s\t%s\t%s\n\t  %s\n",
				setting.Prefix, v.Name, v.Unit, v.Limits(), v.Initial(), v.Text)
		}
		_ = w.Flush()
	}
	return b.String()
}

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
