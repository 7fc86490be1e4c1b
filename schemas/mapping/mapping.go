package mapping

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"oriel/schemas"
)

// Mapping says where the members of an operator's events stand in records. The package comment has the syntax of each
// text. It holds public settings only.
type Mapping struct {
	Where    []Comparison // all of them hold for an event
	Label    *Item        // nil: none
	Features []Item       // in the order of the event
	Members  []Item
	Rows     Rows
}

// Rows is what a mapping says of the rows of a table beside their events. Records of a topic have none of it.
type Rows struct {
	PartitionBy string   // column that decides the partition
	Key         string   // column that becomes the record key
	Sort        []string // columns to sort by
}

// Any reports whether something is said.
func (r Rows) Any() bool { return r.PartitionBy != "" || r.Key != "" || len(r.Sort) > 0 }

// Item is one member of an event, or one of its features, and how it is made.
type Item struct {
	Name     string // of the feature or member; empty for a label
	From     []Path // one, or those of a vector; none with a constant or a comparison
	Compare  *Comparison
	Constant Value // of Kind Absent: none
	As       As
	Clock    Clock   // how times are read
	Scale    float64 // a number is multiplied by it first; 1 changes nothing
	Offset   float64 // added then
	place    string  // in the document, for messages
}

// As is how a value is read.
type As uint8

// The ways. A number is also a text that is one. Parts of a time are those of the clock's zone.
const (
	AsIs      As = iota // a feature as it stands unless it is scaled; a choice as a text; all others as numbers
	AsNumber            // true is 1, false 0
	AsText              // a number as a decision would print it
	AsBool              // true, false, and the texts "true" and "false"
	AsHour              // 0 to 23
	AsWeekday           // 1, Monday, to 7, Sunday
	AsDay               // of the month, from 1
	AsMonth             // 1 to 12
	AsSeconds           // since 1970-01-01T00:00:00Z
)

var asNames = []string{"", "number", "text", "bool", "hour", "weekday", "day", "month", "seconds"}

func (a As) isTime() bool { return a >= AsHour }

// Parse reads the document of a mapping: a JSON object with the members where, label, features, members, partition_by,
// key and sort, each optional. It reports every problem at once, each with its place.
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

// problems are faults of a document, in its order.
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

func (p *problems) comparison(at, text string) Comparison {
	c, err := ParseComparison(text)
	if err != nil {
		p.add(at, "%w", err)
	}
	return c
}

// comparisons are one, or a list.
func (p *problems) comparisons(at string, n node) (all []Comparison) {
	if n.kind != listNode {
		return []Comparison{p.comparison(at, p.text(at, n))}
	}
	for i, text := range p.texts(at, n) {
		all = append(all, p.comparison(fmt.Sprintf("%s[%d]", at, i), text))
	}
	return all
}

// role is which list an item stands in.
type role uint8

const (
	labelItem role = iota
	featureItem
	memberItem
)

func (p *problems) items(at string, n node, r role) (items []Item) {
	if n.kind != listNode {
		p.add(at, "is %s; it must be a list", n.kind)
	}
	for i, one := range n.list {
		if item, ok := p.item(fmt.Sprintf("%s[%d]", at, i), one, r); ok {
			items = append(items, item)
		}
	}
	return items
}

// item reads the short form, a text, or the long one, an object.
func (p *problems) item(at string, n node, r role) (item Item, ok bool) {
	before := len(*p)
	item = Item{Scale: 1, place: at}
	switch n.kind {
	case textNode:
		p.short(&item, n.text, r)
	case objectNode:
		p.long(&item, n, r)
	default:
		p.add(at, "is %s; it must be a text or an object", n.kind)
	}
	return item, len(*p) == before
}

// short reads [name=]path[:as], of a vector name=path,path,…, and of a label a comparison too.
func (p *problems) short(item *Item, text string, r role) {
	name, rest, found := strings.Cut(text, "=")
	switch {
	case r == memberItem && (!found || name == "" || rest == ""):
		p.add(item.place, "not a member, =, and a path")
		return
	case r == memberItem, r == featureItem && found && strings.HasPrefix(rest, "/"):
		item.Name, text = name, rest
	case r == labelItem && strings.ContainsAny(text, operatorBytes):
		c := p.comparison(item.place, text)
		item.Compare = &c
		return
	}
	if path, suffix, found := cutLast(text); found {
		if as := slices.Index(asNames, suffix); as > 0 {
			item.As, text = As(as), path
		}
	}
	texts := []string{text}
	if r == memberItem && strings.Contains(text, ",") {
		texts = strings.Split(text, ",")
	}
	for _, one := range texts {
		item.From = append(item.From, p.path(item.place, one))
	}
	item.name(r)
	if item.As.isTime() {
		item.Clock = Clock{}
	}
}

