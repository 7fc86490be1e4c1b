//go:build soak

package soak

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"time"

	"oriel/pipeline/kafka"
)

// run does a run, from the start of the brokers to the final checks.
func (d *deployment) run(ctx context.Context, o options, r *report) error {
	if err := d.begin(ctx); err != nil {
		return err
	}
	if err := d.suffer(ctx, o, r); err != nil {
		return err
	}
	d.end(r.violation)
	for _, s := range d.slots {
		r.fact("peak resident size of %s: %d MB", s.name, s.peakKB/1000)
		if err := s.complaints(r.violation); err != nil {
			return err
		}
	}
	d.replay(ctx, r.violation)
	return d.judge(ctx, o, r)
}

// begin starts brokers and processes, and saves the first state of every partition.
func (d *deployment) begin(ctx context.Context) error {
	if err := d.cluster.start(ctx); err != nil {
		return err
	}
	if err := d.command(ctx, "topics", "--input-partitions", fmt.Sprint(d.inputs)); err != nil {
		return err
	}
	d.diskless = d.slots[0].ownDisk(ctx)
	for _, s := range d.slots {
		if err := s.start(); err != nil {
			return err
		}
	}
	if err := d.opened(ctx); err != nil {
		return err
	}
	return d.save(ctx)
}

// suffer sends events, causes faults, and waits until the service has recovered and has consumed the input to its end.
func (d *deployment) suffer(ctx context.Context, o options, r *report) error {
	beside, cancel := context.WithCancel(ctx)
	var besides sync.WaitGroup
	defer besides.Wait()
	defer cancel() // from here on, a process that ends is not restarted
	for _, s := range d.slots {
		besides.Go(func() { s.supervise(beside, r.violation) })
	}
	besides.Go(func() { d.observe(beside) })
	feeder, err := d.feed(o)
	if err != nil {
		return err
	}
	defer feeder.kill()
	recorder, err := d.record(o)
	if err != nil {
		return err
	}
	defer recorder.kill()
	in := &injector{
		deployment: d, random: newSchedule(o.seed + 1<<32).random, report: r, states: archive{dir: d.copies()},
		decisions: watchTopic(beside, d.cluster.client, decisions, d.streams, &besides),
		letters:   watchTopic(beside, d.cluster.client, deadLetters, d.streams, &besides), feeder: feeder,
	}
	if err := os.Mkdir(d.copies(), 0o700); err != nil {
		return err
	}
	if _, _, err := in.settled(ctx, time.Now()); err != nil {
		return fmt.Errorf("before any fault: %w; logs are in %s", err, d.dir)
	}
	if err := in.run(ctx, newSchedule(o.seed, d.kinds(o, r)...), time.Now().Add(o.length), o.faults); err != nil {
		return err
	}
	last := time.Now()
	feeder.signal(syscall.SIGTERM)
	if !feeder.ends(drainLimit) {
		return fmt.Errorf("the producer does not end; see %s", feeder.log)
	}
	if err, _ := feeder.outcome(); err != nil {
		return fmt.Errorf("the producer failed: %w; see %s", err, feeder.log)
	}
	if err := errors.Join(d.drained(ctx, deploymentName, inputTopic),
		d.drained(ctx, deploymentName+".letters", statuses)); err != nil {
		r.violation("%v; logs are in %s", err, d.dir)
	} else {
		r.fact("after the last fault the ends of input and verdicts were reached in %.1f s", time.Since(last).Seconds())
	}
	if d.step > 0 { // the step of the last record ends, and its decision is due
		if err := kafka.Pause(ctx, 2*d.step+stepDelay); err != nil {
			return err
		}
	}
	recorder.signal(syscall.SIGTERM)
	if !recorder.ends(drainLimit) {
		return fmt.Errorf("the recorder does not end; see %s", recorder.log)
	}
	if err, _ := recorder.outcome(); err != nil {
		return fmt.Errorf("the recorder failed: %w; see %s", err, recorder.log)
	}
	return nil
}

// drainLimit is the longest allowed time from the last fault until a topic is consumed to its end.
const drainLimit = time.Minute

