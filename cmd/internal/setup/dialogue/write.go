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
	if err == nil {
		err = d.thin(advised)
	}
	if err != nil {
		return err
	}
	s, err := d.load(advised...)
	if err != nil {
		return err
	}
	written := a.Encoding
	a.Encoding = d.look.Inner // records are decoded without their outer framing, because the sample has lost it
	err = d.look.PrintFirst(d.Notes, d.tried(advised...), d.First)
	a.Encoding = written
	if err != nil {
		return err
	}
	promise, err := d.promise()
	if err != nil {
		return err
	}
	traps.Warn(d.Notes, traps.Settings(s), traps.Unseen(s))
	for _, file := range []struct {
		name    string
		content []byte
		mode    os.FileMode
	}{
		{MapName, a.Document(d.Where, d.Label), 0o644},
		{KeyName, setup.NewKey(), 0o400},
		{EnvName, a.File(envfile.Quote, advised...), 0o600},
	} {
		if err := setup.WriteNew(d.at(file.name), file.content, file.mode); errors.Is(err, fs.ErrExist) {
			return d.exists(file.name)
		} else if err != nil {
			return err
		}
	}
	fmt.Fprintf(d.Out, "\n%s\n\nwrote %s: %s, %s and %s; you must keep a copy of the key in a safe place\n\nNext:\n",
		promise, d.Folder, EnvName, MapName, KeyName)
	topic := " --topic " + a.Name + ".decisions"
	commands := []string{"plan", "topics", "run", "tail --from-beginning" + topic}
	switch a.Want {
	case setup.Numbers:
		commands[3] = "numbers --every " + a.Step + topic
	case setup.Experiment:
		commands = append(commands, "numbers --every 24h --effects"+topic, "experiment next")
	}
	for _, command := range commands {
		fmt.Fprintf(d.Out, "  %s --env-file %s %s\n", os.Args[0], d.at(EnvName), command)
	}
	return nil
}

// promise returns the deployment's guarantee and accuracy in three sentences.
func (d *dialogue) promise() (string, error) {
	a := &d.answers
	factor := fmt.Sprintf("the chance of anything that is published by a factor of at most %.3g (ε = %g)", math.Exp(a.Epsilon), a.Epsilon)
	private := "Each event is protected for ever: exchanging it changes " + factor
	ago := fmt.Sprintf("%d events", a.Events)
	if d.Rate > 0 {
		ago += ", " + digits.Duration(float64(a.Events)/d.Rate) + " at this rate"
	}
	follows := " The model follows the newest " + ago + "; older ones fade."
	switch a.Want {
	case setup.Numbers, setup.Listing:
		return d.ofNumbers(factor)
	case setup.Classes:
		return private + ", plus δ. Noise moves the log-odds of a prediction by about ½ at most, and by less as events come." + follows, nil
	case setup.Value:
		return private + ", plus δ. Decisions are weights with the standard deviation of their noise; `oriel plan` says how large it is." +
			follows, nil
	case setup.Choice:
		return private + ". A new action is chosen after each 128 answers, and the best one is found as answers come. " +
			"Each answer counts once, in the step that takes it.", nil
	}
	e, err := d.needed()
	if err != nil || !e.Events.Known() {
		return "", errors.Join(err, errors.New("the effect needs more events than the target"))
	}
	return fmt.Sprintf("%s, plus δ. An effect of %g is found after about %s events with probability %g, looking at any time; without "+
		"privacy after %s. A verdict stays while the counts of the arms fit; `oriel experiment next` starts the next experiment.",
		private, e.Effect, digits.Four(e.Events), power, digits.Four(e.WithoutPrivacy)), nil
}

// ofNumbers returns the guarantee and the accuracy of numbers by the clock.
func (d *dialogue) ofNumbers(factor string) (string, error) {
	a := &d.answers
	private := "Each record is protected by itself: its presence changes " + factor +
		"; n records of one person cost n times ε."
	if a.Person != "" {
		private = "All that a person (" + a.Person + ") sends in " + a.Period +
			" is protected together: that it is there changes " + factor +
			"; a person who is there in several such periods loses more."
	}
	if a.Loss() != "ε" {
		private = strings.Replace(private, ";", ", plus δ;", 1)
	}
	start := "The first number comes at the end of the present step"
	if a.Appended {
		start = "Numbers begin with " + a.Start
	}
	if a.Want == setup.Listing {
		return fmt.Sprintf("%s A name that only few have is not shown; `oriel plan` says how many show it. %s.", private, start), nil
	}
	half, err := d.error()
	if err != nil {
		return "", err
	}
	return fmt.Sprintf("%s Noise moves a %s of %s by at most ± %.3g in 95 of 100 cells. %s, and each step has one.",
		private, d.aim().Statistic, a.Step, half, start), nil
}
