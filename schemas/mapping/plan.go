package mapping

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"oriel/schemas/event"
	"oriel/schemas/text"
)

const (
	// maxPaths bounds the different paths of a plan.
	maxPaths = 4096
	// maxDepth bounds the nested containers in a mapped JSON record, and the names of a path.
	maxDepth = 64
)

// Plan is a mapping compiled for the events of one configuration: a table of sources and targets. Several decoders may
// share it.
type Plan struct {
	mapping *Mapping
	config  event.Config
	paths   []Path
	where   []test
	targets []target
	named   bool // events are objects of named features, even without features
}

// test is a comparison of the value at a path.
type test struct {
	Comparison
	at int // index in paths of the value to compare
}

// target is a feature, a member or a coordinate, and its source.
type target struct {
	item    *Item
	at      int // index in paths of the value; −1: a constant
	as      As
	feature int  // index of the feature; −1: the target is no feature
	member  int  // index of the member in the body
	vector  bool // the target is a coordinate, or the element after the last one of a list

	coordinate int  // index of the coordinate
	beyond     bool // the target is the element after the last one, which must be absent
	choice     bool // the target is a choice or a name, so values become texts
	class      bool // the target is a class, so true and false stay as they are
	optional   bool
}

// Compile checks a mapping against the events of a configuration and reports every problem, each with its position.
func (m *Mapping) Compile(c event.Config) (*Plan, error) {
	b := &builder{Plan: Plan{mapping: m, config: c}, index: map[string]int{}, mapped: map[string]bool{}}
	if m.Rows.Any() {
		b.add("partition_by, key, sort", "are for rows of a table; a record has a partition and a key already")
	}
	where := m.Where
	if c.Unlabelled {
		where = m.unlabelled(c.Body)
	}
	for _, comparison := range where {
		b.where = append(b.where, test{comparison, b.path(comparison.Path)})
	}
	b.features(m.Features)
	if m.Label != nil {
		b.label(m.Label)
	}
	for i := range m.Members {
		b.member(&m.Members[i])
	}
	b.complete()
	if len(b.paths) > maxPaths {
		b.add("mapping", "%d different paths, more than %d", len(b.paths), maxPaths)
	}
	return &b.Plan, errors.Join(append([]error{c.Validate()}, b.problems...)...)
}

// Paths returns the paths that a Source must fill, all different.
func (p *Plan) Paths() []Path { return p.paths }

// Asks names the first reader of a path: the member "where", or an item of the mapping.
func (p *Plan) Asks(path Path) string {
	is := func(at int) bool { return at >= 0 && slices.Equal(p.paths[at], path) }
	for i := range p.where {
		if is(p.where[i].at) {
			return p.mapping.name("where")
		}
	}
	for i := range p.targets {
		if t := &p.targets[i]; is(t.at) {
			return t.item.place
		}
	}
	return ""
}

// Locate prefixes each PathError with the first reader of its path: the member "where", or an item of the mapping. If
// the schema has no record at a part of the path, Protobuf's compiler reports only this part.
func (p *Plan) Locate(err error) error {
	var joined interface{ Unwrap() []error }
	if errors.As(err, &joined) {
		var errs []error
		for _, one := range joined.Unwrap() {
			errs = append(errs, p.Locate(one))
		}
		return errors.Join(errs...)
	}
	var at *PathError
	if !errors.As(err, &at) {
		return err
	}
	for _, path := range p.paths {
		if len(path) >= len(at.Path) && slices.Equal(path[:len(at.Path)], at.Path) {
			return fmt.Errorf("%s: %w", p.Asks(path), err)
		}
	}
	return err
}

// Config returns the configuration of the events.
func (p *Plan) Config() event.Config { return p.config }

// builder builds a plan.
type builder struct {
	Plan
	problems
	index  map[string]int // index in paths of each path
	mapped map[string]bool
}

func (b *builder) path(p Path) int {
	text := p.String()
	at, found := b.index[text]
	if !found {
		at = len(b.paths)
		b.index[text], b.paths = at, append(b.paths, p)
	}
	return at
}

// source returns the first path of an item, or the path of its comparison.
func (b *builder) source(i *Item) int {
	switch {
	case i.Compare != nil:
		return b.path(i.Compare.Path)
	case len(i.From) > 0:
		return b.path(i.From[0])
	}
	return -1
}

func (b *builder) features(items []Item) {
	if len(items) == 0 {
		return
	}
	vector, _ := b.config.Body.Vector()
	if vector.Kind != event.KindFeatures {
		b.add(b.mapping.name("features"), "events%s have no named features, but %s", b.of(), b.members())
		return
	}
	if len(items) > text.MaxNames {
		b.add(b.mapping.name("features"), "%d, more than %d", len(items), text.MaxNames)
	}
	b.mapped[vector.Name], b.named = true, true
	for i := range items {
		item := &items[i]
		t := target{item: item, at: b.source(item), as: item.As, feature: i, optional: true}
		if t.as == AsIs && item.scales() {
			t.as = AsNumber
		}
		b.targets = append(b.targets, t)
	}
}

func (b *builder) label(item *Item) {
	label, some := b.config.Body.Label()
	switch {
	case !some:
		b.add(item.place, "events%s have no label, but %s", b.of(), b.members())
	case item.Compare != nil && label.Kind != event.KindClass:
		b.add(item.place, "a comparison is true or false, and %s is a number; map the number itself", label.Name)
	default:
		named := *item
		named.Name = label.Name
		b.member(&named)
	}
}

