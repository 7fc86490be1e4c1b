package event

import (
	"fmt"
	"iter"
	"slices"
	"strings"

	"oriel/schemas/text"
)

// Explain returns what is wrong with the value for which the last Decode returned the code. Because it names members of
// the value, it must be shown only to people who may read the input, and must never go into the log or the metrics of
// the service. If it finds no details, it returns the code's rule.
func (d *JSONDecoder) Explain(value []byte, code text.Code) string {
	s := ""
	switch code {
	case text.UnknownName:
		s = d.explainUnknown(value)
	case text.DuplicateName:
		s = d.explainDuplicate(value)
	case text.WrongType, text.NullValue:
		s = d.explainType(value)
	case text.NumberOverflow, text.LoneSurrogate:
		s = code.PlaceIn(value)
	case text.JSONSyntax, text.TrailingData, text.InvalidUTF8:
		s = code.RuleAt(value)
	default: // for other codes the rule is the full explanation
	}
	if s == "" {
		return code.Rule()
	}
	return s
}

// Problem returns the full message: the member, if a single member is at fault, the code, and Explain. The last Decode
// must have had this value and returned this code. For codes that Decode never returns, the explanation is the rule.
func (d *JSONDecoder) Problem(value []byte, code text.Code) string {
	text := fmt.Sprintf("%s: %s", code, d.Explain(value, code))
	if member := d.Member(code); member != "" {
		return member + ": " + text
	}
	return text
}

// members iterates over the members of the object at b[i], a container at this depth. It yields each name, with the
// position of its value, and stops at the first syntax error.
func members(b []byte, i, depth int) iter.Seq2[string, int] {
	return func(yield func(string, int) bool) {
		if i = text.SkipSpace(b, i); i == len(b) || b[i] != '{' {
			return
		}
		i = text.SkipSpace(b, i+1)
		for done := false; !done; {
			name, next, _, code := text.ReadString(b, i, nil)
			if code != text.OK {
				return
			}
			if i, code = text.SkipTo(b, next, ':'); code != text.OK || !yield(string(name), i) {
				return
			}
			if i, _, code = text.SkipValue(b, i, text.MaxDepth-depth, nil); code != text.OK {
				return
			}
			if i, done, code = text.NextMember(b, i, '}'); code != text.OK {
				return
			}
		}
	}
}

// lastValue returns the member that was read last, and the position of its value.
func (d *JSONDecoder) lastValue(value []byte) (m *Member, at int) {
	if d.last == noMember {
		return nil, 0
	}
	m = &d.body.Members[d.last]
	for name, i := range members(value, 0, 1) {
		if slices.Contains(m.names(), name) {
			return m, i
		}
	}
	return nil, 0
}

func (d *JSONDecoder) explainUnknown(value []byte) string {
	for name := range members(value, 0, 1) {
		if d.find([]byte(name)) < 0 {
			var known []string
			for _, m := range d.body.Members {
				known = append(known, strings.Join(m.names(), " or "))
			}
			of := ""
			if d.operator != "" {
				of = " of " + d.operator
			}
			return fmt.Sprintf("unknown member %s: events%s have %s", text.Shown([]byte(name)), of, strings.Join(known, ", "))
		}
	}
	m, at := d.lastValue(value)
	if m == nil {
		return ""
	}
	for name := range members(value, at, 2) {
		if sparsePartOf([]byte(name)) == 0 {
			return fmt.Sprintf("unknown member %s of %s: a sparse vector has indices and values", text.Shown([]byte(name)), m.Name)
		}
	}
	return ""
}

func (d *JSONDecoder) explainDuplicate(value []byte) string {
	var seen []string
	for name := range members(value, 0, 1) {
		if slices.Contains(seen, name) {
			return text.Shown([]byte(name)) + " stands twice"
		}
		seen = append(seen, name)
	}
	m, at := d.lastValue(value)
	if m == nil {
		return ""
	}
	within := map[string]bool{}
	for name := range members(value, at, 2) {
		if within[name] {
			return text.Path(m.Name, []byte(name)) + " stands twice"
		}
		within[name] = true
	}
	return ""
}

func (d *JSONDecoder) explainType(value []byte) string {
	m, at := d.lastValue(value)
	if m == nil || at == len(value) {
		return ""
	}
	switch {
	case value[at] == '[' && m.Kind.isVector():
		return element(value, at, 2, m.Name)
	case value[at] != '{' || !m.Kind.isVector() || m.Kind == KindRelatives:
		return fmt.Sprintf("%s is %s; it must be %s", m.Name, typeAt(value, at), m.Kind.form())
	}
	sparse := m.Kind == KindVector
	for name, i := range members(value, at, 2) {
		part := sparsePartOf([]byte(name)) != 0 && i < len(value)
		switch {
		case i == len(value):
			return ""
		case part && value[i] == '[':
			sparse = true
			if text := element(value, i, 3, text.Path(m.Name, []byte(name))); text != "" {
				return text
			}
		case sparse:
			return fmt.Sprintf("%s is %s; it must be an array of numbers", text.Path(m.Name, []byte(name)), typeAt(value, i))
		case value[i] == '{' || value[i] == '[' || value[i] == 'n':
			name := text.Path(m.Name, []byte(name))
			return fmt.Sprintf("%s is %s; a feature is a number, text or boolean", name, typeAt(value, i))
		}
	}
	return ""
}

// element names the first value in the array at b[i] that is not a number.
func element(b []byte, i, depth int, name string) string {
	i = text.SkipSpace(b, i+1)
	for k, done := 0, false; !done && i < len(b) && b[i] != ']'; k++ {
		if _, _, code := text.ReadNumber(b, i, depth+1); code == text.WrongType || code == text.NullValue {
			return fmt.Sprintf("%s[%d] is %s; it must be a number", name, k, typeAt(b, i))
		}
		next, _, code := text.SkipValue(b, i, text.MaxDepth-depth, nil)
		if code != text.OK {
			return ""
		}
		if i, done, code = text.NextMember(b, next, ']'); code != text.OK {
			return ""
		}
	}
	return ""
}

// typeAt names the type of the value at b[i].
func typeAt(b []byte, i int) string {
	switch b[i] {
	case '{':
		return "an object"
	case '[':
		return "an array"
	case '"':
		return "a text"
	case 't', 'f':
		return "a boolean"
	case 'n':
		return "null"
	default:
		return "a number"
	}
}

// form describes a valid member of a kind.
func (k Kind) form() string {
	switch k {
	case KindVector:
		return "an array of numbers, or an object of indices and values"
	case KindFeatures:
		return "an object of features by name, an array of numbers, or an object of indices and values"
	case KindRelatives:
		return "an array of numbers"
	case KindClass:
		return "-1, 0, 1, false or true"
	case KindCount:
		return "a whole number"
	case KindChoice, KindName:
		return "a text"
	default:
		return "a number"
	}
}
