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

// OpenVersion is Open for records of another version of the reader's schema, in which all paths exist. A field of the
// reader matches the writer's field with the same name, or with one of its aliases as its name, or with its name as an
// alias. If the writer has no such field, its value is the reader's default, or absent.
func (s *Schema) OpenVersion(reader *Schema, paths []mapping.Path) (mapping.Source, error) {
	return s.open(reader.root, paths)
}

func (s *Schema) open(reader *typ, paths []mapping.Path) (mapping.Source, error) {
	c := &compiler{
		passed: map[*typ]*node{}, lenient: reader != nil, paths: paths,
		found: make([]bool, len(paths)), missing: make([]error, len(paths)), wrong: make([]error, len(paths)),
	}
	root := c.node(s.root, reader, mapping.NewTree(paths))
	var errs []error
	for k := range paths {
		switch {
		case c.found[k]:
		case c.wrong[k] != nil:
			errs = append(errs, c.wrong[k])
		case !c.lenient && c.missing[k] != nil:
			errs = append(errs, c.missing[k])
		case !c.lenient:
			errs = append(errs, &mapping.PathError{Path: paths[k], Fault: "null is no value of an event"})
		}
	}
	return &Source{root: root, digits: make([]byte, 0, maxDigits)}, errors.Join(errs...)
}

// compiler walks down the schema of the writer, that of the reader if there is one, and the paths. A path may lead into
// several branches of a union, and must be found in at least one.
type compiler struct {
	lenient bool
	passed  map[*typ]*node // compiled nodes of types that no path reads
	paths   []mapping.Path
	found   []bool
	missing []error
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

// node compiles a type of the writer; r is the corresponding type of the reader's schema, or nil.
func (c *compiler) node(w, r *typ, t *mapping.Tree) *node {
	n := &node{typ: w, place: int32(t.Place)}
	if w.kind == unionKind {
		for _, b := range w.branches {
			n.branches = append(n.branches, c.node(b, r, t))
		}
		return n
	}
	if t.Place >= 0 {
		c.end(w, t)
	}
	below := &mapping.Tree{Place: -1, Below: t.Below}
	switch w.kind {
	case recordKind:
		c.record(n, w, r.like(recordKind), below)
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
			n.symbols = append(n.symbols, []byte(symbol))
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
		c.found[t.Place] = true
	default:
		c.found[t.Place] = true
	}
}

func (c *compiler) record(n *node, w, r *typ, t *mapping.Tree) {
	needed := make([]*node, len(w.fields))
	for i := range t.Below {
		b := &t.Below[i]
		k, own := w.find(b.Name, r)
		switch {
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
	for k := range w.fields {
		if needed[k] != nil {
			n.fields = append(n.fields, needed[k])
		} else {
			n.fields = c.passField(n.fields, w.fields[k].typ)
		}
	}
}

// find returns the index of the writer's field that a name refers to, or −1, and the reader's field of that name, if
// any.
func (t *typ) find(name string, reader *typ) (k int, own *field) {
	names := []string{name}
	if reader != nil {
		if at, _ := reader.find(name, nil); at >= 0 {
			own = &reader.fields[at]
			names = append([]string{own.name}, own.aliases...)
		}
	}
	for _, one := range names {
		if k = slices.IndexFunc(t.fields, func(f field) bool { return f.name == one }); k >= 0 {
			return k, own
		}
	}
	return slices.IndexFunc(t.fields, func(f field) bool { return slices.Contains(f.aliases, names[0]) }), own
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

// like returns the type, or the branch of a union, that has this kind, or nil.
func (t *typ) like(k kind) *typ {
	if t == nil || t.kind == k {
		return t
	}
	for _, b := range t.branches {
		if b.kind == k {
			return b
		}
	}
	return nil
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
