package table

import (
	"fmt"
	"unicode/utf8"

	"oriel/schemas"
)

// appendEvent prints the event of a line.
func (s *source) appendEvent(dst []byte, cells []string) ([]byte, error) {
	var err error
	if s.mapping.Whole {
		return s.appendFeatures(dst, cells)
	}
	dst = append(dst, '{')
	if len(s.features) > 0 {
		if dst, err = s.appendFeatures(appendName(dst, s.plan.featuresName), cells); err != nil {
			return dst, err
		}
	}
	if s.label >= 0 {
		if dst, err = s.appendLabel(appendName(dst, s.plan.labelName), cells); err != nil {
			return dst, err
		}
	}
	for i, m := range s.plan.members {
		if dst, err = s.appendMember(dst, cells, m, s.members[i]); err != nil {
			return dst, err
		}
	}
	return append(dst, '}'), nil
}

// appendFeatures prints named features; a missing cell is an absent one.
func (s *source) appendFeatures(dst []byte, cells []string) ([]byte, error) {
	dst = append(dst, '{')
	first := true
	for k, column := range s.features {
		text := cells[column]
		if missing(text) {
			continue
		}
		if !first {
			dst = append(dst, ',')
		}
		first = false
		dst = append(dst, s.names[k]...)
		if s.plan.features[k].number {
			f, ok := parseDecimal(text)
			if !ok {
				return dst, s.cellError(column, "features", s.plan.features[k].column, "not a number")
			}
			dst = schemas.AppendFloat(dst, f)
			continue
		}
		var ok bool
		if dst, ok = appendJSONString(dst, text); !ok {
			return dst, s.cellError(column, "features", s.plan.features[k].column, "not UTF-8")
		}
	}
	return append(dst, '}'), nil
}

func (s *source) appendLabel(dst []byte, cells []string) ([]byte, error) {
	text := cells[s.label]
	if c := s.plan.label; c != nil {
		switch {
		case missing(text) && !missing(c.constant):
			return dst, s.cellError(s.label, "label", c.column, "missing")
		case c.holds(text):
			dst = append(dst, `true`...)
		default:
			dst = append(dst, `false`...)
		}
		return dst, nil
	}
	f, ok := parseDecimal(text)
	if !ok {
		return dst, s.cellError(s.label, "label", s.plan.column, "missing or not a number")
	}
	return schemas.AppendFloat(dst, f), nil
}

// cellError names the place of a cell of the line read last, and what is wrong with it, never what is in it.
func (s *source) cellError(column int, rule, name, fault string) error {
	line, _ := s.csv.FieldPos(column)
	return fmt.Errorf("table: line %d: %s: column %q: %s", line, s.mapping.called(rule), name, fault)
}

// appendJSONString prints a JSON string, and says false if the text is not UTF-8.
func appendJSONString(dst []byte, s string) ([]byte, bool) {
	const digits = "0123456789abcdef"
	dst = append(dst, '"')
	for k := range len(s) {
		switch c := s[k]; {
		case c == '"' || c == '\\':
			dst = append(dst, '\\', c)
		case c < ' ':
			dst = append(dst, '\\', 'u', '0', '0', digits[c>>4], digits[c&15])
		default:
			dst = append(dst, c)
		}
	}
	return append(dst, '"'), utf8.ValidString(s)
}
