package mapping

import (
	"errors"
	"fmt"
	"slices"

	"oriel/schemas/event"
	"oriel/schemas/text"
)

// Mapping defines where the members of an operator's events are in records. The package comment has the syntax of each
// text. It holds public settings only.
type Mapping struct {
	Where    []Comparison // conditions; a record that breaks one is no event
	Label    *Item        // nil: events have no label
	Features []Item       // in the order of the event
	Members  []Item
	Rows     Rows

	called func(member string) string // renames where, label, … in messages; nil: names as in a document
}

func (m *Mapping) name(member string) string {
	if m.called == nil {
		return member
	}
	return m.called(member)
}

// Scoring returns the part of a mapping that makes the vector of an event to score: its features, which are named, or
// the body's vector, and all conditions that do not compare the label. It has no label and no other member.
func (m *Mapping) Scoring(body event.Body) *Mapping {
	part := &Mapping{Where: m.unlabelled(body), Features: m.Features, called: m.called}
	vector, _ := body.Vector()
	for _, item := range m.Members {
		if item.Name == vector.Name {
			part.Members = append(part.Members, item)
		}
	}
	return part
}

// unlabelled returns the conditions that an event to score must meet. Conditions on the path of the label are left out:
// the event usually has no label yet, and its score does not depend on the label. Paths are equal if their names are,
// however they are written.
func (m *Mapping) unlabelled(body event.Body) (where []Comparison) {
	label := m.labelPath(body)
	for _, c := range m.Where {
		if !slices.Equal(c.Path, label) {
			where = append(where, c)
		}
	}
	return where
}

// labelPath returns the path of the label, which may be a member, too. It is nil if no path gives the label.
func (m *Mapping) labelPath(body event.Body) Path {
	item := m.Label
	if label, some := body.Label(); item == nil && some {
		if k := slices.IndexFunc(m.Members, func(i Item) bool { return i.Name == label.Name }); k >= 0 {
			item = &m.Members[k]
		}
	}
	switch {
	case item == nil:
		return nil
	case item.Compare != nil:
		return item.Compare.Path
	case len(item.From) > 0:
		return item.From[0]
	}
	return nil
}

// Rows is the part of a mapping for rows of a table besides their events. It does not apply to records of a topic.
type Rows struct {
	PartitionBy string   // table column that decides the partition
	Key         string   // table column that becomes the record key
	Sort        []string // table columns to sort by
}

// Any reports whether any of its members is set.
func (r Rows) Any() bool { return r.PartitionBy != "" || r.Key != "" || len(r.Sort) > 0 }

// Parse parses the document of a mapping: a JSON object with the members where, label, features, members, partition_by,
// key and sort, each optional. It reports every problem at once, each with its position.
func Parse(document []byte) (*Mapping, error) {
	root, err := parseTree(document)
	if err != nil {
		return nil, err
	}
	m := &Mapping{}
	var p problems
	for _, member := range root.members {
		at := member.name
		switch at {
		case "where":
			m.Where = p.comparisons(at, member.node)
		case "label":
			if item, ok := p.item(at, member.node, labelItem); ok {
				m.Label = &item
			}
		case "features":
			m.Features = p.items(at, member.node, featureItem)
		case "members":
			m.Members = p.items(at, member.node, memberItem)
		case "partition_by":
			m.Rows.PartitionBy = p.text(at, member.node)
		case "key":
			m.Rows.Key = p.text(at, member.node)
		case "sort":
			m.Rows.Sort = p.texts(at, member.node)
		default:
			p.add(at, "no such member: a mapping has where, label, features, members, partition_by, key and sort")
		}
	}
	p.distinct(m)
	return m, errors.Join(p...)
}

// Texts holds the short forms of a mapping, as command-line options give them.
type Texts struct {
	Where, Label      string // empty: none
	Features, Members []string

	Called func(member string) string // renames where, label, … in messages; nil: names as in a document
}

// Parse parses the texts and reports every problem at once.
func (t Texts) Parse() (*Mapping, error) {
	m := &Mapping{called: t.Called}
	var p problems
	if t.Where != "" {
		m.Where = append(m.Where, p.comparison(m.name("where"), t.Where))
	}
	if t.Label != "" {
		label, _ := p.item(m.name("label"), node{kind: textNode, text: t.Label}, labelItem)
		m.Label = &label
	}
	for _, text := range t.Features {
		item, _ := p.item(m.name("features"), node{kind: textNode, text: text}, featureItem)
		m.Features = append(m.Features, item)
	}
	for _, text := range t.Members {
		item, _ := p.item(m.name("members"), node{kind: textNode, text: text}, memberItem)
		m.Members = append(m.Members, item)
	}
	if len(p) == 0 {
		p.distinct(m)
	}
	return m, errors.Join(p...)
}

// Prefixed puts a text in front of each problem of Parse or Compile.
func Prefixed(prefix string, err error) error {
	var joined interface{ Unwrap() []error }
	if !errors.As(err, &joined) {
		return fmt.Errorf("%s: %w", prefix, err)
	}
	var errs []error
	for _, one := range joined.Unwrap() {
		errs = append(errs, Prefixed(prefix, one))
	}
	return errors.Join(errs...)
}

// problems collects the faults of a document, in its order.
type problems []error

func (p *problems) add(place, format string, args ...any) {
	*p = append(*p, fmt.Errorf("%s: %w", place, fmt.Errorf(format, args...)))
}

func (p *problems) text(at string, n node) string {
	if n.kind != textNode {
		p.add(at, "is %s; it must be a text", n.kind)
	}
	return n.text
}

func (p *problems) texts(at string, n node) (texts []string) {
	if n.kind != listNode {
		p.add(at, "is %s; it must be a list of texts", n.kind)
	}
	for i, one := range n.list {
		texts = append(texts, p.text(fmt.Sprintf("%s[%d]", at, i), one))
	}
	return texts
}

func (p *problems) number(at string, n node) float64 {
	if n.kind != numberNode {
		p.add(at, "is %s; it must be a number", n.kind)
	}
	return n.number
}

func (p *problems) path(at, text string) Path {
	path, err := ParsePath(text)
	if err != nil {
		p.add(at, "%w", err)
	}
	return path
}

// comparisonOf parses a comparison; it reports a problem if the node is not a text.
func (p *problems) comparisonOf(at string, n node) (c Comparison) {
	if text := p.text(at, n); n.kind == textNode {
		c = p.comparison(at, text)
	}
	return c
}

func (p *problems) comparison(at, text string) Comparison {
	c, err := ParseComparison(text)
	if err != nil {
		p.add(at, "%w", err)
	}
	return c
}

// comparisons parses one comparison, or a list of them.
func (p *problems) comparisons(at string, n node) (all []Comparison) {
	if n.kind != listNode {
		return []Comparison{p.comparisonOf(at, n)}
	}
	for i, one := range n.list {
		all = append(all, p.comparisonOf(fmt.Sprintf("%s[%d]", at, i), one))
	}
	return all
}

// distinct reports two features or two members of the same name.
func (p *problems) distinct(m *Mapping) {
	for _, items := range [][]Item{m.Features, m.Members} {
		seen := map[string]string{}
		for _, item := range items {
			if first, twice := seen[item.Name]; twice {
				p.add(item.place, "%s is also the name of %s; one of them must have another name",
					text.Shown([]byte(item.Name)), first)
			}
			seen[item.Name] = item.place
		}
	}
}
