package main

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"oriel/cmd/internal/exit"
	"oriel/cmd/internal/figure"
	"oriel/cmd/internal/plan"
	"oriel/cmd/internal/program"
	"oriel/cmd/internal/settings"
	"oriel/cmd/internal/traps"
	"oriel/operators"
	"oriel/schemas/text"
)

type planOptions struct {
	json     bool
	plot     string
	rate     float64
	inputs   int // number of partitions of the input; 0: unknown
	age      uint64
	after    uint64
	costs    string
	measure  bool
	epsilons []float64
	windows  []uint64
	wanted   wantOptions
	aim      operators.Aim  // effect that an experiment must detect; zero: no such request
	solution *plan.Solution // value that a setting needs for the wanted error; nil: no error is wanted
	problems io.Writer      // receives warnings; nil: no warnings
}

// measureFor is the time limit of --measure for all mechanisms together.
const measureFor = 200 * time.Millisecond

func planCommand() *cobra.Command {
	var o planOptions
	cmd := &cobra.Command{
		Use: "plan [--rate EVENTS_PER_SECOND [--partitions PARTITIONS]] [--age STEPS] [--costs LOW:HIGH] [--json] [--plot FILE.svg|FILE.png]\n" +
			"  oriel plan --want-count|--want-sum|--want-mean|--want-variance ± [--after EVENTS] [--solve epsilon|memory|batch]\n" +
			"  oriel plan --want-quantile NAME=± [--after EVENTS] [--solve epsilon|memory|batch]\n" +
			"  oriel plan --want-effect EFFECT [--power P] [--deviation SD] [--json]\n" +
			"  oriel plan --epsilon LIST --window LIST [--rate EVENTS_PER_SECOND] [--json] [--plot FILE.svg|FILE.png]",
		Short: "See the cost and the proof of settings, before any event is read",
		Long: "Plan computes from the settings of learning and privacy, for the configured mechanism and all others that fit: sensitivity,\n" +
			"noise, error beside the least that any Gaussian mechanism can have, the noise that is left in a decision, ε at every age,\n" +
			"ε of a group, memory, and the cost of a step. It needs no brokers, topics or keys, and reads no data. It warns where the\n" +
			"noise is for more than an exchange of one event can move.\n\n" +
			"Where decisions are numbers (ORIEL_OPERATOR=aggregate), it gives their ± at 95 % in their own units: counts and\n" +
			"sums, and means and variances after so many events of a cell, powers of ten and the numbers of --after. From a ± that is wanted\n" +
			"(--want-count 50; --want-mean 2 --after 3000; --want-quantile p90=2 for ± 2 points of rank: a value between those that 88 %\n" +
			"and 92 % of events are below) it finds the least ε, the longest memory or the least batch that gives it, as --solve says,\n" +
			"and the plan is for the solution. A batch is found for the events that memory and batch have together, or\n" +
			"the events of --over; of tumbling windows, for a mean over each cell's even share. All else stays as it is configured.\n\n" +
			"Of an experiment (ORIEL_ALWAYS_VALID), --want-effect says after how many events an effect is found with the probability of\n" +
			"--power, looking at any time: as configured, without privacy, and without privacy by a single look at the end. Outcomes\n" +
			"other than two, such as amounts, have the standard deviation of --deviation, from public or older data.\n\n" +
			"Of costs (ORIEL_LOSS=linear) it says how many directions decisions can move in, on which costs are projected before the\n" +
			"clip; and with --costs LOW:HIGH, a range that is public, the largest norm that they then have: the clip that shortens none.\n\n" +
			"With --epsilon or --window, lists separated by commas, it compares the configured mechanism at each of them instead.\n" +
			"With --rate, the events that one stream takes a second, lengths are also times. With --partitions besides, --rate is that of\n" +
			"the whole input: plan says how long window, memory, life and the separation of users last where it is one stream and where\n" +
			"each partition is one (ORIEL_STREAM), which settings keep them as long, and how fast the order log grows. It also says whether one stream takes so many\n" +
			"events a second, on a machine that was measured, and if not, the remedy. With --plot it draws ε against age and the\n" +
			"errors on a slide of 16:9.\n\n" +
			"--json prints one object whose names stay; a figure that does not exist or is not finite is null. Lengths of time are in\n" +
			"seconds, noise and errors in loss units (of numbers in their own), losses ε in nats and rounded up.",
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			o.problems = cmd.ErrOrStderr()
			return runPlan(cmd.OutOrStdout(), program.Environ(cmd.Context()), o)
		},
	}
	f := cmd.Flags()
	f.BoolVar(&o.json, "json", false, "print JSON")
	f.StringVar(&o.plot, "plot", "", "draw the comparison to a file, .svg or .png")
	program.Var(f, &o.rate, "rate", 0, "events a second of one stream")
	program.Var(f, &o.inputs, "partitions", 0, "`PARTITIONS` of the input: --rate is then the sum over all of them, and plan compares one stream with one a partition")
	program.Var(f, &o.age, "age", 0, "show this age, in steps, beside the ages of whole windows")
	program.Var(f, &o.after, "after", 0, "show the ± of means and other ratios at this number of `EVENTS` in a cell, beside powers of ten")
	f.StringVar(&o.costs, "costs", "", "the public range `LOW:HIGH` of each cost of an event; plan then says which clip shortens no cost vector")
	f.BoolVar(&o.measure, "measure", false, "measure the time of a step on this machine")
	program.Var(f, &o.epsilons, "epsilon", nil, "compare this `LIST` of ε in place of ORIEL_EPSILON")
	f.Var(&windowList{&o.windows}, "window", "compare this `LIST` of windows, in steps, in place of ORIEL_WINDOW")
	exclude(cmd, "epsilon", "age", "measure")
	exclude(cmd, "window", "age", "measure")
	program.Var(f, &o.aim.Effect, "want-effect", 0, "say after how many events an experiment finds an `EFFECT`, in units of ORIEL_VALUE")
	program.Var(f, &o.aim.Probability, "power", 0.8, "the `PROBABILITY` with which --want-effect is found")
	program.Var(f, &o.aim.Deviation, "deviation", 0, "the standard `DEVIATION` of outcomes in an arm, in units of ORIEL_VALUE; 0: each outcome is an end of its range")
	o.wanted.flags(cmd)
	exclude(cmd, "want-effect", "plot", "epsilon", "window", "measure", "rate", "age")
	return cmd
}

