package main

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"oriel/cmd/internal/eval"
	"oriel/cmd/internal/eval/numbers"
	"oriel/cmd/internal/eval/race"
	"oriel/cmd/internal/eval/source"
	"oriel/cmd/internal/exit"
	"oriel/cmd/internal/program"
	"oriel/cmd/internal/settings"
	"oriel/cmd/internal/settings/values"
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
	table      source.Table

	epsilons []float64
	windows  []uint64
	memories []uint64
	seeds    int
	delay    string
	json     bool
}

func evalCommand() *cobra.Command {
	var o evalOptions
	cmd := &cobra.Command{
		Use:   "eval (--ndjson FILE | --csv FILE … | --topic TOPIC) [--epsilon LIST] [--window LIST] [--memory LIST] [--seeds N] [--delay N]",
		Short: "See how well settings do on events that you have",
		Long: "Eval runs the configured operator over events as the service would, and scores each event with the decision that was public\n" +
			"before it: loss, for labels of two classes AUC, accuracy and calibration, of portfolios the logarithm of wealth; along the\n" +
			"streams, too. Beside it stand the same learner without noise and the running base rate, or where nothing is predicted the first\n" +
			"decision, both computed without privacy. With --epsilon, --window and --memory, lists\n" +
			"separated by commas, it compares all of them in one pass. Decoding, null events, batches, users and noise are the same as in `oriel run`.\n\n" +
			"It needs the settings of `oriel run` about learning and privacy, and brokers for --topic only: of a topic it reads all records there\n" +
			"when it starts. Files are read twice, and make one stream, or --partitions of them.\n" +
			"Seeds are numbered: the same call gives the same figures. Memory does not grow with the file.\n\n" +
			"Of an operator that publishes numbers (aggregate) it shows the private numbers with their intervals beside the truth, which it\n" +
			"computes from the same events: errors, how many truths are in their intervals, and cells. Of an experiment\n" +
			"(ORIEL_ALWAYS_VALID) it compares these numbers, and no effect: oriel plan --want-effect says how many events an effect needs.\n\n" +
			"For the data's owner only. " + eval.Warning + "\n\n" +
			"CSV example: --csv flights.csv --where 'arr_delay!=NA' --label 'arr_delay>15' --feature origin --feature hour:number \\\n" +
			"             --epsilon 1,4 --window 1024 --memory 65536 --seeds 3\n" +
			"of aggregate: --csv flights.csv --member carrier=carrier --member delay=arr_delay",
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return runEval(cmd, o) },
	}
	f := cmd.Flags()
	f.StringVar(&o.ndjson, "ndjson", "", "file of event lines")
	f.StringVar(&o.topic, "topic", "", "topic of events; each partition is a stream, or with ORIEL_STREAM=topic all are one, in the order of the records' times")
	f.StringVar(&o.separator, "key-separator", "", "of --ndjson: each line is a user id or key, this text, and an event, as oriel replay has it")
	program.Var(f, &o.partitions, "partitions", 1, "streams of a file: an event goes to the stream that Kafka's default partitioner gives its key or --partition-by, and without these to the next")
	program.Var(f, &o.epsilons, "epsilon", nil, "compare this `LIST` of ε in place of ORIEL_EPSILON")
	f.Var(&windowList{&o.windows}, "window", "compare this `LIST` of windows, in steps, in place of ORIEL_WINDOW")
	f.Var(&windowList{&o.memories}, "memory", "compare this `LIST` of memories, in steps of ORIEL_MEMORY with ORIEL_WINDOW=lifetime, beside the windows of --window")
	program.Var(f, &o.seeds, "seeds", 1, "number of runs of each setting, each with its own noise; the mean and the worst run are shown")
	f.StringVar(&o.delay, "delay", "0", "delay until a label is known and its event is learned from: a number of later events of the stream, or for a topic a duration by the records' times")
	f.BoolVar(&o.json, "json", false, "print JSON")
	tableFlags(f, &o.table)
	cmd.MarkFlagsOneRequired("ndjson", "csv", "topic")
	cmd.MarkFlagsMutuallyExclusive("ndjson", "csv", "topic")
	cmd.MarkFlagsMutuallyExclusive("partitions", "topic")
	cmd.MarkFlagsMutuallyExclusive("key-separator", "csv", "topic")
	exclude(cmd, "ndjson", append(mappingFlags, "map", "delimiter", "missing")...)
	exclude(cmd, "topic", append(mappingFlags, "map", "delimiter", "missing")...)
	exclude(cmd, "map", mappingFlags...)
	return cmd
}

// mappingFlags lists the flags that --map replaces.
var mappingFlags = []string{"where", "label", "feature", "member", "partition-by", "key", "sort"}

