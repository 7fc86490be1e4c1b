package schemas

import (
	"bytes"
	"encoding/json"
	"math"
	"math/big"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// The slow twin of Decoder, on encoding/json: it reads the whole document into a tree, then checks one rule after the other. It returns every
// rule broken (an invalid JSON text breaks only that rule), because which fault is found first is not part of the format.

type faults map[Code]bool

func twinDecode(c EventConfig, doc []byte) (Event, faults) {
	bad := faults{}
	switch {
	case len(doc) == 0:
		bad[Empty] = true
	case len(doc) > c.MaxBytes:
		bad[TooLarge] = true
	case !utf8.Valid(doc):
		bad[InvalidUTF8] = true
	case !json.Valid(doc):
		bad[JSONSyntax] = true
	case hasLoneSurrogate(string(doc)):
		bad[LoneSurrogate] = true
	}
	if len(bad) > 0 {
		return Event{}, bad
	}
	dec := json.NewDecoder(bytes.NewReader(doc))
	dec.UseNumber()
	root, depth := readNode(dec)
	if depth > 8 {
		bad[TooDeep] = true
	}
	e := Event{Weight: 1}
	if root.kind != 'o' {
		bad.check(root, "", NotObject)
		return e, bad
	}
	bad.checkNames(root)

	allowed := map[string][]string{
		"linear": {"gradient", "cost"}, "portfolio": {"relatives"},
		"logistic": {"features"}, "hinge": {"features"}, "squared": {"features"}, "absolute": {"features"},
	}[c.Loss]
	needsLabel := allowed[0] == "features"
	vectors := map[string]bool{}
	hasLabel := false
	for _, m := range root.members {
		switch {
		case slices.Contains(allowed, m.name):
			vectors[m.name] = true
			e.Vector.Indices, e.Vector.Values = twinVector(c, m.value, bad)
		case m.name == "label" && needsLabel:
			hasLabel = true
			e.Label = twinLabel(c.Loss, m.value, bad)
		case m.name == "weight":
			if e.Weight = bad.number(m.value); e.Weight < 0 {
				bad[WeightRange] = true
			}
		default:
			bad[UnknownName] = true
		}
	}
	switch {
	case len(vectors) == 0 || needsLabel && !hasLabel:
		bad[MissingMember] = true
	case len(vectors) == 2:
		bad[ConflictingMembers] = true
	}
	return e, bad
}

func twinVector(c EventConfig, n node, bad faults) ([]int32, []float64) {
	if n.kind == 'a' {
		values := bad.numbers(n)
		if len(values) != c.Dimension {
			bad[WrongDimension] = true
		}
		if c.Loss == "portfolio" && (len(values) == 0 || slices.Min(values) < 0 || slices.Max(values) <= 0) {
			bad[RelativeRange] = true
		}
		return nil, values
	}
	bad.check(n, "o", WrongType)
	if n.kind != 'o' || c.Loss == "portfolio" {
		bad[WrongType] = true
		return nil, nil
	}
	bad.checkNames(n)
	if len(n.members) > MaxNames {
		bad[TooManyNames] = true
	}
	parts := map[string]node{}
	sparse := c.Loss == "linear"
	for k, m := range n.members {
		parts[m.name] = m.value
		sparse = sparse || k == 0 && (m.name == "indices" || m.name == "values") && m.value.kind == 'a'
	}
	if sparse {
		return twinSparse(c, n, parts, bad)
	}
	var features []Feature
	for _, m := range n.members {
		bad.check(m.value, "fsb", WrongType)
		switch m.value.kind {
		case 's':
			features = append(features, Feature{Name: m.name, Kind: FeatureText, Text: m.value.text})
		case 'f':
			features = append(features, Feature{Name: m.name, Number: bad.number(m.value)})
		case 'b':
			if m.value.truth {
				features = append(features, Feature{Name: m.name, Kind: FeatureTrue})
			}
		}
	}
	indices, values, code := HashFeatures(features, c.Dimension, c.Features)
	if code != OK {
		bad[code] = true
	}
	return indices, values
}

func twinSparse(c EventConfig, n node, parts map[string]node, bad faults) ([]int32, []float64) {
	for _, m := range n.members {
		if m.name != "indices" && m.name != "values" {
			bad[UnknownName] = true
		}
		bad.check(m.value, "a", WrongType)
	}
	for _, name := range []string{"indices", "values"} {
		if _, found := parts[name]; !found {
			bad[MissingMember] = true
		}
	}
	indices := []int32{}
	seen := map[int]bool{}
	for _, item := range parts["indices"].items {
		bad.check(item, "f", WrongType)
		index, err := strconv.Atoi(item.text)
		switch {
		case item.kind == 'f' && (err != nil || index < 0 || index >= c.Dimension || item.text[0] == '-'):
			bad[IndexRange] = true
		case seen[index]:
			bad[DuplicateIndex] = true
		}
		seen[index] = true
		indices = append(indices, int32(index))
	}
	values := bad.numbers(parts["values"])
	if len(values) != len(indices) || len(values) > c.Dimension {
		bad[WrongDimension] = true
	}
	return indices, values
}

func twinLabel(loss string, n node, bad faults) float64 {
	two := loss == "logistic" || loss == "hinge"
	if n.kind == 'b' && two {
		if n.truth {
			return 1
		}
		return -1
	}
	f := bad.number(n)
	if !two {
		return f
	}
	switch f {
	case 1:
		return 1
	case 0, -1:
		return -1
	}
	bad[LabelRange] = true
	return 0
}

// check records a fault if the value is null or of a kind not listed.
func (bad faults) check(n node, kinds string, code Code) {
	if n.kind == 'n' {
		bad[NullValue] = true
	} else if !strings.ContainsRune(kinds, rune(n.kind)) {
		bad[code] = true
	}
}

func (bad faults) checkNames(n node) {
	seen := map[string]bool{}
	for _, m := range n.members {
		if seen[m.name] {
			bad[DuplicateName] = true
		}
		seen[m.name] = true
	}
}

func (bad faults) number(n node) float64 {
	bad.check(n, "f", WrongType)
	if n.kind != 'f' {
		return 0
	}
	f, err := strconv.ParseFloat(n.text, 64)
	if len(n.text) > 9999 && len(n.text) < 200000 { // strconv counts exponents to 9999 only
		if r, ok := new(big.Rat).SetString(n.text); ok {
			f, _ = r.Float64()
			if err = nil; n.text[0] == '-' {
				f = math.Copysign(f, -1)
			}
		}
	}
	if err != nil || math.IsInf(f, 0) {
		bad[NumberOverflow] = true
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
