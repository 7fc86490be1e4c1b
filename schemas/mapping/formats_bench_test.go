package mapping_test

import (
	"encoding/binary"
	"io/fs"
	"testing"

	"google.golang.org/protobuf/encoding/protowire"

	"oriel/schemas/avro"
	"oriel/schemas/event"
	"oriel/schemas/mapping"
	"oriel/schemas/protobuf"
	"oriel/schemas/text"
)

const (
	flightMap = `{"label":"delay>15","features":["/carrier/code","origin","dest","hour","month","distance"]}`
	flightIDL = `syntax = "proto3";
message Carrier { string code = 1; string name = 2; }
message Flight { string tail = 1; Carrier carrier = 2; string origin = 3; string dest = 4; int32 hour = 5;
	int32 month = 6; double distance = 7; sint64 delay = 8; repeated string crew = 9; }`
	flightAvro = `{"type":"record","name":"Flight","fields":[
		{"name":"tail","type":"string"},
		{"name":"carrier","type":{"type":"record","name":"Carrier","fields":[
			{"name":"code","type":"string"},{"name":"name","type":"string"}]}},
		{"name":"origin","type":"string"},{"name":"dest","type":"string"},{"name":"hour","type":"int"},
		{"name":"month","type":["null","int"]},{"name":"distance","type":"double"},{"name":"delay","type":"long"},
		{"name":"crew","type":{"type":"array","items":"string"}}]}`
)

// flights returns the sources of one event in both encodings, and a record for each.
func flights(t testing.TB) (
	config event.Config, opens map[string]mapping.OpenSource, records map[string][]byte,
) {
	text := func(b []byte, s string) []byte { return append(binary.AppendVarint(b, int64(len(s))), s...) }
	b := text(text(text(text(text(nil, "N14228"), "UA"), "United Air Lines"), "EWR"), "IAH")
	b = append(b, 10, 2, 2) // fields hour, branch and month
	b = binary.LittleEndian.AppendUint64(b, 0x4095e00000000000)
	b = append(b, 34, 4)
	b = append(text(text(b, "A. Pilot"), "C. Pilot"), 0)

	field := func(p []byte, number protowire.Number, s string) []byte {
		return protowire.AppendString(protowire.AppendTag(p, number, protowire.BytesType), s)
	}
	p := field(nil, 1, "N14228")
	p = field(p, 2, string(field(field(nil, 1, "UA"), 2, "United Air Lines")))
	p = append(field(field(p, 3, "EWR"), 4, "IAH"), 5<<3, 5, 6<<3, 1)
	p = protowire.AppendFixed64(protowire.AppendTag(p, 7, protowire.Fixed64Type), 0x4095e00000000000)
	p = append(p, 8<<3, 34)
	p = field(field(p, 9, "A. Pilot"), 9, "C. Pilot")

	fromAvro, err := avro.Parse([]byte(flightAvro))
	if err != nil {
		t.Fatal(err)
	}
	fromProto, err := protobuf.Read("f.proto", "Flight", func(name string) ([]byte, error) {
		if name != "f.proto" {
			return nil, fs.ErrNotExist
		}
		return []byte(flightIDL), nil
	})
	if err != nil {
		t.Fatal(err)
	}
	config = event.Config{
		Body: event.Body{Name: "loss", Members: []event.Member{
			{Name: "features", Kind: event.KindFeatures},
			{Name: "label", Kind: event.KindClass},
		}},
		Dimension: 32, MaxBytes: 1 << 20, Features: event.FeatureConfig{Bias: true, Norm: "unit"},
	}
	return config, map[string]mapping.OpenSource{"avro": fromAvro.Open, "protobuf": fromProto.Open},
		map[string][]byte{"avro": b, "protobuf": p}
}

func BenchmarkDecodeFormat(b *testing.B) {
	config, opens, records := flights(b)
	m, err := mapping.Parse([]byte(flightMap))
	if err != nil {
		b.Fatal(err)
	}
	for name, open := range opens {
		d, err := m.Opener(open)(config)
		if err != nil {
			b.Fatal(err)
		}
		b.Run("format="+name, func(b *testing.B) {
			var e event.Event
			b.ReportAllocs()
			b.SetBytes(int64(len(records[name])))
			for b.Loop() {
				if code := d.Decode(&e, records[name]); code != text.OK {
					b.Fatal(d.Problem(records[name], code))
				}
			}
		})
	}
}

// TestFormatsAllocateNothing checks that no encoding allocates after the first event of a decoder.
func TestFormatsAllocateNothing(t *testing.T) {
	config, opens, records := flights(t)
	m, err := mapping.Parse([]byte(flightMap))
	if err != nil {
		t.Fatal(err)
	}
	for name, open := range opens {
		d, err := m.Opener(open)(config)
		if err != nil {
			t.Fatal(err)
		}
		var e event.Event
		if code := d.Decode(&e, records[name]); code != text.OK || e.Label != 1 {
			t.Errorf("%s: %s", name, d.Problem(records[name], code))
		}
		for end := range len(records[name]) {
			if n := testing.AllocsPerRun(10, func() { d.Decode(&e, records[name][:end]) }); n > 0 {
				t.Errorf("%s, the first %d bytes: %g allocations", name, end, n)
			}
		}
	}
}
