package mapping_test

import (
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io/fs"
	"math"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"
	"time"

	"google.golang.org/protobuf/encoding/protowire"

	"oriel/mechanisms/mechtest/tiertest"
	"oriel/schemas/avro"
	"oriel/schemas/event"
	"oriel/schemas/mapping"
	"oriel/schemas/protobuf"
	"oriel/schemas/text"
)

// member is a field of a random schema, with its value in a random record.
type member struct {
	name     string
	kind     string // key in scalars; empty: the member is a record
	fields   []member
	optional bool
	list     bool

	absent bool
	values []any // the value, or the elements of a list
}

// scalars are the kinds of values, with their types in Avro and Protobuf.
var scalars = map[string][2]string{
	"double": {`"double"`, "double"},
	"float":  {`"float"`, "float"},
	"int":    {`"int"`, "sint32"},
	"long":   {`"long"`, "int64"},
	"text":   {`"string"`, "string"},
	"truth":  {`"boolean"`, "bool"},
	"time":   {`{"type":"long","logicalType":"timestamp-millis"}`, "google.protobuf.Timestamp"},
}

var scalarNames = []string{"double", "float", "int", "long", "text", "truth", "time"}

// drawMembers returns a random record type.
func drawMembers(r *rand.Rand, depth int, at string) []member {
	var all []member
	for k := range 2 + r.IntN(4) {
		m := member{name: fmt.Sprintf("%s%c", at, 'a'+k), optional: r.IntN(2) == 0}
		if depth > 0 && r.IntN(3) == 0 {
			m.fields = drawMembers(r, depth-1, m.name)
		} else {
			m.kind = scalarNames[r.IntN(len(scalarNames))]
			m.list = r.IntN(6) == 0
			m.optional = m.optional && !m.list
		}
		all = append(all, m)
	}
	return all
}

// say draws the values of a random record.
func say(r *rand.Rand, all []member) {
	for i := range all {
		m := &all[i]
		m.absent = m.optional && r.IntN(3) == 0
		say(r, m.fields)
		count := 1
		if m.list {
			count = r.IntN(4)
		}
		m.values = nil
		for range count {
			m.values = append(m.values, drawScalar(r, m.kind))
		}
	}
}

func drawScalar(r *rand.Rand, kind string) any {
	minus := math.Copysign(0, -1)
	switch kind {
	case "double":
		for r.IntN(8) > 0 {
			if f := math.Float64frombits(r.Uint64()); !math.IsNaN(f) && !math.IsInf(f, 0) {
				return f
			}
		}
		return minus
	case "float":
		if r.IntN(8) == 0 {
			return float32(minus)
		}
		return float32(r.NormFloat64() * 1e3)
	case "int":
		return int32(r.Uint32()) >> r.IntN(32)
	case "long":
		return int64(r.Uint64()) >> r.IntN(64)
	case "text":
		return []string{"", "UA", "Zürich", "a \"text\" of some length"}[r.IntN(4)]
	case "truth":
		return r.IntN(2) == 0
	default:
		return time.UnixMilli(int64(r.Uint64N(4e12)) - 1e12).UTC()
	}
}

// inJSON returns a record in JSON; a member that is absent is left out, or null.
func inJSON(r *rand.Rand, all []member) string {
	var members []string
	for _, k := range r.Perm(len(all)) {
		m := all[k]
		text := ""
		switch {
		case m.absent && r.IntN(2) == 0:
			continue
		case m.absent:
			text = "null"
		case m.kind == "":
			text = inJSON(r, m.fields)
		default:
			var values []string
			for _, v := range m.values {
				b, _ := json.Marshal(v)
				if f, ok := v.(float32); ok {
					b, _ = json.Marshal(float64(f))
				}
				values = append(values, string(b))
			}
			if text = strings.Join(values, ","); m.list {
				text = "[" + text + "]"
			}
		}
		members = append(members, fmt.Sprintf("%q: %s", m.name, text))
	}
	return "{" + strings.Join(members, ", ") + "}"
}

