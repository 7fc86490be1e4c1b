package table

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"oriel/schemas/event"
	"oriel/schemas/text"
)

// FuzzTable checks that nothing panics, and that the decoder accepts the resulting events. Squares are left out,
// because hashing can make a feature overflow.
func FuzzTable(f *testing.F) {
	f.Add("a,b\n1,2\n", "a!=NA", "b>1", "a", "b")
	f.Add("a,b\n\"x\n\",NA\n", "", "b", "a:number", "")
	f.Fuzz(func(t *testing.T, s, where, label, feature, sort string) {
		m := Mapping{Where: where, Label: label, Features: []string{feature}}
		streamed, err := readAll(m, s)
		d, errDecoder := event.NewJSONDecoder(event.Config{
			Body: eventBody(event.KindTarget), Dimension: 8, MaxBytes: 1 << 20,
			Features: event.FeatureConfig{Norm: "none"},
		})
		if errDecoder != nil {
			t.Fatal(errDecoder)
		}
		for _, row := range streamed {
			var e event.Event
			event := bytes.Replace(bytes.Replace(row.Event, []byte(`"label":true`), []byte(`"label":1`), 1), []byte(`"label":false`), []byte(`"label":0`), 1)
			if code := d.Decode(&e, event); code != text.OK {
				t.Fatalf("%v: %s", code, row.Event)
			}
		}
		if sort == "" {
			return
		}
		m.Sort = []string{sort}
		sorted, errSorted := readAll(m, s)
		if errSorted != nil || err != nil {
			return
		}
		a, b := strings.Split(events(streamed), "\n"), strings.Split(events(sorted), "\n")
		slices.Sort(a)
		slices.Sort(b)
		if !slices.Equal(a, b) {
			t.Fatalf("sorting changes the rows: %q, %q", a, b)
		}
	})
}
