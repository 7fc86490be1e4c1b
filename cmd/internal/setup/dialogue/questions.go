package dialogue

import (
	_ "embed"
	"errors"
	"fmt"
	"slices"
	"strings"
	"text/template"
	"time"

	"oriel/cmd/internal/settings/values"
	"oriel/cmd/internal/setup"
	"oriel/schemas/mapping"
	"oriel/schemas/text"
)

// The answer that does without, and the one that counts persons in place of records, which is a statistic too.
const none, persons = "none", "persons"

// model is the answer to the first question that has uses of its own.
const model = "model"

// uses are the answers to the first question and, after model, to the second one.
var uses = []struct{ name, text, after string }{
	{setup.Numbers, "numbers of each hour or day, by cell", ""},
	{setup.Listing, "names that nobody can list beforehand, such as search words, with their counts", ""},
	{model, "a model, a choice or an experiment, which learns from each event", ""},
	{setup.Classes, "predict a label of two classes", model},
	{setup.Value, "predict a number", model},
	{setup.Choice, "learn which of a few actions costs least", model},
	{setup.Experiment, "an A/B test whose arms chance draws", model},
}

// use takes the name of a use.
func (d *dialogue) use(answer string) error {
	var names []string
	for _, u := range uses {
		names = append(names, u.name)
	}
	if !slices.Contains(names, answer) {
		return fmt.Errorf("%q: not one of %s; README.md lists the operators for other uses", answer, strings.Join(names, ", "))
	}
	if d.Want = answer; answer == model {
		d.Given["want"] = new(string) // the question about uses of a model has the same flag
	}
	return nil
}

// question is a row of the table of questions, which is the text below.
type question struct {
	flag, help string
	of         []string // steps and uses that need the answer
	ask        *template.Template
	proposal   *template.Template
	expected   string
	confirm    bool
}

//go:embed questions.txt
var table string

// questions parses the table.
func questions() (all []question) {
	for block := range strings.SplitSeq(table, "\n\n") {
		first, rest, _ := strings.Cut(block, "\n")
		words, texts := strings.Fields(first), map[string]string{}
		if words[0] == "#" {
			continue
		}
		for line := range strings.Lines(rest) {
			name, text, _ := strings.Cut(line, ": ")
			texts[name] += text
		}
		parse := func(name string) *template.Template {
			return template.Must(template.New(name).Parse(strings.TrimSpace(texts[name])))
		}
		all = append(all, question{
			flag: words[0], of: words[1:], confirm: slices.Contains(words, "confirm"),
			ask: parse("ask"), proposal: parse("proposal"),
			help: strings.TrimSpace(texts["help"]), expected: strings.TrimSpace(texts["expected"]),
		})
	}
	return all
}

// Flag is a flag that answers a question in advance.
type Flag struct{ Name, Help string }

// Flags lists the flags of questions, without those of a setup.Request.
func Flags() (flags []Flag) {
	for _, q := range questions() {
		if q.help != "" {
			flags = append(flags, Flag{q.flag, q.help})
		}
	}
	return flags
}

// ask asks the questions of a step or a use.
func (d *dialogue) ask(of string) error {
	for _, q := range questions() {
		if !slices.Contains(q.of, of) {
			continue
		}
		facts := d.facts(of)
		fill := func(t *template.Template) string {
			var b strings.Builder
			if err := t.Execute(&b, facts); err != nil {
				panic(fmt.Sprintf("BUG: the text of --%s: %v", q.flag, err))
			}
			return strings.TrimSpace(strings.ReplaceAll(b.String(), "\n\n", "\n"))
		}
		asked := fill(q.ask)
		if asked == "" {
			continue
		}
		err := d.asker.Ask(Question{
			Flag: q.flag, Given: d.given(q.flag), Text: asked, Proposal: fill(q.proposal), Expected: q.expected,
			Confirm: q.confirm, Take: func(answer string) error { return takes[q.flag](d, answer) },
		})
		if err != nil {
			return err
		}
	}
	return nil
}

