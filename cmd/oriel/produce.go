package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/spf13/cobra"

	"oriel/pipeline/kafka"
	"oriel/schemas"
)

// produceOptions are the flags of `oriel produce`.
type produceOptions struct {
	topic     string
	ndjson    string
	partition int32
	maxBytes  int
	separator string
	table     tableOptions
}

func produceCommand() *cobra.Command {
	var o produceOptions
	cmd := &cobra.Command{
		Use:   "produce --topic TOPIC (--ndjson FILE | --csv FILE …)",
		Short: "Send a file of events to a topic",
		Long: "Produce sends each line of an NDJSON file, or each row of a CSV file mapped to an event, to an existing topic. Lines go to\n" +
			"--partition, or round robin, or by their key where Kafka's default partitioner puts it if --key-separator gives them one; rows with --partition-by go where Kafka's default partitioner puts that value.\n" +
			"It needs ORIEL_BROKERS only.\n\n" +
			"CSV example: --csv flights.csv --where 'arr_delay!=NA' --label 'arr_delay>15' --feature origin --feature hour:number\n" +
			"             --partition-by origin --sort year,month,day,sched_dep_time",
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return withClient(func(client *kafka.Client) error { return produce(cmd, client, o) })
		},
	}
	f := cmd.Flags()
	f.StringVar(&o.topic, "topic", "", "topic to send to")
	f.StringVar(&o.ndjson, "ndjson", "", "file of event lines")
	f.Int32Var(&o.partition, "partition", -1, "partition for every record; -1 spreads them")
	f.IntVar(&o.maxBytes, "max-bytes", 1<<20, "longest line, bytes; a longer one is refused")
	f.StringVar(&o.separator, "key-separator", "", keySeparatorHelp)
	o.table.flags(f)
	_ = cmd.MarkFlagRequired("topic")
	cmd.MarkFlagsOneRequired("ndjson", "csv")
	cmd.MarkFlagsMutuallyExclusive("partition", "partition-by")
	for _, name := range append(mappingFlags, "map", "csv") {
		cmd.MarkFlagsMutuallyExclusive("ndjson", name)
	}
	for _, name := range mappingFlags {
		cmd.MarkFlagsMutuallyExclusive("map", name)
	}
	return cmd
}

func produce(cmd *cobra.Command, client *kafka.Client, o produceOptions) error {
	ctx := cmd.Context()
	topic, err := describe(ctx, client, o.topic)
	if err != nil {
		return err
	}
	if o.partition >= int32(topic.Partitions) {
		return fmt.Errorf("--partition %d: topic %q has %d partitions", o.partition, o.topic, topic.Partitions)
	}
	producer, err := client.NewProducer(ctx, "", time.Minute)
	if err != nil {
		return err
	}
	out := &sender{client: producer, topic: o.topic, builders: make([]kafka.Builder, topic.Partitions), fixed: o.partition}
	file := o.ndjson + o.table.file
	in, err := os.Open(file)
	if err != nil {
		return err
	}
	defer func() { _ = in.Close() }()
	size := int64(-1)
	if info, err := in.Stat(); err == nil {
		size = info.Size()
	}
	bar := newBar(cmd.ErrOrStderr(), size, "produce", true)
	if o.ndjson != "" {
		err = sendLines(ctx, io.TeeReader(in, bar), out, o.maxBytes, o.separator)
	} else {
		err = o.table.send(ctx, io.TeeReader(in, bar), out)
	}
	_ = bar.Finish()
	if err = errors.Join(err, out.flush(ctx)); err != nil {
		return fmt.Errorf("%s: after %d records: %w", file, out.sent, err)
	}
	_, err = fmt.Fprintf(cmd.OutOrStdout(), "%d records sent to %s (%d partitions)\n", out.sent, o.topic, topic.Partitions)
	return err
}

func sendLines(ctx context.Context, in io.Reader, out *sender, maxBytes int, separator string) error {
	lines := schemas.NewLines(in, maxBytes)
	for {
		line, err := lines.Next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		if line.Length > int64(maxBytes) {
			return fmt.Errorf("line %d: %d bytes, longer than --max-bytes", line.Number+1, line.Length)
		}
		key, value := cutKey(line.Value, separator)
		p := out.fixed
		if p < 0 && key != nil {
			p = kafka.PartitionOf(key, len(out.builders))
		} else {
			p = out.spread()
		}
		if err := out.send(ctx, p, key, value); err != nil {
			return err
		}
	}
}

// sender fills a batch for each partition and sends full ones.
type sender struct {
	client   *kafka.Producer
	topic    string
	builders []kafka.Builder
	fixed    int32
	turn     int32
	sent     int
}

// sendBytes closes a batch: a broker's default limit is 1 MiB.
const sendBytes = 512 << 10

// spread is the fixed partition, or the next one in turn.
func (s *sender) spread() int32 {
	if s.fixed >= 0 {
		return s.fixed
	}
	p := s.turn
	s.turn = (s.turn + 1) % int32(len(s.builders))
	return p
}

func (s *sender) send(ctx context.Context, partition int32, key, value []byte) error {
	b := &s.builders[partition]
	if b.Count() > 0 && b.Bytes()+len(key)+len(value) > sendBytes {
		if err := s.sendBatch(ctx, partition); err != nil {
			return err
		}
	}
	b.Append(key, value, nil, time.Now().UnixMilli())
	return nil
}

func (s *sender) sendBatch(ctx context.Context, partition int32) error {
	b := &s.builders[partition]
	if _, err := s.client.Produce(ctx, s.topic, partition, b); err != nil {
		return err
	}
	s.sent += b.Count()
	b.Reset()
	return nil
}

func (s *sender) flush(ctx context.Context) error {
	for p := range s.builders {
		if s.builders[p].Count() > 0 {
			if err := s.sendBatch(ctx, int32(p)); err != nil {
				return err
			}
		}
	}
	return nil
}

const keySeparatorHelp = "each line is a record key, this text, and an event, as kcat -K has it; without the text, the line has no key"

// cutKey parts a line at the first separator. The key is nil when there is none.
func cutKey(line []byte, separator string) (key, value []byte) {
	if separator == "" {
		return nil, line
	}
	if key, value, found := bytes.Cut(line, []byte(separator)); found {
		return key, value
	}
	return nil, line
}
