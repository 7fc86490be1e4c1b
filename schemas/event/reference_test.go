package event

import (
	"bytes"
	"encoding/json"
	"math"
	"math/big"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"oriel/schemas/text"
)

// The slow reference model of JSONDecoder, on encoding/json: it reads the full document into a tree, then checks one
// rule after the other. It returns all broken rules, because the format does not define which fault is found first. For
// invalid JSON it returns only the syntax error.

type faults map[text.Code]bool

func referenceDecode(c Config, doc []byte) (Event, faults) {
	bad := faults{}
	switch {
	case len(doc) == 0:
		bad[text.Empty] = true
	case len(doc) > c.MaxBytes:
		bad[text.TooLarge] = true
	case !utf8.Valid(doc):
		bad[text.InvalidUTF8] = true
	case !json.Valid(doc):
		bad[text.JSONSyntax] = true
	case hasLoneSurrogate(string(doc)):
		bad[text.LoneSurrogate] = true
	}
	if len(bad) > 0 {
		return Event{}, bad
	}
	dec := json.NewDecoder(bytes.NewReader(doc))
	dec.UseNumber()
	root, depth := readNode(dec)
	if depth > 8 {
		bad[text.TooDeep] = true
	}
	e := Event{Weight: 1}
	if root.kind != 'o' {
		bad.check(root, "", text.NotObject)
		return e, bad
	}
	bad.checkNames(root)

	known := map[string]bool{}
	for _, m := range c.Body.Members {
		found := map[string]bool{}
		for _, got := range root.members {
			if got.name == m.Name || got.name == m.Also && m.Also != "" {
				found[got.name] = true
				referenceMember(&e, c, m, got.value, true, bad)
			}
		}
		known[m.Name], known[m.Also] = true, m.Also != ""
		switch {
		case len(found) == 2:
			bad[text.ConflictingMembers] = true
		case len(found) == 0 && !m.Optional:
			bad[text.MissingMember] = true
		case len(found) == 0:
			referenceMember(&e, c, m, node{}, false, bad)
		}
	}
	for _, m := range root.members {
		if !known[m.name] {
			bad[text.UnknownName] = true
		}
	}
	return e, bad
}

// referenceMember writes a member to its place in the event, or its default.
func referenceMember(e *Event, c Config, m Member, n node, found bool, bad faults) {
	number := func(value func() float64) float64 {
		if found {
			return value()
		}
		return m.Default
	}
	switch m.Kind {
	case KindVector, KindFeatures, KindRelatives:
		if found {
			e.Vector.Indices, e.Vector.Values = referenceVector(c, m.Kind, n, bad)
		}
	case KindClass:
		e.Label = number(func() float64 { return referenceClass(n, bad) })
	case KindTarget:
		e.Label = number(func() float64 { return bad.number(n) })
	case KindWeight:
		e.Weight = number(func() float64 { return bad.number(n) })
		if e.Weight < 0 {
			bad[text.WeightRange] = true
		}
	case KindNumber, KindCount, KindChoice:
		e.Numbers = append(e.Numbers, number(func() float64 { return referenceFurther(m, n, bad) }))
	case KindName:
		if bad.check(n, "s", text.WrongType); found && n.kind == 's' {
			var code text.Code
			if e.Name, code = text.CleanName(nil, []byte(n.text)); code != text.OK {
				bad[code] = true
			}
		}
	}
}

// referenceFurther returns a number, a count, or the position of a choice.
func referenceFurther(m Member, n node, bad faults) float64 {
	if m.Kind == KindChoice {
		bad.check(n, "s", text.WrongType)
		k := slices.Index(m.Choices, n.text)
		if n.kind == 's' && k < 0 {
			bad[text.UnknownChoice] = true
		}
		return float64(k)
	}
	f := bad.number(n)
	outside := (m.Least != 0 || m.Most != 0) && (f < m.Least || f > m.Most)
	switch {
	case m.Kind == KindNumber && outside:
		bad[text.NumberRange] = true
	case m.Kind == KindCount && n.kind == 'f':
		exact, whole := new(big.Int).SetString(n.text, 10)
		if f += 0; !whole || exact.CmpAbs(big.NewInt(1<<53)) > 0 || outside {
			bad[text.CountRange] = true
		}
	}
	return f
}

