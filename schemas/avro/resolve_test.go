package avro

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"

	"oriel/mechanisms/mechtest/tiertest"
	"oriel/schemas/mapping"
	"oriel/schemas/mapping/mappingtest"
	"oriel/schemas/text"
)

// datum is a decoded value with its type: the slow reference model decodes whole records, and resolves them after that,
// by the text of the specification (Avro 1.12, "Schema Resolution" and "Aliases").
type datum struct {
	t        *typ
	branches []*typ // of the union that the value comes from, or the type itself
	value    mapping.Value
	fields   map[string]datum // of a record, by the writer's names; of a map
	items    []datum
	keys     []string // of a map's items
}

// decodeDatum decodes a valid record.
func decodeDatum(t *typ, b []byte) (d datum, rest []byte) {
	number := func() int64 {
		x, n := binary.Varint(b)
		b = b[n:]
		return x
	}
	d = datum{t: t, branches: []*typ{t}, fields: map[string]datum{}}
	switch t.kind {
	case unionKind:
		branch := number()
		d, b = decodeDatum(t.branches[branch], b)
		d.branches = t.branches
	case recordKind:
		for _, f := range t.fields {
			d.fields[f.name], b = decodeDatum(f.typ, b)
		}
	case arrayKind, mapKind:
		for count := number(); count != 0; count = number() {
			if count < 0 {
				count = -count
				number()
			}
			for range count {
				key := ""
				if t.kind == mapKind {
					length := number()
					key, b = string(b[:length]), b[length:]
				}
				var item datum
				item, b = decodeDatum(t.items, b)
				d.fields[key], d.items, d.keys = item, append(d.items, item), append(d.keys, key)
			}
		}
	case nullKind:
		d.value = mapping.Value{Kind: mapping.Null}
	case enumKind:
		d.value = mapping.Value{Kind: mapping.Text, Text: []byte(t.symbols[number()])}
	case stringKind:
		length := number()
		d.value, b = mapping.Value{Kind: mapping.Text, Text: b[:length]}, b[length:]
	case doubleKind:
		d.value = mapping.Value{Kind: mapping.Number, Number: math.Float64frombits(binary.LittleEndian.Uint64(b))}
		b = b[8:]
	default:
		panic("BUG: no such type in these schemas")
	}
	return d, b
}

var errUnresolved = errors.New("the specification signals an error")

// likeness ranks how well a named type of the reader fits one of the writer.
func likeness(w, r *typ) int {
	last := func(name string) string { return name[strings.LastIndex(name, ".")+1:] }
	switch {
	case w.kind != r.kind:
		return 0
	case w.name == r.name:
		return 4
	case slices.Contains(r.aliases, w.name):
		return 3
	case slices.Contains(w.aliases, r.name):
		return 2
	case last(w.name) == last(r.name):
		return 1
	}
	return 0
}

// own returns the reader's type for a value of a named type.
func (d datum) own(r *typ) *typ {
	best, rank, several := (*typ)(nil), 0, false
	for _, t := range append([]*typ{r}, r.branches...) {
		switch n := likeness(d.t, t); {
		case n > rank:
			best, rank, several = t, n, false
		case n == rank:
			several = true
		}
	}
	for _, other := range d.branches {
		several = several || other != d.t && likeness(other, d.t) == 1
	}
	if rank == 1 && several {
		return nil
	}
	return best
}

// model holds the paths that are read together.
type model []mapping.Path

// at returns the value at path of the reader's schema, below the names that are done.
func (m model) at(d datum, r *typ, done, path mapping.Path) (v mapping.Value, err error) {
	switch d.t.kind {
	case recordKind:
		if r = d.own(r); r == nil {
			return mapping.Value{}, errUnresolved
		}
	case enumKind:
		if r = d.own(r); r == nil {
			return mapping.Value{}, errUnresolved
		}
		if symbol := string(d.value.Text); !slices.Contains(r.symbols, symbol) {
			if d.value.Text = []byte(r.fallback); r.fallback == "" {
				return mapping.Value{}, errUnresolved
			}
		}
	case arrayKind, mapKind:
		for _, b := range r.branches {
			if b.kind == d.t.kind {
				r = b
			}
		}
	default: // a value without parts is what the writer says
	}
	if len(path) == 0 {
		return d.value, nil
	}
	below := append(slices.Clone(done), path[0])
	switch d.t.kind {
	case recordKind:
		return m.field(d, r, done, path)
	case arrayKind:
		if n, err := strconv.Atoi(path[0]); err == nil && n < len(d.items) {
			return m.at(d.items[n], r.items, below, path[1:])
		}
	case mapKind:
		for k, key := range d.keys { // the last entry of a key counts, but all must be resolved
			if key != path[0] {
				continue
			}
			if v, err = m.at(d.items[k], r.items, below, path[1:]); err != nil {
				return v, err
			}
		}
	default: // nothing is below
	}
	return v, nil
}

