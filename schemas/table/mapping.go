package table

import (
	"errors"
	"fmt"
	"slices"
	"unicode/utf8"

	"oriel/schemas/event"
	"oriel/schemas/mapping"
)

// Mapping defines how rows become events. Its texts are the short forms of package mapping, in which a path is a column
// name of the first line; upper and lower case differ.
type Mapping struct {
	Where       string   // condition for a row to be used; empty: every row is used
	Label       string   // comparison or column that gives the label. Required without Body.
	Features    []string // columns, without duplicates; at least one without Body
	Members     []string // member=column, or member=column,column,… for a vector. They need a Body.
	PartitionBy string   // column; empty: Row.Partition stays empty
	Key         string   // column; empty: Row.Key stays nil
	Sort        []string // columns to sort by; none: file order

	Missing []string // texts of cells that have no value, such as NA; an empty cell never has one

	Document *mapping.Mapping // a mapping that replaces all texts above; nil: none

	// Whole makes each row an object of its cells, as texts under the names of their columns, instead of an event. It
	// is for topics whose records a mapping reads. It may be combined only with Where, PartitionBy, Key and Sort.
	Whole bool

	Body   event.Body                 // body of the events; the zero value is a body with features and any label
	Comma  rune                       // separates cells; 0: a comma
	Called func(member string) string // renames where, label, … in messages; nil: names as in a mapping
}

func (m Mapping) called(member string) string {
	if m.Called == nil {
		return member
	}
	return m.Called(member)
}

// Validate reports every problem at once. Open checks whether the columns exist.
func (m Mapping) Validate() error {
	_, err := m.compile()
	return err
}

// plan is a mapping compiled for rows.
type plan struct {
	mapping.Rows
	where  []mapping.Comparison // conditions on a row's columns
	events *mapping.Plan        // makes events; nil: rows themselves are the output
}

func (m Mapping) compile() (plan, error) {
	document, err := m.Document, error(nil)
	if document == nil {
		texts := mapping.Texts{Where: m.Where, Label: m.Label, Features: m.Features, Members: m.Members, Called: m.Called}
		document, err = texts.Parse()
		document.Rows = mapping.Rows{PartitionBy: m.PartitionBy, Key: m.Key, Sort: m.Sort}
	}
	p := plan{Rows: document.Rows, where: document.Where}
	var errs []error
	if err != nil {
		errs = append(errs, mapping.Prefixed("table", err))
	}
	add := func(member, format string, args ...any) {
		errs = append(errs, fmt.Errorf("table: %s: %s", m.called(member), fmt.Sprintf(format, args...)))
	}
	if m.Comma == '"' || m.Comma == '\n' || m.Comma == '\r' || m.Comma == utf8.RuneError {
		add("comma", "cannot be a quote or a line end")
	}
	compared := func(member string, c *mapping.Comparison) {
		if c != nil && slices.Contains(m.Missing, c.Constant) {
			add(member, "%s compares with a text that means a missing value (%s), so no cell equals it; a missing value is "+
				"compared without a constant: %[1]s%[3]s", c.Path, m.called("missing"), c.Operator)
		}
	}
	for i := range p.where {
		compared("where", &p.where[i])
	}
	items := slices.Concat(document.Features, document.Members)
	if document.Label != nil {
		items = append(items, *document.Label)
	}
	for i := range items {
		compared(items[i].Place(), items[i].Compare)
	}
	seen := map[string]bool{}
	for _, column := range p.Sort {
		if column == "" || seen[column] {
			add("sort", "column %q is empty or given twice", column)
		}
		seen[column] = true
	}
	switch {
	case err != nil: // an item that failed above would be missing from the plan
	case m.Whole:
		for _, x := range []struct {
			member string
			set    bool
		}{
			{"label", document.Label != nil}, {"features", len(document.Features) > 0}, {"members", len(document.Members) > 0},
		} {
			if x.set {
				add(x.member, "ORIEL_MAP says where the members of events stand")
			}
		}
	case len(document.Members) > 0 && m.Body.Name == "":
		add("members", "the members of events are not known")
	default:
		events := *document
		events.Rows = mapping.Rows{}
		if p.events, err = events.Compile(m.config(document)); err != nil {
			errs = append(errs, mapping.Prefixed("table", err))
		}
	}
	return p, errors.Join(errs...)
}

// config returns the configuration of the events, with only the settings that printing needs.
func (m Mapping) config(document *mapping.Mapping) event.Config {
	c := event.Config{
		Body: m.Body, Dimension: dimension, MaxBytes: 1, Features: event.FeatureConfig{Norm: "none"},
	}
	vector, _ := m.Body.Vector()
	for _, item := range document.Members { // one column for each coordinate of a vector
		if item.Name == vector.Name || vector.Also != "" && item.Name == vector.Also {
			c.Dimension = max(len(item.From), 1)
		}
	}
	if m.Body.Name == "" {
		label := event.Member{Name: "label", Kind: event.KindTarget}
		if document.Label != nil && document.Label.Compare != nil {
			label.Kind = event.KindClass
		}
		features := event.Member{Name: "features", Kind: event.KindFeatures}
		c.Body = event.Body{Name: "event", Members: []event.Member{features, label}}
		return c
	}
	c.Body.Members = slices.Clone(c.Body.Members)
	for i := range c.Body.Members {
		c.Body.Members[i].Kind = printed(c.Body.Members[i].Kind, document.Label)
	}
	return c
}

// printed returns the kind of a member in a table. A table prints numbers without checking the bounds of its events; a
// decoder finds the lines that are not valid events.
func printed(k event.Kind, label *mapping.Item) event.Kind {
	switch {
	case k == event.KindClass && (label == nil || label.Compare == nil):
		return event.KindTarget
	case k == event.KindRelatives:
		return event.KindVector
	case k == event.KindWeight:
		return event.KindNumber
	}
	return k
}

// dimension is the dimension of hashed feature vectors, which are only checked and never printed.
const dimension = 1 << 12
