package framing

import (
	"bytes"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"strings"
	"testing"

	"oriel/schemas/event"
	"oriel/schemas/mapping"
	"oriel/schemas/text"
)

// echo returns a source that gives the record as a text.
func echo([]mapping.Path) (mapping.Source, error) { return echoed{}, nil }

type echoed struct{}

func (echoed) Fill(values []mapping.Value, record []byte) text.Code {
	values[0] = mapping.Value{Kind: mapping.Text, Text: record}
	return text.OK
}

// TestConfluentFraming checks the bytes of Confluent's framing: magic byte, id, and for Protobuf the index of the
// message type.
func TestConfluentFraming(t *testing.T) {
	avro, nested := Entry{ID: 1, Open: echo}, Entry{ID: 70_000, Index: []int{1, 0}, Open: echo}
	first := Entry{ID: 3, Index: []int{0}, Open: echo}
	later := Entry{ID: 1<<32 - 1, Open: echo, Known: func(partition int32, offset int64) bool {
		return partition == 3 && offset >= 100
	}}
	table, err := NewTable([]Entry{nested, later, avro, first})
	if err != nil {
		t.Fatal(err)
	}
	opened, err := table.Open(nil)
	if err != nil {
		t.Fatal(err)
	}
	s := opened.(*Source)
	for _, c := range []struct {
		record   string
		position int64
		want     text.Code
		event    string
	}{
		{"0000000001aabb", 0, text.OK, "aabb"},
		{"0000000001", 0, text.OK, ""},
		{"00000000", 0, text.UnknownFraming, ""},
		{"", 0, text.UnknownFraming, ""},
		{"0100000001aabb", 0, text.UnknownFraming, ""},
		{"0000000002aabb", 0, text.UnknownSchema, ""},
		{"000000000300aabb", 0, text.OK, "aabb"},               // a count of 0 stands for the list [0]
		{"00000000030200aabb", 0, text.OK, "aabb"},             // the list [0] in full
		{"00000000030202aabb", 0, text.UnknownSchema, ""},      // the unknown message index [1]
		{"0000000003", 0, text.UnknownFraming, ""},             // a missing index list
		{"000000000304", 0, text.UnknownFraming, ""},           // a truncated index list
		{"000000000301", 0, text.UnknownFraming, ""},           // a list of −1 indices
		{"0000000003feffffff0f", 0, text.UnknownFraming, ""},   // a list of 2^31 − 1 indices
		{"0000000003ffffffffffff", 0, text.UnknownFraming, ""}, // a varint that does not end
		{"0000011170040200aabb", 0, text.OK, "aabb"},           // the known message index [1, 0]
		{"0000011170040202aabb", 0, text.UnknownSchema, ""},    // the unknown message index [1, 1]
		{"000001117000aabb", 0, text.UnknownSchema, ""},        // the unknown message index [0]
		{"00ffffffffaa", 99, text.UnknownSchema, ""},           // an id that the registry knows only from position 100 on
		{"00ffffffffaa", 100, text.OK, "aa"},
	} {
		record, err := hex.DecodeString(c.record)
		if err != nil {
			t.Fatal(err)
		}
		s.At(3, c.position)
		values := make([]mapping.Value, 1)
		code := s.Fill(values, record)
		if code != c.want || code == text.OK && hex.EncodeToString(values[0].Text) != c.event {
			t.Errorf("%s at %d: %v, %x, want %v, %s", c.record, c.position, code, values[0].Text, c.want, c.event)
		}
		if named := s.Place() != ""; named != (c.want == text.UnknownSchema) {
			t.Errorf("%s: at fault at %q", c.record, s.Place())
		}
		known := s.table.find(s.id, 3, c.position) >= 0
		another := strings.Contains(s.Place(), "the message type is another")
		if another != (known && c.want == text.UnknownSchema) {
			t.Errorf("%s: at fault at %q", c.record, s.Place())
		}
		if n := testing.AllocsPerRun(10, func() { s.Fill(values, record) }); n > 0 {
			t.Errorf("%s: %v allocations", c.record, n)
		}
	}
	if _, err := NewTable([]Entry{avro, first, avro}); err == nil || !strings.Contains(err.Error(), "id 1") {
		t.Errorf("an id that is given twice: %v", err)
	}
}