func (m model) field(d datum, r *typ, done, path mapping.Path) (mapping.Value, error) {
	named := func(f field) bool { return f.name == path[0] }
	if !slices.ContainsFunc(r.fields, named) { // a path may name a field by an alias
		named = func(f field) bool { return slices.Contains(f.aliases, path[0]) }
	}
	below := append(slices.Clone(done), path[0])
	for _, f := range r.fields {
		another := func(p mapping.Path) bool { // names the field by its name
			return f.name != path[0] && len(p) > len(done) && slices.Equal(p[:len(done)], done) && p[len(done)] == f.name
		}
		if !named(f) || slices.ContainsFunc(m, another) {
			continue
		}
		for _, name := range append([]string{f.name}, f.aliases...) {
			if value, has := d.fields[name]; has {
				return m.at(value, f.typ, below, path[1:])
			}
		}
		for _, written := range d.t.fields { // beyond the specification: an alias in the writer's schema
			if slices.Contains(written.aliases, f.name) {
				return m.at(d.fields[written.name], f.typ, below, path[1:])
			}
		}
		if f.hasDefault && len(path) == 1 {
			switch x := f.initial.(type) {
			case nil:
				return mapping.Value{Kind: mapping.Null}, nil
			case string:
				return mapping.Value{Kind: mapping.Text, Text: []byte(x)}, nil
			case json.Number:
				number, err := x.Float64()
				return mapping.Value{Kind: mapping.Number, Number: number}, err
			}
		}
	}
	return mapping.Value{}, nil
}

// evolving draws schemas with the same few names of types and fields, so that two of them are versions of each other:
// types and fields that are added, removed, reordered, renamed, and moved between namespaces.
type evolving struct {
	*rand.Rand
	made map[string]bool
}

func (e *evolving) pick(from ...string) string { return from[e.IntN(len(from))] }

func (e *evolving) named(name string, define func(full string) string) string {
	full := e.pick("c.", "c.", "a.", "b.") + name
	if e.made[full] {
		return strconv.Quote(full)
	}
	e.made[full] = true
	return define(full)
}

func (e *evolving) record(name string, depth int) string {
	return e.named(name, func(full string) string {
		var fields []string
		add := func(names [2]string, typ func() string, initial string) {
			if e.IntN(4) == 0 {
				return
			}
			k := e.IntN(8) / 7
			text := fmt.Sprintf(`{"name":%q,"type":%s`, names[k], typ())
			if e.IntN(2) == 0 {
				text += fmt.Sprintf(`,"aliases":[%q]`, names[1-k])
			}
			if initial != "" && e.IntN(3) > 0 {
				text += `,"default":` + initial
			}
			fields = append(fields, text+"}")
		}
		is := func(typ string) func() string { return func() string { return typ } }
		below := func() string { return e.union(depth - 1) }
		add([2]string{"amount", "sum"}, is(`"double"`), strconv.Itoa(e.IntN(1000)))
		add([2]string{"channel", "way"}, is(`["string","null"]`), strconv.Quote(full+strconv.Itoa(e.IntN(1000))))
		if e.IntN(2) == 0 {
			add([2]string{"why", "cause"}, e.enum, `"A"`)
		}
		if depth > 0 {
			add([2]string{"line", "row"}, below, "null")
			add([2]string{"list", "rows"}, func() string { return `{"type":"array","items":` + below() + "}" }, "[]")
			add([2]string{"map", "rest"}, func() string { return `{"type":"map","values":` + below() + "}" }, "{}")
		}
		if len(fields) == 0 {
			fields = []string{`{"name":"amount","type":"double"}`}
		}
		e.Shuffle(len(fields), func(i, j int) { fields[i], fields[j] = fields[j], fields[i] })
		aliases := ""
		if e.IntN(4) == 0 {
			aliases = e.pick("a.", "b.", "c.") + e.pick("Placed", "Cancelled", "Refunded")
		}
		return fmt.Sprintf(`{"type":"record","name":%q,"aliases":[%q],"fields":[%s]}`, full, aliases, strings.Join(fields, ","))
	})
}

func (e *evolving) enum() string {
	return e.named("Why", func(full string) string {
		symbols := []string{`"A"`}
		for _, symbol := range []string{`"B"`, `"C"`, `"D"`} {
			if e.IntN(2) == 0 {
				symbols = append(symbols, symbol)
			}
		}
		e.Shuffle(len(symbols), func(i, j int) { symbols[i], symbols[j] = symbols[j], symbols[i] })
		initial := ""
		if e.IntN(2) == 0 {
			initial = `,"default":"A"`
		}
		return fmt.Sprintf(`{"type":"enum","name":%q,"symbols":[%s]%s}`, full, strings.Join(symbols, ","), initial)
	})
}

