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
	"strings"
	"time"

	"github.com/spf13/cobra"

	"oriel/cmd/internal/flights"
	"oriel/cmd/internal/plan"
	"oriel/cmd/internal/settings"
	"oriel/pipeline"
	"oriel/pipeline/changelog"
	"oriel/pipeline/deployment"
	"oriel/pipeline/embedded"
	"oriel/pipeline/kafka"
	"oriel/pipeline/kafka/produce"
	"oriel/pipeline/kafka/records"
	"oriel/pipeline/kafka/topics"
	"oriel/pipeline/notice"
	"oriel/state"
)

//go:embed demodata/flights.csv.gz
var demoFlights []byte

// demoInput is the demo's topic of events, one partition an airport. Each is a stream of its own, on purpose: the three
// have different delays, one guarantee each, and nothing to learn from each other's order.
const demoInput = "flights"

func demoCommand() *cobra.Command {
	var o demoOptions
	cmd := &cobra.Command{
		Use:   "demo",
		Short: "See it work: real flights through a broker in this process, with and without privacy",
		Long: "Demo starts an embedded broker, sends it flights that left New York in 2013, and runs the service over them once for each\n" +
			"mechanism: the pipeline of `oriel run`, no short cut. It then reads the decision topics back, scores every decision on the\n" +
			"next flight, draws how fast each has learned, and shows private numbers of another deployment beside the truth. It needs\n" +
			"nothing installed and leaves one picture behind.\n\n" +
			"Each of the three airports is a partition and a stream (ORIEL_STREAM=partition): independent models on purpose, because\n" +
			"airports differ. A topic that has partitions for its producers' sake is one stream: ORIEL_STREAM=topic.\n\n" +
			"Noise follows from --seed, so that the same call gives the same figures: these flights are public. A service draws its own.",
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			all, err := readDemoFlights()
			if err != nil {
				return err
			}
			return demo(cmd.Context(), cmd.OutOrStdout(), cmd.ErrOrStderr(), all, o)
		},
	}
	cmd.Flags().BoolVar(&o.keep, "keep", false, "leave the broker running until interrupted, for tail and kcat")
	cmd.Flags().Uint64Var(&o.seed, "seed", 1, "another number gives other noise")
	cmd.Flags().StringVar(&o.out, "out", "oriel-demo", "folder for the picture, learning.png; made if missing")
	return cmd
}

func readDemoFlights() ([]flights.Flight, error) {
	unzipped, err := gzip.NewReader(bytes.NewReader(demoFlights))
	if err != nil {
		return nil, err
	}
	return flights.Read(unzipped)
}

// demoOptions are the flags of `oriel demo`.
type demoOptions struct {
	keep bool
	seed uint64
	out  string
}

// demoRow is a deployment of the demo. Its settings are public: none was found by looking at flights.
type demoRow struct {
	name      string
	mechanism string
	epsilon   float64
	length    []string // settings of what is protected, and for how long
}

// demoRows are in the order of the table. The printed constants come last: they prove less than they were asked for,
// and learn nothing.
func demoRows() []demoRow {
	window, life := []string{"ORIEL_WINDOW=1024"}, []string{"ORIEL_WINDOW=lifetime", "ORIEL_MEMORY=65536"}
	return []demoRow{
		{"life", "blt", 1, life},
		{"life", "blt", 4, life},
		{"blt", "blt", 1, window},
		{"blt", "blt", 4, window},
		{"tree-gaussian", "tree-gaussian", 1, window},
		{"tree-gaussian-paper", "tree-gaussian-paper", 1, window},
	}
}

// settings are what a user would give as ORIEL_* variables, with the regulariser that `oriel plan` advises.
func (r demoRow) settings() (settings.Settings, error) {
	lines := append([]string{
		fmt.Sprintf("ORIEL_NAME=%s-%g", r.name, r.epsilon), "ORIEL_INPUT_TOPIC=" + demoInput, "ORIEL_START=earliest",
		"ORIEL_STREAM=partition", "ORIEL_ALLOW_SINGLE_REPLICA=true",
		"ORIEL_OPERATOR=coco", "ORIEL_UPDATE=projection", "ORIEL_LOSS=logistic", "ORIEL_SET=l2-ball", "ORIEL_RADIUS=5",
		fmt.Sprintf("ORIEL_DIMENSION=%d", flights.Dimension),
		"ORIEL_MECHANISM=" + r.mechanism, fmt.Sprintf("ORIEL_EPSILON=%g", r.epsilon), "ORIEL_DELTA=1e-6", "ORIEL_CLIP=1",
	}, r.length...)
	with := func(advice plan.Advice) (settings.Settings, error) {
		return settings.Load(append(lines, fmt.Sprintf("ORIEL_START_REGULARIZER=%g", float64(advice.StartRegularizer)),
			fmt.Sprintf("ORIEL_STRONG_CONVEXITY=%g", float64(advice.StrongConvexity))), settings.Events, settings.Operator)
	}
	s, err := with(plan.Advice{StrongConvexity: 1})
	if err != nil {
		return s, err
	}
	learner, err := s.Learner()
	if err != nil {
		return s, err
	}
	mechanism, operator := learner.Mechanism(), learner.Operator()
	advice, ok, err := plan.Advise(mechanism, operator, nil)
	if err != nil || !ok {
		return s, errors.Join(err, errors.New("no advice for the demo"))
	}
	return with(advice)
}

