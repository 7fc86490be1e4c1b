package main

import (
	"errors"
	"fmt"
	"io"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"oriel/cmd/internal/plan"
	"oriel/pipeline/kafka"
	"oriel/schemas"
)

// tailOptions are the flags of `oriel tail`.
type tailOptions struct {
	topic     string
	partition int32
	limit     int
	begin     bool
	follow    bool
	raw       bool
}

func tailCommand() *cobra.Command {
	var o tailOptions
	cmd := &cobra.Command{
		Use:   "tail --topic TOPIC",
		Short: "Show decisions as they are committed",
		Long:  "Tail reads a decision topic (read_committed) and prints a table, or each decision's bytes with --raw. It needs\nORIEL_BROKERS only.",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return withClient(func(client *kafka.Client) error { return tail(cmd, client, o) })
		},
	}
	f := cmd.Flags()
	f.StringVar(&o.topic, "topic", "", "decision topic")
	f.Int32Var(&o.partition, "partition", 0, "partition to read")
	f.IntVarP(&o.limit, "limit", "n", 0, "stop after so many decisions; 0 never stops")
	f.BoolVar(&o.begin, "from-beginning", false, "start with the oldest decision that the topic still has")
	f.BoolVar(&o.follow, "follow", true, "wait for new decisions at the end of the topic; without it, all decisions that the topic has")
	f.BoolVar(&o.raw, "raw", false, "print each decision's bytes as they are")
	_ = cmd.MarkFlagRequired("topic")
	return cmd
}

func tail(cmd *cobra.Command, client *kafka.Client, o tailOptions) error {
	ctx, out := cmd.Context(), cmd.OutOrStdout()
	topic, err := describe(ctx, client, o.topic)
	if err != nil {
		return err
	}
	if o.partition < 0 || o.partition >= int32(topic.Partitions) {
		return fmt.Errorf("--partition %d: topic %q has %d partitions", o.partition, o.topic, topic.Partitions)
	}
	bounds, err := client.Bounds(ctx, o.topic, o.partition)
	if err != nil {
		return err
	}
	next := bounds.Stable
	if o.begin || !o.follow {
		next = bounds.Start
	}
	if !o.raw {
		fmt.Fprintf(out, "%-8s %10s %-20s %10s %8s %10s  %s\n", "stream", "step", "mechanism", "window", "ε", "δ", "decision")
	}
	reader := client.NewReader(o.topic, o.partition, next, kafka.ReaderOptions{MaxWait: 250 * time.Millisecond})
	for shown := 0; o.follow || next < bounds.Stable; {
		batch, err := reader.Fetch(ctx)
		if ctx.Err() != nil {
			return nil
		}
		if err != nil {
			return err
		}
		for _, r := range batch.Records {
			if err := show(out, r.Value, o.raw); err != nil {
				return fmt.Errorf("%s partition %d offset %d: %w", o.topic, o.partition, r.Offset, err)
			}
			if shown++; shown == o.limit {
				batch.Release()
				return nil
			}
		}
		next = batch.Next
		batch.Release()
	}
	return nil
}

func show(out io.Writer, line []byte, raw bool) error {
	if raw {
		_, err := fmt.Fprintf(out, "%s\n", line)
		return err
	}
	d, err := schemas.ParseDecision(line)
	if err != nil {
		return errors.New("not a decision")
	}
	_, err = fmt.Fprintf(out, "%-8s %10d %-20s %10s %8s %10s  %s\n",
		d.Stream, d.Step, d.Mechanism, windowText(d.Window), plan.Upper(d.Epsilon), plan.Upper(d.Delta), abbreviate(d.Point))
	return err
}

// windowText writes W, in steps; 0 is a guarantee without one.
func windowText(window uint64) string {
	if window == 0 {
		return "life"
	}
	return strconv.FormatUint(window, 10)
}

// abbreviate shows the first coordinates of a decision.
func abbreviate(point []float64) string {
	const shown = 6
	text := "["
	for i, v := range point {
		if i == shown {
			return text + " … " + strconv.Itoa(len(point)) + " coordinates]"
		}
		if i > 0 {
			text += " "
		}
		text += strconv.FormatFloat(v, 'g', 4, 64)
	}
	return text + "]"
}
