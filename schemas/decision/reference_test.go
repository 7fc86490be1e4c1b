package decision

import (
	"bytes"
	"context"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/bufbuild/protocompile"
	"github.com/twmb/avro"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/dynamicpb"
)

// encodingLibrary encodes a decision with a library that uses the published schema, and decodes the library's bytes.
type encodingLibrary interface {
	encode(t *testing.T, d Decision, extras []Extra, values []ExtraValue) []byte

	// again decodes bytes and encodes the result.
	again(t *testing.T, b []byte) []byte
}

// TestLibrariesWriteTheSameBytes compares an Encoder's bytes with libraries that use the published schemas, as programs
// in other languages do.
func TestLibrariesWriteTheSameBytes(t *testing.T) {
	rng := rand.New(rand.NewPCG(9, 10))
	libraries := map[Encoding]encodingLibrary{Protobuf: newProtobufLibrary(t), Avro: newAvroLibrary(t)}
	for range 300 {
		d, extras, values := randomDecision(rng)
		for i, x := range extras {
			if text := &values[i].Text; x.Kind == ExtraText && rng.IntN(3) == 0 {
				*text += "\xff\xc3" // invalid UTF-8, which the libraries refuse
			}
			if list := values[i].List; len(list) > 0 && x.Kind == ExtraList && rng.IntN(3) == 0 {
				list[0].Name += "\xff\xc3"
			}
		}
		for e, library := range libraries {
			got := encoded(d, e, extras, values)
			valid := values[:0:0]
			for _, v := range values {
				v.Text = strings.Map(func(r rune) rune { return r }, v.Text) // replaces each invalid byte by U+FFFD
				v.List = slices.Clone(v.List)
				for i := range v.List {
					v.List[i].Name = strings.Map(func(r rune) rune { return r }, v.List[i].Name)
				}
				valid = append(valid, v)
			}
			if want := library.encode(t, d, extras, valid); !bytes.Equal(got, want) {
				t.Fatalf("%s: %x\n%x", Encodings[e], got, want)
			}
			if again := library.again(t, got); !bytes.Equal(got, again) {
				t.Fatalf("%s: %x, read and written %x", Encodings[e], got, again)
			}
		}
	}
}

// sparseReference returns a point as Sparse. It searches all coordinates for each value.
func sparseReference(point []float64) (o sparseObject) {
	o.Dimension = len(point)
	for {
		var next float64
		for _, x := range point {
			if n := len(o.Values); x != 0 && (n == 0 || x < o.Values[n-1]) && (next == 0 || x > next) {
				next = x
			}
		}
		if next == 0 {
			return o
		}
		var indices []int
		for i, x := range point {
			if x == next {
				indices = append(indices, i)
			}
		}
		o.Values, o.Indices = append(o.Values, next), append(o.Indices, indices)
	}
}

// positive returns the numbers with −0 replaced by 0.
func positive(numbers []float64) []float64 {
	positive := make([]float64, len(numbers))
	for k, x := range numbers {
		positive[k] = x + 0
	}
	return positive
}

// protobufLibrary uses google.golang.org/protobuf with dynamic messages.
type protobufLibrary struct {
	decision protoreflect.MessageDescriptor
}

func newProtobufLibrary(t *testing.T) protobufLibrary {
	t.Helper()
	compiler := protocompile.Compiler{Resolver: &protocompile.SourceResolver{ImportPaths: []string{"."}}}
	files, err := compiler.Compile(context.Background(), "../decision.proto")
	if err != nil {
		t.Fatal(err)
	}
	return protobufLibrary{files[0].Messages().ByName("Decision")}
}

// fill sets a field of a message.
func fill(m protoreflect.Message, name string, value any) {
	m.Set(m.Descriptor().Fields().ByName(protoreflect.Name(name)), protoreflect.ValueOf(value))
}

func fillList(m protoreflect.Message, name string, n int, element func(list protoreflect.List, k int)) {
	list := m.Mutable(m.Descriptor().Fields().ByName(protoreflect.Name(name))).List()
	for k := range n {
		element(list, k)
	}
}

func fillNumbers(m protoreflect.Message, name string, numbers []float64) {
	fillList(m, name, len(numbers), func(list protoreflect.List, k int) {
		list.Append(protoreflect.ValueOfFloat64(numbers[k] + 0))
	})
}

