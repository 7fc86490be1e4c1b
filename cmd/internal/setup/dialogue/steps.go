package dialogue

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"slices"
	"strconv"
	"strings"

	"oriel/cmd/internal/exit"
	"oriel/cmd/internal/plan"
	"oriel/cmd/internal/settings"
	"oriel/cmd/internal/setup"
	"oriel/pipeline/kafka"
	"oriel/pipeline/kafka/topics"
)

// sample reads records of the topic. If they cannot be read without a schema, it asks for the schema.
func (d *dialogue) sample(ctx context.Context) (err error) {
	if err := os.MkdirAll(d.Folder, 0o700); err != nil {
		return err
	}
	if err := d.unused(ctx); err != nil {
		return err
	}
	d.look, err = d.Look(ctx, d.environ, d.host().WithClient)
	if errors.Is(err, setup.ErrNoSchema) {
		answer, err := d.ask(setup.Question{
			Flag: "schema-file", Text: "Records are not JSON. Which file has their schema (.avsc, .proto), or which URL the schema registry?",
			Expected: "a file, or a URL such as http://localhost:8081",
		})
		if err != nil || answer == "" {
			return err
		}
		if strings.Contains(answer, "://") {
			d.Registry = answer
		} else {
			d.Encoding.SchemaFile = answer
		}
		d.look, err = d.Look(ctx, d.environ, d.host().WithClient)
		if err != nil {
			return err
		}
	} else if err != nil {
		return err
	}
	d.look.ReportRead(d.Notes)
	if d.look.Encoding.Registry == "" {
		d.environ = slices.DeleteFunc(d.environ, setup.IsOfRegistry)
	}
	if d.Rate == 0 {
		d.Rate = d.look.Times.Rate
		for _, note := range d.look.Times.Notes() {
			fmt.Fprintln(d.Notes, note)
		}
	}
	if d.proposal, err = d.look.Propose(d.Where, ""); err == nil {
		d.proposal.ReportMixed(d.Notes)
	}
	return err
}

// unused refuses a name whose deployment has topics already: they belong to the key of that deployment, and `oriel
// topics` would refuse the new one. A user without the right to see these topics gets a note instead.
func (d *dialogue) unused(ctx context.Context) error {
	unchecked := func(reason string) {
		fmt.Fprintf(d.Notes, "not checked, because %s: whether the deployment %s has topics already\n", reason, d.Name)
	}
	if len(d.Files) > 0 {
		unchecked("the sample is a file")
		return nil
	}
	return d.host().WithClient(func(client *kafka.Client) error {
		names := []string{d.Name + ".changelog", d.Name + ".decisions", d.Name + ".verdicts"}
		cluster, err := topics.Describe(ctx, client, names...)
		if denied, is := errors.AsType[*kafka.DeniedError](err); is {
			unchecked("you have no right " + denied.Right + " on its topics")
			return nil
		}
		if err != nil {
			return err
		}
		for _, name := range names {
			if _, exists := cluster.Topics[name]; exists {
				return exit.WrongUse("--name: the deployment %s has topics already (%s), which belong to the key that it was opened with. Go on "+
					"with its own oriel.env, or take another --name", d.Name, name)
			}
		}
		return nil
	})
}

