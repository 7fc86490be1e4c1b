package avro

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// parser turns the JSON of schemas into types. It refuses only what makes records unreadable. Registries and other
// readers accept more than the specification: names with any characters, and attributes with any contents where no path
// leads. A library that checks all of them would refuse a whole topic for one field.
type parser struct {
	named map[string]*typ
	all   []*typ
	open  []reference
	err   error
}

// reference is a type that is named, perhaps before its definition.
type reference struct {
	at          **typ
	name, space string
}

func (p *parser) fail(format string, args ...any) {
	if p.err == nil {
		p.err = fmt.Errorf(format, args...)
	}
}

// decode reads the JSON of a schema file. As in the reference implementation (Apache Avro for Java), the file may start
// with a byte order mark, and may have comments.
func decode(text []byte) (value any, err error) {
	d := json.NewDecoder(bytes.NewReader(withoutComments(bytes.TrimPrefix(text, []byte("\ufeff")))))
	d.UseNumber()
	if err := d.Decode(&value); err != nil {
		return nil, fmt.Errorf("the schema is not JSON: %w", err)
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return nil, errors.New("something follows the schema")
	}
	return value, nil
}

// withoutComments replaces comments, from // to the end of the line and from /* to */, by spaces.
func withoutComments(text []byte) []byte {
	text = bytes.Clone(text)
	quoted := false
	for i := 0; i < len(text); i++ {
		length := 0 // of the comment at i
		switch rest := text[i:]; {
		case quoted && rest[0] == '\\':
			i++
		case rest[0] == '"':
			quoted = !quoted
		case quoted:
		case bytes.HasPrefix(rest, []byte("//")):
			line, _, _ := bytes.Cut(rest, []byte("\n"))
			length = len(line)
		case bytes.HasPrefix(rest, []byte("/*")):
			comment, _, _ := bytes.Cut(rest[2:], []byte("*/"))
			length = min(2+len(comment)+2, len(rest))
		}
		for k := range length {
			text[i+k] = ' '
		}
		i += max(length-1, 0)
	}
	return text
}

// read reads the type that a JSON value describes; space is the enclosing namespace.
func (p *parser) read(at **typ, value any, space string) {
	switch x := value.(type) {
	case string:
		if k, known := kinds[x]; known && k.isPrimitive() {
			*at = p.add(k)
			return
		}
		p.open = append(p.open, reference{at, x, space})
	case []any:
		t := p.add(unionKind)
		*at, t.branches = t, make([]*typ, len(x))
		for i := range x {
			p.read(&t.branches[i], x[i], space)
		}
	case map[string]any:
		p.object(at, x, space)
	default:
		p.fail("a type is a name, a list of branches, or an object that has a type")
	}
}

func (p *parser) add(k kind) *typ {
	t := &typ{kind: k, index: len(p.all)}
	if p.all = append(p.all, t); len(p.all) > maxTypes {
		p.fail("more than %d types", maxTypes)
	}
	return t
}

func (p *parser) object(at **typ, m map[string]any, space string) {
	name, isName := m["type"].(string)
	k, known := kinds[name]
	if !isName || !known {
		p.read(at, m["type"], space)
		return
	}
	t := p.add(k)
	*at = t
	if k == fixedKind {
		t.size = p.size(m["size"])
	}
	t.logical(m)
	switch k {
	case recordKind:
		p.fields(t, m["fields"], p.define(t, m, space))
	case enumKind:
		p.define(t, m, space)
		t.symbols = texts(m["symbols"])
		if symbol, _ := m["default"].(string); slices.Contains(t.symbols, symbol) {
			t.fallback = symbol
		}
	case fixedKind:
		p.define(t, m, space)
	case arrayKind:
		p.read(&t.items, m["items"], space)
	case mapKind:
		p.read(&t.items, m["values"], space)
	default: // a primitive type needs nothing else
	}
}

// define names a type, and returns the namespace of the names in it.
func (p *parser) define(t *typ, m map[string]any, space string) string {
	if own, has := m["namespace"].(string); has {
		space = own
	}
	name, _ := m["name"].(string)
	if name == "" {
		p.fail("%s has no name", t.kind)
	}
	if t.name = fullName(name, space); p.named[t.name] != nil {
		p.fail("the type %s is defined twice", t.name)
	}
	p.named[t.name] = t
	space = strings.TrimSuffix(t.name, t.unqualified())
	space = strings.TrimSuffix(space, ".")
	for _, alias := range texts(m["aliases"]) {
		t.aliases = append(t.aliases, fullName(alias, space))
	}
	return space
}

