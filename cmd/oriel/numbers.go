package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"oriel/cmd/internal/exit"
	"oriel/cmd/internal/numbers"
	"oriel/cmd/internal/program"
	"oriel/cmd/internal/settings"
	"oriel/cmd/internal/traps"
	"oriel/operators"
	"oriel/pipeline/kafka"
	"oriel/pipeline/kafka/fetch"
	"oriel/pipeline/kafka/topics"
	"oriel/schemas/decision"
)

type numbersOptions struct {
	topic, descriptor, input, names, from, to, timezone, format, output string
	every, last                                                         time.Duration
	by, statistics                                                      []string
	total, effects                                                      bool
}

func numbersCommand() *cobra.Command {
	var o numbersOptions
	cmd := &cobra.Command{
		Use:   "numbers --every 1h {--topic TOPIC | --input FILE}",
		Short: "Show the numbers of aggregate by the hour or day",
		Long: "Numbers adds the increments of decisions up by intervals of the clock and prints each statistic of each cell with its\n" +
			"interval at 95 %, of privacy noise alone. A decision is in the interval of its `time`. It needs ORIEL_INCREMENTS=true,\n" +
			"or a mechanism that releases each step alone, and no other settings: the descriptor topic gives the meaning of numbers.\n" +
			"--input reads lines of JSON, as `oriel tail --raw` prints them, without a broker, with the descriptor in --names or\n" +
			"the deployment's settings. A ratio whose count is at most 12 deviations of noise has no value: \"" + numbers.Few + "\".\n\n" +
			"    oriel numbers --topic delays.decisions --every 1h --last 24h --by carrier --total\n\n" +
			"--effects is of an experiment (ORIEL_ALWAYS_VALID). It adds nothing up: effects, their bands and the verdict are read as they\n" +
			"stand at the end of each interval, and are of the whole experiment so far. Each stream has its own.\n\n" +
			"    oriel numbers --topic ontime.decisions --every 24h --effects",
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return runNumbers(cmd, o) },
	}
	f := cmd.Flags()
	f.StringVar(&o.topic, "topic", "", "decision topic")
	f.StringVar(&o.descriptor, "descriptor", "", "descriptor topic; without this flag NAME.descriptor, where NAME.decisions is the decision topic")
	f.StringVar(&o.input, "input", "", "file of decisions, one line of JSON each; - means standard input")
	f.StringVar(&o.names, "names", "", "file with the descriptor of the decisions in --input; without this flag the environment's settings")
	program.Var(f, &o.every, "every", time.Hour, "length of an interval; 0 means one interval for all decisions")
	program.Var(f, &o.last, "last", 0, "show only this much time, up to the end of the newest decision's interval")
	f.StringVar(&o.from, "from", "", "show intervals from this time on, 2006-01-02T15:04:05Z or 2006-01-02")
	f.StringVar(&o.to, "to", "", "intervals up to this time")
	f.StringVar(&o.timezone, "timezone", "Z", "offset of the clock that intervals begin by, such as +02:00")
	f.StringSliceVar(&o.by, "by", nil, "dimensions of cells to show; numbers are summed over the other dimensions. Without this flag each cell is shown; `none` sums over all cells")
	f.BoolVar(&o.total, "total", false, "add a row for all cells together")
	f.StringSliceVar(&o.statistics, "statistic", nil, "statistics to show; without this flag the statistics of decisions are shown")
	f.BoolVar(&o.effects, "effects", false, "for an experiment: show effects and verdict at the end of each interval, from its newest decision")
	f.StringVar(&o.format, "format", "table", strings.Join(numbers.Formats, ", "))
	f.StringVarP(&o.output, "output", "o", "", "file to write; without this flag standard output")
	cmd.MarkFlagsOneRequired("topic", "input")
	cmd.MarkFlagsMutuallyExclusive("topic", "input")
	exclude(cmd, "last", "from", "to")
	return cmd
}

