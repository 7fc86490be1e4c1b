//go:build bench

package bench

import (
	"cmp"
	"encoding/hex"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
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
	set        settings // settings of the first contender, in addition to those in service_test.go
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

// asked has the flags of this process. The testing package parses them before the tests.
var asked = flags()

func flags() *options {
	o := new(options)
	flag.StringVar(&o.brokers, "brokers", "127.0.0.1:9092", "a broker of an otherwise idle cluster")
	flag.StringVar(&o.flights, "flights", "../../cmd/oriel/demodata/flights.csv.gz", "flights to repeat")
	flag.StringVar(&o.label, "label", "arr_delay>15", "label of an event, as --label of oriel eval")
	flag.IntVar(&o.events, "events", 2_000_000, "events in the input")
	flag.IntVar(&o.partitions, "partitions", 4, "partitions of the input")
	flag.IntVar(&o.bombs, "bombs", 0, "records of 60 MiB, compressed, among the events of each partition")
	flag.IntVar(&o.runs, "runs", 3, "runs; the median counts")
	flag.StringVar(&o.against, "against", "", "another oriel binary, which takes turns with this one")
	flag.Var(&o.set, "set", "a setting of the service, ORIEL_NAME=VALUE; may be given again")
	flag.Var(&o.againstSet, "against-set", "the same of a second service, of the same binary without --against, which takes turns with the first")
	return o
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

// TestThroughput does the runs that the flags describe.
func TestThroughput(t *testing.T) {
	o, dir := *asked, t.TempDir()
	contenders := []*contender{{name: "this", binary: filepath.Join(dir, "oriel"), set: o.set}}
	if o.against != "" || o.againstSet != nil {
		contenders = append(contenders, &contender{
			name: "against", binary: cmp.Or(o.against, contenders[0].binary), set: o.againstSet,
		})
	}
	build := exec.CommandContext(t.Context(), "go", "build", "-o", contenders[0].binary, "oriel/cmd/oriel")
	build.Stderr = os.Stderr
	if err := build.Run(); err != nil {
		t.Fatal("build:", err)
	}
	key := filepath.Join(dir, "master.key")
	if err := os.WriteFile(key, []byte(hex.EncodeToString(make([]byte, 32))), 0o600); err != nil {
		t.Fatal(err)
	}
	client, err := kafka.New(kafka.Config{Brokers: []string{o.brokers}})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = client.Close() }()
	flights := readEvents(t, o.flights, o.label)
	inputs := map[string][]int64{} // end offsets of the partitions, by topic
	name := fmt.Sprintf("bench-%d", time.Now().Unix())
	for _, c := range contenders {
		f := c.set.form()
		c.input = name + f.suffix
		if inputs[c.input] == nil {
			inputs[c.input] = fill(t, client, c.input, f, flights, o)
		}
	}
	for n := range o.runs {
		for i := range contenders {
			c := contenders[(i+n)%len(contenders)] // contenders take turns at going first, because a broker warms up
			c.run(t, &service{
				binary: c.binary, name: fmt.Sprintf("%s-%d-%s", name, n, c.name), input: c.input, brokers: o.brokers,
				key: key, dir: filepath.Join(dir, fmt.Sprint(n, c.name)), set: c.set,
			}, client, inputs[c.input])
		}
	}
	for _, c := range contenders {
		fmt.Printf("%s: median %.0f events/s, %.2f µs of processor an event, VmHWM %.1f MB, at most %.1f MB\n",
			c.name, median(c.rates), median(c.costs), median(c.peaks), slices.Max(c.peaks))
	}
	if len(contenders) == 2 {
		fmt.Printf("ratio of the medians: %.3f\n", median(contenders[0].rates)/median(contenders[1].rates))
	}
}

// run measures one deployment.
func (c *contender) run(t *testing.T, s *service, client *kafka.Client, ends []int64) {
	t.Helper()
	r := s.measure(t, client, ends)
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
}

func median(values []float64) float64 {
	sorted := slices.Sorted(slices.Values(values))
	return sorted[len(sorted)/2]
}