func fullName(name, space string) string {
	if space == "" || strings.Contains(name, ".") {
		return name
	}
	return space + "." + name
}

// unqualified returns the name of a type without its namespace.
func (t *typ) unqualified() string { return t.name[strings.LastIndexByte(t.name, '.')+1:] }

func (p *parser) fields(t *typ, value any, space string) {
	list, isList := value.([]any)
	if !isList {
		p.fail("record %s has no list of fields", t.name)
	}
	t.fields = make([]field, len(list))
	for i := range list {
		m, _ := list[i].(map[string]any)
		f := &t.fields[i]
		f.name, _ = m["name"].(string)
		f.aliases = texts(m["aliases"])
		f.initial, f.hasDefault = m["default"]
		if f.name == "" || slices.ContainsFunc(t.fields[:i], func(other field) bool { return other.name == f.name }) {
			p.fail("record %s has a field without a name, or two of the name %q", t.name, f.name)
		}
		p.read(&f.typ, typeOf(m), space)
	}
}

// typeOf returns the type of a field. Many tools write attributes of the type beside it, in the field: its logical
// type, or the whole definition.
func typeOf(field map[string]any) any {
	if name, _ := field["type"].(string); name != "" {
		if k, known := kinds[name]; known && !k.isPrimitive() {
			field = maps.Clone(field)
			delete(field, "default") // it is the field's
			return field
		}
	}
	if _, has := field["logicalType"]; !has {
		return field["type"]
	}
	return withLogical(field["type"], field)
}

// withLogical adds a field's logical type to its type, or to the first branch that is not null.
func withLogical(value any, field map[string]any) any {
	own := map[string]any{}
	switch x := value.(type) {
	case string:
		own["type"] = x
	case map[string]any:
		own = maps.Clone(x)
	case []any:
		if k := slices.IndexFunc(x, func(branch any) bool { return branch != "null" }); k >= 0 {
			x = slices.Clone(x)
			x[k] = withLogical(x[k], field)
		}
		return x
	default:
		return value
	}
	for _, name := range []string{"logicalType", "precision", "scale"} {
		if _, has := own[name]; !has && field[name] != nil {
			own[name] = field[name]
		}
	}
	return own
}

// logical reads the logical type. The specification says to ignore an invalid one.
func (t *typ) logical(m map[string]any) {
	name, _ := m["logicalType"].(string)
	t.unit = unitOf(t.kind, name)
	t.local = t.unit < 0 || t.unit > 0 && strings.HasPrefix(name, "local-")
	if name != "decimal" || t.kind != bytesKind && t.kind != fixedKind {
		return
	}
	most := maxPrecision
	if t.kind == fixedKind { // digits of the greatest number of 8·size − 1 bits
		most = min(most, (8*t.size-1)*logTwo/1e9)
	}
	precision := whole(m["precision"])
	scale := 0
	if m["scale"] != nil {
		scale = whole(m["scale"])
	}
	if precision >= 1 && precision <= most && scale >= 0 && scale <= precision {
		t.decimal, t.scale = true, scale
	}
}

// maxPrecision bounds the digits of a decimal: more than any tool writes, and so few that their number is short.
const maxPrecision = 1 << 20

const logTwo = 301_029_995 // ⌊10⁹ · log₁₀ 2⌋

func (p *parser) size(value any) int {
	size := whole(value)
	if size < 0 {
		p.fail("a fixed has no size")
	}
	return min(size, maxLeast)
}

// whole returns a whole number, which some tools write as a text, or −1 if there is none.
func whole(value any) int {
	text, _ := value.(string)
	if number, is := value.(json.Number); is {
		text = string(number)
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 0 {
		return -1
	}
	return n
}

// texts returns the texts of a JSON list.
func texts(value any) (all []string) {
	list, _ := value.([]any)
	for _, one := range list {
		if text, is := one.(string); is {
			all = append(all, text)
		}
	}
	return all
}

// resolve finds the types that names stand for: in the enclosing namespace, or else without one.
func (p *parser) resolve() {
	for _, r := range p.open {
		t := p.named[fullName(r.name, r.space)]
		if t == nil {
			t = p.named[r.name]
		}
		if t == nil {
			p.fail("unknown type %q", r.name)
			continue
		}
		*r.at = t
	}
}