func avroSchema(name string, all []member) string {
	var fields []string
	for _, m := range all {
		text := scalars[m.kind][0]
		switch {
		case m.kind == "":
			text = avroSchema(name+m.name, m.fields)
		case m.list:
			text = fmt.Sprintf(`{"type":"array","items":%s}`, text)
		}
		if m.optional {
			text = `["null",` + text + `]`
		}
		fields = append(fields, fmt.Sprintf(`{"name":%q,"type":%s}`, m.name, text))
	}
	return fmt.Sprintf(`{"type":"record","name":%q,"fields":[%s]}`, name, strings.Join(fields, ","))
}

func inAvro(b []byte, all []member) []byte {
	for _, m := range all {
		if m.optional {
			b = append(b, 2)
			if m.absent {
				b[len(b)-1] = 0
				continue
			}
		}
		switch {
		case m.kind == "":
			b = inAvro(b, m.fields)
			continue
		case m.list && len(m.values) > 0:
			b = binary.AppendVarint(b, int64(len(m.values)))
		}
		for _, v := range m.values {
			switch x := v.(type) {
			case float64:
				b = binary.LittleEndian.AppendUint64(b, math.Float64bits(x))
			case float32:
				b = binary.LittleEndian.AppendUint32(b, math.Float32bits(x))
			case int32:
				b = binary.AppendVarint(b, int64(x))
			case int64:
				b = binary.AppendVarint(b, x)
			case string:
				b = append(binary.AppendVarint(b, int64(len(x))), x...)
			case bool:
				b = append(b, 0)
				if x {
					b[len(b)-1] = 1
				}
			case time.Time:
				b = binary.AppendVarint(b, x.UnixMilli())
			}
		}
		if m.list {
			b = append(b, 0)
		}
	}
	return b
}

func protoSchema(name string, all []member) string {
	var b strings.Builder
	fmt.Fprintf(&b, "message %s {\n", name)
	for k, m := range all {
		kind := scalars[m.kind][1]
		if m.kind == "" {
			kind = "M" + m.name
			b.WriteString(protoSchema(kind, m.fields))
		}
		label := ""
		switch {
		case m.list:
			label = "repeated "
		case m.optional:
			label = "optional "
		}
		fmt.Fprintf(&b, "%s%s %s = %d;\n", label, kind, m.name, k+1)
	}
	b.WriteString("}\n")
	return b.String()
}

// inProtobuf returns a record with its fields in any order. It leaves out zero values of fields without presence, as
// writers do.
func inProtobuf(r *rand.Rand, all []member) []byte {
	var b []byte
	for _, k := range r.Perm(len(all)) {
		m := all[k]
		tag := func(wire protowire.Type) { b = protowire.AppendTag(b, protowire.Number(k+1), wire) }
		if m.absent {
			continue
		}
		if m.kind == "" {
			tag(protowire.BytesType)
			b = protowire.AppendBytes(b, inProtobuf(r, m.fields))
			continue
		}
		for _, v := range m.values {
			if reflect.ValueOf(v).IsZero() && !m.optional && !m.list && !isNegativeZero(v) {
				continue
			}
			switch x := v.(type) {
			case float64:
				tag(protowire.Fixed64Type)
				b = protowire.AppendFixed64(b, math.Float64bits(x))
			case float32:
				tag(protowire.Fixed32Type)
				b = protowire.AppendFixed32(b, math.Float32bits(x))
			case int32:
				tag(protowire.VarintType)
				b = protowire.AppendVarint(b, protowire.EncodeZigZag(int64(x)))
			case int64:
				tag(protowire.VarintType)
				b = protowire.AppendVarint(b, uint64(x))
			case string:
				tag(protowire.BytesType)
				b = protowire.AppendString(b, x)
			case bool:
				tag(protowire.VarintType)
				b = protowire.AppendVarint(b, protowire.EncodeBool(x))
			case time.Time:
				tag(protowire.BytesType)
				stamp := protowire.AppendVarint(protowire.AppendTag(nil, 1, protowire.VarintType), uint64(x.Unix()))
				stamp = protowire.AppendVarint(protowire.AppendTag(stamp, 2, protowire.VarintType), uint64(x.Nanosecond()))
				b = protowire.AppendBytes(b, stamp)
			}
		}
	}
	return b
}

