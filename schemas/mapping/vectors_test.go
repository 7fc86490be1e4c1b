package mapping

import (
	"bytes"
	"encoding/json"
	"flag"
	"os"
	"reflect"
	"slices"
	"testing"

	"oriel/schemas/event"
	"oriel/schemas/text"
)

var rewrite = flag.Bool("rewrite", false, "write the answers of ../testdata/mapping.json")

const vectors = "../testdata/mapping.json"

// vectorCase is a mapping with records, and the event to score of each: its features as JSON in the operator's own form
// and its vector, or the code of a record that is no event.
type vectorCase struct {
	Map     json.RawMessage `json:"map"`
	Records []vectorRecord  `json:"records"`
}

type vectorRecord struct {
	Record   json.RawMessage `json:"record"`
	Features json.RawMessage `json:"features,omitempty"`
	Indices  []int32         `json:"indices,omitempty"`
	Values   []float64       `json:"values,omitempty"`
	Code     string          `json:"code,omitempty"`
}

// TestVectorsOfRawRecords checks the events of testdata/mapping.json, which the packages in deploy/python and
// deploy/java check, too: they must make the same vectors from raw records. The test computes the file's answers with
// -rewrite.
func TestVectorsOfRawRecords(t *testing.T) {
	s, err := os.ReadFile(vectors)
	if err != nil {
		t.Fatal(err)
	}
	var cases []vectorCase
	if err := json.Unmarshal(s, &cases); err != nil {
		t.Fatal(err)
	}
	c := config(lossBody)
	c.Unlabelled = true
	codes, events := map[string]bool{}, 0
	for i := range cases {
		m, err := Parse(cases[i].Map)
		if err != nil {
			t.Fatalf("%s: %v", cases[i].Map, err)
		}
		decoder, err := m.Scoring(c.Body).Opener(JSON(event.UnknownIsFree))(c)
		if err != nil {
			t.Fatalf("%s: %v", cases[i].Map, err)
		}
		whole, err := m.Opener(JSON(event.UnknownIsFree))(c) // also reads label and members
		if err != nil {
			t.Fatalf("%s: %v", cases[i].Map, err)
		}
		for k := range cases[i].Records {
			r := &cases[i].Records[k]
			var e event.Event
			code := decoder.Decode(&e, r.Record)
			var labelled event.Event
			same := whole.Decode(&labelled, r.Record)
			if (same == text.Filtered) != (code == text.Filtered) ||
				same == text.OK && !reflect.DeepEqual(labelled.Vector, e.Vector) {
				t.Errorf("%s, %s: %v and %v with the label, %v and %v without", cases[i].Map, r.Record, same, labelled.Vector,
					code, e.Vector)
			}
			r.Features, r.Indices, r.Values, r.Code = nil, nil, nil, ""
			if codes[code.String()] = true; code != text.OK {
				r.Code = code.String()
				continue
			}
			events++
			own := decoder.(*Decoder).AppendOwn(nil) // {"features":{…}}
			r.Features = own[len(`{"features":`) : len(own)-1]
			r.Indices, r.Values = slices.Clone(e.Vector.Indices), slices.Clone(e.Vector.Values)
		}
	}
	var out bytes.Buffer
	out.WriteString("[\n")
	for i, c := range cases {
		out.WriteString(` {"map": `)
		out.Write(c.Map)
		out.WriteString(", \"records\": [\n")
		for k, r := range c.Records {
			line, err := json.Marshal(r)
			if err != nil {
				t.Fatal(err)
			}
			out.WriteString("  ")
			out.Write(line)
			out.WriteString(map[bool]string{true: "\n", false: ",\n"}[k+1 == len(c.Records)])
		}
		out.WriteString(map[bool]string{true: " ]}\n", false: " ]},\n"}[i+1 == len(cases)])
	}
	out.WriteString("]\n")
	if *rewrite {
		if err := os.WriteFile(vectors, out.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
	} else if !bytes.Equal(out.Bytes(), s) {
		t.Errorf("%s has other answers; -rewrite writes these:\n%s", vectors, out.Bytes())
	}
	if events < 60 || len(codes) < 5 {
		t.Errorf("%d events, and the codes %v", events, codes)
	}
}
