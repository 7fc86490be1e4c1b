package mapping

import (
	"fmt"
	"slices"
	"strings"

	"oriel/schemas/text"
)

// Item is a rule for one member of an event, or one of its features.
type Item struct {
	Name     string // name of the feature or member; empty for a label
	From     []Path // one path, or the paths of a vector; none for a constant or a comparison
	Compare  *Comparison
	Constant Value // Kind Absent: the item is no constant
	As       As
	Clock    Clock   // how to read times
	Scale    float64 // factor of numbers, applied before Offset; 1 changes nothing
	Offset   float64 // addend of numbers, applied after Scale
	place    string  // position in the mapping document, for messages
}

// As is the way in which a value is read.
type As uint8

// The ways of reading. A number may also be a text with a decimal number. Hours and days are of the clock's zone.
const (
	AsIs      As = iota // a feature unchanged unless it is scaled; a choice as a text; all others as numbers
	AsNumber            // as a number; true is 1, false 0
	AsText              // as a text; a number is written as in decisions
	AsBool              // as a truth value: true, false, or the texts "true" and "false"
	AsHour              // hour of a time, 0 to 23
	AsWeekday           // weekday of a time, 1 (Monday) to 7 (Sunday)
	AsDay               // day of the month, from 1
	AsMonth             // month, 1 to 12
	AsSeconds           // seconds since 1970-01-01T00:00:00Z
)

var asNames = []string{"", "number", "text", "bool", "hour", "weekday", "day", "month", "seconds"}

func (a As) isTime() bool { return a >= AsHour }

// Place returns the position of the item in the document.
func (i *Item) Place() string { return i.place }

// IsNumber reports whether the item is always read as a number.
func (i *Item) IsNumber() bool { return i.As == AsNumber || i.As.isTime() || i.scales() }

// role is the list of the document to which an item belongs.
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

// short reads [name=]path[:as], for a vector name=path,path,…, and for a label also a comparison.
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
}

// name names a feature without a name by the last name of its path.
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
			nodes := []node{value}
			if value.kind == listNode {
				nodes = value.list
			}
			for _, one := range nodes {
				if text := p.text(at, one); one.kind == textNode {
					item.From = append(item.From, p.path(at, text))
				}
			}
		case "compare":
			sources++
			c := p.comparisonOf(at, value)
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
				p.add(at, "%s: not one of %s", text.Shown([]byte(value.text)), strings.Join(asNames[1:], ", "))
			}
		case "epoch":
			if s := p.text(at, value); !item.Clock.setUnit(s) && value.kind == textNode {
				p.add(at, "%s: not one of %s", text.Shown([]byte(s)), strings.Join(unitNames, ", "))
			}
		case "zone":
			if text := p.text(at, value); value.kind == textNode {
				if err := item.Clock.setZone(text); err != nil {
					p.add(at, "%w", err)
				}
			}
		case "scale":
			if item.Scale = p.number(at, value); item.Scale == 0 && value.kind == numberNode {
				p.add(at, "0: a scale of 0 leaves nothing of a number")
			}
		case "offset":
			item.Offset = p.number(at, value)
		default:
			p.add(at, "no such member: the members are name, from, compare, constant, as, epoch, zone, scale and offset")
		}
	}
	item.name(r)
	p.fits(item, sources, r)
}

// fits checks the combination of members of the long form.
func (p *problems) fits(item *Item, sources int, r role) {
	switch {
	case sources != 1:
		p.add(item.place, "the item must have exactly one of from, compare and constant")
	case item.Name == "" && r != labelItem:
		p.add(item.place, "it has no name")
	case len(item.From) > 1 && r != memberItem:
		p.add(item.place+".from", "several paths make a vector, which only a member is")
	case item.From == nil && (item.As != AsIs || item.scales()):
		p.add(item.place, "as, scale and offset are for a value that is read")
	case !item.As.isTime() && item.Clock.set:
		p.add(item.place, "epoch and zone are for times: as is one of %s", strings.Join(asNames[AsHour:], ", "))
	case item.scales() && (item.As == AsText || item.As == AsBool):
		p.add(item.place, "scale and offset are for numbers, and as is %s", asNames[item.As])
	case item.scales() && item.As >= AsHour && item.As < AsSeconds:
		p.add(item.place, "scale and offset would change the %s itself, and not the time that it is read from; for a number "+
			"that counts another unit than seconds, epoch is one of %s", asNames[item.As], strings.Join(unitNames, ", "))
	case item.As == AsHour && item.Clock.unit == days:
		p.add(item.place, "a number of days is a date, which has no hour; as is one of weekday, day, month and seconds")
	}
}

func (i *Item) scales() bool { return i.Scale != 1 || i.Offset != 0 }
