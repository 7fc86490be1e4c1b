package mapping

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"oriel/schemas/text"
)

// Path is the position of a value in a record: the names on the way from outside. A number without leading zeros is
// also an index in a list, from 0. Names are those of JSON objects, of Avro and Protobuf fields, and of keys of their
// maps.
type Path []string

// ParsePath reads a JSON pointer (RFC 6901), "/order/items/0", or the name of a top-level member, "total", which must
// not contain /. In a pointer ~1 stands for / and ~0 for ~.
func ParsePath(s string) (Path, error) {
	fault := func(rule string) (Path, error) {
		return nil, fmt.Errorf("path %s: %s", text.Shown([]byte(s)), rule)
	}
	switch {
	case s == "" || s == "/":
		return fault("no name")
	case !utf8.ValidString(s):
		return fault("not UTF-8")
	case s[0] != '/' && strings.Contains(s, "/"):
		return fault("a path of several names starts with /")
	case s[0] != '/':
		return Path{s}, nil
	}
	var p Path
	for _, token := range strings.Split(s[1:], "/") {
		for rest := token; ; {
			k := strings.IndexByte(rest, '~')
			if k < 0 {
				break
			}
			if rest = rest[k+1:]; rest == "" || rest[0] != '0' && rest[0] != '1' {
				return fault("behind ~ stands 0 or 1")
			}
		}
		p = append(p, strings.ReplaceAll(strings.ReplaceAll(token, "~1", "/"), "~0", "~"))
	}
	if len(p) > maxDepth {
		return fault(fmt.Sprintf("more than %d names", maxDepth))
	}
	return p, nil
}

// String returns the JSON pointer.
func (p Path) String() string {
	var b strings.Builder
	for _, name := range p {
		b.WriteByte('/')
		b.WriteString(strings.ReplaceAll(strings.ReplaceAll(name, "~", "~0"), "/", "~1"))
	}
	return b.String()
}

// place returns a name as an index in a list, or −1 if it is not one.
func place(name string) int {
	n, err := strconv.Atoi(name)
	if err != nil || n < 0 || strconv.Itoa(n) != name {
		return -1
	}
	return n
}

// PathError explains why records of a schema cannot have, at a path, a value that events can have.
type PathError struct {
	Path  Path
	Fault string
}

// Error implements error.
func (e *PathError) Error() string { return fmt.Sprintf("path %s: %s", e.Path, e.Fault) }

// Tree arranges paths by their names, from outside, so that a compiler can walk down the schema and the tree together.
type Tree struct {
	Place int      // index of the path that ends here; −1: none ends here
	Below []Branch // in the order in which paths first name them
}

// Branch is the part of a tree below a name.
type Branch struct {
	Name string
	Tree *Tree
}

// NewTree arranges paths, which must all be different.
func NewTree(paths []Path) *Tree {
	root := &Tree{Place: -1}
	for place, path := range paths {
		at := root
		for _, name := range path {
			at = at.branch(name)
		}
		at.Place = place
	}
	return root
}

func (t *Tree) branch(name string) *Tree {
	for _, b := range t.Below {
		if b.Name == name {
			return b.Tree
		}
	}
	t.Below = append(t.Below, Branch{name, &Tree{Place: -1}})
	return t.Below[len(t.Below)-1].Tree
}

// Has reports whether a path continues with a name.
func (t *Tree) Has(name string) bool {
	return slices.ContainsFunc(t.Below, func(b Branch) bool { return b.Name == name })
}

// Places returns the indices of all paths that end at this tree or below.
func (t *Tree) Places() []int32 {
	var places []int32
	if t.Place >= 0 {
		places = append(places, int32(t.Place))
	}
	for _, b := range t.Below {
		places = append(places, b.Tree.Places()...)
	}
	return places
}

// Index returns the name as an index in a list, or −1 if it is not one.
func (b Branch) Index() int { return place(b.Name) }
