package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/spf13/cobra"

	"oriel/cmd/internal/exit"
	"oriel/cmd/internal/program"
	"oriel/cmd/internal/replay"
	"oriel/cmd/internal/settings"
	"oriel/cmd/internal/tail"
	"oriel/pipeline/kafka"
)

type replayOptions struct {
	replay.Options

	events string
	out    string
	check  bool
	from   string
	save   string
}

func replayCommand() *cobra.Command {
	var o replayOptions
	cmd := &cobra.Command{
		Use: "replay --events FILE.ndjson [--partition P] [--out FILE] [--seed HEX]\n" +
			"  oriel replay --save FILE [--partition P]\n" +
			"  oriel replay --check --from FILE [--partition P]",
		Short: "Recompute decisions: of a file, or of a partition against the published ones",
		Long: "With --events, replay steps over a file of event lines as an incarnation of its own and writes one line a decision; with\n" +
			"--seed (64 hex digits) the same bytes come out each time. It needs the settings of\n" +
			"`oriel run` about learning and privacy, and no brokers, topics or state directory. With --out it prints a summary.\n" +
			"Lines have no timestamps, so the decisions have no member time, which decisions of a topic's records have.\n\n" +
			"With --save, it copies the partition's committed state, still sealed, to a checkpoint file. With --check, it starts from\n" +
			"such a checkpoint, recomputes all later decisions of the partition from the input topic and compares them byte for\n" +
			"byte with the decision topic.\n\n" +
			"--save and --check need the settings that `oriel topics` needs.\n\n" +
			"For the data's owner only: a person who can replay guessed events has no privacy guarantee against them.",
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			switch {
			case o.events != "" && !o.check && o.save == "" && o.from == "":
				return replayFile(cmd, o)
			case o.check && o.from != "" && o.events == "" && o.save == "":
				return replayCheck(cmd, o)
			case o.save != "" && !o.check && o.from == "" && o.events == "":
				return replaySave(cmd, o)
			}
			return exit.WrongUse("give one of --events FILE, --save FILE, or --check with --from FILE")
		},
	}
	f := cmd.Flags()
	f.StringVar(&o.events, "events", "", "file of event lines (NDJSON); - reads standard input")
	f.StringVar(&o.out, "out", "", "file for the decisions; standard output when empty")
	f.StringVar(&o.Seed, "seed", "", "secret of the incarnation, 64 hex digits; random when empty")
	program.Var(f, &o.Partition, "partition", 0, "number of the partition, which is part of the stream's identity")
	f.BoolVar(&o.check, "check", false, "compare with the decision topic")
	f.StringVar(&o.from, "from", "", "checkpoint file to start from")
	f.StringVar(&o.save, "save", "", "write the partition's sealed state to a checkpoint file")
	f.StringVar(&o.Separator, "key-separator", "", "each line is a user id, this text, and an event, as kcat -K has keys; for ORIEL_USER_ID, whether it says key or header:NAME. "+
		"An operator that reads record keys has its key there, after a user id that is a header's")
	for _, name := range []string{"out", "seed", "key-separator"} { // flags that only --events allows
		cmd.MarkFlagsMutuallyExclusive(name, "check", "save")
	}
	return cmd
}

