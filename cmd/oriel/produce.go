package main

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"time"

	"github.com/spf13/cobra"

	"oriel/cmd/internal/exit"
	"oriel/cmd/internal/program"
	"oriel/cmd/internal/replay"
	"oriel/cmd/internal/settings"
	"oriel/cmd/internal/traps"
	"oriel/pipeline/kafka"
	"oriel/pipeline/kafka/produce"
	"oriel/pipeline/kafka/topics"
	"oriel/schemas/text"
)

type produceOptions struct {
	topic     string
	ndjson    string
	partition int32
	maxBytes  int
	separator string
	dryRun    bool
	decode    bool
	raw       bool
	stdout    bool
	rate      float64
	table     tableOptions

	watch *traps.Watch
}

func produceCommand() *cobra.Command {
	var o produceOptions
	cmd := &cobra.Command{
		Use:   "produce --topic TOPIC (--ndjson FILE | --csv FILE …)\n  oriel produce (--dry-run | --stdout) (--ndjson FILE | --csv FILE …)",
		Short: "Send a file of events to a topic",
		Long: "Produce sends each line of an NDJSON file, or each row of a CSV file mapped to an event, to an existing topic. Lines go to\n" +
			"--partition, or round robin, or by their key where Kafka's default partitioner puts it if --key-separator gives them one; rows with --partition-by go where Kafka's default partitioner puts that value.\n" +
			"It needs ORIEL_BROKERS only; with --decode or --member also the settings that decode events, as `oriel features` does.\n" +
			decodesAsFirst + "\n\n" +
			"A log takes nothing back, so the whole file is read and mapped once before the first record is sent: a line that is no JSON\n" +
			"object, or with --decode no event, leaves the topic as it was. --raw sends lines unchecked. --dry-run ends there and shows the first event; --stdout prints the events as NDJSON\n" +
			"instead, for `oriel features` or `oriel replay`; neither needs brokers.\n\n" +
			"CSV example: --csv flights.csv --where 'arr_delay!=NA' --label 'arr_delay>15' --feature origin --feature hour:number\n" +
			"             --partition-by origin --sort year,month,day,sched_dep_time\n" +
			"Any member of the configured operator's events (`oriel schema events`): --member weight=seats --member relatives=a,b,c",
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return produceRecords(cmd, o) },
	}
	f := cmd.Flags()
	f.StringVar(&o.topic, "topic", "", "topic to send to")
	f.StringVar(&o.ndjson, "ndjson", "", "file of event lines")
	program.Var(f, &o.partition, "partition", -1, "partition for every record; -1 spreads records over all partitions")
	program.Var(f, &o.maxBytes, "max-bytes", 1<<20, "longest line, bytes; a longer one is refused")
	f.StringVar(&o.separator, "key-separator", "", keySeparatorHelp)
	f.BoolVar(&o.dryRun, "dry-run", false, "check the file, show the first event, and send nothing")
	f.BoolVar(&o.decode, "decode", false, "refuse a line that is no event of the configured operator; with --member such lines are always refused")
	f.BoolVar(&o.raw, "raw", false, "of --ndjson: send lines as they are; without this flag a line that is no JSON object is refused")
	f.BoolVar(&o.stdout, "stdout", false, "print the events instead of sending them")
	program.Var(f, &o.rate, "rate", 0, "send at most this many records a second; 0 sends as fast as the brokers take them")
	o.table.flags(f)
	cmd.MarkFlagsOneRequired("ndjson", "csv")
	cmd.MarkFlagsOneRequired("topic", "dry-run", "stdout")
	cmd.MarkFlagsMutuallyExclusive("topic", "stdout")
	cmd.MarkFlagsMutuallyExclusive("dry-run", "stdout")
	cmd.MarkFlagsMutuallyExclusive("raw", "decode")
	cmd.MarkFlagsMutuallyExclusive("raw", "csv")
	cmd.MarkFlagsMutuallyExclusive("partition", "partition-by")
	exclude(cmd, "ndjson", append(mappingFlags, "map", "csv", "delimiter", "missing")...)
	exclude(cmd, "map", mappingFlags...)
	return cmd
}

