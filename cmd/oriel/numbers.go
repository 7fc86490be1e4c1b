package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"oriel/cmd/internal/digits"
	"oriel/cmd/internal/exit"
	"oriel/cmd/internal/numbers"
	"oriel/cmd/internal/numbers/clock"
	"oriel/cmd/internal/program"
	"oriel/cmd/internal/service"
	"oriel/cmd/internal/settings"
	"oriel/cmd/internal/traps"
	"oriel/operators"
	"oriel/pipeline/kafka"
)

type numbersOptions struct {
	topic, descriptor, input, names, from, to, timezone, format, output string
	every, last                                                         time.Duration
	by, statistics                                                      []string
	total, effects                                                      bool
	seen                                                                uint64
}

func numbersCommand() *cobra.Command {
	var o numbersOptions
	cmd := &cobra.Command{
		Use:   "numbers --every 1h {--topic TOPIC | --input FILE}",
		Short: "Show the numbers of aggregate and names by the hour or day",
		Long: "Numbers adds the increments of decisions up by intervals of the clock and prints each statistic of each cell with its\n" +
			"interval at 95 %, of privacy noise alone. A decision is in the interval of its `time` or, with ORIEL_STEP, in the one in\n" +
			"which its step lies. It needs ORIEL_INCREMENTS=true, or a mechanism that releases each step alone, and no other settings:\n" +
			"the descriptor topic gives the meaning of numbers.\n" +
			"--input reads lines of JSON, as `oriel tail --raw` prints them, without a broker, with the descriptor in --names or\n" +
			"the deployment's settings. A ratio whose count is at most 12 deviations of noise has no value: \"" + numbers.Few + "\".\n\n" +
			"    oriel numbers --topic delays.decisions --every 1h --last 24h --by carrier --total\n\n" +
			"--effects is of an experiment (ORIEL_ALWAYS_VALID). It adds nothing up: effects, their bands and the verdict are read as they\n" +
			"stand at the end of each interval, and are of the whole experiment so far. Each stream has its own.\n\n" +
			"    oriel numbers --topic ontime.decisions --every 24h --effects\n\n" +
			"Counts of names (ORIEL_OPERATOR=names) are added up over steps. A step that does not publish a name hides a small count of\n" +
			"it, which the interval allows for. --seen prints the names that were published often, for ORIEL_CELLS.\n\n" +
			"    oriel numbers --topic searches.decisions --every 168h --seen 3",
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return runNumbers(cmd, o) },
	}
	f := cmd.Flags()
	f.StringVar(&o.topic, "topic", "", "decision topic")
	f.StringVar(&o.descriptor, "descriptor", "", "descriptor topic; without this flag NAME.descriptor, where NAME.decisions is the decision topic")
	f.StringVar(&o.input, "input", "", "file of decisions, one line of JSON each; - means standard input")
	f.StringVar(&o.names, "names", "", "file with the descriptor of the decisions in --input; without this flag the environment's settings")
	program.Var(f, &o.every, "every", time.Hour, "length of an interval; 0 means one interval for all decisions; whole weeks begin on Monday")
	program.Var(f, &o.last, "last", 0, "show only this much time, up to the end of the newest decision's interval")
	f.StringVar(&o.from, "from", "", "show intervals from this time on, 2006-01-02T15:04:05Z or 2006-01-02")
	f.StringVar(&o.to, "to", "", "intervals up to this time")
	f.StringVar(&o.timezone, "timezone", "Z", "offset of the clock that intervals begin by, such as +02:00")
	f.StringSliceVar(&o.by, "by", nil, "dimensions of cells to show; numbers are summed over the other dimensions. Without this flag each cell is shown; `none` sums over all cells")
	f.BoolVar(&o.total, "total", false, "add a row for all cells together")
	f.StringSliceVar(&o.statistics, "statistic", nil, "statistics to show; without this flag the statistics of decisions are shown")
	f.BoolVar(&o.effects, "effects", false, "for an experiment: show effects and verdict at the end of each interval, from its newest decision")
	program.Var(f, &o.seen, "seen", 0, "for names: print the names that at least this many steps have published, as a value of ORIEL_CELLS")
	f.StringVar(&o.format, "format", "table", strings.Join(numbers.Formats, ", "))
	f.StringVarP(&o.output, "output", "o", "", "file to write; without this flag standard output")
	cmd.MarkFlagsOneRequired("topic", "input")
	cmd.MarkFlagsMutuallyExclusive("topic", "input")
	exclude(cmd, "last", "from", "to")
	return cmd
}

