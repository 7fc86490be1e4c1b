package main

import (
	"bufio"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"oriel/cmd/internal/exit"
	"oriel/cmd/internal/setup"
)

// initOptions are the flags of `oriel init`: each answers a question beforehand.
type initOptions struct {
	sampleOptions
	brokers string
	name    string
	folder  string
	ranges  string
	value   string
	cells   string
	arms    string
	memory  string
	rate    float64
	epsilon string
	start   string
	yes     bool
	ask     bool
}

func initCommand() *cobra.Command {
	var o initOptions
	cmd := &cobra.Command{
		Use:   "init [--topic TOPIC] [--sample FILE]",
		Short: "Set up a deployment for your topic, from at most eight answers",
		Long: "Init looks at a sample of your topic, or of a file, asks what you want of it, and writes a folder with all settings, each\n" +
			"with a comment (oriel.env), a mapping of your records (mapping.json), and a new master key. It then says\n" +
			"what the deployment promises, and which four commands start it. It overwrites nothing.\n\n" +
			"Each question has a flag. Where standard input is no terminal nothing is asked: a flag that is missing is an error, or with\n" +
			"--yes the proposal is taken. Ranges of numbers are not: say --ranges proposed if those of the sample are public knowledge, or\n" +
			"name public ones. A range, a mapping or an ε that was chosen by looking at private data is outside the guarantee.\n\n" +
			"Wants: classes predicts a label of two classes (coco), number predicts a number (ridge), statistics counts and averages by\n" +
			"cell (aggregate), choice learns which of a few actions costs least (arms). The other operators are set up by hand: README.md.\n\n" +
			"The first events are shown as Oriel reads them: contents of your records, for whoever may read these; --first 0 leaves them out.\n" +
			"Settings of the connection (ORIEL_BROKERS, ORIEL_TLS…, ORIEL_SASL…) are taken from the environment.",
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return initialise(cmd, o) },
	}
	o.flags(cmd)
	f := cmd.Flags()
	f.StringVar(&o.brokers, "brokers", "", "Kafka brokers to start from, host:port,…")
	f.StringVar(&o.want, "want", "", "classes, number, statistics or choice")
	f.StringVar(&o.name, "name", "", "of the deployment; TOPIC-oriel if not given")
	f.StringVar(&o.folder, "out", "", "folder to make; the deployment's name if not given")
	f.StringVar(&o.ranges, "ranges", "", "public ranges of numbers, `NAME:LOW:HIGH,…`; proposed: those of the sample are public")
	f.StringVar(&o.value, "value", "", "number of statistics or cost of an action, with its public range, `NAME:LOW:HIGH`; none: counts alone")
	f.StringVar(&o.cells, "cells", "", "public cells of statistics, as ORIEL_CELLS has them; none: one cell")
	f.StringVar(&o.arms, "arms", "", "actions to choose from, `NAME,NAME,…`")
	f.StringVar(&o.memory, "memory", "", "how long ago is worth learning from: events, or a time such as 30d")
	f.Float64Var(&o.rate, "rate", 0, "events a second; what the topic's times show, if not given")
	f.StringVar(&o.epsilon, "epsilon", "", "ε, or of statistics the error that is wanted at 95 %, `±2`")
	f.StringVar(&o.start, "start", "earliest", "where the deployment begins to read: earliest or latest")
	f.BoolVar(&o.yes, "yes", false, "take proposals where standard input is no terminal")
	f.BoolVar(&o.ask, "ask", false, "ask, though standard input is no terminal")
	_ = f.MarkHidden("ask")
	cmd.MarkFlagsMutuallyExclusive("yes", "ask")
	cmd.Flag("sample").Usage += "; it is looked at in place of the topic's records"
	return cmd
}

// initialising is a run of `oriel init`.
type initialising struct {
	initOptions
	asker    *setup.Asker
	out      io.Writer
	notes    io.Writer
	environ  []string // settings of the connection
	look     *look
	proposal setup.Proposal
	answers  setup.Answers
}

func initialise(cmd *cobra.Command, o initOptions) error {
	if o.start != "earliest" && o.start != "latest" {
		return exit.WrongUse("--start: %q is neither earliest nor latest", o.start)
	}
	in := cmd.InOrStdin()
	file, isFile := in.(*os.File)
	i := &initialising{
		initOptions: o, out: cmd.OutOrStdout(), notes: cmd.ErrOrStderr(),
		asker: &setup.Asker{
			In: bufio.NewReader(in), Out: cmd.ErrOrStderr(), Takes: o.yes,
			Asks: o.ask || !o.yes && isFile && term.IsTerminal(int(file.Fd())),
		},
	}
	for _, step := range []func(*cobra.Command) error{i.find, i.sample, i.choose, i.tune, i.write} {
		err := step(cmd)
		if missing := i.asker.Missing(); err == nil && missing != nil {
			err = exit.WrongUse("%w", missing)
		}
		if err != nil {
			_ = os.Remove(i.folder) // stays where it holds a file
			return err
		}
	}
	return nil
}

// answered makes an error of an answer one of the call.
func answered(answer string, err error) (string, error) {
	if err != nil {
		return "", exit.WrongUse("%w", err)
	}
	return answer, nil
}

func (i *initialising) ask(q setup.Question) (string, error) { return answered(i.asker.Ask(q)) }

// find learns where the topic is, and checks that the folder is free.
func (i *initialising) find(*cobra.Command) (err error) {
	brokers := ""
	for _, line := range os.Environ() {
		name, value, _ := strings.Cut(line, "=")
		switch {
		case name == "ORIEL_BROKERS":
			brokers = value
		case strings.HasPrefix(name, "ORIEL_TLS"), strings.HasPrefix(name, "ORIEL_SASL_"),
			strings.HasPrefix(name, "ORIEL_SCHEMA_REGISTRY_"):
			i.environ = append(i.environ, line)
		}
	}
	if i.brokers != "" {
		brokers = i.brokers
	}
	brokers, err = i.ask(setup.Question{
		Flag: "brokers", Given: brokers, Text: "Which Kafka brokers?", Proposal: "localhost:9092",
	})
	if err != nil {
		return err
	}
	i.topic, err = i.ask(setup.Question{Flag: "topic", Given: i.topic, Text: "Which topic has the events?"})
	if err != nil || i.topic == "" {
		return err
	}
	i.environ = append([]string{"ORIEL_BROKERS=" + brokers}, i.environ...)
	if i.name == "" {
		i.name = i.topic + "-oriel"
	}
	if i.folder == "" {
		i.folder = i.name
	}
	if i.folder, err = filepath.Abs(i.folder); err != nil {
		return err
	}
	for _, name := range []string{envName, mapName, keyName} {
		if _, err := os.Lstat(i.at(name)); err == nil {
			return exit.WrongUse("%s exists, and nothing is overwritten; move it, or take another --out", i.at(name))
		}
	}
	return nil
}