func runPlan(out io.Writer, environ []string, o planOptions) error {
	if o.rate < 0 {
		return exit.WrongUse("--rate: %g events a second: negative", o.rate)
	}
	if o.inputs < 0 || o.inputs > 0 && o.rate == 0 {
		return exit.WrongUse("--partitions: needs --rate, the events a second of all partitions, and must not be negative")
	}
	if o.plot != "" {
		if err := figure.CheckFile(o.plot); err != nil {
			return exit.WrongUse("--plot: %w", err)
		}
	}
	want, wanted, err := o.wanted.want(o.after)
	if err != nil {
		return err
	}
	if wanted {
		var solution plan.Solution
		if environ, solution, err = o.wanted.solved(environ, want); err != nil {
			return err
		}
		o.solution = &solution
	}
	s, err := settings.Load(environ, settings.Events, settings.Operator)
	if err != nil {
		return err
	}
	if o.problems != nil {
		traps.Warn(o.problems, settingsWarnings(o.compared(environ)), traps.Overpaid(s), traps.Unseen(s))
	}
	if o.aim.Effect != 0 {
		return planEffect(out, s, o)
	}
	answer, err := planAnswer(s, o)
	if err != nil {
		return err
	}
	if o.plot != "" {
		if err := answer.Slide().Save(o.plot); err != nil {
			return fmt.Errorf("--plot: %w", err)
		}
	}
	return printAnswer(out, o.json, answer)
}

// printAnswer writes an answer as JSON or as text.
func printAnswer(out io.Writer, asJSON bool, answer interface{ Print(io.Writer) error }) error {
	if asJSON {
		encoder := json.NewEncoder(out)
		encoder.SetEscapeHTML(false)
		encoder.SetIndent("", "  ")
		return encoder.Encode(answer)
	}
	return answer.Print(out)
}