func (d *dialogue) given(flag string) string {
	if value := d.Given[flag]; value != nil {
		return *value
	}
	return ""
}

// facts has what texts of questions show.
func (d *dialogue) facts(of string) map[string]any {
	first := func(list []string) string { return strings.Join(list[:min(1, len(list))], "") }
	facts := map[string]any{
		"want": d.Want, "clock": d.answers.ByClock(), "person": d.answers.Person, "period": d.answers.Period,
		"items":  d.answers.Items,
		"learns": d.Label != "" || d.given("arms") != "", "class": first(d.proposal.Classes),
		"columns": names(d.proposal.Items), "suggested": suggested(d.proposal.Ranges),
		"features": suggested(d.answers.Ranges),
	}
	if d.look != nil {
		facts["id"] = first(d.look.IDs)
	}
	if d.Rate > 0 {
		facts["day"] = fmt.Sprintf("%.0f", d.Rate*86400)
	}
	lines := ""
	for _, u := range uses {
		if u.after == of || u.after == "" && of == "use" {
			lines += "\n  " + u.name + ": " + u.text
		}
	}
	facts["uses"] = lines
	return facts
}

// takes has the functions that check and store answers, by the flags of questions.
var takes = map[string]func(d *dialogue, answer string) error{
	"brokers": func(d *dialogue, answer string) error {
		d.environ = append([]string{"ORIEL_BROKERS=" + answer}, d.environ...)
		return nil
	},
	"topic": func(d *dialogue, answer string) error { d.Topic = answer; return nil },
	"schema-file": func(d *dialogue, answer string) error {
		to := &d.Encoding.SchemaFile
		if strings.Contains(answer, "://") {
			to = &d.Registry
		}
		*to = answer
		return nil
	},
	"want": (*dialogue).use, "person": (*dialogue).person, "value": (*dialogue).number,
	"label": (*dialogue).label, "ranges": (*dialogue).ranges, "arms": (*dialogue).arms,
	"every": func(d *dialogue, answer string) error {
		length, err := values.Duration(answer)
		if err == nil {
			err = values.Length(length)
		}
		d.answers.Step, d.answers.Period = answer, "1d"
		if length > 24*time.Hour {
			d.answers.Period = answer
		}
		return err
	},
	"cells": func(d *dialogue, answer string) (err error) {
		if d.answers.Items, err = setup.CellItems(d.proposal.Items, answer); err == nil && answer != none {
			d.answers.Cells = answer
		}
		return err
	},
	"word": func(d *dialogue, answer string) error {
		item, err := setup.Find(d.proposal.Items, answer)
		if err == nil {
			err = setup.Known(d.look.Columns, []mapping.Path{item.Path})
		}
		if item.Name = "name"; item.As != "" {
			item.As = "text"
		}
		d.answers.Items = []setup.Item{item}
		return err
	},
	"effect": func(d *dialogue, answer string) (err error) {
		x := &d.answers.Drawn
		x.Effect, x.Near, err = setup.ParseEffect(answer, d.answers.Value)
		return err
	},
	"memory": func(d *dialogue, answer string) (err error) {
		d.answers.Events, err = setup.Memory(answer, d.Rate)
		return err
	},
	"epsilon": func(d *dialogue, answer string) (err error) {
		d.answers.Epsilon, d.half, err = setup.Accuracy(answer)
		if err == nil && d.half > 0 && d.Want != setup.Numbers {
			err = errors.New("an error can be wanted of numbers alone; say ε")
		}
		return err
	},
}

// number takes a number with its public range or, for numbers by the clock, none or persons.
func (d *dialogue) number(answer string) error {
	a := &d.answers
	switch without := answer == none || answer == persons; {
	case !without || d.Want != setup.Numbers:
		err := d.value(answer)
		if err == nil && d.Want == setup.Choice {
			a.Label, a.Items[0].Name = a.Value, "loss"
		}
		return err
	case answer == persons && a.Person == "":
		return errors.New("persons: nobody is one, because --person is none")
	case len(a.Items) == 0:
		return errors.New("without a value and without cells there is nothing to count; name one")
	case answer == persons:
		a.Statistics = persons
	}
	return nil
}