func replayFile(cmd *cobra.Command, o replayOptions) (err error) {
	s, err := settings.Load(program.Environ(cmd.Context()), settings.Events, settings.Operator)
	if err != nil {
		return err
	}
	model := s.Lines().Model()
	switch {
	case s.ByClock():
		return exit.WrongUse("--events: ORIEL_STEP is set, and lines of a file have no times by which steps end; " +
			"--save and --check recompute the decisions of a topic")
	case o.Separator == "" && s.UserID != "":
		return exit.WrongUse("--key-separator: missing; ORIEL_USER_ID is set, and each line must say its user before the event")
	case o.Separator == "" && model.Keyed:
		return exit.WrongUse("--key-separator: missing; ORIEL_OPERATOR reads record keys, and each line must say its key before the event")
	case o.Separator != "" && s.UserID == "" && !model.Keyed:
		return exit.WrongUse("--key-separator: given, but ORIEL_USER_ID is not set")
	}
	stream, err := replay.Open(model, o.Options)
	if err != nil {
		return err
	}
	in := os.Stdin
	if o.events != "-" {
		if in, err = os.Open(o.events); err != nil {
			return err
		}
		defer func() { _ = in.Close() }()
	}
	info, err := in.Stat()
	if err != nil {
		return err
	}
	out := cmd.OutOrStdout()
	if o.out != "" {
		if existing, err := os.Stat(o.out); err == nil && os.SameFile(existing, info) {
			return exit.WrongUse("--out: the file of events")
		}
		f, err := os.Create(o.out)
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, f.Close()) }()
		out = f
	}
	total := info.Size()
	if !info.Mode().IsRegular() {
		total = -1 // a pipe has no known length
	}
	bar := program.NewBar(cmd.ErrOrStderr(), total, "replay", true)
	defer func() { _ = bar.Finish() }()
	w := bufio.NewWriterSize(out, 1<<20)
	r, err := replay.Run(cmd.Context(), w, io.TeeReader(in, bar), model, stream, s.MaxRecordBytes, o.Options)
	if err = errors.Join(err, w.Flush()); err != nil {
		return err
	}
	if r.Lines > 0 && r.Null == r.Lines {
		return fmt.Errorf("--events: none of %d lines is an event%s; is it NDJSON?", r.Lines, r.FirstNull)
	}
	if o.out == "" {
		return nil
	}
	fmt.Fprintf(cmd.OutOrStdout(), "lines: %d; null events: %d%s; decisions: %d\n",
		r.Lines, r.Null, r.FirstNull, r.Decisions)
	return nil
}

// replaySave copies a partition's committed state to a checkpoint file.
func replaySave(cmd *cobra.Command, o replayOptions) error {
	return host(cmd).SaveCheckpoint(cmd.Context(), o.Partition, o.save)
}

// replayCheck compares published decisions with recomputed ones.
func replayCheck(cmd *cobra.Command, o replayOptions) error {
	bar := program.NewBar(cmd.ErrOrStderr(), -1, "compared", false)
	h := host(cmd)
	compared, err := h.CheckDecisions(cmd.Context(), o.Partition, o.from, func(n int) { _ = bar.Set(n) })
	_ = bar.Finish()
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(cmd.OutOrStdout(), "partition %d: %d decisions compared, all equal\n", o.Partition, compared)
	return err
}

func tailCommand() *cobra.Command {
	var o tail.Options
	cmd := &cobra.Command{
		Use:   "tail --topic TOPIC",
		Short: "Show decisions as they are committed",
		Long: "Tail reads all partitions of a decision topic, or one, by committed records only, and prints a table, or each decision\n" +
			"as a line of JSON with --raw, whatever ORIEL_DECISIONS_FORMAT its deployment has. It starts with decisions published from\n" +
			"now on, unless --from-beginning or --follow=false says otherwise. It needs ORIEL_BROKERS only.",
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return host(cmd).WithClient(func(client *kafka.Client) error {
				return tail.Run(cmd.Context(), client, o, cmd.OutOrStdout(), cmd.ErrOrStderr())
			})
		},
	}
	f := cmd.Flags()
	f.StringVar(&o.Topic, "topic", "", "decision topic")
	program.Var(f, &o.Partition, "partition", -1, "partition to read; -1 reads all")
	program.VarP(f, &o.Limit, "limit", "n", 0, "stop after this many decisions; 0 never stops")
	f.BoolVar(&o.FromBeginning, "from-beginning", false, "start with the oldest decisions that the topic still has")
	f.BoolVar(&o.Follow, "follow", true, "wait for new decisions at the end of the topic; without this flag the command ends there")
	f.BoolVar(&o.Raw, "raw", false, "print each decision as a line of JSON, and a record that is not a decision unchanged")
	_ = cmd.MarkFlagRequired("topic")
	return cmd
}
