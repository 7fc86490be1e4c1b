package main

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"oriel/cmd/internal/exit"
	"oriel/cmd/internal/setup"
	"oriel/schemas/mapping"
)

// chooseLabel asks for a label, and which ranges are public.
func (i *initialising) chooseLabel() (err error) {
	q := setup.Question{
		Flag: "label", Given: i.label, Text: "What is predicted? The path of a number, /order/total",
		Check: i.isLabel,
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
	if i.proposal, err = i.look.propose(i.where, i.label); err != nil {
		return err
	}
	reportLeft(i.notes, i.proposal)
	fmt.Fprintf(i.notes, "\nfeatures: %s. Take from %s, before you start, what is known only once the label is\n",
		names(i.proposal.Items), mapName)
	proposed := i.proposal.Ranges
	if used, err := setup.Used("", i.label); err == nil && i.want == setup.Value {
		of, _ := setup.RangeAt(i.look.columns, used[0], labelName)
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

// isLabel checks a label against the sample.
func (i *initialising) isLabel(text string) error {
	used, err := setup.Used("", text)
	if err == nil {
		err = setup.Known(i.look.columns, used)
	}
	if err != nil || i.want != setup.Value {
		return err
	}
	if _, isNumber := setup.RangeAt(i.look.columns, used[0], labelName); !isNumber {
		return fmt.Errorf("%s is no number in the sample", used[0])
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
				err = setup.Known(i.look.columns, []mapping.Path{item.Path})
			}
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
