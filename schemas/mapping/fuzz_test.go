package mapping

import (
	"testing"

	"oriel/mechanisms/mechtest/tiertest"
	"oriel/schemas/event"
	"oriel/schemas/text"
)

// FuzzDocument checks that any document is refused, or makes a decoder that never panics. An event that a decoder
// prints must be valid in the body's own form, unless its features or numbers exceed the limits of events.
func FuzzDocument(f *testing.F) {
	for _, x := range wrongMappings {
		f.Add([]byte(x.document), []byte(referenceRecords[0]))
	}
	for _, record := range referenceRecords {
		f.Add([]byte(referenceMap), []byte(record))
	}
	f.Add([]byte(nestedMap), []byte(nestedFlight))
	f.Add([]byte(`{"label":{"from":"l","scale":2},"members":["features=/v"]}`), []byte(`{"l":0.5,"v":[1,2]}`))
	c := config(lossBody)
	c.Dimension = 2
	own, err := event.NewJSONDecoder(c)
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, document, record []byte) {
		var d event.Decoder
		tiertest.Allocates(t, 1<<20+1000*uint64(len(document)), func() {
			if m, err := Parse(document); err == nil {
				d, _ = m.Opener(JSON(event.UnknownIsFree))(c)
			}
		})
		if d == nil {
			return
		}
		var e event.Event
		var code text.Code
		tiertest.Allocates(t, 1<<16+4*uint64(len(record)), func() { code = d.Decode(&e, record) }) // allows one-time buffers
		if text := d.Problem(record, code); text == "" {
			t.Error("no problem")
		}
		if code != text.OK {
			return
		}
		printed := d.(*Decoder).AppendOwn(nil)
		if got := own.Decode(&e, printed); got != text.OK {
			t.Errorf("%s prints %s: %s", record, printed, own.Problem(printed, got))
		}
	})
}