// query parses the flags that choose the rows.
func (o numbersOptions) query() (q numbers.Query, by clock.Clock, err error) {
	zone, err := time.Parse("Z07:00", o.timezone)
	if err != nil {
		return q, by, exit.WrongUse("--timezone %q: not an offset such as +02:00, or Z", o.timezone)
	}
	_, offset := zone.Zone()
	by = clock.Clock{Every: o.every, Offset: time.Duration(offset) * time.Second}
	if !slices.Contains(numbers.Formats, o.format) {
		return q, by, exit.WrongUse("--format %q: not one of %s", o.format, strings.Join(numbers.Formats, ", "))
	}
	if err := o.checkEffects(); err != nil {
		return q, by, err
	}
	if o.every < 0 || o.last < 0 {
		return q, by, exit.WrongUse("--every, --last: negative")
	}
	at := func(flag, text string) (t time.Time) {
		for _, layout := range []string{time.RFC3339, time.DateOnly} {
			if t, parsed := time.ParseInLocation(layout, text, zone.Location()); parsed == nil {
				return t
			}
		}
		if text != "" {
			err = exit.WrongUse("--%s %q: not a time such as 2006-01-02T15:04:05Z, or a day", flag, text)
		}
		return t
	}
	q = numbers.Query{
		By: o.by, Total: o.total, Statistics: o.statistics, Last: o.last, From: at("from", o.from), To: at("to", o.to),
	}
	if slices.Equal(q.By, []string{"none"}) {
		q.By = []string{}
	}
	return q, by, err
}

func runNumbers(cmd *cobra.Command, o numbersOptions) error {
	q, by, err := o.query()
	if err != nil {
		return err
	}
	var c numbers.Collection
	if o.input != "" {
		c, err = o.fromFile(cmd, by)
	} else {
		err = host(cmd).WithClient(func(client *kafka.Client) error {
			descriptor, err := o.published(cmd.Context(), client)
			if err != nil {
				return err
			}
			if c, err = o.collection(descriptor, by); err != nil {
				return err
			}
			return numbers.AddTopic(cmd.Context(), client, o.topic, c, cmd.ErrOrStderr())
		})
	}
	if err != nil {
		return err
	}
	warnOfMixed(cmd.ErrOrStderr(), c.Mixed(), o.every, o.effects)
	traps.Warn(cmd.ErrOrStderr(), c.Odd(q.Last))
	var out bytes.Buffer
	if err := o.write(&out, cmd.ErrOrStderr(), c, q); err != nil {
		return err
	}
	if o.output != "" {
		return os.WriteFile(o.output, out.Bytes(), 0o666)
	}
	_, err = cmd.OutOrStdout().Write(out.Bytes())
	return err
}

// write writes the rows or, with --seen, the names.
func (o numbersOptions) write(out, problems io.Writer, c numbers.Collection, q numbers.Query) error {
	listed, is := c.(*numbers.Listed)
	switch {
	case o.seen == 0:
		return c.Write(out, o.format, q)
	case !is:
		return exit.WrongUse("--seen: the decisions are not of the operator names")
	}
	cells, left := listed.Cells(o.seen)
	if left > 0 {
		_, _ = fmt.Fprintf(problems, "%d names are left out: ORIEL_CELLS has no name with a comma, a bar, or white space at its ends\n", left)
	}
	_, err := fmt.Fprintln(out, cells)
	return err
}

// collection returns an empty collection for the decisions that a descriptor describes.
func (o numbersOptions) collection(descriptor []byte, by clock.Clock) (numbers.Collection, error) {
	if listed, is := numbers.NewListed(descriptor, by); is && !o.effects {
		return listed, nil
	}
	if o.effects {
		return numbers.NewEffects(descriptor, by)
	}
	names, err := numbers.ParseNames(descriptor)
	if err != nil {
		return nil, err
	}
	return numbers.NewCollector(names, by)
}

// fromFile reads decisions from a file, with a descriptor from another file or from the settings.
func (o numbersOptions) fromFile(cmd *cobra.Command, by clock.Clock) (numbers.Collection, error) {
	descriptor, err := o.described(program.Environ(cmd.Context()))
	if err != nil {
		return nil, err
	}
	c, err := o.collection(descriptor, by)
	if err != nil {
		return nil, err
	}
	in := cmd.InOrStdin()
	if o.input != "-" {
		f, err := os.Open(o.input)
		if err != nil {
			return nil, err
		}
		defer func() { _ = f.Close() }()
		in = f
	}
	if err := numbers.AddLines(c, in); err != nil {
		return nil, fmt.Errorf("%s: %w", o.input, err)
	}
	return c, nil
}

