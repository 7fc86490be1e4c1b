package mapping

import (
	"slices"
	"strings"
)

// Nesting is how deep brackets nest in a schema file, those in texts and comments included. pairs lists the brackets,
// each opening one before its closing one: "{}[]".
func Nesting(text []byte, pairs string) int {
	depth, most := 0, 0
	for _, c := range text {
		switch at := strings.IndexByte(pairs, c); {
		case at < 0:
		case at%2 == 0:
			depth++
			most = max(most, depth)
		default:
			depth = max(depth-1, 0)
		}
	}
	return most
}

// mostListed bounds the names that an error lists.
const mostListed = 20

// Listed lists the names of fields or types for an error.
func Listed(names []string) string {
	if len(names) == 0 {
		return "none"
	}
	if len(names) > mostListed {
		names = append(slices.Clone(names[:mostListed]), "…")
	}
	return strings.Join(names, ", ")
}
