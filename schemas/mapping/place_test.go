package mapping

import (
	"testing"

	"oriel/schemas/event"
)

// TestProblemsNameThePlace checks that faults of the JSON grammar name the byte, and faults of a mapped value its path.
// A member that no path reads is not named, because its name is content of the record.
func TestProblemsNameThePlace(t *testing.T) {
	body := event.Body{Name: "x", Members: []event.Member{{Name: "at", Kind: event.KindNumber, Optional: true}}}
	d := newDecoder(t, `{"members":["at=/o/price:number"]}`, config(body))
	f := func(record, want string) {
		t.Helper()
		var e event.Event
		if got := d.Problem([]byte(record), d.Decode(&e, []byte(record))); got != want {
			t.Errorf("%s\n got %s\nwant %s", record, got, want)
		}
	}
	const syntax, number = "a record follows the JSON grammar of RFC 8259", "a number is finite as a float64"
	const pair = "an escaped surrogate is one of a pair"
	f(`{"o":{"price":1,}}`, "json_syntax: "+syntax+"; not from byte 17 on")
	f(`{"o":{"price":NaN}}`, "json_syntax: "+syntax+"; not from byte 15 on")
	f(`{"o":{"price":1`, "json_syntax: "+syntax+"; it ends too early, after byte 15")
	f(`{"o":{"price":1e999}}`, "number_overflow: /o/price: "+number+"; not from byte 15 on")
	f(`{"o":{"price":"\ud800"}}`, "lone_surrogate: /o/price: "+pair+"; not from byte 15 on")
	f(`{"secret":"\ud800"}`, "lone_surrogate: "+pair+"; not from byte 11 on")
	f(`{"o":{}} 1`, "trailing_data: nothing but white space follows the value; not from byte 10 on")
	f("{\"o\":\"\xff\"}", "invalid_utf8: a record is UTF-8; not from byte 7 on")
}