// query parses the flags that choose the rows.
func (o numbersOptions) query() (q numbers.Query, clock numbers.Clock, err error) {
	zone, err := time.Parse("Z07:00", o.timezone)
	if err != nil {
		return q, clock, exit.WrongUse("--timezone %q: not an offset such as +02:00, or Z", o.timezone)
	}
	_, offset := zone.Zone()
	clock = numbers.Clock{Every: o.every, Offset: time.Duration(offset) * time.Second}
	if !slices.Contains(numbers.Formats, o.format) {
		return q, clock, exit.WrongUse("--format %q: not one of %s", o.format, strings.Join(numbers.Formats, ", "))
	}
	if err := o.checkEffects(); err != nil {
		return q, clock, err
	}
	if o.every < 0 || o.last < 0 {
		return q, clock, exit.WrongUse("--every, --last: negative")
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
	return q, clock, err
}

func runNumbers(cmd *cobra.Command, o numbersOptions) error {
	q, clock, err := o.query()
	if err != nil {
		return err
	}
	var write func(io.Writer) error
	take := func(descriptor []byte, readAll func(collector) error) error {
		read := func(c collector) error {
			if err := readAll(c); err != nil {
				return err
			}
			warnOfMixed(cmd.ErrOrStderr(), c.Mixed(), o.every, o.effects)
			traps.Warn(cmd.ErrOrStderr(), c.Odd(q.Last))
			return nil
		}
		if o.effects {
			write, err = o.effectsOf(descriptor, clock, q, read)
			return err
		}
		names, err := numbers.ParseNames(descriptor)
		if err != nil {
			return err
		}
		c, err := numbers.NewCollector(names, clock)
		if err != nil {
			return err
		}
		if err := read(c); err != nil {
			return err
		}
		rows, err := c.Rows(q)
		write = func(w io.Writer) error { return numbers.Write(w, o.format, names.Dimensions(), rows) }
		return err
	}
	if o.input != "" {
		err = o.fromFile(cmd, take)
	} else {
		err = host(cmd).WithClient(func(client *kafka.Client) error {
			descriptor, err := o.published(cmd.Context(), client)
			if err != nil {
				return err
			}
			return take(descriptor, func(c collector) error {
				return fromTopic(cmd.Context(), client, o.topic, c, cmd.ErrOrStderr())
			})
		})
	}
	if err != nil {
		return err
	}
	if o.output == "" {
		return write(cmd.OutOrStdout())
	}
	f, err := os.Create(o.output)
	if err != nil {
		return err
	}
	return errors.Join(write(f), f.Close())
}

// fromFile reads decisions from a file, with a descriptor from another file or from the settings.
func (o numbersOptions) fromFile(cmd *cobra.Command, take func([]byte, func(collector) error) error) error {
	descriptor, err := o.described(program.Environ(cmd.Context()))
	if err != nil {
		return err
	}
	in := cmd.InOrStdin()
	if o.input != "-" {
		f, err := os.Open(o.input)
		if err != nil {
			return err
		}
		defer func() { _ = f.Close() }()
		in = f
	}
	return take(descriptor, func(c collector) error { return addLines(c, o.input, in) })
}

func addLines(c collector, name string, in io.Reader) error {
	if err := c.AddLines(in); err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	return nil
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
func (o numbersOptions) published(ctx context.Context, client *kafka.Client) (newest []byte, err error) {
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
	err = readTopic(ctx, client, name, func(value []byte, _ int64) error {
		newest = bytes.Clone(value)
		return nil
	})
	if err == nil && newest == nil {
		err = fmt.Errorf("topic %q holds no descriptor: `oriel topics` publishes it", name)
	}
	return newest, err
}

// fromTopic reads the committed decisions of a topic. A decision without a time gets the timestamp of its record, which
// is the time of the commit.
func fromTopic(ctx context.Context, client *kafka.Client, name string, c collector, problems io.Writer) error {
	warned := false
	return readTopic(ctx, client, name, func(value []byte, timestamp int64) error {
		d, err := decision.Parse(value)
		if err != nil {
			return err
		}
		at := d.Time()
		if at == decision.NoTime {
			if at = timestamp; at < 0 {
				return errors.New("a decision without a time, in a record without a timestamp")
			}
			if !warned {
				warned = true
				_, _ = fmt.Fprintln(problems, "some decisions have no time, because no record of their steps has a timestamp: they count when they were published")
			}
		}
		return c.Add(d, at)
	})
}

// readTopic reads all committed records of a topic, one partition after another.
func readTopic(
	ctx context.Context, client *kafka.Client, name string, take func(value []byte, timestamp int64) error,
) error {
	topic, err := topics.Find(ctx, client, name)
	if err != nil {
		return err
	}
	for p := range int32(topic.Partitions) {
		bounds, err := topics.BoundsOf(ctx, client, name, p)
		if err != nil {
			return err
		}
		for r, err := range fetch.Records(ctx, client, topic, p, bounds.Start, bounds.Stable, false) {
			if err == nil {
				err = take(r.Value, r.Timestamp)
			}
			if err != nil {
				return fmt.Errorf("%s, partition %d, offset %d: %w", name, p, r.Offset, err)
			}
		}
	}
	return nil
}
