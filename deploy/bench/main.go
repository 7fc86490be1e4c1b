package main

import (
	"cmp"
	"context"
	"encoding/hex"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"oriel/pipeline/kafka"
)

// options holds the flags.
type options struct {
	brokers    string
	flights    string
	label      string
	events     int
	partitions int
	bombs      int
	runs       int
	against    string
	set        settings // settings of the first contender, in addition to those in service.go
	againstSet settings // settings of the second contender
}

// settings is a list of NAME=VALUE in the order of the command line.
type settings []string

func (s *settings) String() string { return strings.Join(*s, " ") }

func (s *settings) Set(text string) error {
	if name, _, found := strings.Cut(text, "="); !found || !strings.HasPrefix(name, "ORIEL_") {
		return fmt.Errorf("%q: not ORIEL_NAME=VALUE", text)
	}
	*s = append(*s, text)
	return nil
}

// operator reports whether the settings name an operator.
func (s settings) operator() bool {
	return slices.ContainsFunc(s, func(entry string) bool { return strings.HasPrefix(entry, "ORIEL_OPERATOR=") })
}

func main() {
	var o options
	flag.StringVar(&o.brokers, "brokers", "127.0.0.1:9092", "a broker of an otherwise idle cluster")
	flag.StringVar(&o.flights, "flights", "cmd/oriel/demodata/flights.csv.gz", "flights to repeat")
	flag.StringVar(&o.label, "label", "arr_delay>15", "label of an event, as --label of oriel produce")
	flag.IntVar(&o.events, "events", 2_000_000, "events in the input")
	flag.IntVar(&o.partitions, "partitions", 4, "partitions of the input")
	flag.IntVar(&o.bombs, "bombs", 0, "records of 60 MiB, compressed, among the events of each partition")
	flag.IntVar(&o.runs, "runs", 3, "runs; the median counts")
	flag.StringVar(&o.against, "against", "", "another oriel binary, which takes turns with this one")
	flag.Var(&o.set, "set", "a setting of the service, ORIEL_NAME=VALUE; may be given again")
	flag.Var(&o.againstSet, "against-set", "the same of a second service, of the same binary without --against, which takes turns with the first")
	flag.Parse()
	if err := bench(context.Background(), o); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

// contender is a binary with the results of its runs.
type contender struct {
	name, binary string
	input        string
	set          settings
	rates        []float64 // events a second, one figure for each run
	costs        []float64 // processor time of the service in µs an event, one figure for each run
	peaks        []float64 // peak memory in MB, one figure for each run
}

func bench(ctx context.Context, o options) error {
	dir, err := os.MkdirTemp("", "oriel-bench-")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(dir) }()
	contenders := []*contender{{name: "this", binary: filepath.Join(dir, "oriel"), set: o.set}}
	if o.against != "" || o.againstSet != nil {
		contenders = append(contenders, &contender{
			name: "against", binary: cmp.Or(o.against, contenders[0].binary), set: o.againstSet,
		})
	}
	build := exec.CommandContext(ctx, "go", "build", "-o", contenders[0].binary, "./cmd/oriel")
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
	flights, err := readEvents(o.flights, o.label)
	if err != nil {
		return err
	}
	inputs := map[string][]int64{} // end offsets of the partitions, by topic
	name := fmt.Sprintf("bench-%d", time.Now().Unix())
	for _, c := range contenders {
		f := c.set.form()
		c.input = name + f.suffix
		if inputs[c.input] != nil {
			continue
		}
		events, err := f.of(flights)
		if err != nil {
			return err
		}
		if inputs[c.input], err = fill(ctx, client, c.input, events, f.key, o); err != nil {
			return fmt.Errorf("fill: %w", err)
		}
	}
	for n := range o.runs {
		for i := range contenders {
			c := contenders[(i+n)%len(contenders)] // contenders take turns at going first, because a broker warms up
			s := &service{
				binary: c.binary, name: fmt.Sprintf("%s-%d-%s", name, n, c.name), input: c.input, brokers: o.brokers,
				key: key, dir: filepath.Join(dir, fmt.Sprint(n, c.name)), set: c.set,
			}
			if err := c.run(ctx, s, client, inputs[c.input]); err != nil {
				return fmt.Errorf("run %d, %s: %w", n+1, c.name, err)
			}
		}
	}
	for _, c := range contenders {
		fmt.Printf("%s: median %.0f events/s, %.2f µs of processor an event, VmHWM %.1f MB, at most %.1f MB\n",
			c.name, median(c.rates), median(c.costs), median(c.peaks), slices.Max(c.peaks))
	}
	if len(contenders) == 2 {
		fmt.Printf("ratio of the medians: %.3f\n", median(contenders[0].rates)/median(contenders[1].rates))
	}
	return nil
}

// run measures one deployment.
func (c *contender) run(ctx context.Context, s *service, client *kafka.Client, ends []int64) error {
	r, err := s.measure(ctx, client, ends)
	if err != nil {
		return err
	}
	total := int64(0)
	for _, end := range ends {
		total += end
	}
	c.rates = append(c.rates, float64(total)/r.took.Seconds())
	c.peaks = append(c.peaks, float64(r.peak)/1e6)
	c.costs = append(c.costs, 1e6*r.processor.Seconds()/float64(total))
	last := len(c.rates) - 1
	fmt.Printf("%s: %d records in %v: %.0f events/s, %.2f µs of processor an event, VmHWM %.1f MB\n",
		c.name, total, r.took.Round(time.Millisecond), c.rates[last], c.costs[last], c.peaks[last])
	return nil
}

func median(values []float64) float64 {
	sorted := slices.Sorted(slices.Values(values))
	return sorted[len(sorted)/2]
}
