package mapping

import (
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"

	"oriel/schemas"
)

// Path is where a value stands in a record: the names on the way from outside. A number without leading zeros is also a
// place in a list, from 0. Names are those of JSON objects, of Avro and Protobuf fields, and of keys of their maps.
type Path []string

// ParsePath reads a JSON pointer (RFC 6901), "/order/items/0", or the name of a top-level member, "total", which holds
// no /. In a pointer ~1 stands for / and ~0 for ~.
func ParsePath(text string) (Path, error) {
	fault := func(rule string) (Path, error) {
		return nil, fmt.Errorf("path %s: %s", schemas.Shown([]byte(text)), rule)
	}
	switch {
	case text == "" || text == "/":
		return fault("no name")
	case !utf8.ValidString(text):
		return fault("not UTF-8")
	case text[0] != '/' && strings.Contains(text, "/"):
		return fault("a path of several names starts with /")
	case text[0] != '/':
		return Path{text}, nil
	}
	var p Path
	for _, token := range strings.Split(text[1:], "/") {
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

// String is the pointer.
func (p Path) String() string {
	var b strings.Builder
	for _, name := range p {
		b.WriteByte('/')
		b.WriteString(strings.ReplaceAll(strings.ReplaceAll(name, "~", "~0"), "/", "~1"))
	}
	return b.String()
}

// place reads a name as a place in a list; −1 if it is none.
func place(name string) int {
	n, err := strconv.Atoi(name)
	if err != nil || n < 0 || strconv.Itoa(n) != name {
		return -1
	}
	return n
}

// PathError says why no record has a value of an event at a path.
type PathError struct {
	Path  Path
	Fault string
}

// Error implements error.
func (e *PathError) Error() string { return fmt.Sprintf("path %s: %s", e.Path, e.Fault) }

// Tree arranges paths by their names, from outside: a compiler of a schema goes down both at once.
type Tree struct {
	Place int      // of the path that ends here, in the list of paths; −1: none does
	Below []Branch // in the order in which paths name them
}

// Branch is what lies below a name.
type Branch struct {
	Name string
	Tree *Tree
}

// NewTree arranges paths. None must come twice.
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

// Places are those of all paths that end here or below.
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

// Index is the name as the place of an element in a list; −1 if it is none.
func (b Branch) Index() int { return place(b.Name) }
