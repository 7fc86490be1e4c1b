package main

import (
	"bytes"
	"compress/gzip"
	"context"
	_ "embed"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"oriel/cmd/internal/flights"
	"oriel/cmd/internal/settings"
	"oriel/pipeline"
	"oriel/pipeline/embedded"
	"oriel/pipeline/kafka"
	"oriel/state"
)

//go:embed demodata/flights.csv.gz
var demoFlights []byte

// demoInput is the demo's topic of events, one partition an airport.
const demoInput = "flights"

func demoCommand() *cobra.Command {
	var keep bool
	cmd := &cobra.Command{
		Use:   "demo",
		Short: "See it work: real flights through a broker in this process, with and without privacy",
		Long:  "Demo starts an embedded broker, sends it flights that left New York in 2013, and runs the service over them once for each\nmechanism: the pipeline of `oriel run`, no short cut. It then reads the decision topics back and scores every decision on\nthe next flight. It needs nothing installed and leaves nothing behind.",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			all, err := readDemoFlights()
			if err != nil {
				return err
			}
			return demo(cmd.Context(), cmd.OutOrStdout(), cmd.ErrOrStderr(), all, keep)
		},
	}
	cmd.Flags().BoolVar(&keep, "keep", false, "leave the broker running until interrupted, for tail and kcat")
	return cmd
}

func readDemoFlights() ([]flights.Flight, error) {
	unzipped, err := gzip.NewReader(bytes.NewReader(demoFlights))
	if err != nil {
		return nil, err
	}
	return flights.Read(unzipped)
}

// demoSettings are what a user would give as ORIEL_* variables.
func demoSettings(mechanism string) (settings.Settings, error) {
	update, window := "projection", "1024"
	if mechanism == "once-gaussian" {
		update, window = "ogd", "lifetime"
	}
	return settings.Load([]string{
		"ORIEL_NAME=" + mechanism, "ORIEL_INPUT_TOPIC=" + demoInput, "ORIEL_START=earliest", "ORIEL_ALLOW_SINGLE_REPLICA=true",
		"ORIEL_OPERATOR=coco", "ORIEL_UPDATE=" + update, "ORIEL_LOSS=logistic", "ORIEL_SET=l2-ball", "ORIEL_RADIUS=5",
		fmt.Sprintf("ORIEL_DIMENSION=%d", flights.Dimension), "ORIEL_STRONG_CONVEXITY=0.001",
		"ORIEL_MECHANISM=" + mechanism, "ORIEL_WINDOW=" + window, "ORIEL_EPSILON=1", "ORIEL_DELTA=1e-6", "ORIEL_CLIP=1",
	}, settings.Events, settings.Operator)
}

func demo(ctx context.Context, out, progress io.Writer, all []flights.Flight, keep bool) error {
	dir, err := os.MkdirTemp("", "oriel-demo-")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(dir) }()
	broker, err := embedded.Start(embedded.Options{Dir: filepath.Join(dir, "broker")})
	if err != nil {
		return err
	}
	defer broker.Close()
	client, err := kafka.New(kafka.Config{Brokers: []string{broker.Addr()}, ClientID: "oriel-demo"})
	if err != nil {
		return err
	}
	defer func() { _ = client.Close() }()
	streams := make([][]flights.Flight, len(flights.Origins))
	for _, f := range all {
		streams[f.Origin] = append(streams[f.Origin], f)
	}
	if err := sendFlights(ctx, client, streams, progress); err != nil {
		return err
	}
	table := demoTable{streams: streams}
	for _, mechanism := range []string{"blt", "tree-gaussian", "tree-gaussian-paper", "once-gaussian"} {
		s, err := demoSettings(mechanism)
		if err != nil {
			return err
		}
		took, err := demoRun(ctx, client, s, dir, len(all), progress)
		if err != nil {
			return fmt.Errorf("%s: %w", mechanism, err)
		}
		if err := table.add(ctx, client, s, took); err != nil {
			return fmt.Errorf("%s: %w", mechanism, err)
		}
	}
	table.print(out)
	if keep {
		fmt.Fprintf(out, "\nThe broker runs at %s until you press Ctrl-C:\n"+
			"  ORIEL_BROKERS=%s go run ./cmd/oriel tail --topic tree-gaussian.decisions --from-beginning\n"+
			"  kcat -b %s -C -t tree-gaussian.decisions -p 0 -X isolation.level=read_committed\n", broker.Addr(), broker.Addr(), broker.Addr())
		<-ctx.Done()
		return nil
	}
	fmt.Fprintln(out, "\nThe broker is gone with this process; `oriel demo --keep` leaves it running for tail and kcat.")
	return nil
}

// sendFlights fills the input topic, partition by partition.
func sendFlights(ctx context.Context, client *kafka.Client, streams [][]flights.Flight, progress io.Writer) error {
	if err := client.CreateTopic(ctx, demoInput, len(streams), 1, nil); err != nil {
		return err
	}
	producer, err := client.NewProducer(ctx, "", time.Minute)
	if err != nil {
		return err
	}
	bar := newBar(progress, -1, "events sent", false)
	defer func() { _ = bar.Finish() }()
	var value []byte
	for p, stream := range streams {
		var b kafka.Builder
		for i := range stream {
			value = stream[i].AppendEvent(value[:0])
			b.Append(nil, value, nil, time.Now().UnixMilli())
			if b.Bytes() > 900_000 || i == len(stream)-1 {
				if _, err := producer.Produce(ctx, demoInput, int32(p), &b); err != nil {
					return err
				}
				_ = bar.Add(b.Count())
				b.Reset()
			}
		}
	}
	return nil
}

// demoRun runs the service until it has committed a decision for every event, and tells how long that took.
func demoRun(ctx context.Context, client *kafka.Client, s settings.Settings, dir string, events int, progress io.Writer) (time.Duration, error) {
	model, err := s.Model()
	if err != nil {
		return 0, err
	}
	c, master := s.Deployment(), state.NewMasterKey(state.NewSecret())
	if err := pipeline.CreateTopics(ctx, client, c, func(string) {}); err != nil {
		return 0, err
	}
	topics, err := pipeline.CheckTopics(ctx, client, c, pipeline.ByService)
	if err != nil {
		return 0, err
	}
	if err := pipeline.WriteManifests(ctx, client, c, topics, model, master); err != nil {
		return 0, err
	}
	store, err := state.Open(filepath.Join(dir, s.Name), state.Identity{Cluster: topics.Cluster, Name: s.Name, Topic: topics.Input.ID})
	if err != nil {
		return 0, err
	}
	bar := newBar(progress, int64(events), s.Mechanism, false)
	work, done := context.WithCancel(ctx)
	defer done()
	committed := make(chan pipeline.Commit, 64)
	var first, last time.Time
	counted := make(chan struct{})
	go func() {
		defer close(counted)
		for n := 0; n < events; {
			select {
			case commit := <-committed:
				if last = time.Now(); first.IsZero() {
					first = last.Add(-commit.Duration)
				}
				n += commit.Decisions
				_ = bar.Set(n)
			case <-work.Done():
				return
			}
		}
		done()
	}()
	service, err := pipeline.NewService(ctx, client, c, model, topics, master, store, pipeline.Listener{
		Committed: func(commit pipeline.Commit) {
			select {
			case committed <- commit:
			case <-work.Done():
			}
		},
	})
	if err == nil {
		err = service.Run(work)
	}
	done()
	<-counted
	_ = bar.Finish()
	if ctx.Err() != nil {
		err = errors.New("interrupted")
	}
	return last.Sub(first), errors.Join(err, store.Close())
}
