package main

import (
	"errors"
	"fmt"
	"math"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"oriel/cmd/internal/plan"
	"oriel/cmd/internal/settings"
	"oriel/cmd/internal/setup"
)

// sample looks at records, and asks for their schema where they cannot be read without one.
func (i *initialising) sample(cmd *cobra.Command) (err error) {
	if err := os.MkdirAll(i.folder, 0o700); err != nil {
		return err
	}
	i.look, err = i.initOptions.look(cmd.Context(), i.environ)
	if errors.Is(err, setup.ErrNoSchema) {
		answer, err := i.ask(setup.Question{
			Flag: "schema-file", Text: "Records are not JSON. Which file has their schema (.avsc, .proto), or which URL the schema registry?",
		})
		if err != nil || answer == "" {
			return err
		}
		if strings.Contains(answer, "://") {
			i.registry = answer
		} else {
			i.encoding.SchemaFile = answer
		}
		i.look, err = i.initOptions.look(cmd.Context(), i.environ)
		if err != nil {
			return err
		}
	} else if err != nil {
		return err
	}
	fmt.Fprintf(i.notes, "%d of %d records are %s\n", i.look.readable, len(i.look.Records), i.look.encoding)
	if i.look.encoding.Registry == "" {
		i.environ = slices.DeleteFunc(i.environ, func(line string) bool { return len(registryOf([]string{line})) > 0 })
	}
	if i.rate == 0 {
		i.rate = i.look.Rate
	}
	i.proposal, err = i.look.propose(i.where, "")
	return err
}

// choose asks for the want, and what it is about.
func (i *initialising) choose(*cobra.Command) (err error) {
	proposal := setup.Statistics
	if len(i.proposal.Classes) > 0 || i.label != "" {
		proposal = setup.Classes
	}
	i.want, err = i.ask(setup.Question{
		Flag: "want", Given: i.want, Proposal: proposal,
		Text: "What do you want? classes: predict a label of two classes. number: predict a number. statistics: counts and\n" +
			"averages by cell. choice: learn which of a few actions costs least",
		Check: func(answer string) error {
			if !slices.Contains([]string{setup.Classes, setup.Value, setup.Statistics, setup.Choice}, answer) {
				return fmt.Errorf("%q: not classes, number, statistics or choice; README.md has the operators for other wants", answer)
			}
			return nil
		},
	})
	if err != nil || i.want == "" {
		return err
	}
	i.answers = setup.Answers{
		Name: i.name, Topic: i.topic, Kafka: i.environ, Encoding: i.look.encoding, Want: i.want, Rate: i.rate, Start: i.start,
		Single: i.look.Replicas > 0 && i.look.Replicas < 3,
	}
	switch i.want {
	case setup.Statistics:
		return i.chooseCells()
	case setup.Choice:
		return i.chooseActions()
	}
	return i.chooseLabel()
}

// tune asks how long ago counts, and how much privacy there is.
func (i *initialising) tune(*cobra.Command) (err error) {
	i.answers.Events = usualMemory
	if i.want != setup.Choice {
		text, proposal := "How many events back is worth learning from?", strconv.Itoa(usualMemory)
		if i.rate > 0 {
			text = fmt.Sprintf("How long ago is worth learning from? Events, or a time such as 12h or 30d: a day has about %.0f events", i.rate*86400)
		}
		_, err = i.ask(setup.Question{
			Flag: "memory", Given: i.memory, Proposal: proposal, Text: text,
			Check: func(answer string) (err error) { i.answers.Events, err = setup.Memory(answer, i.rate); return err },
		})
		if err != nil {
			return err
		}
	}
	var half float64
	text := "How much privacy? ε, for each event and for ever: 1 is usual, less hides more and is noisier"
	if i.want == setup.Statistics {
		text += ". Or the error that you want at 95 %, ±2"
	}
	i.answers.Epsilon = 1
	_, err = i.ask(setup.Question{
		Flag: "epsilon", Given: i.epsilon, Proposal: "1", Text: text,
		Check: func(answer string) (err error) {
			i.answers.Epsilon, half, err = setup.Accuracy(answer)
			if err == nil && half > 0 && i.want != setup.Statistics {
				err = errors.New("an error can be wanted of statistics alone; say ε")
			}
			return err
		},
	})
	if err != nil || half == 0 {
		return err
	}
	i.answers.Epsilon = 1
	target := plan.Target{Statistic: i.statistic(), Half: half, Near: math.NaN()}
	environ := append(i.answers.Environ(), "ORIEL_MAP="+string(i.answers.Document(i.where, i.label)))
	_, solution, err := wantOptions{solve: "epsilon"}.solved(environ, target)
	if err != nil {
		return err
	}
	i.answers.Epsilon, err = strconv.ParseFloat(solution.Value, 64)
	return err
}

// usualMemory is what is proposed, events.
const usualMemory = 1 << 16

// statistic is the one whose error is wanted and shown.
func (i *initialising) statistic() string {
	if i.answers.Value.Name != "" {
		return "mean"
	}
	return "count"
}

// load reads settings as a command gets them, with the mapping that is not a file yet.
func (i *initialising) load(more ...string) (settings.Settings, error) {
	environ := append(i.answers.Environ(more...), "ORIEL_MAP="+string(i.answers.Document(i.where, i.label)))
	return settings.Load(environ, settings.Events, settings.Operator)
}