func (w protobufLibrary) encode(t *testing.T, d Decision, extras []Extra, values []ExtraValue) []byte {
	t.Helper()
	m := dynamicpb.NewMessage(w.decision)
	fill(m, "stream", d.Stream)
	fill(m, "incarnation", d.Incarnation[:])
	fill(m, "index", d.Index)
	fill(m, "step", d.Step)
	if d.Form == Sparse {
		sparse := m.Mutable(w.decision.Fields().ByName("sparse")).Message()
		o := sparseReference(d.Point)
		fill(sparse, "dimension", uint32(o.Dimension))
		fillNumbers(sparse, "values", o.Values)
		fillList(sparse, "indices", len(o.Indices), func(list protoreflect.List, k int) {
			fillList(list.AppendMutable().Message(), "coordinates", len(o.Indices[k]), func(list protoreflect.List, i int) {
				list.Append(protoreflect.ValueOfUint32(uint32(o.Indices[k][i])))
			})
		})
	} else {
		fillNumbers(m, "decision", d.Point)
	}
	fill(m, "mechanism", d.Mechanism)
	fill(m, "window", d.Window)
	fill(m, "batch", d.Batch)
	fill(m, "epsilon", d.Epsilon+0)
	fill(m, "delta", d.Delta+0)
	for field, name := range map[string]string{"adjacency": d.Adjacency, "unit": d.Unit} {
		name = strings.ToUpper(field + "_" + strings.ReplaceAll(name, "-", "_"))
		values := w.decision.Fields().ByName(protoreflect.Name(field)).Enum().Values()
		fill(m, field, values.ByName(protoreflect.Name(name)).Number())
	}
	fillList(m, "members", len(extras), func(list protoreflect.List, k int) {
		member, v := list.AppendMutable().Message(), values[k]
		fill(member, "name", extras[k].Name)
		switch extras[k].Kind {
		case ExtraNumber:
			fill(member, "number", v.Number+0)
		case ExtraNumbers:
			fillNumbers(member.Mutable(member.Descriptor().Fields().ByName("numbers")).Message(), "numbers", v.Numbers)
		case ExtraText:
			fill(member, "text", v.Text)
		case ExtraList:
			list := member.Mutable(member.Descriptor().Fields().ByName("list")).Message()
			fillList(list, "entries", len(v.List), func(list protoreflect.List, k int) {
				entry, x := list.AppendMutable().Message(), v.List[k]
				fill(entry, "name", x.Name)
				fill(entry, "count", x.Count)
				fill(entry, "low", x.Low)
				fill(entry, "high", x.High)
			})
		}
	})
	return marshal(t, m)
}

func (w protobufLibrary) again(t *testing.T, b []byte) []byte {
	t.Helper()
	m := dynamicpb.NewMessage(w.decision)
	if err := proto.Unmarshal(b, m); err != nil {
		t.Fatal(err)
	}
	if unknown := m.GetUnknown(); len(unknown) > 0 {
		t.Fatalf("fields that the schema does not have: %x", unknown)
	}
	return marshal(t, m)
}

func marshal(t *testing.T, m proto.Message) []byte {
	t.Helper()
	b, err := proto.MarshalOptions{Deterministic: true}.Marshal(m)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// avroLibrary uses github.com/twmb/avro.
type avroLibrary struct{ decision *avro.Schema }

func newAvroLibrary(t *testing.T) avroLibrary {
	t.Helper()
	text, err := os.ReadFile("../decision.avsc")
	if err != nil {
		t.Fatal(err)
	}
	schema, err := avro.Parse(string(text))
	if err != nil {
		t.Fatal(err)
	}
	return avroLibrary{schema}
}

func (w avroLibrary) encode(t *testing.T, d Decision, extras []Extra, values []ExtraValue) []byte {
	t.Helper()
	var point any = positive(d.Point)
	if d.Form == Sparse {
		o := sparseReference(d.Point)
		point = map[string]any{"dimension": o.Dimension, "values": o.Values, "indices": o.Indices}
	}
	members := []any{}
	for i, x := range extras {
		var value any
		switch x.Kind {
		case ExtraNumber:
			value = values[i].Number + 0
		case ExtraNumbers:
			value = positive(values[i].Numbers)
		case ExtraText:
			value = values[i].Text
		case ExtraList:
			entries := []any{}
			for _, x := range values[i].List {
				entries = append(entries, map[string]any{
					"name": x.Name, "count": int64(x.Count), "low": int64(x.Low), "high": int64(x.High),
				})
			}
			value = map[string]any{"entries": entries}
		}
		members = append(members, map[string]any{"name": x.Name, "value": value})
	}
	return w.write(t, map[string]any{
		"stream": d.Stream, "incarnation": d.Incarnation, "index": int64(d.Index), "step": int64(d.Step), "decision": point,
		"mechanism": d.Mechanism, "window": int64(d.Window), "batch": int64(d.Batch), "epsilon": d.Epsilon + 0,
		"delta": d.Delta + 0, "adjacency": strings.ReplaceAll(d.Adjacency, "-", "_"),
		"unit": strings.ReplaceAll(d.Unit, "-", "_"), "members": members,
	})
}

func (w avroLibrary) again(t *testing.T, b []byte) []byte {
	t.Helper()
	var said any
	if rest, err := w.decision.DecodeSingleObject(b, &said); err != nil || len(rest) > 0 {
		t.Fatalf("%v, and %d bytes behind it", err, len(rest))
	}
	return w.write(t, said)
}

func (w avroLibrary) write(t *testing.T, said any) []byte {
	t.Helper()
	b, err := w.decision.AppendSingleObject(nil, said)
	if err != nil {
		t.Fatal(err)
	}
	return b
}
