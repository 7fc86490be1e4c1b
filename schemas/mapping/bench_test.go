package mapping

import (
	"testing"

	"oriel/schemas/event"
	"oriel/schemas/text"
)

// flight is an event in the body's own form, as in the main benchmark: six features, three of them texts.
const flight = `{"features":{"carrier":"UA","origin":"EWR","dest":"IAH","hour":5,"month":1,"distance":1400},"label":1}`

// flightMap is a mapping that reads flight into the same event. nestedFlight is a record with the same content in the
// form of a typical user's topic.
const (
	flightMap = `{"label":"label","features":["/features/carrier","/features/origin","/features/dest",
		"/features/hour","/features/month","/features/distance"]}`
	nestedFlight = `{"id":"6f1c0f0a-0d3f-4f0e","flight":{"carrier":{"code":"UA","name":"United Air Lines"},"from":"EWR","to":"IAH",
		"tail":null,"miles":1400},"times":{"planned":"2013-01-01T05:15:00-05:00","left":"2013-01-01T05:17:00-05:00"},"late":17}`
	nestedMap = `{"label":"late>15","features":["carrier=/flight/carrier/code","origin=/flight/from","dest=/flight/to",
		{"name":"hour","from":"/times/planned","as":"hour","zone":"-05:00"},
		{"name":"month","from":"/times/planned","as":"month","zone":"-05:00"},"distance=/flight/miles"]}`
)

func BenchmarkDecode(b *testing.B) {
	c := config(lossBody)
	own, err := event.NewJSONDecoder(c)
	if err != nil {
		b.Fatal(err)
	}
	for _, way := range []struct {
		name    string
		decoder event.Decoder
		record  string
	}{
		{"own", own, flight},
		{"mapped", newDecoder(b, flightMap, c), flight},
		{"nested", newDecoder(b, nestedMap, c), nestedFlight},
	} {
		b.Run("form="+way.name, func(b *testing.B) {
			record := []byte(way.record)
			var e event.Event
			b.ReportAllocs()
			b.SetBytes(int64(len(record)))
			for b.Loop() {
				if code := way.decoder.Decode(&e, record); code != text.OK {
					b.Fatal(way.decoder.Problem(record, code))
				}
			}
		})
	}
}

// TestDecodingAllocatesNothing checks that no form of an event allocates after the first one.
func TestDecodingAllocatesNothing(t *testing.T) {
	c := config(lossBody)
	d := newDecoder(t, nestedMap, c)
	for _, record := range []string{
		nestedFlight, `{"late":1,"flight":{"from":"a\u00e4\n"}}`, `{"late":1,"x":["\ud83d\ude00",{"\u0061":[[[]]]}]}`, `{"late":"soon"}`,
		`{"late":1,"times":{"planned":"2013-01-01 25:00"}}`, `{"late":null}`, `[`, `{"late":1,"late":1}`,
	} {
		var e event.Event
		value := []byte(record)
		if n := testing.AllocsPerRun(100, func() { d.Decode(&e, value) }); n > 0 {
			t.Errorf("%s: %g allocations", record, n)
		}
	}
}
