package avro

import (
	"encoding/binary"
	"math"
	"testing"

	"oriel/schemas/mapping"
	"oriel/schemas/mapping/mappingtest"
	"oriel/schemas/text"
)

// TestVersionsOfASchema uses four versions of a schema, each with a record that has the same content as far as
// possible.
func TestVersionsOfASchema(t *testing.T) {
	content := func(b []byte, s string) []byte { return append(binary.AppendVarint(b, int64(len(s))), s...) }
	double := func(b []byte, f float64) []byte {
		return binary.LittleEndian.AppendUint64(b, math.Float64bits(f))
	}
	const own = `{"type":"record","name":"O","fields":[
		{"name":"total","aliases":["amount"],"type":"double"},
		{"name":"country","type":"string","default":"CH"},
		{"name":"paid","type":["null","boolean"],"default":null},
		{"name":"line","type":{"type":"record","name":"L","fields":[{"name":"count","type":"long","default":1}]},
			"default":{"count":7}}]}`
	reader := parse(t, own)
	paths := mappingtest.Paths(t, "/total", "/country", "/paid", "/line/count")
	number := func(f float64) mapping.Value { return mapping.Value{Kind: mapping.Number, Number: f} }
	country := func(s string) mapping.Value { return mapping.Value{Kind: mapping.Text, Text: []byte(s)} }
	null := mapping.Value{Kind: mapping.Null}
	for _, c := range []struct {
		name, schema string
		record       []byte
		want         []mapping.Value
	}{
		{
			"the reader's own", own,
			append(content(double(nil, 2.5), "DE"), 2, 1, 6),
			[]mapping.Value{number(2.5), country("DE"), {Kind: mapping.Bool, Number: 1}, number(3)},
		},
		{
			"fields that were added since, another name, another order, a narrower type",
			`{"type":"record","name":"O","fields":[{"name":"gone","type":{"type":"map","values":"int"}},
				{"name":"amount","type":"int"}]}`,
			[]byte{2, 2, 'k', 4, 0, 84},
			[]mapping.Value{number(42), country("CH"), null, number(7)},
		},
		{
			"a later one: a name whose alias is the reader's, a field below that is missing",
			`{"type":"record","name":"O","fields":[{"name":"land","aliases":["country"],"type":"string"},
				{"name":"line","type":{"type":"record","name":"L","fields":[{"name":"x","type":"int"}]}},
				{"name":"total","type":["float","string"]}]}`,
			binary.LittleEndian.AppendUint32(append(content(nil, "FR"), 2, 0), math.Float32bits(0.5)),
			[]mapping.Value{number(0.5), country("FR"), null, number(1)},
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			source, err := parse(t, c.schema).OpenVersion(reader, paths)
			if err != nil {
				t.Fatal(err)
			}
			values := mappingtest.Left(len(paths))
			if code := source.Fill(values, c.record); code != text.OK {
				t.Error(code)
			}
			mappingtest.Same(t, c.record, paths, values, c.want)
		})
	}
	if _, err := parse(t, `{"type":"record","name":"O","fields":[{"name":"total","type":"bytes"}]}`).
		OpenVersion(reader, paths); err == nil {
		t.Error("a version in which a path leads to bytes is not refused")
	}
}

// TestDefaultsAreTheReaders checks the reader's defaults, in full precision: for a field that the writer lacks, and for
// a field that a record's default leaves out. If one writer's field matches by name and another by alias, the name
// counts.
func TestDefaultsAreTheReaders(t *testing.T) {
	reader := parse(t, `{"type":"record","name":"O","fields":[
		{"name":"a","aliases":["old"],"type":"double","default":0.1},
		{"name":"line","type":{"type":"record","name":"L","fields":[
			{"name":"x","type":"long","default":16777217},{"name":"y","type":"long"}]},"default":{"y":2}},
		{"name":"u","type":["null",{"type":"record","name":"Q","fields":[
			{"name":"x","type":"int","default":8}]}],"default":{"x":9}},
		{"name":"f","type":"float","default":0.1},
		{"name":"on","type":{"type":"int","logicalType":"date"},"default":-1},
		{"name":"list","type":{"type":"array","items":{"type":"record","name":"I","fields":[
			{"name":"x","type":"int","default":6}]}},"default":[{"x":4}]},
		{"name":"map","type":{"type":"map","values":"I"},"default":{"k":{}}}]}`)
	paths := mappingtest.Paths(t, "/a", "/list/0/x", "/map/k/x", "/u/x", "/line/x", "/line/y", "/f", "/on")
	number := func(f float64) mapping.Value { return mapping.Value{Kind: mapping.Number, Number: f} }
	rest := []mapping.Value{
		number(16777217), number(2), number(float64(float32(0.1))), {Kind: mapping.Time, Local: true, Seconds: -24 * 60 * 60},
	}
	for _, c := range []struct {
		fields string
		record []byte
		first  []float64
	}{
		{`{"name":"other","type":"int"}`, []byte{8}, []float64{0.1, 4, 6, 9}},
		{`{"name":"old","type":"int"}`, []byte{8}, []float64{4, 4, 6, 9}},
		{`{"name":"old","type":"int"},{"name":"a","type":"int"}`, []byte{8, 10}, []float64{5, 4, 6, 9}},
		{`{"name":"a","type":"int"},{"name":"old","type":"int"}`, []byte{8, 10}, []float64{4, 4, 6, 9}},
		{
			`{"name":"list","type":{"type":"array","items":{"type":"record","name":"I","fields":[
					{"name":"z","type":"int"}]}}},
				{"name":"map","type":{"type":"map","values":"I"}},
				{"name":"u","type":["null",{"type":"record","name":"Q","fields":[{"name":"z","type":"int"}]}]}`,
			[]byte{2, 2, 0, 2, 2, 'k', 2, 0, 2, 2},
			[]float64{0.1, 6, 6, 8},
		},
	} {
		source, err := parse(t, `{"type":"record","name":"O","fields":[`+c.fields+`]}`).OpenVersion(reader, paths)
		if err != nil {
			t.Fatal(err)
		}
		values := mappingtest.Left(len(paths))
		if code := source.Fill(values, c.record); code != text.OK {
			t.Error(c.fields, code)
		}
		var want []mapping.Value
		for _, f := range c.first {
			want = append(want, number(f))
		}
		mappingtest.Same(t, c.record, paths, values, append(want, rest...))
	}
}
