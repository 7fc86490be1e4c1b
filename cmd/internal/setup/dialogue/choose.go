package dialogue

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"oriel/cmd/internal/exit"
	"oriel/cmd/internal/setup"
	"oriel/schemas/mapping"
)

// chooseLabel asks which member to predict, and which ranges are public.
func (d *dialogue) chooseLabel() (err error) {
	q := setup.Question{
		Flag: "label", Given: d.Label, Text: "Which number is predicted? A path such as /order/total",
		Check: d.isLabel, Expected: "the path of a member, such as /order/total, or a comparison, such as /delay>15",
	}
	if d.Want == setup.Classes {
		q.Text = "Which class is predicted? The path of true and false, /refunded, or a comparison, /delay>15"
		if len(d.proposal.Classes) > 0 {
			q.Proposal = d.proposal.Classes[0]
		}
	}
	if d.Label, err = d.ask(q); err != nil || d.Label == "" {
		return err
	}
	if d.proposal, err = d.look.Propose(d.Where, d.Label); err != nil {
		return err
	}
	d.proposal.ReportLeft(d.Notes)
	fmt.Fprintf(d.Notes, "\nfeatures: %s. Before you start, remove from %s each feature that is known only once the label is\n",
		names(d.proposal.Items), MapName)
	proposed := d.proposal.Ranges
	if used, err := setup.Used("", d.Label); err == nil && d.Want == setup.Value {
		of, _ := setup.RangeAt(d.look.Columns, used[0], labelName)
		proposed = append([]setup.Range{of}, proposed...)
	}
	if setup.Names(proposed) == "" {
		d.answers.Items, d.answers.Ranges = d.proposal.Items, proposed
		return nil
	}
	var ranges []setup.Range
	_, err = d.ask(setup.Question{
		Flag: "ranges", Given: d.Ranges, Confirm: true,
		Text: "Numbers need ranges that are public, not looked up in private data. The sample suggests\n  " + suggested(proposed) +
			"\ny: these are public knowledge. Or your own, name:low:high,… A number that has none is left out",
		Expected: "y if the proposed ranges are public knowledge; name:low:high,… for your own; none",
		Check:    func(answer string) (err error) { ranges, err = setup.Confirm(answer, proposed); return err },
	})
	if err != nil || ranges == nil {
		return err
	}
	for k, r := range ranges {
		if d.Want == setup.Value && r.Name == labelName && !r.Cyclic {
			d.answers.Label, ranges = r, slices.Delete(ranges, k, k+1)
			break
		}
	}
	if d.Want == setup.Value && d.answers.Label.Name == "" {
		return exit.WrongUse("--ranges: the label needs one, %s:low:high", labelName)
	}
	var dropped []string
	d.answers.Ranges = ranges
	if d.answers.Items, dropped = setup.Confirmed(d.proposal.Items, ranges); len(dropped) > 0 {
		fmt.Fprintf(d.Notes, "left out, without a public range: %s\n", strings.Join(dropped, ", "))
	}
	return nil
}

// isLabel returns an error if the sample shows that a member cannot be the label.
func (d *dialogue) isLabel(text string) error {
	used, err := setup.Used("", text)
	if err == nil {
		err = setup.Known(d.look.Columns, used)
	}
	if err != nil || d.Want != setup.Value {
		return err
	}
	if _, isNumber := setup.RangeAt(d.look.Columns, used[0], labelName); !isNumber {
		return fmt.Errorf("%s is no number in the sample", used[0])
	}
	return nil
}

// labelName is the label's name in a list of ranges.
const labelName = "label"

func suggested(ranges []setup.Range) string {
	return setup.Ranges(slices.DeleteFunc(slices.Clone(ranges), func(r setup.Range) bool { return r.Cyclic }))
}

// chooseValue asks for a number and its public range. The user may choose none.
func (d *dialogue) chooseValue(text, proposal string) error {
	var value setup.Range
	_, err := d.ask(setup.Question{
		Flag: "value", Given: d.Value, Confirm: true, Text: text + proposal, Expected: "name:low:high with a public range, such as total:0:500; or none",
		Check: func(answer string) (err error) {
			if answer == "none" {
				return nil
			}
			if value, err = setup.ParseRange(answer); err != nil {
				return err
			}
			item, err := setup.Find(d.proposal.Items, value.Name)
			if err == nil {
				err = setup.Known(d.look.Columns, []mapping.Path{item.Path})
			}
			if err == nil {
				value.Name, item.As = item.Name, "number"
				d.answers.Items = []setup.Item{item}
			}
			return err
		},
	})
	d.answers.Value = value
	return err
}

func (d *dialogue) chooseCells() error {
	hint := ""
	if s := suggested(d.proposal.Ranges); s != "" {
		hint = "\nThe sample suggests " + s + ": take publicly known values"
	}
	err := d.chooseValue("Which number is averaged? name:low:high with a public range, or none for counts alone.", hint)
	if err != nil {
		return err
	}
	proposal := "none"
	for _, r := range d.proposal.Ranges {
		if r.Cyclic && r.High == 24 {
			proposal = r.Name + "=0:24:24"
		}
	}
	var items []setup.Item
	d.answers.Cells, err = d.ask(setup.Question{
		Flag: "cells", Given: d.Cells, Proposal: proposal,
		Text: "By which cells? Public lists of places, or ranges in bins: country=DE|FR|US,hour=0:24:24; or none. Columns are\n  " +
			names(d.proposal.Items),
		Check: func(answer string) (err error) { items, err = setup.CellItems(d.proposal.Items, answer); return err },
	})
	if err != nil {
		return err
	}
	if items == nil {
		items, err = setup.CellItems(d.proposal.Items, d.answers.Cells)
	}
	if d.answers.Cells == "none" {
		d.answers.Cells = ""
	}
	d.answers.Items = append(items, d.answers.Items...)
	if err == nil && len(d.answers.Items) == 0 {
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

func (d *dialogue) chooseActions() (err error) {
	d.answers.Arms, err = d.ask(setup.Question{
		Flag: "arms", Given: d.Arms, Text: "Which actions are there to choose from? Names with commas between them",
		Expected: "two names or more, such as low,medium,high",
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
	err = d.chooseValue("Which number is the cost of an action? name:low:high with a public range. The record's key is the play's index.", "")
	if err == nil && len(d.answers.Items) > 0 {
		d.answers.Label, d.answers.Items[0].Name = d.answers.Value, "loss"
	}
	return err
}
