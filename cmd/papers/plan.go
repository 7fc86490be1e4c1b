package main

import (
	"io"
	"os"

	"github.com/spf13/cobra"

	"oriel/cmd/internal/plan"
	"oriel/cmd/internal/settings"
	"oriel/cmd/papers/internal/printed"
)

func planCommand() *cobra.Command {
	var rate float64
	var age uint64
	cmd := &cobra.Command{
		Use:   "plan [--rate EVENTS_PER_SECOND] [--age STEPS]",
		Short: "See the cost and the proof of printed constants",
		Long: "Plan prints the same as `oriel plan`, for settings that may have the constants of a paper: ORIEL_MECHANISM=tree-gaussian-paper\n" +
			"and tree-gamma-paper, and the further choices below. ε is recomputed from the noise, and may be above ORIEL_EPSILON.\n\n" +
			printedChoices(),
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return runPlan(cmd.OutOrStdout(), os.Environ(), plan.Input{Rate: rate, Age: age})
		},
	}
	cmd.Flags().Float64Var(&rate, "rate", 0, "events a second of one stream")
	cmd.Flags().Uint64Var(&age, "age", 0, "show this age, in steps, beside the ages of whole windows")
	return cmd
}

// printedChoices lists the settings that papers print, as text.
func printedChoices() string {
	text := ""
	for _, c := range printed.Choices() {
		text += "  " + c + "\n"
	}
	return text
}

// runPlan prints the report on the settings of environ, with the rate and the age of in.
func runPlan(out io.Writer, environ []string, in plan.Input) error {
	s, err := settings.LoadOf(printed.Operators, environ, settings.Operator)
	if err != nil {
		return err
	}
	learner := s.Learner()
	in.Configured, in.Operator = learner.Mechanism(), learner.Operator()
	in.Name, in.AgeWeight = s.Operator, s.AgeWeight
	report, err := plan.New(in)
	if err != nil {
		return err
	}
	return report.Print(out)
}
