package traps

import (
	"fmt"
	"slices"
	"strings"

	"oriel/schemas/event"
	"oriel/schemas/mapping"
	"oriel/schemas/text"
)

// kindAt returns the kind that the schema of records declares for all values at a path, or mapping.Absent if the kind
// is not known.
type kindAt func(mapping.Path) mapping.Kind

// of returns the kind of the values that an item reads.
func (at kindAt) of(i *mapping.Item) mapping.Kind {
	switch {
	case i.Compare != nil:
		return at(i.Compare.Path)
	case len(i.From) == 1:
		return at(i.From[0])
	}
	return mapping.Absent
}

// unreadable warns about items and filters that can never read their values, because the schema declares another kind
// for these values.
func unreadable(m *mapping.Mapping, at kindAt) (warnings []string) {
	items := slices.Concat(m.Features, m.Members)
	if m.Label != nil {
		items = append(items, *m.Label)
	}
	for i := range items {
		item := &items[i]
		k := at.of(item)
		if item.Reads(k) {
			continue
		}
		remedy := "name another path"
		switch {
		case k == mapping.Time && item.Compare == nil:
			remedy = `"as" says which part of it is meant, such as "hour" or "seconds"`
		case k == mapping.Number && item.As != mapping.AsBool:
			remedy = `"epoch" names its unit`
		}
		path := item.From
		if item.Compare != nil {
			path = []mapping.Path{item.Compare.Path}
		}
		warnings = append(warnings, fmt.Sprintf("ORIEL_MAP: %s: path %s is %s by the schema, which cannot be read so: each record that has "+
			"it is a null event; %s", item.Place(), path[0], k, remedy))
	}
	for i, where := range m.Where {
		compared := mapping.Item{Compare: &where}
		if k := at.of(&compared); !compared.Reads(k) {
			warnings = append(warnings, fmt.Sprintf("ORIEL_MAP: where[%d]: path %s is %s by the schema, which no comparison reads: "+
				"each record that has it is left out without a dead letter; compare another path", i, where.Path, k))
		}
	}
	return warnings
}

// mapped warns about problems of features that the mapping alone shows: numbers without a range, ranges without a
// feature, and names that are usual for identifiers.
func mapped(m *mapping.Mapping, ranges []event.Range, at kindAt) (warnings []string) {
	var numbers, ids, spare []string
	for _, r := range ranges {
		if !slices.ContainsFunc(m.Features, func(f mapping.Item) bool { return f.Name == r.Name }) {
			spare = append(spare, text.Shown([]byte(r.Name)))
		}
	}
	if len(spare) > 0 {
		warnings = append(warnings, fmt.Sprintf("ORIEL_FEATURES_RANGE: %s: no feature of ORIEL_MAP has that name", list(spare)))
	}
	for _, f := range m.Features {
		shown := text.Shown([]byte(f.Name))
		hasRange := slices.ContainsFunc(ranges, func(r event.Range) bool { return r.Name == f.Name })
		isNumber := f.IsNumber() || f.As == mapping.AsIs && f.Compare == nil && at.of(&f) == mapping.Number
		switch {
		case isNumber && !hasRange:
			numbers = append(numbers, shown)
		case !isNumber && f.Compare == nil && isIdentifier(f):
			ids = append(ids, shown)
		}
	}
	if len(numbers) > 0 {
		warnings = append(warnings, fmt.Sprintf("ORIEL_MAP reads numbers without a range in ORIEL_FEATURES_RANGE: %s. A number beyond "+
			"±1 drowns all other features. Give each number a public range, name:low:high. For an hour this is hour:%s",
			list(numbers), "0:24:cyclic"))
	}
	if len(ids) > 0 {
		warnings = append(warnings, fmt.Sprintf("ORIEL_MAP takes apparent identifiers as features: %s. Most of them come once or "+
			"twice, and teach nothing about others. Leave them out, or map a property that they share", list(ids)))
	}
	return warnings
}

// identifiers lists last words of names that usually identify one person or thing.
var identifiers = []string{"id", "uuid", "guid", "email", "phone", "iban", "ssn", "ip", "token", "hash", "key"}

// isIdentifier reports whether the last word of the feature's name, or of its path, is one of identifiers.
func isIdentifier(f mapping.Item) bool {
	names := []string{f.Name}
	for _, path := range f.From {
		names = append(names, path[len(path)-1])
	}
	return slices.ContainsFunc(names, IsIdentifier)
}

// IsIdentifier reports whether the last word of a name is usual for an identifier.
func IsIdentifier(name string) bool { return slices.Contains(identifiers, LastWord(name)) }

// LastWord returns the last word of a name, for example id for user_id, userId and user-ID.
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