func isNegativeZero(v any) bool {
	x := reflect.ValueOf(v)
	return x.CanFloat() && x.Float() == 0 && math.Signbit(x.Float())
}

// featuresOf returns a feature for each value, and the first number also as label.
func featuresOf(all []member, at string) (features []string, label string) {
	for _, m := range all {
		path := at + "/" + m.name
		if m.kind == "" {
			below, first := featuresOf(m.fields, path)
			features = append(features, below...)
			if label == "" {
				label = first
			}
			continue
		}
		if m.list {
			path += "/1"
		}
		name := strings.ReplaceAll(path, "/", ".")
		if m.kind == "time" {
			features = append(features, fmt.Sprintf(`{"name":%q,"from":%q,"as":"seconds"}`, name, path),
				fmt.Sprintf(`{"name":%q,"from":%q,"as":"weekday","zone":"+05:30"}`, name+"weekday", path))
			continue
		}
		features = append(features, fmt.Sprintf("%q", name+"="+path))
		if m.kind != "text" && m.kind != "truth" && !m.list && label == "" {
			label = path
		}
	}
	return features, label
}

// TestEventsAreEqualInEveryEncoding checks that records with the same content make the same event, to the bit, in JSON,
// Avro and Protobuf.
func TestEventsAreEqualInEveryEncoding(t *testing.T) {
	valid, null := 0, 0
	for seed := range uint64(tiertest.Runs(40, 4000)) {
		r := rand.New(rand.NewPCG(seed, 29))
		all := drawMembers(r, 2, "m")
		features, label := featuresOf(all, "")
		if label == "" {
			continue
		}
		m, err := mapping.Parse(fmt.Appendf(nil, `{"label":%q,"features":[%s]}`, label, strings.Join(features, ",")))
		if err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
		config := event.Config{
			Body: event.Body{Name: "target", Members: []event.Member{
				{Name: "features", Kind: event.KindFeatures},
				{Name: "label", Kind: event.KindTarget},
			}},
			Dimension: 32, MaxBytes: 1 << 20, Features: event.FeatureConfig{Bias: true, Norm: "unit"},
		}
		avroText := avroSchema("R", all)
		fromAvro, err := avro.Parse([]byte(avroText))
		if err != nil {
			t.Fatalf("seed %d: %v\n%s", seed, err, avroText)
		}
		protoText := "syntax = \"proto3\";\nimport \"google/protobuf/timestamp.proto\";\n" + protoSchema("R", all)
		fromProto, err := protobuf.Read("r.proto", "R", func(name string) ([]byte, error) {
			if name != "r.proto" {
				return nil, fs.ErrNotExist
			}
			return []byte(protoText), nil
		})
		if err != nil {
			t.Fatalf("seed %d: %v\n%s", seed, err, protoText)
		}
		var decoders []event.Decoder
		for _, open := range []mapping.OpenSource{mapping.JSON(event.UnknownIsFree), fromAvro.Open, fromProto.Open} {
			d, err := m.Opener(open)(config)
			if err != nil {
				t.Fatalf("seed %d: %v", seed, err)
			}
			decoders = append(decoders, d)
		}
		for range 50 {
			say(r, all)
			records := [][]byte{[]byte(inJSON(r, all)), inAvro(nil, all), inProtobuf(r, all)}
			var events [3]event.Event
			var codes [3]text.Code
			for k, record := range records {
				if len(record) == 0 {
					codes[k] = decoders[k].Decode(&events[k], append(record, "\x98\x06\x00"...)) // an unknown field
					continue
				}
				codes[k] = decoders[k].Decode(&events[k], record)
			}
			for k := range records {
				if codes[k] != codes[0] || codes[k] == text.OK && fmt.Sprint(events[k]) != fmt.Sprint(events[0]) {
					t.Fatalf("seed %d: %s: encoding %d: %v %v, JSON: %v %v", seed, records[0], k, codes[k], events[k],
						codes[0], events[0])
				}
			}
			if codes[0] == text.OK {
				valid++
			} else {
				null++
			}
		}
	}
	if valid < 100 || null < 10 {
		t.Errorf("%d events and %d null events: too few to tell", valid, null)
	}
}