func TestCloudEvents(t *testing.T) {
	const front = `{"specversion":"1.0","id":"7","source":"/s","type":"order",`
	for _, c := range []struct {
		record string
		want   text.Code
		event  string
		binary bool
	}{
		{front + `"data":{"a":[1,"}"]} }`, text.OK, `{"a":[1,"}"]}`, false},
		{`{"data":{}, "specversion" : "1.0"}`, text.OK, `{}`, false},
		{front + `"data_base64":"eyJhIjoxfQ=="}`, text.OK, `{"a":1}`, false},
		{front + `"data_base64":"eyJhIjoxfQ=="}`, text.OK, `{"a":1}`, true},
		{front + `"data_base64":"\/\/\u002f\/","x\u0041":"\n"}`, text.OK, "\xff\xff\xff", true},
		{front + `"d\u0061ta":1}`, text.OK, "1", false},
		{front + `"data":{"a":1}}`, text.UnknownFraming, "", true},
		{front + `"data":{},"data_base64":""}`, text.UnknownFraming, "", false},
		{front + `"subject":"x"}`, text.UnknownFraming, "", false},
		{`{"data":{}}`, text.UnknownFraming, "", false},
		{`{"specversion":"0.3","data":{}}`, text.UnknownFraming, "", false},
		{`{"specversion":1.0,"data":{}}`, text.UnknownFraming, "", false},
		{`{"features":{"a":1},"label":1}`, text.UnknownFraming, "", false},
		{front + `"data":{},"data":{}}`, text.DuplicateName, "", false},
		{front + `"specversion":"1.0","data":{}}`, text.DuplicateName, "", false},
		{front + `"data_base64":"","data_base64":""}`, text.DuplicateName, "", false},
		{front + `"data_base64":7}`, text.UnknownFraming, "", false},
		{front + `"data_base64":"eyJhIjoxfQ"}`, text.UnknownFraming, "", false},
		{front + `"data_base64":"eyJhIjoxfR=="}`, text.UnknownFraming, "", false},
		{front + `"data_base64":"eyJh\nIjoxfQ=="}`, text.UnknownFraming, "", false},
		{front + `"data":{}} {}`, text.TrailingData, "", false},
		{front + `"data":{}`, text.JSONSyntax, "", false},
		{front + `"data":}`, text.JSONSyntax, "", false},
		{front + `"data":` + strings.Repeat("[", 100), text.TooDeep, "", false},
		{`[]`, text.UnknownFraming, "", false},
		{``, text.UnknownFraming, "", false},
		{"{\"\xff\":1}", text.InvalidUTF8, "", false},
	} {
		event, code := (&cloudEvent{binary: c.binary}).content([]byte(c.record))
		if code != c.want || string(event) != c.event {
			t.Errorf("%s: %v, %q, want %v, %q", c.record, code, event, c.want, c.event)
		}
	}
}

// FuzzCloudEvent checks that the fast reader finds an event in a CloudEvent exactly when encoding/json finds one.
func FuzzCloudEvent(f *testing.F) {
	for _, text := range []string{
		`{"specversion":"1.0","data":{"a":1}}`, `{"specversion":"1.0","data_base64":"AQID"}`, `{"data":null}`,
		`{"specversion":"1.0","data_base64":"\u0041QID","x":[]}`,
	} {
		f.Add([]byte(text))
	}
	c := &cloudEvent{}
	f.Fuzz(func(t *testing.T, record []byte) {
		event, code := c.content(record)
		if code != text.OK {
			return
		}
		var all map[string]json.RawMessage
		if err := json.Unmarshal(record, &all); err != nil {
			t.Fatalf("%q: %v", record, err)
		}
		want := []byte(all["data"])
		if text, ok := all["data_base64"]; ok {
			var s string
			if err := json.Unmarshal(text, &s); err != nil {
				t.Fatal(err)
			}
			var err error
			if want, err = base64.StdEncoding.Strict().DecodeString(s); err != nil {
				t.Fatalf("%q: %v", record, err)
			}
		}
		if !bytes.Equal(event, want) {
			t.Fatalf("%q: %q, want %q", record, event, want)
		}
	})
}

// TestDecoderInAFraming checks that a decoder in a framing returns the inner decoder's result, and for a faulty framing
// the broken rule.
func TestDecoderInAFraming(t *testing.T) {
	config := event.Config{
		Body:     event.Body{Name: "play", Members: []event.Member{{Name: "loss", Kind: event.KindNumber}}},
		MaxBytes: 100,
	}
	own := func(c event.Config) (event.Decoder, error) { return event.NewJSONDecoder(c) }
	cloud, err := CloudEvents(own, false)(config)
	if err != nil {
		t.Fatal(err)
	}
	confluent, err := ConfluentJSON(own)(config)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		decoder event.Decoder
		record  string
		want    text.Code
		text    string
	}{
		{cloud, `{"specversion":"1.0","data":{"loss":3}}`, text.OK, ""},
		{cloud, `{"specversion":"1.0","data":{"loss":true}}`, text.WrongType, "loss is a boolean"},
		{cloud, `{"loss":3}`, text.UnknownFraming, "ORIEL_FRAMING"},
		{cloud, strings.Repeat(" ", 101), text.TooLarge, "ORIEL_MAX_RECORD_BYTES"},
		{cloud, "", text.Empty, "empty"},
		{confluent, "\x00\x00\x00\x00\x07" + `{"loss":3}`, text.OK, ""},
		{confluent, "\x00\x00\x00\x00\x07" + `{"lost":3}`, text.UnknownName, `"lost"`},
		{confluent, `{"loss":3}`, text.UnknownFraming, "ORIEL_FRAMING"},
	} {
		var e event.Event
		record := []byte(c.record)
		code := c.decoder.Decode(&e, record)
		if code != c.want || code == text.OK && e.Numbers[0] != 3 {
			t.Errorf("%q: %v, %v, want %v", c.record, code, e, c.want)
		}
		if s := c.decoder.Problem(record, code); code != text.OK && !strings.Contains(s, c.text) {
			t.Errorf("%q: %s", c.record, s)
		}
		if n := testing.AllocsPerRun(10, func() { c.decoder.Decode(&e, record) }); n > 0 {
			t.Errorf("%q: %v allocations", c.record, n)
		}
	}
}
