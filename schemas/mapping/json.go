package mapping

import (
	"bytes"
	"cmp"
	"slices"
	"strings"
	"unicode/utf8"

	"oriel/schemas/event"
	"oriel/schemas/text"
)

// jsonSource reads JSON records: RFC 8259 in UTF-8, one object, only white space around it, at most maxDepth nested
// containers. Members that no path names are skipped, but their grammar is checked.
type jsonSource struct {
	root   *jsonNode
	strict bool   // a member that no path names makes the record null
	record uint64 // number of records read so far
	arena  []byte // unescaped texts
	values []Value
	fault  *jsonNode // node whose value breaks a rule; nil: the fault is outside all paths
}

// jsonNode is a position in a record that paths end at or pass through.
type jsonNode struct {
	path     Path
	at       int // index in values; −1: no path ends here
	children []jsonChild
	list     bool           // children are elements of a list, sorted by index
	index    map[string]int // child by name, for many children; nil for few
	seen     uint64         // number of the last record that had the node
}

type jsonChild struct {
	name   string
	quoted string // the name in quotes, as unescaped records have it; empty if JSON must escape it
	place  int    // index in a list; −1: a member
	node   *jsonNode
}

// JSON returns a function that opens sources of JSON records.
func JSON(unknown event.Unknown) OpenSource {
	return func(paths []Path) (Source, error) {
		s := &jsonSource{root: &jsonNode{at: -1}, strict: unknown == event.UnknownIsNull}
		for at, path := range paths {
			node := s.root
			for _, name := range path {
				node = node.child(name)
			}
			node.at = at
		}
		s.root.settle()
		return s, nil
	}
}

// child finds or makes the child with a name.
func (n *jsonNode) child(name string) *jsonNode {
	for _, c := range n.children {
		if c.name == name {
			return c.node
		}
	}
	c := jsonChild{name: name, place: place(name), node: &jsonNode{at: -1, path: append(slices.Clone(n.path), name)}}
	if !strings.ContainsFunc(name, func(r rune) bool { return r < ' ' || r == '"' || r == '\\' }) {
		c.quoted = `"` + name + `"`
	}
	n.children, n.list = append(n.children, c), n.list || c.place >= 0
	return c.node
}

// fewChildren is the number of children up to which a linear search is as fast.
const fewChildren = 16

// settle prepares a node and all nodes below it, so that reading any record takes time proportional to its length.
func (n *jsonNode) settle() {
	if n.list {
		slices.SortStableFunc(n.children, func(a, b jsonChild) int { return cmp.Compare(a.place, b.place) })
	}
	if len(n.children) > fewChildren {
		n.index = make(map[string]int, len(n.children))
	}
	for at, c := range n.children {
		if n.index != nil {
			n.index[c.name] = at
		}
		c.node.settle()
	}
}

// Fill implements Source.
func (s *jsonSource) Fill(values []Value, record []byte) text.Code {
	switch {
	case !utf8.Valid(record):
		return text.InvalidUTF8
	case bytes.HasPrefix(record, []byte("\uFEFF")):
		return text.ByteOrderMark
	}
	for i := range values {
		values[i].Kind = Absent
	}
	s.values, s.arena, s.fault = values, s.arena[:0], nil
	s.record++
	i := text.SkipSpace(record, 0)
	if i == len(record) || record[i] != '{' {
		if _, _, code := text.SkipValue(record, i, maxDepth, s.arena); code != text.OK {
			return code
		}
		return text.NotObject
	}
	i, code := s.object(record, i, s.root, maxDepth-1)
	if code != text.OK {
		return code
	}
	if text.SkipSpace(record, i) != len(record) {
		return text.TrailingData
	}
	return text.OK
}

// Place implements Placer.
func (s *jsonSource) Place() string {
	if s.fault == nil {
		return ""
	}
	return s.fault.path.String()
}

