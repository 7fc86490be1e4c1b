package decision

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"os"
	"reflect"
	"strings"
	"testing"

	_ "oriel/mechanisms/mechtest/tiertest" // sets up the test process
)

// extrasOf converts members of a decision to the extras and values of an operator.
func extrasOf(t *testing.T, members []ExtraMember) (extras []Extra, values []ExtraValue) {
	t.Helper()
	for _, m := range members {
		if m.Name == timeMember {
			continue
		}
		x, v := Extra{Name: m.Name}, ExtraValue{}
		var err error
		switch m.JSON[0] {
		case '"':
			x.Kind, err = ExtraText, json.Unmarshal([]byte(m.JSON), &v.Text)
		case '[':
			if strings.HasPrefix(m.JSON, "[{") {
				x.Kind, err = ExtraList, json.Unmarshal([]byte(m.JSON), &v.List)
				break
			}
			x.Kind, err = ExtraNumbers, json.Unmarshal([]byte(m.JSON), &v.Numbers)
		default:
			x.Kind, err = ExtraNumber, json.Unmarshal([]byte(m.JSON), &v.Number)
		}
		if err != nil {
			t.Fatal(err)
		}
		extras, values = append(extras, x), append(values, v)
	}
	return extras, values
}

// TestEncodingsAgreeWithTheVectors compares with testdata/encodings.txt, which has decisions in each encoding, in this
// order, for readers in other languages; the Avro decision also with the header of a schema id. Vectors may be added,
// but must never change.
func TestEncodingsAgreeWithTheVectors(t *testing.T) {
	text, err := os.ReadFile("../testdata/encodings.txt")
	if err != nil {
		t.Fatal(err)
	}
	var line []byte
	seen := [len(Encodings)]int{}
	for vector := range strings.Lines(string(text)) {
		name, value, _ := strings.Cut(strings.TrimSuffix(vector, "\n"), " ")
		e, ok := ParseEncoding(name)
		if !ok {
			t.Fatalf("%q: no encoding", name)
		}
		seen[e]++
		published := []byte(value)
		if e == JSON {
			line = published
		} else if published, err = hex.DecodeString(value); err != nil {
			t.Fatal(err)
		}
		if printed, err := AppendLine(nil, published); err != nil || !bytes.Equal(printed, line) {
			t.Errorf("%s %s: %v, %s", name, value, err, printed)
		}
		d, err := Parse(line)
		if err != nil {
			t.Fatal(err)
		}
		again, _ := Parse(published)
		d.SchemaID = again.SchemaID
		extras, values := extrasOf(t, d.Extras)
		d.Encoding = e
		encoder := NewEncoder(d.Config, extras)
		if again := encoder.AppendTimed(nil, d.Index, d.Step, d.Time(), d.Point, values); !bytes.Equal(again, published) {
			t.Errorf("%s %s: %x", name, value, again)
		}
		if made := encoder.Decision(d.Index, d.Step, d.Time(), d.Point, values); !reflect.DeepEqual(made, d) {
			t.Errorf("%s %s: the decision of the values is %+v, want %+v", name, value, made, d)
		}
	}
	if seen != [...]int{9, 10, 10} {
		t.Errorf("%v vectors by encoding", seen)
	}
}
