package avro

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strconv"

	"oriel/schemas/mapping"
)

// Open returns a Source that reads the values at paths, all different, in records written with the schema. A path names
// fields, by their names or aliases; after an array comes the index of an item, after a map a key. Unions have no name.
// A path must end at a number, a string, a boolean, an enum, a decimal, a date or a timestamp. The error lists every
// problem.
func (s *Schema) Open(paths []mapping.Path) (mapping.Source, error) {
	return s.open(nil, paths)
}

// OpenVersion is Open for records of another version of the reader's schema, in which all paths exist. The two schemas
// are resolved as doc.go says.
func (s *Schema) OpenVersion(reader *Schema, paths []mapping.Path) (mapping.Source, error) {
	return s.open(reader.root, paths)
}

func (s *Schema) open(reader *typ, paths []mapping.Path) (mapping.Source, error) {
	c := &compiler{
		passed: map[*typ]*node{}, lenient: reader != nil, paths: paths,
		kinds: make([]mapping.Kinds, len(paths)), missing: make([]error, len(paths)),
		foreign: make([]error, len(paths)), wrong: make([]error, len(paths)),
	}
	root := c.node(s.root, reader, mapping.NewTree(paths))
	var errs []error
	for k := range paths {
		switch {
		case c.kinds[k] != 0:
		case c.wrong[k] != nil:
			errs = append(errs, c.wrong[k])
		case c.foreign[k] != nil:
			errs = append(errs, c.foreign[k])
		case !c.lenient && c.missing[k] != nil:
			errs = append(errs, c.missing[k])
		case !c.lenient:
			errs = append(errs, &mapping.PathError{Path: paths[k], Fault: "null is no value of an event"})
		}
	}
	return &Source{root: root, kinds: c.kinds, digits: make([]byte, 0, maxDigits)}, errors.Join(errs...)
}

// compiler walks down the schema of the writer, that of the reader if there is one, and the paths. A path may lead into
// several branches of a union, and must be found in at least one.
type compiler struct {
	lenient bool
	checks  int            // comparisons of defaults with types
	passed  map[*typ]*node // compiled nodes of types that no path reads
	paths   []mapping.Path
	kinds   []mapping.Kinds // kinds of values that records can have at each path
	missing []error
	foreign []error
	wrong   []error
}

// refuse records, for all paths that end below t, why they do not lead to a value.
func (c *compiler) refuse(errs []error, t *mapping.Tree, format string, args ...any) {
	for _, k := range t.Places() {
		if errs[k] == nil {
			errs[k] = &mapping.PathError{Path: c.paths[k], Fault: fmt.Sprintf(format, args...)}
		}
	}
}

// pass returns the node of a type that no path leads to.
func (c *compiler) pass(w *typ) *node {
	if n := c.passed[w]; n != nil {
		return n
	}
	n := &node{typ: w, place: -1}
	c.passed[w] = n
	for i := range w.fields {
		n.fields = c.passField(n.fields, w.fields[i].typ)
	}
	for _, b := range w.branches {
		n.branches = append(n.branches, c.pass(b))
	}
	if w.items != nil {
		n.items = c.pass(w.items)
	}
	return n
}

// passField appends the node of a field that no path leads to. A field of zero bytes gets no node, because a record
// with many such fields would take long to read.
func (c *compiler) passField(fields []*node, w *typ) []*node {
	if w.least == 0 {
		return fields
	}
	return append(fields, c.pass(w))
}

// node compiles a type of the writer; r is the corresponding type of the reader's schema, perhaps a union, or nil.
func (c *compiler) node(w, r *typ, t *mapping.Tree) *node {
	branches := []*typ{w}
	if w.kind == unionKind {
		branches = w.branches
	}
	n := &node{typ: w, place: int32(t.Place)}
	known := false
	var foreign *typ
	for _, b := range branches {
		own := c.branch(b, r, t, branches)
		if n.branches = append(n.branches, own); own.foreign {
			foreign = b
		}
		known = known || !own.foreign && b.kind != nullKind
	}
	if foreign != nil && !known {
		c.refuse(c.foreign, t, "%s %s has no counterpart in the reader's schema, by its name or by an alias", foreign.kind, foreign.name)
	}
	if w.kind != unionKind {
		return n.branches[0]
	}
	return n
}

