package main

import (
	"encoding/json"
	"io"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"oriel/cmd/internal/exit"
	"oriel/cmd/internal/plan"
	"oriel/cmd/internal/plan/clock"
	"oriel/cmd/internal/plan/rates"
	"oriel/cmd/internal/plan/statistics"
	"oriel/cmd/internal/plan/volume"
	"oriel/cmd/internal/program"
	"oriel/cmd/internal/settings"
	"oriel/cmd/internal/traps"
	"oriel/operators"
	"oriel/operators/setting"
)

type planOptions struct {
	json     bool
	rate     float64
	inputs   int // number of partitions of the input; 0: unknown
	age      uint64
	after    uint64
	costs    string
	aim      operators.Aim // effect that an experiment must detect; zero: no such request
	problems io.Writer     // receives warnings; nil: no warnings
}

func planCommand() *cobra.Command {
	var o planOptions
	cmd := &cobra.Command{
		Use: "plan [--rate EVENTS_PER_SECOND [--partitions PARTITIONS]] [--age STEPS] [--costs LOW:HIGH] [--json]\n" +
			"  oriel plan --want-effect EFFECT [--power P] [--deviation SD] [--json]",
		Short: "See the cost and the proof of settings, before any event is read",
		Long: "Plan computes from the settings of learning and privacy, for the configured mechanism and all others that fit: sensitivity,\n" +
			"noise, error beside the least that any Gaussian mechanism can have, the noise that is left in a decision, ε at every age,\n" +
			"ε of a group, memory, and the cost of a step. It needs no brokers, topics or keys, and reads no data. It warns where the\n" +
			"noise is for more than an exchange of one event can move.\n\n" +
			"Where decisions are numbers (ORIEL_OPERATOR=aggregate), it gives their ± at 95 % in their own units: counts and\n" +
			"sums, and means and variances after so many events of a cell, powers of ten and the numbers of --after. The ± of a quantile is in\n" +
			"points of rank: with ± 2, a p90 is a value between those that 88 % and 92 % of events are below.\n\n" +
			"Of an experiment (ORIEL_ALWAYS_VALID), --want-effect says after how many events an effect is found with the probability of\n" +
			"--power, looking at any time: as configured, without privacy, and without privacy by a single look at the end. Outcomes\n" +
			"other than two, such as amounts, have the standard deviation of --deviation, from public or older data.\n\n" +
			"Of costs (ORIEL_LOSS=linear) it says how many directions decisions can move in, on which costs are projected before the\n" +
			"clip; and with --costs LOW:HIGH, a range that is public, the largest norm that they then have: the clip that shortens none.\n\n" +
			"With --rate, the events that one stream takes a second, lengths are also times. With --partitions besides, --rate is that of\n" +
			"the whole input: plan says how long window, memory, life and the separation of users last where it is one stream and where\n" +
			"each partition is one (ORIEL_STREAM), which settings keep them as long, and how fast the order log grows. It also says whether one stream takes so many\n" +
			"events a second, on a machine that was measured, and if not, the remedy.\n\n" +
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
	program.Var(f, &o.rate, "rate", 0, "events a second of one stream")
	program.Var(f, &o.inputs, "partitions", 0, "`PARTITIONS` of the input: --rate is then the sum over all of them, and plan compares one stream with one a partition")
	program.Var(f, &o.age, "age", 0, "show this age, in steps, beside the ages of whole windows")
	program.Var(f, &o.after, "after", 0, "show the ± of means and other ratios at this number of `EVENTS` in a cell, beside powers of ten")
	f.StringVar(&o.costs, "costs", "", "the public range `LOW:HIGH` of each cost of an event; plan then says which clip shortens no cost vector")
	program.Var(f, &o.aim.Effect, "want-effect", 0, "say after how many events an experiment finds an `EFFECT`, in units of ORIEL_VALUE")
	program.Var(f, &o.aim.Probability, "power", 0.8, "the `PROBABILITY` with which --want-effect is found")
	program.Var(f, &o.aim.Deviation, "deviation", 0, "the standard `DEVIATION` of outcomes in an arm, in units of ORIEL_VALUE; 0: each outcome is an end of its range")
	exclude(cmd, "want-effect", "rate", "age")
	return cmd
}

func runPlan(out io.Writer, environ []string, o planOptions) error {
	if o.rate < 0 {
		return exit.WrongUse("--rate: %g events a second: negative", o.rate)
	}
	if o.inputs < 0 || o.inputs > 0 && o.rate == 0 {
		return exit.WrongUse("--partitions: needs --rate, the events a second of all partitions, and must not be negative")
	}
	s, err := settings.Load(environ, settings.Events, settings.Operator)
	if err != nil {
		return err
	}
	if o.problems != nil {
		traps.Warn(o.problems, traps.Settings(s), traps.Overpaid(s), traps.Unseen(s))
	}
	if o.aim.Effect != 0 {
		return planEffect(out, s, o)
	}
	answer, err := planAnswer(s, o)
	if err != nil {
		return err
	}
	return printAnswer(out, o.json, answer)
}

// printAnswer writes an answer as JSON or as text.
func printAnswer(out io.Writer, asJSON bool, answer printed) error {
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
	answer, err := statistics.NewEffect(learner.Mechanism(), learner.Operator(), o.aim)
	if err != nil {
		return exit.WrongUse("--want-effect: %w", err)
	}
	return printAnswer(out, o.json, answer)
}

// printed is an answer that can be printed as text or JSON.
type printed interface{ Print(io.Writer) error }

func planAnswer(s settings.Settings, o planOptions) (printed, error) {
	learner := s.Learner()
	mechanism, operator := learner.Mechanism(), learner.Operator()
	input := rates.Partitions{
		Count: o.inputs, Rate: o.rate, WholeTopic: s.Deployment().WholeTopic(), Interval: s.CommitInterval, Clock: s.Clock(),
	}
	in := plan.Input{
		Configured: mechanism, Operator: operator, Name: s.Operator, AgeWeight: s.AgeWeight, Rate: input.Of(),
		Age: o.age, After: o.after,
		Input: input, Clock: planClock(s),
	}
	var err error
	if in.Costs, err = o.costRange(operator); err != nil {
		return nil, err
	}
	if in.Stream, err = volume.Simulate(s); err != nil {
		return nil, err
	}
	return plan.New(in)
}

// planClock returns what plan says about steps by the clock. Without a time in ORIEL_START, a stream is opened now.
func planClock(s settings.Settings) clock.Input {
	in := clock.Input{Clock: s.Clock(), Delay: s.StepDelay, Opening: s.Deployment().Begin}
	if in.Named = !in.Opening.IsZero(); !in.Named {
		in.Opening = time.Now()
	}
	if users := s.Users(); users != nil {
		in.Period = users.Period
	}
	return in
}

// costRange returns the range of --costs, or nil if it is not given.
func (o planOptions) costRange(operator operators.Operator) (*setting.Range, error) {
	if o.costs == "" {
		return nil, nil
	}
	low, high, _ := strings.Cut(o.costs, ":")
	r, ok := setting.ParseRange(low, high)
	switch {
	case !ok:
		return nil, exit.WrongUse("--costs: %q is not LOW:HIGH, the first below the second", o.costs)
	case operators.CostsOf(operator) == nil:
		return nil, exit.WrongUse("--costs: events are no vectors of costs; ORIEL_OPERATOR=coco with ORIEL_LOSS=linear takes such")
	}
	return &r, nil
}
