//go:build soak

package soak

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"syscall"
	"testing"
	"time"
)

// options holds the flags.
type options struct {
	brokers int
	stream  string
	users   bool
	step    time.Duration
	seed    uint64
	length  time.Duration
	faults  int
	only    string
	rate    int
	jars    string
	python  string
	binary  string
	dir     string
	keep    bool
}

// asked has the flags of this process. The testing package parses them before the tests.
var asked = flags()

func flags() *options {
	o := new(options)
	flag.IntVar(&o.brokers, "brokers", 1, "number of brokers: 1, or 3 with three replicas and two in sync")
	flag.StringVar(&o.stream, "stream", "partition", "ORIEL_STREAM: partition, or topic with 12 partitions")
	flag.BoolVar(&o.users, "users", false, "user level, named features, ε = 1")
	flag.DurationVar(&o.step, "step", 0, "ORIEL_STEP, whole seconds, and users in periods: for --stream topic; 0: by count")
	flag.Uint64Var(&o.seed, "seed", 1, "of the faults and the events")
	flag.DurationVar(&o.length, "for", 4*time.Minute, "how long faults are made")
	flag.IntVar(&o.faults, "faults", 0, "end after so many faults, if that is sooner; 0: no such end")
	flag.StringVar(&o.only, "only", "", "faults of this kind alone, such as \"broker kill\"; empty: all kinds")
	flag.IntVar(&o.rate, "rate", 150, "records a second")
	flag.StringVar(&o.jars, "jars", "", "directory of the brokers' jars, as .ci/kafka/jars prints it; required")
	flag.StringVar(&o.python, "python", "python3", "a Python that has requirements.txt")
	flag.StringVar(&o.binary, "binary", "", "the command to test; built from this tree when empty")
	flag.StringVar(&o.dir, "dir", "", "directory of the run; when empty, a new directory below TMPDIR")
	flag.BoolVar(&o.keep, "keep", false, "leave the directory of a run without violations")
	return o
}

// TestSoak does the run that the flags describe.
func TestSoak(t *testing.T) {
	ctx, stop := signal.NotifyContext(t.Context(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	r, err := soak(ctx, *asked)
	if r != nil {
		fmt.Println("\n" + r.markdown())
	}
	if err != nil {
		t.Fatal("cut short:", err)
	}
	if r.failed() {
		t.Error("the report has violations")
	}
}

// soak does a complete run. It returns an error if the run was not possible. Violations that the run finds are in the
// report.
func soak(ctx context.Context, o options) (r *report, err error) {
	if o.brokers != 1 && o.brokers != 3 {
		return nil, errors.New("--brokers: not 1 or 3")
	}
	if o.stream != "partition" && o.stream != "topic" {
		return nil, errors.New("--stream: not partition or topic")
	}
	if o.step > 0 && (o.stream != "topic" || o.users || o.step%time.Second > 0) {
		return nil, errors.New("--step: not whole seconds, without --stream topic, or with --users")
	}
	if o.jars == "" {
		return nil, errors.New("--jars: not set; .ci/kafka/jars prints the directory")
	}
	if o.dir == "" {
		o.dir, err = os.MkdirTemp("", "oriel-soak-")
	} else {
		err = os.MkdirAll(o.dir, 0o700)
	}
	if err != nil {
		return nil, err
	}
	if o.dir, err = filepath.Abs(o.dir); err != nil {
		return nil, err
	}
	defer func() {
		if err == nil && !r.failed() && !o.keep {
			_ = os.RemoveAll(o.dir)
		}
	}()
	fmt.Println("soak: everything is below", o.dir)
	if o.binary == "" {
		o.binary = filepath.Join(o.dir, "oriel")
		build := exec.CommandContext(ctx, "go", "build", "-o", o.binary, "oriel/cmd/oriel")
		build.Stderr = os.Stderr
		if err := build.Run(); err != nil {
			return nil, fmt.Errorf("build: %w", err)
		}
	}
	r = newReport(os.Stdout, fmt.Sprintf("%d broker(s), stream a %s, users %v, step %v, seed %d, %v of faults", o.brokers,
		o.stream, o.users, o.step, o.seed, o.length))
	d, err := build(ctx, o)
	if err != nil {
		return r, err
	}
	defer d.close()
	defer d.cluster.stop()
	return r, d.run(ctx, o, r)
}

// build prepares brokers, proxies and processes, and starts none of them.
func build(ctx context.Context, o options) (*deployment, error) {
	env, err := settings(o)
	if err != nil {
		return nil, err
	}
	d := &deployment{binary: o.binary, dir: o.dir, env: env, inputs: 3, streams: 3, step: o.step}
	if o.stream == "topic" {
		d.oneStream, d.inputs, d.streams = true, 12, 1
	}
	used := &ports{given: map[int]bool{}}
	proxied := make([][]string, o.brokers) // indexed by broker, then process
	for _, command := range []string{"run", "run", "run", "letters"} {
		var addresses []string
		for b := range proxied {
			addr := used.address()
			proxied[b] = append(proxied[b], addr)
			addresses = append(addresses, addr)
		}
		if _, err := d.place(command, addresses, used); err != nil {
			return nil, err
		}
	}
	d.cluster, err = newCluster(ctx, o.jars, o.dir, o.brokers, proxied, used)
	if err != nil {
		return nil, err
	}
	for i, s := range d.slots {
		for b, broker := range d.cluster.brokers {
			p, err := newProxy(broker, proxied[b][i], &s.trap)
			if err != nil {
				return nil, err
			}
			s.proxies = append(s.proxies, p)
		}
	}
	return d, nil
}