// name gives a feature without a name that of the last name of its path.
func (i *Item) name(r role) {
	if i.Name == "" && r == featureItem && len(i.From) == 1 && len(i.From[0]) > 0 {
		i.Name = i.From[0][len(i.From[0])-1]
	}
}

func cutLast(text string) (before, after string, found bool) {
	k := strings.LastIndexByte(text, ':')
	if k < 0 {
		return text, "", false
	}
	return text[:k], text[k+1:], true
}

// long reads {"name", "from", "compare", "constant", "as", "epoch", "zone", "scale", "offset"}.
func (p *problems) long(item *Item, n node, r role) {
	sources := 0
	for _, member := range n.members {
		at, value := item.place+"."+member.name, member.node
		switch member.name {
		case "name":
			if item.Name = p.text(at, value); r == labelItem {
				p.add(at, "a label has no name of its own")
			}
		case "from":
			sources++
			texts := []string{value.text}
			if value.kind == listNode {
				texts = p.texts(at, value)
			} else {
				p.text(at, value)
			}
			for _, text := range texts {
				item.From = append(item.From, p.path(at, text))
			}
		case "compare":
			sources++
			c := p.comparison(at, p.text(at, value))
			item.Compare = &c
		case "constant":
			sources++
			item.Constant = value.constant()
			if item.Constant.Kind == Absent {
				p.add(at, "is %s; it must be a number, a text or a boolean", value.kind)
			}
		case "as":
			as := slices.Index(asNames, p.text(at, value))
			if item.As = As(max(as, 0)); as <= 0 && value.kind == textNode {
				p.add(at, "%s: not one of %s", schemas.Shown([]byte(value.text)), strings.Join(asNames[1:], ", "))
			}
		case "epoch":
			if text := p.text(at, value); !item.Clock.setUnit(text) && value.kind == textNode {
				p.add(at, "%s: not one of s, ms, us, ns", schemas.Shown([]byte(text)))
			}
		case "zone":
			if text := p.text(at, value); value.kind == textNode {
				if err := item.Clock.setZone(text); err != nil {
					p.add(at, "%w", err)
				}
			}
		case "scale":
			if item.Scale = p.number(at, value); item.Scale == 0 && value.kind == numberNode {
				p.add(at, "0: it leaves nothing of a number")
			}
		case "offset":
			item.Offset = p.number(at, value)
		default:
			p.add(at, "no such member: there are name, from, compare, constant, as, epoch, zone, scale and offset")
		}
	}
	item.name(r)
	p.fits(item, sources, r)
}

// fits checks members of the long form against each other.
func (p *problems) fits(item *Item, sources int, r role) {
	switch {
	case sources != 1:
		p.add(item.place, "it has one of from, compare and constant")
	case item.Name == "" && r != labelItem:
		p.add(item.place, "it has no name")
	case len(item.From) > 1 && r != memberItem:
		p.add(item.place+".from", "several paths make a vector, which only a member is")
	case item.From == nil && (item.As != AsIs || item.scales()):
		p.add(item.place, "as, scale and offset are for a value that is read")
	case !item.As.isTime() && item.Clock != Clock{}:
		p.add(item.place, "epoch and zone are for times: as is one of %s", strings.Join(asNames[AsHour:], ", "))
	case item.scales() && (item.As == AsText || item.As == AsBool):
		p.add(item.place, "scale and offset are for numbers, and as is %s", asNames[item.As])
	}
}

func (i *Item) scales() bool { return i.Scale != 1 || i.Offset != 0 }

// distinct refuses two features or two members of one name.
func (p *problems) distinct(m *Mapping) {
	for _, items := range [][]Item{m.Features, m.Members} {
		seen := map[string]string{}
		for _, item := range items {
			if first, twice := seen[item.Name]; twice {
				p.add(item.place, "the name %s is also that of %s; give one a name of its own",
					schemas.Shown([]byte(item.Name)), first)
			}
			seen[item.Name] = item.place
		}
	}
}
