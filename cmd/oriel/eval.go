package main

import (
	"errors"
	"fmt"
	"slices"
	"strconv"

	"github.com/spf13/cobra"

	"oriel/cmd/internal/eval"
	"oriel/cmd/internal/eval/experiment"
	"oriel/cmd/internal/eval/numbers"
	"oriel/cmd/internal/eval/race"
	"oriel/cmd/internal/exit"
	"oriel/cmd/internal/figure"
	"oriel/cmd/internal/program"
	"oriel/cmd/internal/settings"
	"oriel/cmd/internal/traps"
	"oriel/operators"
	"oriel/pipeline/kafka"
	"oriel/schemas/text"
)

type evalOptions struct {
	ndjson     string
	topic      string
	separator  string
	partitions int
	table      tableOptions

	epsilons []float64
	windows  []uint64
	memories []uint64
	seeds    int
	delay    string
	json     bool
	plot     string
}

func evalCommand() *cobra.Command {
	var o evalOptions
	cmd := &cobra.Command{
		Use:   "eval (--ndjson FILE | --csv FILE … | --topic TOPIC) [--epsilon LIST] [--window LIST] [--memory LIST] [--seeds N] [--delay N] [--plot FILE.svg|FILE.png]",
		Short: "See how well settings do on events that you have",
		Long: "Eval runs the configured operator over events as the service would, and scores each event with the decision that was public\n" +
			"before it: loss, for labels of two classes AUC, accuracy and calibration, of portfolios the logarithm of wealth; along the\n" +
			"streams, too. Beside it stand the same learner without noise and the running base rate, or where nothing is predicted the first\n" +
			"decision, both computed without privacy. With --epsilon, --window and --memory, lists\n" +
			"separated by commas, it compares all of them in one pass. Decoding, null events, batches, users and noise are the same as in `oriel run`.\n\n" +
			"It needs the settings of `oriel run` about learning and privacy, and brokers for --topic only: of a topic it reads all records there\n" +
			"when it starts. Files map to events as `oriel produce` maps them, are read twice, and make one stream, or --partitions of them.\n" +
			"Seeds are numbered: the same call gives the same figures. Memory does not grow with the file.\n\n" +
			"Of an operator that publishes numbers (aggregate) it shows the private numbers with their intervals beside the truth, which it\n" +
			"computes from the same events: errors, how many truths are in their intervals, cells, and a plot with bands. Of an experiment\n" +
			"(ORIEL_ALWAYS_VALID) it shows effects with their bands, after how many events an arm was found better, and beside them the\n" +
			"same without privacy and the result of peeking at ordinary intervals.\n\n" +
			"For the data's owner only. " + eval.Warning + "\n\n" +
			"CSV example: --csv flights.csv --where 'arr_delay!=NA' --label 'arr_delay>15' --feature origin --feature hour:number \\\n" +
			"             --epsilon 1,4 --window 1024 --memory 65536 --seeds 3 --plot flights.svg\n" +
			"of aggregate: --csv flights.csv --member carrier=carrier --member delay=arr_delay",
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return runEval(cmd, o) },
	}
	f := cmd.Flags()
	f.StringVar(&o.ndjson, "ndjson", "", "file of event lines")
	f.StringVar(&o.topic, "topic", "", "topic of events; each partition is a stream, or with ORIEL_STREAM=topic all are one, in the order of the records' times")
	f.StringVar(&o.separator, "key-separator", "", "of --ndjson: each line is a user id or key, this text, and an event, as oriel replay has it")
	program.Var(f, &o.partitions, "partitions", 1, "streams of a file: events go where oriel produce would put them in a topic of this many partitions")
	program.Var(f, &o.epsilons, "epsilon", nil, "compare this `LIST` of ε in place of ORIEL_EPSILON")
	f.Var(&windowList{&o.windows}, "window", "compare this `LIST` of windows, in steps, in place of ORIEL_WINDOW")
	f.Var(&windowList{&o.memories}, "memory", "compare this `LIST` of memories, in steps of ORIEL_MEMORY with ORIEL_WINDOW=lifetime, beside the windows of --window")
	program.Var(f, &o.seeds, "seeds", 1, "number of runs of each setting, each with its own noise; the mean and the worst run are shown")
	f.StringVar(&o.delay, "delay", "0", "delay until a label is known and its event is learned from: a number of later events of the stream, or for a topic a duration by the records' times")
	f.BoolVar(&o.json, "json", false, "print JSON")
	f.StringVar(&o.plot, "plot", "", "draw the comparison to a file, .svg or .png")
	o.table.flags(f)
	cmd.MarkFlagsOneRequired("ndjson", "csv", "topic")
	cmd.MarkFlagsMutuallyExclusive("ndjson", "csv", "topic")
	cmd.MarkFlagsMutuallyExclusive("partitions", "topic")
	cmd.MarkFlagsMutuallyExclusive("key-separator", "csv", "topic")
	exclude(cmd, "ndjson", append(mappingFlags, "map", "delimiter", "missing")...)
	exclude(cmd, "topic", append(mappingFlags, "map", "delimiter", "missing")...)
	exclude(cmd, "map", mappingFlags...)
	return cmd
}