// arms takes the names of actions or, for an experiment, the arms with their probabilities.
func (d *dialogue) arms(answer string) (err error) {
	a := &d.answers
	if d.Want == setup.Choice {
		a.Arms = answer
		return values.Unless(strings.Contains(answer, ","), "a choice has at least two actions, with commas between them")
	}
	var arms []setup.Item
	if a.Cells, a.Drawn.Propensities, err = setup.ParseArms(answer); err == nil {
		arms, err = setup.CellItems(d.proposal.Items, a.Cells)
	}
	if err == nil {
		a.Items = append(arms, a.Items...)
	}
	return err
}

// value takes a number with its public range.
func (d *dialogue) value(answer string) error {
	value, err := setup.ParseRange(answer)
	if err != nil {
		return err
	}
	item, err := setup.Find(d.proposal.Items, value.Name)
	if err == nil {
		err = setup.Known(d.look.Columns, []mapping.Path{item.Path})
	}
	if err == nil {
		value.Name, item.As = item.Name, "number"
		d.answers.Value, d.answers.Items = value, append(d.answers.Items, item)
	}
	return err
}

// person takes the place of a person's id, and how many records of a person count in a period.
func (d *dialogue) person(answer string) error {
	a := &d.answers
	a.Person, a.Counted = answer, "1"
	at := strings.LastIndexByte(answer, ':')
	if n, err := text.ParseCount(answer[at+1:]); err == nil && at > 0 && n > 0 {
		a.Person, a.Counted = answer[:at], answer[at+1:]
	}
	if answer == none {
		a.Person = ""
		return nil
	}
	return values.UserID(a.Person)
}

func names(items []setup.Item) string {
	var all []string
	for _, item := range items {
		all = append(all, item.Name)
	}
	return strings.Join(all, ", ")
}

// labelName is the label's name in a list of ranges.
const labelName = "label"

func suggested(ranges []setup.Range) string {
	return setup.Ranges(slices.DeleteFunc(slices.Clone(ranges), func(r setup.Range) bool { return r.Cyclic }))
}

// label takes the member that is predicted, and proposes features.
func (d *dialogue) label(answer string) error {
	used, err := setup.Used("", answer)
	if err == nil {
		err = setup.Known(d.look.Columns, used)
	}
	if err != nil {
		return err
	}
	of, isNumber := setup.RangeAt(d.look.Columns, used[0], labelName)
	if d.Want == setup.Value && !isNumber {
		return fmt.Errorf("%s is no number in the sample", used[0])
	}
	if d.proposal, err = d.look.Propose(d.Where, answer); err != nil {
		return err
	}
	d.Label, d.answers.Items, d.answers.Ranges = answer, d.proposal.Items, d.proposal.Ranges
	if d.Want == setup.Value {
		d.answers.Ranges = append([]setup.Range{of}, d.answers.Ranges...)
	}
	d.proposal.ReportLeft(d.Notes)
	fmt.Fprintf(d.Notes, "\nfeatures: %s. Before you start, remove from %s each feature that is known only once the label is\n",
		names(d.proposal.Items), MapName)
	return nil
}

// ranges takes the public ranges of numbers.
func (d *dialogue) ranges(answer string) error {
	ranges, err := setup.Confirm(answer, d.answers.Ranges)
	if err != nil {
		return err
	}
	if d.Want == setup.Value {
		k := slices.IndexFunc(ranges, func(r setup.Range) bool { return r.Name == labelName && !r.Cyclic })
		if k < 0 {
			return fmt.Errorf("the label needs one, %s:low:high", labelName)
		}
		d.answers.Label = ranges[k]
		ranges = slices.Delete(ranges, k, k+1)
	}
	var dropped []string
	d.answers.Ranges = ranges
	if d.answers.Items, dropped = setup.Confirmed(d.proposal.Items, ranges); len(dropped) > 0 {
		fmt.Fprintf(d.Notes, "left out, without a public range: %s\n", strings.Join(dropped, ", "))
	}
	return nil
}