// branch compiles a type that is no union. branches are those of the union that has the type, or the type itself.
func (c *compiler) branch(w, r *typ, t *mapping.Tree, branches []*typ) *node {
	n := &node{typ: w, place: int32(t.Place)}
	if r != nil && (w.kind == recordKind || w.kind == enumKind) {
		own := w.counterpart(r, branches)
		if n.foreign = own == nil && (w.kind == recordKind || r.like(stringKind) == nil); n.foreign {
			return n
		}
		r = own
	}
	if t.Place >= 0 {
		c.end(w, t)
	}
	below := &mapping.Tree{Place: -1, Below: t.Below}
	switch w.kind {
	case recordKind:
		c.record(n, w, r, below)
	case arrayKind:
		c.array(n, w, r.like(arrayKind), below)
	case mapKind:
		n.items = c.pass(w.items)
		for _, b := range t.Below {
			n.keys = append(n.keys, key{[]byte(b.Name), c.node(w.items, r.like(mapKind).item(), b.Tree), b.Tree.Places()})
		}
		slices.SortFunc(n.keys, func(a, b key) int { return bytes.Compare(a.name, b.name) })
	case nullKind: // all values below a null stay absent
	case enumKind:
		for _, symbol := range w.symbols {
			n.symbols = append(n.symbols, r.symbol(symbol))
		}
		fallthrough
	default:
		c.refuse(c.wrong, below, "nothing lies below %s", w.kind)
	}
	return n
}

// end checks the type at the end of a path.
func (c *compiler) end(w *typ, t *mapping.Tree) {
	at := &mapping.Tree{Place: t.Place}
	switch w.kind {
	case nullKind:
	case recordKind:
		c.refuse(c.wrong, at, "record %s is no value of an event: name a field of it, %s", w.name, w.fieldNames())
	case arrayKind:
		c.refuse(c.wrong, at, "an array: name the place of an item behind it, /0 the first")
	case mapKind:
		c.refuse(c.wrong, at, "a map: name a key behind it")
	case bytesKind, fixedKind:
		if !w.decimal {
			c.refuse(c.wrong, at, "%s without the logical type decimal: no value of an event", w.kind)
			return
		}
		c.kinds[t.Place].Add(w.valueKind())
	default:
		c.kinds[t.Place].Add(w.valueKind())
	}
}

// record compiles the fields of a record. Where one path has the name of a field and another an alias of it, the first
// leads to the field.
func (c *compiler) record(n *node, w, r *typ, t *mapping.Tree) {
	needed := make([]*node, len(w.fields))
	named := w
	if r != nil {
		named = r
	}
	for _, b := range t.Below {
		if k, _ := named.find(b.Name, nil); k >= 0 && named.fields[k].name != b.Name && t.Has(named.fields[k].name) {
			c.refuse(c.wrong, b.Tree, "field %s of record %s is named twice, by several of its names", named.fields[k].name, w.name)
			continue
		}
		c.field(n, w, r, needed, b)
	}
	for k := range w.fields {
		if needed[k] != nil {
			n.fields = append(n.fields, needed[k])
		} else {
			n.fields = c.passField(n.fields, w.fields[k].typ)
		}
	}
}

// field compiles the field of a record that a path leads to.
func (c *compiler) field(n *node, w, r *typ, needed []*node, b mapping.Branch) {
	k, own := w.find(b.Name, r)
	switch {
	case r != nil && own == nil: // the reader's record of this name lacks the field, though others have it
	case k < 0 && own != nil && own.hasDefault:
		n.initial = c.initial(n.initial, own.typ, own.initial, b.Tree)
	case k < 0:
		c.refuse(c.missing, b.Tree, "record %s has no field %s; it has %s", w.name, b.Name, w.fieldNames())
	case needed[k] != nil:
		c.refuse(c.wrong, b.Tree, "field %s of record %s is named twice, by several of its names", w.fields[k].name, w.name)
	default:
		var below *typ
		if own != nil {
			below = own.typ
		}
		needed[k] = c.node(w.fields[k].typ, below, b.Tree)
	}
}

func (c *compiler) array(n *node, w, r *typ, t *mapping.Tree) {
	n.items = c.pass(w.items)
	for _, b := range t.Below {
		index := b.Index()
		if index < 0 {
			c.refuse(c.wrong, b.Tree, "%s is no place in an array, from 0 on", strconv.Quote(b.Name))
			continue
		}
		n.picks = append(n.picks, pick{int64(index), c.node(w.items, r.item(), b.Tree)})
	}
	slices.SortFunc(n.picks, func(a, b pick) int { return int(a.index - b.index) })
}

func (t *typ) item() *typ {
	if t == nil {
		return nil
	}
	return t.items
}

func (t *typ) fieldNames() string {
	var names []string
	for i := range t.fields {
		names = append(names, t.fields[i].name)
	}
	return mapping.Listed(names)
}