// kinds returns the kinds of faults that this cluster and this machine allow.
func (d *deployment) kinds(o options, r *report) [][]weight {
	if o.only != "" {
		return [][]weight{{{kind(o.only), 1}}}
	}
	kinds := [][]weight{ofProcesses, ofNetworks, ofOne}
	if len(d.cluster.brokers) > 1 {
		kinds[2] = ofThree
	}
	switch {
	case d.step > 0:
		kinds = append(kinds, ofTopics[:1]) // an order record without entries is needed, too
	case d.oneStream:
		kinds = append(kinds, ofTopics)
	}
	if d.diskless != nil {
		r.fact("full disks are left out: %v", d.diskless)
		return kinds
	}
	return append(kinds, ofDisks)
}

// observe records the memory of the processes and saves their HTTP pages.
func (d *deployment) observe(ctx context.Context) {
	for n := 0; kafka.Pause(ctx, 500*time.Millisecond) == nil; n++ {
		for _, s := range d.slots {
			s.measure()
			if n%10 == 0 {
				s.savePages(ctx)
			}
		}
	}
}

// direct returns the brokers' addresses without proxies.
func (d *deployment) direct() string {
	var addresses []string
	for _, b := range d.cluster.brokers {
		addresses = append(addresses, b.addr)
	}
	return strings.Join(addresses, ",")
}

// feed starts the producer.
func (d *deployment) feed(o options) (*process, error) {
	arguments := []string{
		o.python, "-B", "feed.py", "--brokers", d.direct(), "--topic", inputTopic, "--partitions",
		fmt.Sprint(d.inputs),
		"--rate", fmt.Sprint(o.rate), "--seed", fmt.Sprint(o.seed),
	}
	if o.users || o.step > 0 {
		arguments = append(arguments, "--users")
	}
	if o.step > 0 {
		arguments = append(arguments, "--clock")
	}
	if d.oneStream {
		arguments = append(arguments, "--wander")
	}
	feeder := newProcess("producer", filepath.Join(d.dir, "feed.log"), os.Environ(), arguments...)
	return feeder, feeder.start()
}

// recorded returns the file with all records that the input and the order log have ever held.
func (d *deployment) recorded() string { return filepath.Join(d.dir, "recorded") }

// recordGroup is the group whose offsets show the recorder's progress.
const recordGroup = deploymentName + "-record"

// record starts the recorder, which saves the input and the order log before they are trimmed. With
// ORIEL_STREAM=partition nothing is trimmed, and it does nothing.
func (d *deployment) record(o options) (*process, error) {
	recorder := newProcess("recorder", filepath.Join(d.dir, "record.log"), os.Environ(), o.python, "-B",
		"record.py", "--brokers", d.direct(), "--group", recordGroup, "--to", d.recorded(),
		inputTopic, orderLog)
	if !d.oneStream {
		return recorder, nil
	}
	return recorder, recorder.start()
}

func seconds(d time.Duration) string { return fmt.Sprint(int(d / time.Second)) }

// judge runs check.py and adds its output, lines and violations, to the report.
func (d *deployment) judge(ctx context.Context, o options, r *report) error {
	arguments := []string{
		"-B", "check.py", "--brokers", d.direct(), "--name", deploymentName, "--topic",
		inputTopic,
	}
	if o.users {
		arguments = append(arguments, "--separation", fmt.Sprint(separation))
	}
	if o.step > 0 {
		arguments = append(arguments, "--step", seconds(o.step), "--period", seconds(periodSteps*o.step),
			"--most", fmt.Sprint(periodEvents), "--delay", fmt.Sprint(stepDelay.Milliseconds()))
	}
	if d.oneStream {
		arguments = append(arguments, "--order", orderLog, "--recorded", d.recorded())
	}
	for _, s := range d.slots {
		arguments = append(arguments, "--search", s.dir, "--search", s.log)
		if !s.letters {
			arguments = append(arguments, "--search", s.pagesFile())
		}
	}
	arguments = append(arguments, "--search", d.copies())
	check := exec.CommandContext(ctx, o.python, arguments...)
	check.Stderr = os.Stderr
	output, err := check.Output()
	for lines := bufio.NewScanner(strings.NewReader(string(output))); lines.Scan(); {
		if text, bad := strings.CutPrefix(lines.Text(), "violation: "); bad {
			r.violation("%s", text)
		} else {
			r.fact("%s", lines.Text())
		}
	}
	if err != nil {
		return fmt.Errorf("check.py: %w", err)
	}
	return nil
}