func produceRecords(cmd *cobra.Command, o produceOptions) error {
	if !(o.rate >= 0) || math.IsInf(o.rate, 1) {
		return exit.WrongUse("--rate: not a finite number of records a second")
	}
	environ := program.Environ(cmd.Context())
	each, unit := o.objects(o.lines), "line"
	if o.raw {
		each = o.lines
		traps.Warn(cmd.ErrOrStderr(), []string{"--raw: no line is checked, and a line that is no JSON object is a null event"})
	}
	if o.table.file != "" {
		unit = "record"
		mapping, err := o.table.resolve(environ, configuredBody, false)
		if err != nil {
			return err
		}
		each, o.decode = mapping.each, o.decode || mapping.hasMembers()
	}
	if o.decode {
		decoder, err := configuredDecoder(environ)
		if err != nil {
			return err
		}
		each = decoded(each, decoder, unit)
	}
	o.watch = newWatch(environ)
	// A machine that only sends events may lack the settings of the operator.
	if s, err := settings.Load(environ, settings.Events, settings.Operator); err == nil {
		if o.topic != "" && !s.IsText() {
			return exit.WrongUse("--topic: produce sends lines of JSON, and ORIEL_FORMAT or ORIEL_FRAMING says that records are no such lines")
		}
		traps.Warn(cmd.ErrOrStderr(), traps.Settings(s))
	}
	switch {
	case o.stdout:
		out := bufio.NewWriter(cmd.OutOrStdout())
		err := o.read(cmd.Context(), -1, io.Discard, each, func(e outgoing) error {
			o.watch.See(e.value)
			_, err := out.Write(append(append(withKey(e.key, o.separator), e.value...), '\n'))
			return err
		})
		traps.Warn(cmd.ErrOrStderr(), o.watch.Warnings())
		return errors.Join(err, out.Flush())
	case o.dryRun:
		count, first, err := o.check(cmd, each)
		if err != nil {
			return err
		}
		_, err = fmt.Fprintf(cmd.OutOrStdout(), "%d records, nothing was sent; the first event:\n%s\n", count, first)
		return err
	}
	return host(cmd).WithClient(func(client *kafka.Client) error { return o.send(cmd, client, each) })
}

// outgoing is a record to send. Its slices are valid until the next record is read.
type outgoing struct {
	key, value []byte
	place      []byte // key that decides the partition; nil: the fixed partition, or round-robin
}

// eachRecord is a function that calls f for each record of a file, in order.
type eachRecord func(in io.Reader, f func(outgoing) error) error

func (o produceOptions) file() string { return o.ndjson + o.table.file }

// read reads the file. Each call opens the file again, because a file that is checked before it is sent must be read
// twice.
func (o produceOptions) read(
	ctx context.Context, total int64, progress io.Writer, each eachRecord, f func(outgoing) error,
) error {
	in, err := os.Open(o.file())
	if err != nil {
		return err
	}
	defer func() { _ = in.Close() }()
	if info, err := in.Stat(); err != nil || !info.Mode().IsRegular() && !o.stdout {
		return exit.WrongUse("%s: not a file that can be read twice, to check it before it is sent", o.file())
	}
	bar := program.NewBar(progress, total, "produce", false)
	defer func() { _ = bar.Finish() }()
	if err := each(in, func(e outgoing) error { return errors.Join(ctx.Err(), f(e), bar.Add(1)) }); err != nil {
		return fmt.Errorf("%s: %w", o.file(), err)
	}
	return nil
}

// check reads the whole file, so that a malformed line is found before anything is sent. It returns the number of
// records and the first one, and warns about suspicious records.
func (o produceOptions) check(cmd *cobra.Command, each eachRecord) (count int, first string, err error) {
	err = o.read(cmd.Context(), -1, io.Discard, each, func(e outgoing) error {
		if count++; count == 1 {
			first = string(e.value)
		}
		o.watch.See(e.value)
		return nil
	})
	traps.Warn(cmd.ErrOrStderr(), o.watch.Warnings())
	if err != nil {
		err = fmt.Errorf("nothing was sent: %w", err)
	}
	return count, first, err
}

func (o produceOptions) send(cmd *cobra.Command, client *kafka.Client, each eachRecord) error {
	ctx := cmd.Context()
	topic, err := topics.Find(ctx, client, o.topic)
	if err != nil {
		return fmt.Errorf("--topic: %w; `oriel topics --input-partitions N` makes the input of a deployment", err)
	}
	if o.partition >= int32(topic.Partitions) {
		return exit.WrongUse("--partition %d: topic %q has %d partitions", o.partition, o.topic, topic.Partitions)
	}
	count, _, err := o.check(cmd, each)
	if err != nil {
		return err
	}
	producer, err := produce.New(ctx, client, "", time.Minute)
	if err != nil {
		return err
	}
	out := newSender(producer, o.topic, topic.Partitions, o.partition, o.rate)
	err = o.read(ctx, int64(count), cmd.ErrOrStderr(), each, func(e outgoing) error { return out.send(ctx, e) })
	if err = errors.Join(err, out.flush(ctx)); err != nil {
		return fmt.Errorf("after %d records: %w", out.sent, err)
	}
	_, err = fmt.Fprintf(cmd.OutOrStdout(), "%d records sent to %s (%d partitions)\n", out.sent, o.topic, topic.Partitions)
	return err
}

// lines reads the records of an NDJSON file.
func (o produceOptions) lines(in io.Reader, f func(outgoing) error) error {
	for line, err := range text.NewLines(in, o.maxBytes).All() {
		if err != nil {
			return err
		}
		if line.Length > int64(o.maxBytes) {
			return fmt.Errorf("line %d: %d bytes, longer than --max-bytes", line.Number+1, line.Length)
		}
		key, value := replay.CutKey(line.Value, o.separator)
		if err := f(outgoing{key: key, value: value, place: key}); err != nil {
			return err
		}
	}
	return nil
}

const keySeparatorHelp = "each line is a record key, this text, and an event, as kcat -K has it; without the text, the line has no key"

// withKey returns a record key followed by the separator between key and value.
func withKey(key []byte, separator string) []byte {
	if key == nil || separator == "" {
		return nil
	}
	return append(bytes.Clone(key), separator...)
}
