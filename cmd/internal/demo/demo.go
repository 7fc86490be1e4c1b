package demo

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"oriel/cmd/internal/flights"
	"oriel/cmd/internal/plan/decisions"
	"oriel/cmd/internal/settings"
	"oriel/pipeline/embedded"
	"oriel/pipeline/kafka"
)

// input is the demo's topic of events, with one partition for each airport. Each partition is a stream with a guarantee
// of its own, because the three airports have different delays.
const input = "flights"

// row is a deployment of the demo. Its settings are public, because they were chosen without looking at flights.
type row struct {
	name      string
	mechanism string
	epsilon   float64
	length    []string // settings of the unit of privacy and of the duration of protection
}

// rows returns the deployments in the order of the table.
func rows() []row {
	window, life := []string{"ORIEL_WINDOW=1024"}, []string{"ORIEL_WINDOW=lifetime", "ORIEL_MEMORY=65536"}
	return []row{
		{"life", "blt", 1, life},
		{"life", "blt", 4, life},
		{"blt", "blt", 1, window},
		{"blt", "blt", 4, window},
		{"tree-gaussian", "tree-gaussian", 1, window},
	}
}

// settings returns the settings that a user would give as ORIEL_* variables, with the regulariser that `oriel plan`
// advises.
func (r row) settings() (settings.Settings, error) {
	lines := append([]string{
		fmt.Sprintf("ORIEL_NAME=%s-%g", r.name, r.epsilon), "ORIEL_INPUT_TOPIC=" + input, "ORIEL_START=earliest",
		"ORIEL_STREAM=partition", "ORIEL_ALLOW_SINGLE_REPLICA=true",
		"ORIEL_OPERATOR=coco", "ORIEL_UPDATE=projection", "ORIEL_LOSS=logistic", "ORIEL_SET=l2-ball", "ORIEL_RADIUS=5",
		fmt.Sprintf("ORIEL_DIMENSION=%d", flights.Dimension),
		"ORIEL_MECHANISM=" + r.mechanism, fmt.Sprintf("ORIEL_EPSILON=%g", r.epsilon), "ORIEL_DELTA=1e-6", "ORIEL_CLIP=1",
	}, r.length...)
	with := func(advice decisions.Advice) (settings.Settings, error) {
		return settings.Load(append(lines, fmt.Sprintf("ORIEL_START_REGULARIZER=%g", float64(advice.StartRegularizer)),
			fmt.Sprintf("ORIEL_STRONG_CONVEXITY=%g", float64(advice.StrongConvexity))), settings.Events, settings.Operator)
	}
	s, err := with(decisions.Advice{StrongConvexity: 1})
	if err != nil {
		return s, err
	}
	learner := s.Learner()
	mechanism, operator := learner.Mechanism(), learner.Operator()
	advice, ok, err := decisions.Advise(mechanism, operator, nil)
	if err != nil || !ok {
		return s, errors.Join(err, errors.New("no advice for the demo"))
	}
	return with(advice)
}

// Options are the flags of `oriel demo`, and how it shows progress.
type Options struct {
	Keep bool   // keep the broker running until ctx is cancelled
	Seed uint64 // seed of the noise
	Bar  func(total int64, what string) Bar
}

// Bar shows the progress of a stage of the demo; total is −1 if it is not known.
type Bar interface {
	Add(n int) error
	Set(n int) error
	Finish() error
}

// Run runs the demo over flights and writes its results.
func Run(ctx context.Context, out io.Writer, all []flights.Flight, o Options) error {
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
	streams := newAirports(all)
	if err := sendFlights(ctx, client, input, streams.streams, (*flights.Flight).AppendEvent, o.Bar); err != nil {
		return err
	}
	t := table{events: streams}
	for _, row := range rows() {
		s, err := row.settings()
		if err != nil {
			return err
		}
		if err := serve(ctx, client, s, dir, len(all), o); err != nil {
			return fmt.Errorf("%s: %w", s.Name, err)
		}
		t.rows = append(t.rows, s)
	}
	if t.numbers, err = privateNumbers(ctx, client, dir, streams.streams, o); err != nil {
		return err
	}
	if err := t.print(ctx, out, client); err != nil {
		return err
	}
	if o.Keep {
		self, err := os.Executable()
		if err != nil {
			return err
		}
		fmt.Fprintf(out, "\nThe broker runs at %s until you press Ctrl-C. In another terminal:\n", broker.Addr())
		for _, command := range commands(self, broker.Addr(), t.rows[0].Deployment().Decisions) {
			fmt.Fprintln(out, " ", command)
		}
		<-ctx.Done()
		return nil
	}
	fmt.Fprintln(out, "\n"+
		"The broker is gone with this process; `oriel demo --keep` leaves it running for tail and kcat.")
	return nil
}

// commands returns shell commands that show decisions of the demo's broker and then end. They work in any directory. If
// self is a binary of `go run`, it exists only as long as the demo runs.
func commands(self, broker, topic string) []string {
	return []string{
		fmt.Sprintf("ORIEL_BROKERS=%s %s tail --topic %s --from-beginning -n 5", broker, quoted(self), topic),
		fmt.Sprintf("kcat -b %s -C -t %s -p 0 -c 5 -q -X isolation.level=read_committed", broker, topic),
	}
}

// quoted quotes a word for a shell.
func quoted(text string) string { return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'" }
