package main

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/hex"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"syscall"
	"time"

	"oriel/pipeline/kafka"
	"oriel/schemas/table"
)

// options are the flags.
type options struct {
	brokers    string
	flights    string
	events     int
	partitions int
	runs       int
}

func main() {
	var o options
	flag.StringVar(&o.brokers, "brokers", "127.0.0.1:9092", "a broker of an otherwise idle cluster")
	flag.StringVar(&o.flights, "flights", "cmd/oriel/demodata/flights.csv.gz", "flights to repeat")
	flag.IntVar(&o.events, "events", 2_000_000, "events in the input")
	flag.IntVar(&o.partitions, "partitions", 4, "partitions of the input")
	flag.IntVar(&o.runs, "runs", 3, "runs; the median counts")
	flag.Parse()
	if err := bench(context.Background(), o); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

func bench(ctx context.Context, o options) error {
	dir, err := os.MkdirTemp("", "oriel-bench-")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(dir) }()
	binary := filepath.Join(dir, "oriel")
	build := exec.CommandContext(ctx, "go", "build", "-o", binary, "./cmd/oriel")
	build.Stderr = os.Stderr
	if err := build.Run(); err != nil {
		return fmt.Errorf("build: %w", err)
	}
	key := filepath.Join(dir, "master.key")
	if err := os.WriteFile(key, []byte(hex.EncodeToString(make([]byte, 32))), 0o600); err != nil {
		return err
	}
	client, err := kafka.New(kafka.Config{Brokers: []string{o.brokers}})
	if err != nil {
		return err
	}
	defer func() { _ = client.Close() }()
	input := fmt.Sprintf("bench-%d", time.Now().Unix())
	events, err := readEvents(o.flights)
	if err != nil {
		return err
	}
	if err := fill(ctx, client, input, events, o); err != nil {
		return fmt.Errorf("fill: %w", err)
	}
	var rates []float64
	for n := range o.runs {
		s := &service{
			binary: binary, name: fmt.Sprintf("%s-%d", input, n), input: input, brokers: o.brokers,
			key: key, dir: filepath.Join(dir, fmt.Sprint(n)),
		}
		took, err := s.measure(ctx, client, o)
		if err != nil {
			return fmt.Errorf("run %d: %w", n+1, err)
		}
		rates = append(rates, float64(o.events)/took.Seconds())
		fmt.Printf("run %d: %d events in %v: %.0f events/s\n", n+1, o.events, took.Round(time.Millisecond), rates[n])
	}
	slices.Sort(rates)
	fmt.Printf("median %.0f events/s\n", rates[len(rates)/2])
	return nil
}

// readEvents maps flights to events with named features, hashed by the service.
func readEvents(path string) ([][]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }()
	unzipped, err := gzip.NewReader(f)
	if err != nil {
		return nil, err
	}
	rows, err := table.Mapping{
		Where: "arr_delay!=NA", Label: "arr_delay>15",
		Features: []string{"carrier", "origin", "dest", "hour:number", "month:number", "distance:number"},
	}.Open(unzipped)
	if err != nil {
		return nil, err
	}
	var events [][]byte
	for {
		row, err := rows.Next()
		if errors.Is(err, io.EOF) {
			return events, nil
		}
		if err != nil {
			return nil, err
		}
		events = append(events, bytes.Clone(row.Event))
	}
}

func fill(ctx context.Context, client *kafka.Client, input string, events [][]byte, o options) error {
	if err := client.CreateTopic(ctx, input, o.partitions, 1, nil); err != nil {
		return err
	}
	producer, err := client.NewProducer(ctx, "", time.Minute)
	if err != nil {
		return err
	}
	for p := range o.partitions {
		var b kafka.Builder
		for i := p; i < o.events; i += o.partitions {
			b.Append(nil, events[i%len(events)], nil, time.Now().UnixMilli())
			if b.Bytes() > 900_000 || i+o.partitions >= o.events {
				if _, err := producer.Produce(ctx, input, int32(p), &b); err != nil {
					return err
				}
				b.Reset()
			}
		}
	}
	return nil
}

// service is one deployment, run by one process.
type service struct {
	binary, name, input, brokers, key, dir string
}

func (s *service) command(ctx context.Context, arg string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, s.binary, arg)
	cmd.Stderr = os.Stderr
	cmd.Env = append(os.Environ(),
		"ORIEL_BROKERS="+s.brokers, "ORIEL_NAME="+s.name, "ORIEL_INPUT_TOPIC="+s.input, "ORIEL_START=earliest",
		"ORIEL_ALLOW_SINGLE_REPLICA=true", "ORIEL_OPERATOR=coco", "ORIEL_UPDATE=projection", "ORIEL_LOSS=logistic",
		"ORIEL_SET=l2-ball", "ORIEL_RADIUS=5", "ORIEL_DIMENSION=32", "ORIEL_STRONG_CONVEXITY=0.001",
		"ORIEL_FEATURES_RANGE=distance:0:5000,hour:0:24:cyclic,month:1:13:cyclic",
		"ORIEL_MECHANISM=tree-gaussian", "ORIEL_WINDOW=1024", "ORIEL_EPSILON=1", "ORIEL_DELTA=1e-6", "ORIEL_CLIP=1",
		"ORIEL_STATE_DIR="+s.dir, "ORIEL_MASTER_KEY_FILE="+s.key, "ORIEL_HTTP_ADDR=127.0.0.1:0", "ORIEL_LOG_LEVEL=warn",
	)
	return cmd
}

// measure runs the service over the whole input. The clock starts when the first partition's state is committed, which is
// before the first fetch, and stops when the last offset is.
func (s *service) measure(ctx context.Context, client *kafka.Client, o options) (time.Duration, error) {
	if err := s.command(ctx, "topics").Run(); err != nil {
		return 0, err
	}
	run := s.command(ctx, "run")
	if err := run.Start(); err != nil {
		return 0, err
	}
	var began time.Time
	for done := 0; done < o.partitions; time.Sleep(5 * time.Millisecond) {
		offset, err := client.CommittedOffset(ctx, s.name, s.input, int32(done))
		if err != nil {
			return 0, err
		}
		if began.IsZero() && offset >= 0 {
			began = time.Now()
		}
		if offset >= int64((o.events-done+o.partitions-1)/o.partitions) {
			done++
		}
	}
	took := time.Since(began)
	if err := run.Process.Signal(syscall.SIGTERM); err != nil {
		return 0, err
	}
	return took, run.Wait()
}