// choose asks for the use of the topic, and for the members of records that this use needs.
func (d *dialogue) choose(context.Context) (err error) {
	proposal := setup.Statistics
	if len(d.proposal.Classes) > 0 || d.Label != "" {
		proposal = setup.Classes
	}
	d.Want, err = d.ask(setup.Question{
		Flag: "want", Given: d.Want, Proposal: proposal,
		Text: "Which task is it? classes: predict a label of two classes. number: predict a number. statistics: counts and\n" +
			"averages by cell. choice: learn which of a few actions costs least. experiment: an A/B test whose arms chance draws",
		Check: func(answer string) error {
			if !slices.Contains([]string{setup.Classes, setup.Value, setup.Statistics, setup.Choice, setup.Experiment}, answer) {
				return fmt.Errorf("%q: not classes, number, statistics, choice or experiment; README.md lists the operators for other wants", answer)
			}
			return nil
		},
	})
	if err != nil || d.Want == "" {
		return err
	}
	d.answers = setup.Answers{
		Name: d.Name, Topic: d.Topic, Kafka: d.environ, Encoding: d.look.Encoding, Want: d.Want, Rate: d.Rate, Start: d.Start,
		Statistics: d.Numbers, Single: d.look.Replicas > 0 && d.look.Replicas < 3,
	}
	switch d.Want {
	case setup.Statistics:
		return d.chooseCells()
	case setup.Choice:
		return d.chooseActions()
	case setup.Experiment:
		return d.chooseExperiment()
	}
	return d.chooseLabel()
}

// tune asks how long ago is worth learning from, and how strong the privacy must be.
func (d *dialogue) tune(context.Context) (err error) {
	d.answers.Events = usualMemory
	if d.Want != setup.Choice && d.Want != setup.Experiment {
		text, proposal := "How many events back is worth learning from?", strconv.Itoa(usualMemory)
		if d.Rate > 0 {
			text = fmt.Sprintf("How long ago is worth learning from? Events, or a time such as 12h or 30d: a day has about %.0f events", d.Rate*86400)
		}
		_, err = d.ask(setup.Question{
			Flag: "memory", Given: d.Memory, Proposal: proposal, Text: text,
			Check: func(answer string) (err error) { d.answers.Events, err = setup.Memory(answer, d.Rate); return err },
		})
		if err != nil {
			return err
		}
	}
	var half float64
	text := "How much privacy? ε, for each event and for ever: 1 is usual, less hides more and is noisier"
	if d.Want == setup.Statistics {
		text += ". Or the error that you want at 95 %, ±2"
	}
	d.answers.Epsilon = 1
	_, err = d.ask(setup.Question{
		Flag: "epsilon", Given: d.Epsilon, Proposal: "1", Text: text,
		Check: func(answer string) (err error) {
			d.answers.Epsilon, half, err = setup.Accuracy(answer)
			if err == nil && half > 0 && d.Want != setup.Statistics {
				err = errors.New("an error can be wanted of statistics alone; say ε")
			}
			return err
		},
	})
	if err == nil && d.Want == setup.Experiment && d.asker.Missing() == nil {
		return d.target()
	}
	if err != nil || half == 0 {
		return err
	}
	d.answers.Epsilon = 1
	target := plan.Target{Statistic: d.statistic(), Half: half, Near: math.NaN()}
	environ := append(d.answers.Environ(), "ORIEL_MAP="+string(d.answers.Document(d.Where, d.Label)))
	d.answers.Epsilon, err = d.Solve(environ, target)
	return err
}

// usualMemory is the proposed memory, events.
const usualMemory = 1 << 16

// statistic returns the name of the statistic whose error the user chooses and sees: the mean, the sum or the count, or
// else the first one.
func (d *dialogue) statistic() string {
	if d.Numbers == "" && d.answers.Value.Name == "" {
		return "count"
	}
	names := strings.Split(cmp.Or(d.Numbers, "mean"), ",")
	for i := range names {
		names[i], _, _ = strings.Cut(strings.TrimSpace(names[i]), "*")
	}
	for _, name := range []string{"mean", "sum", "count"} {
		if slices.Contains(names, name) {
			return name
		}
	}
	return names[0]
}

// load loads the settings as a command would, with the mapping, which no file has yet.
func (d *dialogue) load(more ...string) (settings.Settings, error) {
	environ := append(d.answers.Environ(more...), "ORIEL_MAP="+string(d.answers.Document(d.Where, d.Label)))
	return settings.Load(environ, settings.Events, settings.Operator)
}