// planEffect answers --want-effect: how many events an experiment needs to show an effect.
func planEffect(out io.Writer, s settings.Settings, o planOptions) error {
	if !(o.aim.Probability > 0 && o.aim.Probability < 1) {
		return exit.WrongUse("--power: %g: not a probability between 0 and 1", o.aim.Probability)
	}
	learner := s.Learner()
	in := plan.Input{Configured: learner.Mechanism(), Operator: learner.Operator()}
	answer, err := plan.NewEffect(in, o.aim)
	if err != nil {
		return exit.WrongUse("--want-effect: %w", err)
	}
	return printAnswer(out, o.json, answer)
}

// printed is an answer that can be printed as text or JSON, and drawn.
type printed interface {
	Slide() *figure.Slide
	Print(io.Writer) error
}

func planAnswer(s settings.Settings, o planOptions) (printed, error) {
	learner := s.Learner()
	mechanism, operator := learner.Mechanism(), learner.Operator()
	input := plan.Partitions{
		Count: o.inputs, Rate: o.rate, WholeTopic: s.Deployment().WholeTopic(), Interval: s.CommitInterval,
	}
	in := plan.Input{
		Configured: mechanism, Operator: operator, Name: s.Operator, AgeWeight: s.AgeWeight, Rate: input.Of(),
		Age: o.age, After: o.after,
		Solved: o.solution, Input: input,
	}
	if o.measure {
		in.Measure = measureFor
	}
	var err error
	if in.Costs, err = o.costRange(operator); err != nil {
		return nil, err
	}
	compared := len(o.epsilons)+len(o.windows) > 0
	if compared && !operator.Describe(mechanism).Draws {
		return compare(in, o) // a comparison needs no plan for the configured values of the compared settings
	}
	if err := in.Simulate(s); err != nil {
		return nil, err
	}
	if compared {
		return compare(in, o)
	}
	return plan.New(in)
}

// costRange returns the range of --costs, or nil if it is not given.
func (o planOptions) costRange(operator operators.Operator) (*operators.Range, error) {
	if o.costs == "" {
		return nil, nil
	}
	low, high, _ := strings.Cut(o.costs, ":")
	r, ok := operators.ParseRange(low, high)
	switch {
	case !ok:
		return nil, exit.WrongUse("--costs: %q is not LOW:HIGH, the first below the second", o.costs)
	case operators.CostsOf(operator) == nil:
		return nil, exit.WrongUse("--costs: events are no vectors of costs; ORIEL_OPERATOR=coco with ORIEL_LOSS=linear takes such")
	}
	return &r, nil
}

// compare compares all combinations of the flags' lists. Without a list, the configured value is the only one.
func compare(in plan.Input, o planOptions) (printed, error) {
	if in.Configured.Scope.ForLife() {
		return nil, exit.WrongUse("--epsilon, --window: a comparison is of windows, and ORIEL_WINDOW asks for a whole life")
	}
	if len(o.epsilons) == 0 {
		o.epsilons = []float64{in.Configured.Budget.Epsilon}
	}
	if len(o.windows) == 0 {
		o.windows = []uint64{in.Configured.Scope.Span()}
	}
	answer, err := plan.Compare(in, o.epsilons, o.windows)
	if err != nil {
		return nil, exit.WrongUse("%w", err)
	}
	return answer, nil
}

// compared returns the settings of each combination of the flags' lists that is valid.
func (o planOptions) compared(environ []string) (all []settings.Settings) {
	var lengths [][]string
	for _, w := range o.windows {
		lengths = append(lengths, []string{fmt.Sprintf("ORIEL_WINDOW=%d", w)})
	}
	for _, each := range combinations(environ, epsilonLines(o.epsilons), lengths) {
		if s, err := settings.Load(each, settings.Events, settings.Operator); err == nil {
			all = append(all, s)
		}
	}
	return all
}

// windowList is a flag with a list of numbers of steps.
type windowList struct{ steps *[]uint64 }

func (l *windowList) Set(s string) error {
	for part := range strings.SplitSeq(s, ",") {
		w, err := text.ParseCount(part)
		if err != nil || w == 0 {
			return fmt.Errorf("%q is not a number of steps", part)
		}
		*l.steps = append(*l.steps, w)
	}
	return nil
}

func (l *windowList) String() string { return "" }
func (l *windowList) Type() string   { return "steps,…" }
