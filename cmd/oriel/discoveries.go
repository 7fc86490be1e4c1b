package main

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"oriel/cmd/internal/exit"
	"oriel/cmd/internal/program"
	"oriel/operators/experiment"
	"oriel/schemas/decision"
	"oriel/schemas/text"
)

type discoveriesOptions struct {
	rate float64
	look uint64
}

func discoveriesCommand() *cobra.Command {
	var o discoveriesOptions
	cmd := &cobra.Command{
		Use:   "discoveries METRIC=FILE…",
		Short: "Say which of many arms and metrics have an effect, with few false ones among them",
		Long: "Discoveries reads decisions of experiments, a file of lines as `oriel tail --raw` prints them for each metric, and takes\n" +
			"every arm of every file for one question. It names effects so that the share of false ones among them is --rate on\n" +
			"average at most, however metrics depend on each other. Give it all metrics that you would report, not only those that\n" +
			"look good.\n\n" +
			"Without --look it reads the newest decisions by effect_p: valid at any time, by any rule of stopping. With --look N it\n" +
			"reads decision N of each by effect_e, and finds more: right only if N was fixed before anybody saw a decision.\n\n" +
			"    oriel discoveries signup=signup.json revenue=revenue.json",
		Args: cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error { return runDiscoveries(cmd.OutOrStdout(), args, o) },
	}
	f := cmd.Flags()
	program.Var(f, &o.rate, "rate", 0.05, "greatest share of false discoveries, on average")
	program.Var(f, &o.look, "look", 0, "look that was fixed beforehand; 0 is the newest, at any time")
	return cmd
}

// question asks whether an arm has an effect on a metric.
type question struct {
	metric, stream          string
	arm                     int // number of the arm; the control is 1
	effect, low, high, e, p float64
	stop                    float64 // 1: the decision allows users to stop the experiment
}

func runDiscoveries(out io.Writer, args []string, o discoveriesOptions) error {
	if !(o.rate > 0 && o.rate < 1) {
		return exit.WrongUse("--rate %g: not between 0 and 1", o.rate)
	}
	var all []question
	for _, arg := range args {
		metric, file, ok := strings.Cut(arg, "=")
		if !ok || metric == "" || file == "" {
			return exit.WrongUse("%q: not METRIC=FILE", arg)
		}
		found, err := questionsOf(metric, file, o.look)
		if err != nil {
			return fmt.Errorf("%s: %w", file, err)
		}
		all = append(all, found...)
	}
	es, ps := make([]float64, len(all)), make([]float64, len(all))
	for i, q := range all {
		if es[i], ps[i] = 0, 1; q.stop == 1 {
			es[i], ps[i] = q.e, q.p
		}
	}
	found, by := experiment.DiscoveriesAtAnyTime(ps, o.rate), "p-values of all looks so far, valid at any time"
	if o.look > 0 {
		found = experiment.Discoveries(es, o.rate)
		by = fmt.Sprintf("e-values of look %d, valid if the look was fixed beforehand", o.look)
	}
	return writeDiscoveries(out, all, found, by, o.rate)
}

func writeDiscoveries(out io.Writer, all []question, found []bool, by string, rate float64) error {
	const row = "%s\t%s\t%d\t%.5g\t%.5g\t%.5g\t%.3g\t%.2g\t%s\n"
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	_, _ = fmt.Fprintln(w, "metric\tstream\tarm\teffect\tfrom\tto\te\tp\tfound")
	n := 0
	for i, q := range all {
		answer := "not shown"
		switch {
		case q.stop != 1:
			answer = "stop not allowed"
		case found[i]:
			answer, n = "effect", n+1
		}
		_, _ = fmt.Fprintf(w, row, q.metric, q.stream, q.arm, q.effect, q.low, q.high, q.e, q.p, answer)
	}
	if err := w.Flush(); err != nil {
		return err
	}
	_, err := fmt.Fprintf(out, "found: %d of %d, and on average at most %g %% of all findings are false: by %s.\n", n, len(all), 100*rate,
		by)
	return err
}

const maxDecisionLine = 64 << 20

// questionsOf reads the questions of a file. For every stream it takes the decision of the requested look, or the
// newest decision.
func questionsOf(metric, file string, look uint64) ([]question, error) {
	f, err := os.Open(file)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }()
	var streams []string
	of := map[string][]question{}
	for line, err := range text.NewLines(f, maxDecisionLine).All() {
		if err != nil {
			return nil, err
		}
		if len(line.Value) == 0 {
			continue
		}
		d, err := decision.Parse(line.Value)
		if err != nil {
			return nil, fmt.Errorf("line %d: %w", line.Number+1, err)
		}
		found, looks, err := questionsIn(metric, d)
		if err != nil {
			return nil, fmt.Errorf("line %d: %w", line.Number+1, err)
		}
		if _, seen := of[d.Stream]; !seen {
			streams, of[d.Stream] = append(streams, d.Stream), nil
		}
		if look == 0 || looks == float64(look) {
			of[d.Stream] = found
		}
	}
	var all []question
	for _, stream := range streams {
		if of[stream] == nil {
			return nil, exit.WrongUse("--look %d: stream %s has no decision of it", look, stream)
		}
		all = append(all, of[stream]...)
	}
	if all == nil {
		return nil, exit.WrongUse("no decisions")
	}
	return all, nil
}

// questionsIn reads the members of a decision that belong to an experiment.
func questionsIn(metric string, d decision.Decision) (all []question, looks float64, err error) {
	members := map[string]json.RawMessage{}
	for _, x := range d.Extras {
		members[x.Name] = json.RawMessage(x.JSON)
	}
	read := func(name string, to any) {
		if json.Unmarshal(members[name], to) != nil && err == nil {
			err = fmt.Errorf("member %s: missing, or not of an experiment; ORIEL_ALWAYS_VALID makes one", name)
		}
	}
	var columns [5][]float64
	for i, name := range []string{"effect", "effect_low", "effect_high", "effect_e", "effect_p"} {
		if read(name, &columns[i]); len(columns[i]) != len(columns[0]) && err == nil {
			err = fmt.Errorf("member %s: %d arms, not %d", name, len(columns[i]), len(columns[0]))
		}
	}
	stop := 0.0
	read("looks", &looks)
	read("stop_allowed", &stop)
	if err != nil {
		return nil, 0, err
	}
	for i := range columns[0] {
		all = append(all, question{
			metric, d.Stream, i + 2, columns[0][i], columns[1][i], columns[2][i], columns[3][i], columns[4][i], stop,
		})
	}
	return all, looks, nil
}
