package mapping

import (
	"slices"
	"strings"

	"oriel/schemas/event"
)

// Shape is the type at a path of a schema.
type Shape uint8

// The shapes.
const (
	NoShape     Shape = iota // the schema does not have the path
	ScalarShape              // one value
	ListShape                // a list of values
	RecordShape              // fields
)

// Layout returns the shape at a path of a schema. For a record it also returns the names of the fields that hold one
// value.
type Layout func(p Path) (s Shape, fields []string)

// OwnForm returns the mapping of records whose schema has the members of a body under their own names, at the top
// level: features are the fields of a record, in its order, and a dense vector is a list.
func OwnForm(body event.Body, at Layout) *Mapping {
	m := &Mapping{}
	for _, member := range body.Members {
		for _, name := range []string{member.Name, member.Also} {
			if name == "" {
				continue
			}
			path := Path{name}
			switch shape, fields := at(path); {
			case shape == NoShape:
			case shape == RecordShape && member.Kind == event.KindFeatures:
				for _, field := range fields {
					m.Features = append(m.Features, own(name+"."+field, field, Path{name, field}))
				}
			default: // Compile refuses a wrong shape with an error that names the path
				m.Members = append(m.Members, own(name, name, path))
			}
		}
	}
	return m
}

func own(place, name string, path Path) Item {
	return Item{Name: name, From: []Path{path}, Scale: 1, place: place}
}

// Nesting returns the depth of nested brackets in a schema file, including brackets in texts and comments. pairs lists
// the brackets, each opening one before its closing one: "{}[]".
func Nesting(text []byte, pairs string) int {
	depth, deepest := 0, 0
	for _, c := range text {
		switch at := strings.IndexByte(pairs, c); {
		case at < 0:
		case at%2 == 0:
			depth++
			deepest = max(deepest, depth)
		default:
			depth = max(depth-1, 0)
		}
	}
	return deepest
}

// maxListed bounds the names that an error lists.
const maxListed = 20

// Listed lists the names of fields or types for an error.
func Listed(names []string) string {
	if len(names) == 0 {
		return "none"
	}
	if len(names) > maxListed {
		names = append(slices.Clone(names[:maxListed]), "…")
	}
	return strings.Join(names, ", ")
}
