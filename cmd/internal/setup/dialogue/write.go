package dialogue

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"strings"

	"oriel/cmd/internal/digits"
	"oriel/cmd/internal/envfile"
	"oriel/cmd/internal/exit"
	"oriel/cmd/internal/plan"
	"oriel/cmd/internal/settings"
	"oriel/cmd/internal/setup"
	"oriel/cmd/internal/traps"
)

// The files in the folder that `oriel init` creates.
const (
	EnvName = "oriel.env"
	MapName = "mapping.json"
	KeyName = "master.key"
)

func (d *dialogue) at(name string) string { return filepath.Join(d.Folder, name) }

func (d *dialogue) exists(name string) error {
	return exit.WrongUse("%s exists, and nothing is overwritten; move it, or take another --out", d.at(name))
}

// write checks the settings as `oriel run` does, creates the files, and prints the next commands.
func (d *dialogue) write(context.Context) error {
	a := &d.answers
	a.Map, a.Key, a.State = d.at(MapName), d.at(KeyName), d.at("state")
	if file := a.Encoding.SchemaFile; file != "" {
		var err error
		if a.Encoding.SchemaFile, err = filepath.Abs(file); err != nil {
			return err
		}
	}
	advised, err := d.advised()
	if err != nil {
		return err
	}
	s, err := d.load(advised...)
	if err != nil {
		return err
	}
	if s.EmitEvery() > 0 {
		if s, err = d.thin(advised); err != nil {
			return err
		}
	}
	document := a.Document(d.Where, d.Label)
	inside := *a
	inside.Encoding = d.look.Inner // records are decoded without their outer framing, because the sample has lost it
	first := inside.Environ(append(advised, "ORIEL_MAP="+string(document))...)
	if err := d.look.PrintFirst(d.Notes, first, d.First); err != nil {
		return err
	}
	promise, err := d.promise(s)
	if err != nil {
		return err
	}
	traps.Warn(d.Notes, traps.Settings(s), traps.Unseen(s))
	for _, file := range []struct {
		name    string
		content []byte
		mode    os.FileMode
	}{
		{MapName, document, 0o644}, {KeyName, setup.NewKey(), 0o400}, {EnvName, a.File(envfile.Quote, advised...), 0o600},
	} {
		if err := setup.WriteNew(d.at(file.name), file.content, file.mode); errors.Is(err, fs.ErrExist) {
			return d.exists(file.name)
		} else if err != nil {
			return err
		}
	}
	fmt.Fprintf(d.Out, "\n%s\n\nwrote %s: %s, %s and %s; you must keep a copy of the key in a safe place\n\nNext:\n",
		promise, d.Folder, EnvName, MapName, KeyName)
	topic := "--topic " + a.Name + ".decisions"
	commands := []string{"plan", "topics", "run", "tail --from-beginning " + topic}
	if a.Want == setup.Statistics {
		commands = append(commands, "numbers --every 1h "+topic)
	}
	if a.Want == setup.Experiment {
		commands = append(commands, "numbers --every 24h --effects "+topic, "experiment next")
	}
	for _, command := range commands {
		fmt.Fprintf(d.Out, "  %s --env-file %s %s\n", os.Args[0], d.at(EnvName), command)
	}
	return nil
}

// thin sets the number of steps from decision to decision, so that plan does not advise another one, and returns the
// settings with it. Once a stream is opened this number stays.
func (d *dialogue) thin(advised []string) (s settings.Settings, err error) {
	if d.Want == setup.Statistics {
		d.answers.Every = d.answers.EachSecond()
	}
	// fewer decisions may be a little longer than plan expects, so ask again
	for range 3 {
		var in plan.Input
		if s, err = d.load(advised...); err != nil {
			return s, err
		}
		if err = in.Simulate(s); err != nil {
			return s, err
		}
		every := in.Published.Advised()
		if every == d.answers.Every {
			break
		}
		d.answers.Every = every
	}
	return d.load(advised...)
}

// advised returns the public settings of the learner that plan derives from the learner's noise.
func (d *dialogue) advised() ([]string, error) {
	if d.Want != setup.Classes {
		return nil, nil
	}
	s, err := d.load("ORIEL_STRONG_CONVEXITY=0.001")
	if err != nil {
		return nil, err
	}
	learner := s.Learner()
	advice, ok, err := plan.Advise(learner.Mechanism(), learner.Operator(), nil)
	if err != nil || !ok {
		return []string{"ORIEL_STRONG_CONVEXITY=0.001"}, err
	}
	return []string{
		fmt.Sprintf("ORIEL_STRONG_CONVEXITY=%.3g", float64(advice.StrongConvexity)),
		fmt.Sprintf("ORIEL_START_REGULARIZER=%.3g", float64(advice.StartRegularizer)),
	}, nil
}

// promise returns the deployment's guarantee and accuracy in three sentences.
func (d *dialogue) promise(s settings.Settings) (string, error) {
	a := &d.answers
	learner := s.Learner()
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
		target := plan.Target{Statistic: d.statistic(), Half: 1, Near: math.NaN()}
		reached, err := target.Error(plan.Input{
			Configured: learner.Mechanism(), Operator: learner.Operator(), AgeWeight: s.AgeWeight,
		})
		if err != nil {
			return "", err
		}
		unit := ""
		if strings.HasPrefix(d.statistic(), "p") {
			unit = " points of rank"
		}
		exact = fmt.Sprintf("Noise moves a %s by at most ± %.3g%s in 95 of 100 cells, if all cells have equally many events.",
			d.statistic(), reached.Half, unit)
	}
	if a.Want == setup.Experiment {
		finds, err := d.finds()
		return private + " " + finds + " A verdict stays while the counts of the arms fit; `oriel experiment next` starts the next experiment.", err
	}
	ago := fmt.Sprintf("%d events", a.Events)
	if a.Rate > 0 {
		ago += ", " + digits.Duration(float64(a.Events)/a.Rate) + " at this rate"
	}
	follows := "The model follows the newest " + ago + "; older ones fade."
	if a.Want == setup.Choice {
		follows = "Each answer counts once, in the step that takes it."
	}
	return private + " " + exact + " " + follows, nil
}