func (b *builder) member(item *Item) {
	members := b.config.Body.Members
	k := slices.IndexFunc(members, func(m event.Member) bool {
		return m.Name == item.Name || m.Also != "" && m.Also == item.Name
	})
	if k < 0 {
		b.add(item.place, "events%s have no member %s, but %s", b.of(), text.Shown([]byte(item.Name)), b.members())
		return
	}
	m := members[k]
	if b.mapped[m.Name] {
		b.add(item.place, "the member %s is given twice", m.Name)
	}
	b.mapped[m.Name] = true
	t := target{item: item, at: b.source(item), as: item.As, feature: -1, member: k, optional: m.Optional}
	if m.Kind == event.KindTarget || m.Kind == event.KindClass {
		t.optional = t.optional || b.config.Unlabelled
	}
	switch {
	case m.Kind <= event.KindRelatives:
		b.vector(t, m)
		return
	case len(item.From) > 1:
		b.add(item.place, "%s is one value, not %d", m.Name, len(item.From))
		return
	case m.Kind == event.KindChoice:
		t.choice = true
		if item.Constant.Kind == Text && !m.Open && !slices.Contains(m.Choices, string(item.Constant.Text)) {
			b.add(item.place, "the constant is not one of %s of the member %s", strings.Join(m.Choices, ", "), m.Name)
		}
	case m.Kind == event.KindName:
		t.choice = true
	case item.As == AsText || item.Constant.Kind == Text:
		b.add(item.place, "%s is a number, not a text", m.Name)
	case t.as == AsIs:
		t.as, t.class = AsNumber, m.Kind == event.KindClass
	}
	b.targets = append(b.targets, t)
}

// vector reads each coordinate from its own path, or all of them from the list at one path.
func (b *builder) vector(t target, m event.Member) {
	n, from := b.config.Dimension, t.item.From
	switch {
	case len(from) == 0 || t.item.As > AsNumber:
		b.add(t.item.place, "%s is a vector: from is the path of a list of numbers, or a path for each coordinate", m.Name)
		return
	case n > maxPaths-1:
		b.add(t.item.place, "%s has %d coordinates; a mapping reads at most %d", m.Name, n, maxPaths-1)
		return
	case len(from) > 1 && len(from) != n:
		b.add(t.item.place, "%d paths for %d coordinates (ORIEL_DIMENSION)", len(from), n)
		return
	}
	t.vector, t.as = true, AsNumber
	for k := range n {
		path := from[min(k, len(from)-1)]
		if len(from) == 1 {
			path = append(slices.Clone(path), fmt.Sprint(k))
		}
		t.at, t.coordinate = b.path(path), k
		b.targets = append(b.targets, t)
	}
	if len(from) == 1 {
		t.at, t.beyond = b.path(append(slices.Clone(from[0]), fmt.Sprint(n))), true
		b.targets = append(b.targets, t)
	}
}

// complete reports every required member that the mapping lacks.
func (b *builder) complete() {
	for _, m := range b.config.Body.Members {
		isLabel := m.Kind == event.KindClass || m.Kind == event.KindTarget
		if m.Optional || b.mapped[m.Name] || isLabel && b.config.Unlabelled {
			continue
		}
		switch place := "members"; {
		case isLabel:
			b.add(b.mapping.name("label"), "missing: events%s must have one, the member %s", b.of(), m.Name)
		case m.Kind == event.KindFeatures:
			place = "features"
			fallthrough
		default:
			b.add(b.mapping.name(place), "nothing gives the member %s, which events%s must have", m.Name, b.of())
		}
	}
}

// of names the operator of the events.
func (p *Plan) of() string {
	if p.config.Operator == "" {
		return ""
	}
	return " of " + p.config.Operator
}

// members names the members of the body.
func (b *builder) members() string {
	var names []string
	for _, m := range b.config.Body.Members {
		names = append(names, m.Name)
	}
	return strings.Join(names, ", ")
}

// Readable returns an error if every record of a schema would be a null event. kinds are the kinds of values that its
// records can have at each path. The error lists every reason: a required member has no value, or none that can be
// read, or `where` keeps no record.
func (p *Plan) Readable(kinds []Kinds) error {
	var errs []error
	add := func(place string, path Path, format string, args ...any) {
		errs = append(errs, fmt.Errorf("%s: %w", place, &PathError{Path: path, Fault: fmt.Sprintf(format, args...)}))
	}
	for i := range p.where {
		if w := &p.where[i]; kinds[w.at] == 0 && !w.Holds(&Value{}) {
			add(p.mapping.name("where"), p.paths[w.at], "no record of this schema has a value there, so all would be left out")
		}
	}
	for i := range p.targets {
		t := &p.targets[i]
		switch {
		case t.optional, t.beyond, t.at < 0, t.item.Compare != nil && t.item.Compare.Constant == "":
		case kinds[t.at] == 0:
			add(t.item.place, p.paths[t.at], "no record of this schema has a value there, and events%s must have %s", p.of(), p.name(t))
		case !t.reads(kinds[t.at]):
			add(t.item.place, p.paths[t.at], "no record of this schema has %s there", t.form())
		}
	}
	return errors.Join(errs...)
}

// reads reports whether the target can be read from a value of one of the kinds.
func (t *target) reads(kinds Kinds) bool {
	for k := Number; k <= Other; k++ {
		if kinds.Has(k) && t.item.Reads(k) {
			return true
		}
	}
	return false
}