func referenceVector(c Config, kind Kind, n node, bad faults) ([]int32, []float64) {
	if n.kind == 'a' {
		values := bad.numbers(n)
		if len(values) != c.Dimension {
			bad[text.WrongDimension] = true
		}
		if kind == KindRelatives && (len(values) == 0 || slices.Min(values) < 0 || slices.Max(values) <= 0) {
			bad[text.RelativeRange] = true
		}
		return nil, values
	}
	bad.check(n, "o", text.WrongType)
	if n.kind != 'o' || kind == KindRelatives {
		bad[text.WrongType] = true
		return nil, nil
	}
	bad.checkNames(n)
	if len(n.members) > text.MaxNames {
		bad[text.TooManyNames] = true
	}
	parts := map[string]node{}
	sparse := kind == KindVector
	for k, m := range n.members {
		parts[m.name] = m.value
		sparse = sparse || k == 0 && (m.name == "indices" || m.name == "values") && m.value.kind == 'a'
	}
	if sparse {
		return referenceSparse(c, n, parts, bad)
	}
	h := newHasher(c.Dimension, c.Features)
	for _, m := range n.members {
		bad.check(m.value, "fsb", text.WrongType)
		switch m.value.kind {
		case 's':
			h.text([]byte(m.name), []byte(m.value.text))
		case 'f':
			h.number([]byte(m.name), bad.number(m.value))
		case 'b':
			if m.value.truth {
				h.truth([]byte(m.name))
			}
		}
	}
	if code := h.finish(); code != text.OK {
		bad[code] = true
	}
	return h.indices, h.values
}

func referenceSparse(c Config, n node, parts map[string]node, bad faults) ([]int32, []float64) {
	for _, m := range n.members {
		if m.name != "indices" && m.name != "values" {
			bad[text.UnknownName] = true
		}
		bad.check(m.value, "a", text.WrongType)
	}
	for _, name := range []string{"indices", "values"} {
		if _, found := parts[name]; !found {
			bad[text.MissingMember] = true
		}
	}
	indices := []int32{}
	seen := map[int]bool{}
	for _, item := range parts["indices"].items {
		bad.check(item, "f", text.WrongType)
		index, err := strconv.Atoi(item.text)
		switch {
		case item.kind == 'f' && (err != nil || index < 0 || index >= c.Dimension || item.text[0] == '-'):
			bad[text.IndexRange] = true
		case seen[index]:
			bad[text.DuplicateIndex] = true
		}
		seen[index] = true
		indices = append(indices, int32(index))
	}
	values := bad.numbers(parts["values"])
	if len(values) != len(indices) || len(values) > c.Dimension {
		bad[text.WrongDimension] = true
	}
	return indices, values
}

func referenceClass(n node, bad faults) float64 {
	if n.kind == 'b' {
		if n.truth {
			return 1
		}
		return -1
	}
	switch bad.number(n) {
	case 1:
		return 1
	case 0, -1:
		return -1
	}
	bad[text.LabelRange] = true
	return 0
}

// check records a fault if the value is null or of a kind not listed.
func (bad faults) check(n node, kinds string, code text.Code) {
	if n.kind == 'n' {
		bad[text.NullValue] = true
	} else if !strings.ContainsRune(kinds, rune(n.kind)) {
		bad[code] = true
	}
}

func (bad faults) checkNames(n node) {
	seen := map[string]bool{}
	for _, m := range n.members {
		if seen[m.name] {
			bad[text.DuplicateName] = true
		}
		seen[m.name] = true
	}
}

func (bad faults) number(n node) float64 {
	bad.check(n, "f", text.WrongType)
	if n.kind != 'f' {
		return 0
	}
	f, err := strconv.ParseFloat(n.text, 64)
	if len(n.text) > 9999 && len(n.text) < 200000 { // strconv handles exponents only up to 9999
		if r, ok := new(big.Rat).SetString(n.text); ok {
			f, _ = r.Float64()
			if err = nil; n.text[0] == '-' {
				f = math.Copysign(f, -1)
			}
		}
	}
	if err != nil || math.IsInf(f, 0) {
		bad[text.NumberOverflow] = true
	}
	return f
}

func (bad faults) numbers(n node) []float64 {
	values := []float64{}
	for _, item := range n.items {
		values = append(values, bad.number(item))
	}
	return values
}