// described returns the descriptor in --names, or the settings' descriptor.
func (o numbersOptions) described(environ []string) ([]byte, error) {
	if o.names != "" {
		return os.ReadFile(o.names)
	}
	s, err := settings.Load(environ, settings.Events, settings.Operator)
	if err != nil {
		return nil, fmt.Errorf("--names: missing; without the descriptor, numbers have their meaning from the deployment's settings, and these are wrong: %w", err)
	}
	learner := s.Learner()
	return operators.DescriptorOf(learner.Operator()), nil
}

// published returns the newest descriptor in the descriptor topic, or the one in --names.
func (o numbersOptions) published(ctx context.Context, client *kafka.Client) ([]byte, error) {
	if o.names != "" {
		return os.ReadFile(o.names)
	}
	name := o.descriptor
	if name == "" {
		own, ok := strings.CutSuffix(o.topic, ".decisions")
		if !ok {
			return nil, exit.WrongUse("--descriptor: missing: %q does not end with .decisions", o.topic)
		}
		name = own + ".descriptor"
	}
	return numbers.Descriptor(ctx, client, name)
}

// ofExperiments lists members of decisions that cannot be added over partitions or time.
var ofExperiments = []string{"effect", "lift", "verdict", "effect_e", "effect_p"}

// checkEffects refuses flags that confidence sequences do not allow, for example sums of effects.
func (o numbersOptions) checkEffects() error {
	switch {
	case !o.effects:
		if slices.ContainsFunc(o.statistics, func(s string) bool { return slices.Contains(ofExperiments, s) }) {
			return exit.WrongUse("--statistic: effects, lifts and verdicts of an experiment are not added up; --effects shows them as they stand")
		}
		return nil
	case o.by != nil || o.total:
		return exit.WrongUse("--effects: without --by and --total: an effect is of all events of an arm, and effects are not added up")
	case o.statistics != nil:
		return exit.WrongUse("--effects: without --statistic: decisions of an experiment already name their statistic")
	case !slices.Contains(numbers.EffectFormats, o.format):
		return exit.WrongUse("--format %q: with --effects it must be one of %s", o.format,
			strings.Join(numbers.EffectFormats, ", "))
	}
	return nil
}

// warnOfMixed warns if the times of decisions go back so far that intervals contain events of others. The bands of
// effects stay right, because each is of the whole experiment until a step.
func warnOfMixed(problems io.Writer, back, every time.Duration, effects bool) {
	if back == 0 {
		return
	}
	what := "intervals"
	if name := map[time.Duration]string{time.Hour: "hours", 24 * time.Hour: "days"}[every]; name != "" {
		what = name
	}
	so := "the intervals of their numbers cover less than 95 %"
	if effects {
		so = "an effect may count events of later ones already; its band holds"
	}
	_, _ = fmt.Fprintf(problems, "warning: times go back by up to %s: %s are mixed, and %s; deploy/NUMBERS.md, Numbers by the hour\n",
		digits.Duration(back.Seconds()), what, so)
}

func experimentCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "experiment",
		Short: "Give a running deployment its next experiment",
		Args:  cobra.NoArgs,
		RunE:  func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(nextExperimentCommand())
	return cmd
}

func nextExperimentCommand() *cobra.Command {
	var step uint64
	cmd := &cobra.Command{
		Use:   "next",
		Short: "End the present experiment at a later step, and start the next one there",
		Long: "Next ends the present experiment of each stream at a step to come, and starts the next one with it: from nothing, with the same\n" +
			"arms, outcome and settings, and an error probability of its own. The stream, its key and its privacy stay. Decisions say of\n" +
			"which experiment they are, and numbers of earlier ones stay in the topic.\n\n" +
			"The first step is public, and recorded in the changelog. It is at least 2000 events and 20 steps after all that a process can\n" +
			"have read, so that no published decision is computed anew. A process that has the stream takes it over again within seconds.\n\n" +
			"Whoever runs this command may have chosen the moment by what decisions say, and they say something about the noise of the next\n" +
			"steps. The bands, e-values and verdict allow for every such choice, and are wider for it. The command prints by how much;\n" +
			"`oriel plan --want-effect` prints it before. The further ahead --step lies, the less it costs.\n\n" +
			"It needs the settings of `oriel topics`, and a stream that was opened with ORIEL_ALWAYS_VALID by this version or a\n" +
			"later one. If it is interrupted between several streams, run it again: it goes on with those that lack the experiment. Without\n" +
			"--step it refuses while the newest experiment has not started.",
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return service.NextExperiment(cmd.Context(), host(cmd), cmd.OutOrStdout(), step)
		},
	}
	program.Var(cmd.Flags(), &step, "step", 0, "first step of the next experiment. 0: the first possible one")
	return cmd
}
