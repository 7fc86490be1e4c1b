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

	"oriel/cmd/internal/exit"
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
	i.proposal, err = i.look.propose(i.sampleOptions)
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

// chooseLabel asks for a label, and which ranges are public.
func (i *initialising) chooseLabel() (err error) {
	q := setup.Question{
		Flag: "label", Given: i.label, Text: "What is predicted? The path of a number, /order/total",
		Check: func(answer string) error { _, err := setup.Used("", answer); return err },
	}
	if i.want == setup.Classes {
		q.Text = "What is predicted? The path of true and false, /refunded, or a comparison, /delay>15"
		if len(i.proposal.Classes) > 0 {
			q.Proposal = i.proposal.Classes[0]
		}
	}
	if i.label, err = i.ask(q); err != nil || i.label == "" {
		return err
	}
	if i.proposal, err = i.look.propose(i.sampleOptions); err != nil {
		return err
	}
	proposed := i.proposal.Ranges
	if i.want == setup.Value {
		used, err := setup.Used("", i.label)
		if err != nil {
			return exit.WrongUse("--label: %w", err)
		}
		of, isNumber := setup.RangeAt(i.look.columns, used[0], labelName)
		if !isNumber {
			return exit.WrongUse("--label: %s is no number in the sample", used[0])
		}
		proposed = append([]setup.Range{of}, proposed...)
	}
	if setup.Names(proposed) == "" {
		i.answers.Items, i.answers.Ranges = i.proposal.Items, proposed
		return nil
	}
	var ranges []setup.Range
	_, err = i.ask(setup.Question{
		Flag: "ranges", Given: i.ranges, Confirm: true,
		Text: "Numbers need ranges that are public, not looked up in private data. The sample suggests\n  " + suggested(proposed) +
			"\ny: these are public knowledge. Or your own, name:low:high,… A number that has none is left out",
		Check: func(answer string) (err error) { ranges, err = setup.Confirm(answer, proposed); return err },
	})
	if err != nil || ranges == nil {
		return err
	}
	for k, r := range ranges {
		if i.want == setup.Value && r.Name == labelName && !r.Cyclic {
			i.answers.Label, ranges = r, slices.Delete(ranges, k, k+1)
			break
		}
	}
	if i.want == setup.Value && i.answers.Label.Name == "" {
		return exit.WrongUse("--ranges: the label needs one, %s:low:high", labelName)
	}
	var dropped []string
	i.answers.Ranges = ranges
	if i.answers.Items, dropped = setup.Confirmed(i.proposal.Items, ranges); len(dropped) > 0 {
		fmt.Fprintf(i.notes, "left out, without a public range: %s\n", strings.Join(dropped, ", "))
	}
	return nil
}

// labelName stands for the label in a list of ranges.
const labelName = "label"

func suggested(ranges []setup.Range) string {
	return setup.Ranges(slices.DeleteFunc(slices.Clone(ranges), func(r setup.Range) bool { return r.Cyclic }))
}

// chooseValue asks for a number with its public range, or none.
func (i *initialising) chooseValue(text, proposal string) error {
	var value setup.Range
	_, err := i.ask(setup.Question{
		Flag: "value", Given: i.value, Confirm: true, Text: text + proposal,
		Check: func(answer string) (err error) {
			if answer == "none" {
				return nil
			}
			if value, err = setup.ParseRange(answer); err != nil {
				return err
			}
			item, err := setup.Find(i.proposal.Items, value.Name)
			if err == nil {
				value.Name, item.As = item.Name, "number"
				i.answers.Items = []setup.Item{item}
			}
			return err
		},
	})
	i.answers.Value = value
	return err
}

func (i *initialising) chooseCells() error {
	hint := ""
	if s := suggested(i.proposal.Ranges); s != "" {
		hint = "\nThe sample suggests " + s + ": take what is publicly known"
	}
	err := i.chooseValue("Which number is averaged? name:low:high with a public range, or none for counts alone.", hint)
	if err != nil {
		return err
	}
	proposal := "none"
	for _, r := range i.proposal.Ranges {
		if r.Cyclic && r.High == 24 {
			proposal = r.Name + "=0:24:24"
		}
	}
	var items []setup.Item
	i.answers.Cells, err = i.ask(setup.Question{
		Flag: "cells", Given: i.cells, Proposal: proposal,
		Text: "By which cells? Public lists of places, or ranges in bins: country=DE|FR|US,hour=0:24:24; or none. Columns are\n  " +
			names(i.proposal.Items),
		Check: func(answer string) (err error) { items, err = setup.CellItems(i.proposal.Items, answer); return err },
	})
	if err != nil {
		return err
	}
	if items == nil {
		items, err = setup.CellItems(i.proposal.Items, i.answers.Cells)
	}
	if i.answers.Cells == "none" {
		i.answers.Cells = ""
	}
	i.answers.Items = append(items, i.answers.Items...)
	if err == nil && len(i.answers.Items) == 0 {
		return exit.WrongUse("--value, --cells: without a value and without cells there is nothing to count; name one")
	}
	return err
}

func names(items []setup.Item) string {
	var all []string
	for _, item := range items {
		all = append(all, item.Name)
	}
	return strings.Join(all, ", ")
}

func (i *initialising) chooseActions() (err error) {
	i.answers.Arms, err = i.ask(setup.Question{
		Flag: "arms", Given: i.arms, Text: "Which actions are there to choose from? Names with commas between them",
		Check: func(answer string) error {
			if len(strings.Split(answer, ",")) < 2 {
				return errors.New("a choice has at least two actions, with commas between them")
			}
			return nil
		},
	})
	if err != nil {
		return err
	}
	err = i.chooseValue("Which number says what an action cost? name:low:high with a public range. The record's key is the play's index.", "")
	if err == nil && len(i.answers.Items) > 0 {
		i.answers.Label, i.answers.Items[0].Name = i.answers.Value, "loss"
	}
	return err
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
