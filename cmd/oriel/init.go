package main

import (
	"os"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"oriel/cmd/internal/plan"
	"oriel/cmd/internal/program"
	"oriel/cmd/internal/setup/dialogue"
	"oriel/schemas/text"
)

func initCommand() *cobra.Command {
	var o dialogue.Options
	ask := false
	cmd := &cobra.Command{
		Use:   "init [--topic TOPIC] [--sample FILE]",
		Short: "Set up a deployment for your topic, from at most eight answers",
		Long: "Init looks at a sample of your topic, or of a file, asks for its purpose, and writes a folder with all settings, each\n" +
			"with a comment (oriel.env), a mapping of your records (mapping.json), and a new master key. It then says\n" +
			"the deployment's promise, and the four commands that start it. It overwrites nothing.\n\n" +
			"Each question has a flag. Where standard input is no terminal nothing is asked: a flag that is missing is an error, or with\n" +
			"--yes the proposal is taken. Ranges of numbers are not: say --ranges proposed if the sample's ranges are public knowledge, or\n" +
			"name public ones. A range, a mapping or an ε that was chosen by looking at private data is outside the guarantee.\n\n" +
			"Wants: classes predicts a label of two classes (coco), number predicts a number (ridge), statistics counts and averages by\n" +
			"cell (aggregate), choice learns which of a few actions costs least (arms), experiment tests arms that chance draws\n" +
			"(aggregate). The other operators are set up by hand: README.md.\n\n" +
			"The first events are shown as Oriel reads them: contents of your records, for people who may read these; --first 0 leaves them out.\n" +
			"Settings of the connection (ORIEL_BROKERS, ORIEL_TLS…, ORIEL_SASL…, ORIEL_OAUTH…) are taken from the environment.",
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return initialise(cmd, o, ask) },
	}
	requestFlags(cmd, &o.Request)
	f := cmd.Flags()
	f.StringVar(&o.Brokers, "brokers", "", "Kafka brokers to start from, host:port,…")
	f.StringVar(&o.Want, "want", "", "classes, number, statistics, choice or experiment")
	f.StringVar(&o.Name, "name", "", "name of the deployment; TOPIC-oriel if not given")
	f.StringVar(&o.Folder, "out", "", "folder to make; the deployment's name if not given")
	f.StringVar(&o.Ranges, "ranges", "", "public ranges of numbers, `NAME:LOW:HIGH,…`; `proposed` takes the sample's ranges, and says that these are public")
	f.StringVar(&o.Value, "value", "", "the number that statistics average, the cost of an action, or the outcome, with its public range, `NAME:LOW:HIGH`; `none` means counts alone")
	f.StringVar(&o.Cells, "cells", "", "public cells of statistics, in the form of ORIEL_CELLS; without this flag there is one cell")
	f.StringVar(&o.Numbers, "statistics", "", "statistics of cells, in the form of ORIEL_STATISTICS; without this flag count, and sum and mean of the value")
	f.StringVar(&o.Arms, "arms", "", "actions to choose from, `NAME,NAME,…`; for an experiment its arms, COLUMN=ARM:PROBABILITY|ARM:PROBABILITY")
	f.StringVar(&o.Effect, "effect", "", "for an experiment: the effect that matters, and a guess of the mean outcome, `EFFECT near MEAN`")
	f.StringVar(&o.Memory, "memory", "", "how long ago is worth learning from: events, or a time such as 30d")
	program.Var(f, &o.Rate, "rate", 0, "events a second; without this flag the rate that the times of the topic's records show")
	f.StringVar(&o.Epsilon, "epsilon", "", "`NUMBER`: ε, such as 1; for statistics also the error that you want at 95 %, such as ±2")
	f.StringVar(&o.Start, "start", "earliest", "where the deployment begins to read: earliest or latest")
	f.BoolVar(&o.Takes, "yes", false, "accept the proposals without asking, where standard input is no terminal")
	f.BoolVar(&ask, "ask", false, "ask questions even if standard input is no terminal")
	_ = f.MarkHidden("ask")
	cmd.MarkFlagsMutuallyExclusive("yes", "ask")
	cmd.Flag("sample").Usage += "; it is looked at in place of the topic's records"
	return cmd
}

func initialise(cmd *cobra.Command, o dialogue.Options, ask bool) error {
	o.In, o.Out, o.Notes, o.Host = cmd.InOrStdin(), cmd.OutOrStdout(), cmd.ErrOrStderr(), host(cmd)
	file, isFile := o.In.(*os.File)
	o.Asks = ask || !o.Takes && isFile && term.IsTerminal(int(file.Fd()))
	o.Solve = func(environ []string, t plan.Target) (float64, error) {
		_, solution, err := wantOptions{solve: "epsilon"}.solved(environ, t)
		if err != nil {
			return 0, err
		}
		return text.ParseNumber(solution.Value)
	}
	return dialogue.Run(cmd.Context(), o)
}
