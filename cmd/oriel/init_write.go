package main

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"oriel/cmd/internal/envfile"
	"oriel/cmd/internal/exit"
	"oriel/cmd/internal/plan"
	"oriel/cmd/internal/settings"
	"oriel/cmd/internal/setup"
	"oriel/cmd/internal/traps"
)

// Files of the folder that `oriel init` makes.
const (
	envName = "oriel.env"
	mapName = "mapping.json"
	keyName = "master.key"
)

func (i *initialising) at(name string) string { return filepath.Join(i.folder, name) }

// write checks the settings as `oriel run` does, then makes the files, and says what follows.
func (i *initialising) write(cmd *cobra.Command) error {
	a := &i.answers
	a.Map, a.Key, a.State = i.at(mapName), i.at(keyName), i.at("state")
	if file := a.Encoding.SchemaFile; file != "" {
		var err error
		if a.Encoding.SchemaFile, err = filepath.Abs(file); err != nil {
			return err
		}
	}
	advised, err := i.advised()
	if err != nil {
		return err
	}
	s, err := i.load(advised...)
	if err != nil {
		return err
	}
	document := a.Document(i.where, i.label)
	inside := *a
	inside.Encoding = i.look.inner // records of the look are without an outer framing
	first := inside.Environ(append(advised, "ORIEL_MAP="+string(document))...)
	if err := i.look.printFirst(i.notes, first, i.firstFew); err != nil {
		return err
	}
	promise, err := i.promise(s)
	if err != nil {
		return err
	}
	warn(i.notes, traps.Settings(s), traps.Unseen(s))
	if err := setup.WriteNew(a.Map, document, 0o644); err != nil {
		return exit.WrongUse("%w", err)
	}
	if err := writeKeyFile(a.Key); err != nil {
		return err
	}
	if err := setup.WriteNew(i.at(envName), a.File(envfile.Quote, advised...), 0o600); err != nil {
		return exit.WrongUse("%w", err)
	}
	fmt.Fprintf(i.out, "\n%s\n\nwrote %s: %s, %s and %s; keep a copy of the key in a safe place\n\nWhat follows:\n",
		promise, i.folder, envName, mapName, keyName)
	for _, command := range []string{"topics", "plan", "run", "tail --from-beginning --topic " + a.Name + ".decisions"} {
		fmt.Fprintf(i.out, "  %s --env-file %s %s\n", program(), i.at(envName), command)
	}
	return nil
}

// program is how the user has called this one.
func program() string { return os.Args[0] }

// advised are public settings of the learner that follow from its noise.
func (i *initialising) advised() ([]string, error) {
	if i.want != setup.Classes {
		return nil, nil
	}
	s, err := i.load("ORIEL_STRONG_CONVEXITY=0.001")
	if err != nil {
		return nil, err
	}
	learner, err := s.Learner()
	if err != nil {
		return nil, err
	}
	advice, ok, err := plan.Advise(learner.Mechanism(), learner.Operator(), nil)
	if err != nil || !ok {
		return []string{"ORIEL_STRONG_CONVEXITY=0.001"}, err
	}
	return []string{
		fmt.Sprintf("ORIEL_STRONG_CONVEXITY=%.3g", float64(advice.StrongConvexity)),
		fmt.Sprintf("ORIEL_START_REGULARIZER=%.3g", float64(advice.StartRegularizer)),
	}, nil
}

// promise is the plan in three sentences.
func (i *initialising) promise(s settings.Settings) (string, error) {
	a := &i.answers
	learner, err := s.Learner()
	if err != nil {
		return "", err
	}
	private := fmt.Sprintf("Each event is protected for ever: exchanging it changes the chance of anything that is published by a factor of at most "+
		"%.3g (ε = %g), plus δ.", math.Exp(s.Epsilon), s.Epsilon)
	if a.Want == setup.Choice {
		private = strings.TrimSuffix(private, ", plus δ.") + "."
	}
	exact := map[string]string{
		setup.Classes: "Noise moves the log-odds of a prediction by about ½ at most, and by less as events come.",
		setup.Value:   "Decisions are weights with the standard deviation of their noise; `oriel plan` says how large it is.",
		setup.Choice:  "A new action is chosen after each 128 answers, and the best one is found as answers come.",
	}[a.Want]
	if a.Want == setup.Statistics {
		target := plan.Target{Statistic: i.statistic(), Half: 1, Near: math.NaN()}
		reached, err := target.Error(plan.Input{
			Configured: learner.Mechanism(), Operator: learner.Operator(), AgeWeight: s.AgeWeight,
		})
		if err != nil {
			return "", err
		}
		exact = fmt.Sprintf("Noise moves a %s by at most ± %.3g in 95 of 100 cells, where all have as many events.",
			i.statistic(), reached.Half)
	}
	ago := fmt.Sprintf("%d events", a.Events)
	if a.Rate > 0 {
		ago += ", " + plan.Duration(float64(a.Events)/a.Rate) + " at this rate"
	}
	follows := "What is learned follows the newest " + ago + "; older ones fade."
	if a.Want == setup.Choice {
		follows = "Each answer counts once, in the step that takes it."
	}
	return private + " " + exact + " " + follows, nil
}