// union draws a union of records, or a record.
func (e *evolving) union(depth int) string {
	names := []string{"Placed", "Cancelled", "Refunded"}
	e.Shuffle(3, func(i, j int) { names[i], names[j] = names[j], names[i] })
	if e.IntN(6) == 0 {
		return e.record(names[0], depth)
	}
	branches := []string{`"null"`}
	for _, name := range names[:1+e.IntN(3)] {
		branches = append(branches, e.record(name, depth))
	}
	return "[" + strings.Join(branches, ",") + "]"
}

// TestVersionsAreResolvedBySpecification compares records of pairs of drawn versions with the reference model. Where a
// version is refused, the model must find no value at the refused paths either.
func TestVersionsAreResolvedBySpecification(t *testing.T) {
	counts := map[string]int{}
	for seed := range uint64(tiertest.Runs(120, 10_000)) {
		r := rand.New(rand.NewPCG(seed, 43))
		d := &drawer{Rand: r}
		draw := func() (string, *Schema) {
			for {
				text := (&evolving{r, map[string]bool{}}).union(2)
				s, err := Parse([]byte(text))
				if err == nil {
					return text, s
				}
				if !strings.Contains(err.Error(), "holds itself") {
					t.Fatalf("seed %d: %v\n%s", seed, err, text)
				}
			}
		}
		readerText, reader := draw()
		writerText, writer := draw()
		paths := d.paths(reader.root, 16)
		source, err := writer.OpenVersion(reader, paths)
		for range 30 {
			record := d.value(nil, writer.root, 5)
			decoded, rest := decodeDatum(writer.root, record)
			if len(rest) > 0 {
				t.Fatalf("seed %d: the model leaves %d bytes", seed, len(rest))
			}
			want, failed := make([]mapping.Value, len(paths)), false
			for k, path := range paths {
				var problem error
				want[k], problem = model(paths).at(decoded, reader.root, nil, path)
				failed = failed || problem != nil
				read := problem == nil && want[k].Kind > mapping.Null
				if read && err != nil && strings.Contains(err.Error(), "path "+path.String()+": ") {
					t.Fatalf("seed %d: %s: %v, but the model reads %v\n%s\n%s", seed, path, err, want[k], readerText, writerText)
				}
				if want[k].Kind > mapping.Null {
					counts["values"]++
				}
			}
			if err != nil {
				counts["refused"]++
				continue
			}
			values := mappingtest.Left(len(paths))
			switch code := source.Fill(values, record); {
			case code == text.NumberOverflow && mapping.Finite(want) == code:
			case failed != (code == text.Unresolved) || !failed && code != text.OK:
				t.Fatalf("seed %d: %v, the model fails: %v\n%s\n%s", seed, code, failed, readerText, writerText)
			case failed:
				counts["unresolved"]++
			default:
				counts["read"]++
				if !t.Run("", func(t *testing.T) { mappingtest.Same(t, record, paths, values, want) }) {
					t.Fatalf("seed %d:\n%s\n%s", seed, readerText, writerText)
				}
			}
		}
	}
	for _, what := range []string{"values", "refused", "read", "unresolved"} {
		if counts[what] < 100 {
			t.Errorf("%d %s: too few to tell", counts[what], what)
		}
	}
}

// FuzzVersions checks that any two schemas and any record are read or refused within bounds of memory.
func FuzzVersions(f *testing.F) {
	for seed := range uint64(6) {
		r := rand.New(rand.NewPCG(seed, 43))
		draw := func() string { return (&evolving{r, map[string]bool{}}).union(2) }
		f.Add(draw(), draw(), []byte{2, 2, 0, 2, 'k', 4})
	}
	nested := `{"type":"record","name":"A","fields":[{"name":"a","type":["null","A"],"default":{"a":{"a":null}}}]}`
	f.Add(nested, `{"type":"record","name":"A","fields":[]}`, []byte{})
	f.Fuzz(func(t *testing.T, reader, writer string, record []byte) {
		var sources []mapping.Source
		values := make([]mapping.Value, 1)
		tiertest.Allocates(t, mappingtest.MaxSchema, func() {
			sources = nil
			r, err := Parse([]byte(reader))
			if err != nil {
				return
			}
			w, err := Parse([]byte(writer), []byte(reader))
			if err != nil {
				w, err = Parse([]byte(writer))
			}
			if err != nil {
				return
			}
			for _, p := range mappingtest.Reach(12, r.Names) {
				r.KindAt(p)
				if source, err := w.OpenVersion(r, []mapping.Path{p}); err == nil {
					sources = append(sources, source)
				}
			}
		})
		tiertest.Allocates(t, mappingtest.Nothing, func() {
			for _, source := range sources {
				source.Fill(values, record)
			}
		})
	})
}
