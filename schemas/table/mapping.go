package table

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"oriel/schemas"
)

// Mapping says how rows become events. The package comment has the syntax of each text. Columns are those of the
// first line, case counts.
type Mapping struct {
	Where       string   // comparison; empty: every row
	Label       string   // comparison or column. Required without Body.
	Features    []string // no column twice; at least one without Body
	Members     []string // member=column, or member=column,column,… for a vector. They need a Body.
	PartitionBy string   // column; empty: Row.Partition is empty
	Key         string   // column; empty: Row.Key is nil
	Sort        []string // columns; none: file order

	// Whole makes each row an object of its cells, texts by the names of their columns, in place of an event: for a
	// mapping that reads such records. It stands alone but for Where, PartitionBy, Key and Sort.
	Whole bool

	Body   schemas.Body             // of the events; the zero value is features and label of any loss on them
	Comma  rune                     // between cells; 0: a comma
	Called func(rule string) string // how messages name where, label, …; nil: as a mapping file does
}

func (m Mapping) called(rule string) string {
	if m.Called == nil {
		return rule
	}
	return m.Called(rule)
}

// ParseMapping reads a mapping file: a JSON object with the members where, label, features, members, partition_by,
// key and sort, each optional here. A name that is unknown, given twice or spelt with capitals is an error, and so
// are null and anything after the object.
func ParseMapping(b []byte) (Mapping, error) {
	var m Mapping
	if !utf8.Valid(b) || !json.Valid(b) {
		return m, errors.New("table: mapping: not one JSON value in UTF-8")
	}
	texts := map[string]*string{"where": &m.Where, "label": &m.Label, "partition_by": &m.PartitionBy, "key": &m.Key}
	lists := map[string]*[]string{"features": &m.Features, "members": &m.Members, "sort": &m.Sort}
	d := json.NewDecoder(bytes.NewReader(b))
	if token, err := d.Token(); err != nil || token != json.Delim('{') {
		return m, errors.New("table: mapping: not an object")
	}
	seen := map[string]bool{}
	for d.More() {
		token, err := d.Token()
		name, isString := token.(string)
		if err != nil || !isString {
			return m, errors.New("table: mapping: not one JSON value in UTF-8")
		}
		if seen[name] {
			return m, fmt.Errorf("table: mapping: member %q is given twice", name)
		}
		seen[name] = true
		ok := false
		switch {
		case texts[name] != nil:
			*texts[name], ok = stringToken(d)
			if !ok {
				return m, fmt.Errorf("table: mapping: member %q is not a string", name)
			}
		case lists[name] != nil:
			*lists[name], ok = listTokens(d)
			if !ok {
				return m, fmt.Errorf("table: mapping: member %q is not an array of strings", name)
			}
		default:
			return m, fmt.Errorf("table: mapping: unknown member %q", name)
		}
	}
	return m, nil
}

func stringToken(d *json.Decoder) (string, bool) {
	token, err := d.Token()
	s, ok := token.(string)
	return s, ok && err == nil
}

func listTokens(d *json.Decoder) ([]string, bool) {
	if token, err := d.Token(); err != nil || token != json.Delim('[') {
		return nil, false
	}
	var list []string
	for d.More() {
		s, ok := stringToken(d)
		if !ok {
			return nil, false
		}
		list = append(list, s)
	}
	_, err := d.Token()
	return list, err == nil
}

// Validate reports every problem at once. Whether the columns exist is found by Open.
func (m Mapping) Validate() error {
	_, err := m.compile()
	return err
}

// plan is a mapping with its texts taken apart.
type plan struct {
	where    *comparison
	label    *comparison // nil: the label is the number in column
	column   string      // of a label without comparison
	features []feature
	members  []member

	labelName, featuresName string // in the event
}

type feature struct {
	column string
	number bool
}

func (m Mapping) compile() (plan, error) {
	var p plan
	var errs []error
	if m.Where != "" {
		if c, ok := parseComparison(m.Where); ok {
			p.where = &c
		} else {
			errs = append(errs, fmt.Errorf("table: %s: not a column, one of = != > >= < <=, and a constant", m.called("where")))
		}
	}
	switch c, ok := parseComparison(m.Label); {
	case m.Whole:
		for _, x := range []struct {
			rule  string
			given bool
		}{{"label", m.Label != ""}, {"features", len(m.Features) > 0}, {"members", len(m.Members) > 0}} {
			if x.given {
				errs = append(errs, fmt.Errorf("table: %s: ORIEL_MAP says where the members of events stand", m.called(x.rule)))
			}
		}
	case ok && c.column != "":
		p.label = &c
	case m.Label != "" && !strings.ContainsAny(m.Label, operatorBytes):
		p.column = m.Label
	case m.Label == "" && m.Body.Name != "":
	case m.Label == "":
		errs = append(errs, fmt.Errorf("table: %s: none given", m.called("label")))
	default:
		errs = append(errs, fmt.Errorf("table: %s: not a column, nor a column, one of = != > >= < <=, and a constant", m.called("label")))
	}
	if len(m.Features) == 0 && m.Body.Name == "" && !m.Whole {
		errs = append(errs, fmt.Errorf("table: %s: none given", m.called("features")))
	}
	if m.Comma == '"' || m.Comma == '\n' || m.Comma == '\r' || m.Comma == utf8.RuneError {
		errs = append(errs, fmt.Errorf("table: %s: cannot be a quote or a line end", m.called("comma")))
	}
	seen := map[string]bool{}
	for _, text := range m.Features {
		var f feature
		if f.column, f.number = strings.CutSuffix(text, ":number"); f.column == "" {
			errs = append(errs, fmt.Errorf("table: %s: a column has no name", m.called("features")))
		}
		if seen[f.column] {
			errs = append(errs, fmt.Errorf("table: %s: column %q is given twice", m.called("features"), f.column))
		}
		seen[f.column] = true
		p.features = append(p.features, f)
	}
	seen = map[string]bool{}
	for _, column := range m.Sort {
		if column == "" || seen[column] {
			errs = append(errs, fmt.Errorf("table: %s: column %q is empty or given twice", m.called("sort"), column))
		}
		seen[column] = true
	}
	if !m.Whole {
		errs = append(errs, m.compileMembers(&p))
	}
	return p, errors.Join(errs...)
}