func demo(ctx context.Context, out, progress io.Writer, all []flights.Flight, o demoOptions) error {
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
	events := newDemoEvents(all)
	if err := sendFlights(ctx, client, demoInput, events.streams, (*flights.Flight).AppendEvent, progress); err != nil {
		return err
	}
	table := demoTable{events: events}
	for _, row := range demoRows() {
		s, err := row.settings()
		if err != nil {
			return err
		}
		took, err := demoRun(ctx, client, s, dir, len(all), o.seed, progress)
		if err != nil {
			return fmt.Errorf("%s: %w", s.Name, err)
		}
		table.rows = append(table.rows, s)
		table.rates = append(table.rates, float64(len(all))/took.Seconds())
	}
	if table.numbers, err = demoNumbers(ctx, client, dir, events.streams, o.seed, progress); err != nil {
		return err
	}
	if err := table.print(ctx, out, client, o.out); err != nil {
		return err
	}
	if o.keep {
		self, err := os.Executable()
		if err != nil {
			return err
		}
		fmt.Fprintf(out, "\nThe broker runs at %s until you press Ctrl-C. In another terminal:\n", broker.Addr())
		for _, command := range demoCommands(self, broker.Addr(), table.rows[0].Deployment().Decisions) {
			fmt.Fprintln(out, " ", command)
		}
		<-ctx.Done()
		return nil
	}
	fmt.Fprintln(out, "\n"+
		"The broker is gone with this process; `oriel demo --keep` leaves it running for tail and kcat.")
	return nil
}

// demoCommands are lines for a shell in any directory that show decisions of the demo's broker and end. The binary of
// `go run` is there as long as the demo runs.
func demoCommands(self, broker, topic string) []string {
	return []string{
		fmt.Sprintf("ORIEL_BROKERS=%s '%s' tail --topic %s --from-beginning -n 5",
			broker, strings.ReplaceAll(self, "'", `'\''`), topic),
		fmt.Sprintf("kcat -b %s -C -t %s -p 0 -c 5 -q -X isolation.level=read_committed", broker, topic),
	}
}

// sendFlights fills a topic with events, partition by partition.
func sendFlights(
	ctx context.Context, client *kafka.Client, topic string, streams [][]flights.Flight,
	event func(*flights.Flight, []byte) []byte, progress io.Writer,
) error {
	if err := topics.Create(ctx, client, topic, len(streams), 1, nil); err != nil {
		return err
	}
	producer, err := produce.New(ctx, client, "", time.Minute)
	if err != nil {
		return err
	}
	bar := newBar(progress, -1, "events sent", false)
	defer func() { _ = bar.Finish() }()
	var value []byte
	for p, stream := range streams {
		var b records.Builder
		for i := range stream {
			value = event(&stream[i], value[:0])
			b.Append(nil, value, nil, time.Now().UnixMilli())
			if b.Bytes() > 900_000 || i == len(stream)-1 {
				if _, err := producer.Produce(ctx, topic, int32(p), &b); err != nil {
					return err
				}
				_ = bar.Add(b.Count())
				b.Reset()
			}
		}
	}
	return nil
}

// demoRun runs the service until it has committed so many decisions, and tells how long that took.
func demoRun(
	ctx context.Context, client *kafka.Client, s settings.Settings, dir string, decisions int, seed uint64,
	progress io.Writer,
) (time.Duration, error) {
	model, err := s.Model()
	if err != nil {
		return 0, err
	}
	model.Learner = newSeeded(model.Learner, s.Name, seed)
	c, master := s.Deployment(), state.NewMasterKey(state.NewSecret())
	if err := deployment.CreateTopics(ctx, client, c, func(string) {}); err != nil {
		return 0, err
	}
	topics, err := deployment.CheckTopics(ctx, client, c, deployment.ByService)
	if err != nil {
		return 0, err
	}
	if err := changelog.WriteManifests(ctx, client, c, topics, model, master); err != nil {
		return 0, err
	}
	identity := state.Identity{Cluster: topics.Cluster, Name: s.Name, Topic: topics.Input.ID}
	store, err := state.Open(filepath.Join(dir, s.Name), identity)
	if err != nil {
		return 0, err
	}
	bar := newBar(progress, int64(decisions), s.Name, false)
	work, done := context.WithCancel(ctx)
	defer done()
	committed := make(chan notice.Commit, 64)
	var first, last time.Time
	counted := make(chan struct{})
	go func() {
		defer close(counted)
		for n := 0; n < decisions; {
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
	service, err := pipeline.NewService(ctx, client, c, model, topics, master, store, notice.Listener{
		Committed: func(commit notice.Commit) {
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