func runEval(cmd *cobra.Command, o evalOptions) error {
	if o.plot != "" {
		if err := figure.CheckFile(o.plot); err != nil {
			return exit.WrongUse("--plot: %w", err)
		}
	}
	if o.seeds < 1 {
		return exit.WrongUse("--seeds: below 1")
	}
	if o.partitions < 1 {
		return exit.WrongUse("--partitions: below 1")
	}
	delay, err := o.parseDelay()
	if err != nil {
		return err
	}
	rows, err := o.rows(program.Environ(cmd.Context()))
	if err != nil {
		return err
	}
	in := eval.Input{Settings: rows, Seeds: o.seeds}
	if o.topic != "" {
		return host(cmd).WithClient(func(client *kafka.Client) error {
			source, err := newTopicEvents(cmd.Context(), client, o.topic)
			if err != nil {
				return err
			}
			if rows[0].Deployment().WholeTopic() {
				return o.show(cmd, in, mergedEvents{source}, delay)
			}
			return o.show(cmd, in, source, delay)
		})
	}
	source, err := newFileEvents(cmd, o, rows[0])
	if err != nil {
		return err
	}
	err = o.show(cmd, in, source, delay)
	if _, none := errors.AsType[*eval.NoEventError](err); none && o.ndjson != "" && o.separator == "" {
		return withForm(o.ndjson, err)
	}
	return err
}

// show runs the evaluation, draws the plot and prints the report.
func (o evalOptions) show(cmd *cobra.Command, in eval.Input, source eval.Source, delay race.Delay) error {
	total := int64(0)
	for _, n := range source.Totals() {
		total += n
	}
	traps.Warn(cmd.ErrOrStderr(), settingsWarnings(in.Settings))
	events := in.Settings[0].EventConfig() // all settings decode events in the same way
	bar := program.NewBar(cmd.ErrOrStderr(), total, "eval", false)
	seen := watched{source, traps.WatchOf(events), func(events int) { _ = bar.Add(events) }}
	defer func() { traps.Warn(cmd.ErrOrStderr(), seen.watch.Warnings()) }()
	report, err := o.report(cmd, in, seen, delay)
	_ = bar.Finish()
	if err != nil {
		return err
	}
	if o.plot != "" {
		if err := report.Slide().Save(o.plot); err != nil {
			return fmt.Errorf("--plot: %w", err)
		}
	}
	return printAnswer(cmd.OutOrStdout(), o.json, report)
}

// report scores decisions on the events that follow them. For an operator of published numbers, it compares these
// numbers with the true ones.
func (o evalOptions) report(cmd *cobra.Command, in eval.Input, source eval.Source, delay race.Delay) (printed, error) {
	learner := in.Settings[0].Learner()
	operator := learner.Operator()
	switch {
	case operators.NumbersOf(operator) == nil:
		report, err := race.New(cmd.Context(), in, source, race.Options{Delay: delay})
		if err != nil {
			return nil, err
		}
		if odd := report.Odd(); odd != "" {
			traps.Warn(cmd.ErrOrStderr(), []string{odd})
		}
		return report, nil
	case delay != (race.Delay{}):
		return nil, exit.WrongUse("--delay: %s waits for no label", in.Settings[0].Operator)
	case operators.ExperimentOf(operator) != nil:
		return experiment.New(cmd.Context(), in, source)
	}
	return numbers.New(cmd.Context(), in, source)
}

// rows returns the settings of each combination of ε, window and memory: the environment, with the listed values in
// place of the environment's.
func (o evalOptions) rows(environ []string) (all []settings.Settings, err error) {
	var lengths [][]string
	for _, w := range o.windows {
		lengths = append(lengths, []string{fmt.Sprintf("ORIEL_WINDOW=%d", w), "ORIEL_MEMORY=0", "ORIEL_USER_WINDOW=0"})
	}
	for _, h := range o.memories {
		lengths = append(lengths, []string{"ORIEL_WINDOW=lifetime", fmt.Sprintf("ORIEL_MEMORY=%d", h)})
	}
	for _, each := range combinations(environ, lengths, epsilonLines(o.epsilons)) {
		s, err := settings.Load(each, settings.Events, settings.Operator)
		if err != nil {
			return nil, err
		}
		if o.topic == "" {
			s = s.Lines()
		}
		all = append(all, s)
	}
	return all, nil
}

// combinations returns the environment with each combination of two lists, of which each entry sets some variables. An
// empty list leaves the environment's values.
func combinations(environ []string, outer, inner [][]string) (all [][]string) {
	for i := range max(1, len(outer)) {
		with := environ
		if len(outer) > 0 {
			with = slices.Concat(environ, outer[i])
		}
		for _, more := range inner {
			all = append(all, slices.Concat(with, more))
		}
		if len(inner) == 0 {
			all = append(all, with)
		}
	}
	return all
}

// epsilonLines returns a setting of each ε.
func epsilonLines(epsilons []float64) (lines [][]string) {
	for _, e := range epsilons {
		lines = append(lines, []string{"ORIEL_EPSILON=" + strconv.FormatFloat(e, 'g', -1, 64)})
	}
	return lines
}

func (o evalOptions) parseDelay() (race.Delay, error) {
	if n, err := text.ParseInt(o.delay); err == nil {
		return race.Delay{Events: n}, nil
	}
	d, err := settings.ParseDuration(o.delay)
	switch {
	case err != nil:
		return race.Delay{}, exit.WrongUse("--delay: neither a number of events nor a length of time such as 30m or 2d")
	case o.topic == "":
		return race.Delay{}, exit.WrongUse("--delay: events of a file have no times; give a number of events")
	}
	return race.Delay{Time: d}, nil
}
