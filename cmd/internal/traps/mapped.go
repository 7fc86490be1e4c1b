package traps

import (
	"fmt"
	"slices"
	"strings"

	"oriel/schemas"
	"oriel/schemas/mapping"
)

// mapped warns about features that a mapping shows without a record: numbers without a range, and names that people
// give to identifiers.
func mapped(m *mapping.Mapping, ranges []schemas.Range) (warnings []string) {
	var numbers, ids []string
	for _, f := range m.Features {
		shown := schemas.Shown([]byte(f.Name))
		hasRange := slices.ContainsFunc(ranges, func(r schemas.Range) bool { return r.Name == f.Name })
		switch {
		case f.IsNumber() && !hasRange:
			numbers = append(numbers, shown)
		case !f.IsNumber() && f.Compare == nil && isIdentifier(f):
			ids = append(ids, shown)
		}
	}
	if len(numbers) > 0 {
		warnings = append(warnings, fmt.Sprintf("ORIEL_MAP reads numbers without a range in ORIEL_FEATURES_RANGE: %s. A number beyond "+
			"±1 drowns all other features. Give each a public range, name:low:high, of an hour %s",
			list(numbers), "0:24:cyclic"))
	}
	if len(ids) > 0 {
		warnings = append(warnings, fmt.Sprintf("ORIEL_MAP takes what look like identifiers as features: %s. Most of them come once or "+
			"twice, and teach nothing about others. Leave them out, or map what such things have in common", list(ids)))
	}
	return warnings
}

// identifiers are words at the end of names of things that are one of a kind.
var identifiers = []string{"id", "uuid", "guid", "email", "phone", "iban", "ssn", "ip", "token", "hash", "key"}

// isIdentifier looks at the last word of the feature's name, and of its path.
func isIdentifier(f mapping.Item) bool {
	names := []string{f.Name}
	for _, path := range f.From {
		names = append(names, path[len(path)-1])
	}
	return slices.ContainsFunc(names, IsIdentifier)
}

// IsIdentifier says whether a name is one that people give to identifiers, by its last word.
func IsIdentifier(name string) bool { return slices.Contains(identifiers, LastWord(name)) }

// LastWord is user_id's, userId's and user-ID's id.
func LastWord(name string) string {
	cut := strings.LastIndexFunc(name, func(r rune) bool { return strings.ContainsRune("_-. ", r) }) + 1
	name = name[cut:]
	for i := len(name) - 1; i > 0; i-- {
		if isUpper(name[i]) && !isUpper(name[i-1]) {
			return strings.ToLower(name[i:])
		}
	}
	return strings.ToLower(name)
}

func isUpper(c byte) bool { return c >= 'A' && c <= 'Z' }