// value reads the value at b[i], which may contain up to depth nested containers.
func (s *jsonSource) value(b []byte, i int, n *jsonNode, depth int) (next int, code text.Code) {
	if n.at < 0 && len(n.children) == 0 || i == len(b) {
		return s.skip(b, i, depth)
	}
	var v *Value
	if n.at >= 0 {
		v = &s.values[n.at]
	}
	switch c := b[i]; {
	case c == '{' || c == '[':
		if v != nil {
			v.Kind = Other
		}
		switch {
		case depth == 0:
			return i, text.TooDeep
		case c == '{' && len(n.children) > 0:
			return s.object(b, i, n, depth-1)
		case c == '[' && n.list:
			return s.list(b, i, n, depth-1)
		}
		return s.skip(b, i, depth)
	case v == nil:
		return s.skip(b, i, depth)
	case c == '"':
		v.Kind = Text
		if v.Text, i, s.arena, code = text.ReadString(b, i, s.arena); code != text.OK {
			s.fault = n
		}
		return i, code
	case c == 'n' && text.HasLiteral(b, i, "null"):
		v.Kind = Null
		return i + len("null"), text.OK
	case c == 't' && text.HasLiteral(b, i, "true"):
		v.Kind, v.Number = Bool, 1
		return i + len("true"), text.OK
	case c == 'f' && text.HasLiteral(b, i, "false"):
		v.Kind, v.Number = Bool, 0
		return i + len("false"), text.OK
	case c == '-' || c-'0' < 10:
		v.Kind = Number
		if v.Number, i, code = text.ReadNumber(b, i, 1); code != text.OK {
			s.fault = n
		}
		return i, code
	default:
		return i, text.JSONSyntax
	}
}

func (s *jsonSource) skip(b []byte, i, depth int) (next int, code text.Code) {
	next, s.arena, code = text.SkipValue(b, i, depth, s.arena)
	return next, code
}

// object reads the object that opens at b[i]. Its members mostly come in the same order as in the previous record.
func (s *jsonSource) object(b []byte, i int, n *jsonNode, depth int) (next int, code text.Code) {
	if i = text.SkipSpace(b, i+1); i < len(b) && b[i] == '}' {
		return i + 1, text.OK
	}
	guess := 0
	for done := false; !done; {
		var child *jsonNode
		if child, guess, i, code = s.name(b, i, n, guess); code != text.OK {
			return i, code
		}
		if i, code = text.SkipTo(b, i, ':'); code != text.OK {
			return i, code
		}
		if child == nil {
			i, code = s.skip(b, i, depth)
		} else {
			i, code = s.value(b, i, child, depth)
		}
		if code != text.OK {
			return i, code
		}
		if i, done, code = text.NextMember(b, i, '}'); code != text.OK {
			return i, code
		}
	}
	return i, text.OK
}

// name reads the name at b[i] and returns the child, nil if no path has it. guess is the index of the likely next
// child.
func (s *jsonSource) name(b []byte, i int, n *jsonNode, guess int) (
	child *jsonNode, after, next int, code text.Code,
) {
	at := guess
	if at < len(n.children) && n.children[at].quoted != "" && text.HasLiteral(b, i, n.children[at].quoted) {
		i += len(n.children[at].quoted)
	} else {
		var name []byte
		kept := len(s.arena)
		if name, i, s.arena, code = text.ReadString(b, i, s.arena); code != text.OK {
			return nil, guess, i, code
		}
		at = n.find(name)
		s.arena = s.arena[:kept]
	}
	switch {
	case at < 0 && s.strict:
		return nil, guess, i, text.UnknownName
	case at < 0:
		return nil, guess, i, text.OK
	}
	child = n.children[at].node
	if child.seen == s.record {
		s.fault = child
		return nil, at, i, text.DuplicateName
	}
	child.seen = s.record
	return child, at + 1, i, text.OK
}

func (n *jsonNode) find(name []byte) int {
	if n.index != nil {
		if at, found := n.index[string(name)]; found {
			return at
		}
		return -1
	}
	for at := range n.children {
		if n.children[at].name == string(name) {
			return at
		}
	}
	return -1
}

// list reads the list that opens at b[i].
func (s *jsonSource) list(b []byte, i int, n *jsonNode, depth int) (next int, code text.Code) {
	if i = text.SkipSpace(b, i+1); i < len(b) && b[i] == ']' {
		return i + 1, text.OK
	}
	guess := 0
	for k, done := 0, false; !done; k++ {
		for guess < len(n.children) && n.children[guess].place < k {
			guess++
		}
		if guess < len(n.children) && n.children[guess].place == k {
			i, code = s.value(b, i, n.children[guess].node, depth)
		} else {
			i, code = s.skip(b, i, depth)
		}
		if code != text.OK {
			return i, code
		}
		if i, done, code = text.NextMember(b, i, ']'); code != text.OK {
			return i, code
		}
	}
	return i, text.OK
}