// tableFlags adds the flags that map rows of a CSV file to events.
func tableFlags(f *pflag.FlagSet, o *source.Table) {
	f.StringVar(&o.File, "csv", "", "CSV file; its first line names the columns")
	f.StringVar(&o.Delimiter, "delimiter", "", "character between the cells of a row; a comma when empty")
	f.StringSliceVar(&o.Mapping.Missing, "missing", nil, "texts of cells that have no value, such as `NA`; an empty cell never has one")
	f.StringVar(&o.MapFile, "map", "", "JSON file with the mapping, in place of the flags below")
	f.StringVar(&o.Mapping.Where, "where", "", "rows to keep, as a condition: a column, one of = != > >= < <=, and a constant")
	f.StringVar(&o.Mapping.Label, "label", "", "label: a comparison, or a column of numbers")
	f.StringArrayVar(&o.Mapping.Features, "feature", nil, "feature: a column (text), or column:number; a missing value is an absent feature")
	f.StringArrayVar(&o.Mapping.Members, "member", nil, "`MEMBER=COLUMN` of an operator whose events have no features and label, such as aggregate; MEMBER=COLUMN,COLUMN,… for a dense vector")
	f.StringVar(&o.Mapping.PartitionBy, "partition-by", "", "column that decides the stream")
	f.StringVar(&o.Mapping.Key, "key", "", "column that becomes the record key")
	f.StringSliceVar(&o.Mapping.Sort, "sort", nil, "columns to sort by first; ties keep the file's order")
}

func runEval(cmd *cobra.Command, o evalOptions) error {
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
			topic, err := source.OpenTopic(cmd.Context(), client, o.topic)
			if err != nil {
				return err
			}
			if rows[0].Deployment().WholeTopic() {
				return o.show(cmd, in, source.Merged{Topic: topic}, delay)
			}
			return o.show(cmd, in, topic, delay)
		})
	}
	file, err := source.OpenFile(cmd.Context(), source.Options{
		NDJSON: o.ndjson, Separator: o.separator, Table: o.table, Partitions: o.partitions,
		Mapped: valueIn(program.Environ(cmd.Context()), "ORIEL_MAP") != "",
	}, rows[0])
	if err != nil {
		return err
	}
	err = o.show(cmd, in, file, delay)
	if _, none := errors.AsType[*eval.NoEventError](err); none && o.ndjson != "" && o.separator == "" {
		return source.WithForm(o.ndjson, err)
	}
	return err
}

// show runs the evaluation and prints the report.
func (o evalOptions) show(cmd *cobra.Command, in eval.Input, events eval.Source, delay race.Delay) error {
	total := int64(0)
	for _, n := range events.Totals() {
		total += n
	}
	traps.Warn(cmd.ErrOrStderr(), traps.Settings(in.Settings...))
	watch := traps.WatchOf(in.Settings[0].EventConfig()) // all settings decode events in the same way
	bar := program.NewBar(cmd.ErrOrStderr(), total, "eval", false)
	seen := source.Watched{Source: events, Watch: watch, Progress: func(events int) { _ = bar.Add(events) }}
	defer func() { traps.Warn(cmd.ErrOrStderr(), watch.Warnings()) }()
	report, err := o.report(cmd, in, seen, delay)
	_ = bar.Finish()
	if err != nil {
		return err
	}
	return printAnswer(cmd.OutOrStdout(), o.json, report)
}

// report scores decisions on the events that follow them. For an operator of published numbers, it compares these
// numbers with the true ones.
func (o evalOptions) report(cmd *cobra.Command, in eval.Input, events eval.Source, delay race.Delay) (printed, error) {
	learner := in.Settings[0].Learner()
	operator := learner.Operator()
	switch {
	case operators.NumbersOf(operator) == nil:
		report, err := race.New(cmd.Context(), in, events, race.Options{Delay: delay})
		if err != nil {
			return nil, err
		}
		if odd := report.Odd(); odd != "" {
			traps.Warn(cmd.ErrOrStderr(), []string{odd})
		}
		return report, nil
	case delay != (race.Delay{}):
		return nil, exit.WrongUse("--delay: %s waits for no label", in.Settings[0].Operator)
	}
	return numbers.New(cmd.Context(), in, events)
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
		if s.ByClock() {
			return nil, exit.WrongUse("eval: ORIEL_STEP is set, and without an order log no event has a time that counts; set ORIEL_BATCH in its " +
				"place to the events of a step, and ORIEL_ADJACENCY=zero-out, which has the same noise")
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
	d, err := values.Duration(o.delay)
	switch {
	case err != nil:
		return race.Delay{}, exit.WrongUse("--delay: neither a number of events nor a length of time such as 30m or 2d")
	case o.topic == "":
		return race.Delay{}, exit.WrongUse("--delay: events of a file have no times; give a number of events")
	}
	return race.Delay{Time: d}, nil
}

// windowList is a flag with a list of numbers of steps.
type windowList struct{ steps *[]uint64 }

func (l *windowList) Set(s string) error {
	for part := range strings.SplitSeq(s, ",") {
		w, err := text.ParseCount(part)
		if err != nil || w == 0 {
			return fmt.Errorf("%q is not a number of steps", part)
		}
		*l.steps = append(*l.steps, w)
	}
	return nil
}

func (l *windowList) String() string { return "" }
func (l *windowList) Type() string   { return "steps,…" }
