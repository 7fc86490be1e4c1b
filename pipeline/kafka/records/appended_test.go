package records_test

import (
	"testing"

	"oriel/pipeline/kafka/records"
	"oriel/pipeline/kafka/records/recordstest"
)

// TestTheTimeOfABatchIsTheBrokers checks that the attribute LogAppendTime, and nothing else, makes the batch's greatest
// time the time of each record.
func TestTheTimeOfABatchIsTheBrokers(t *testing.T) {
	var b records.Builder
	for _, at := range []int64{700, 900, 800} {
		b.Append(nil, []byte("v"), nil, at)
	}
	wire := recordstest.Appended(t, &b, 0, records.Stamp{ProducerID: -1, Epoch: -1, Sequence: -1})
	for _, c := range []struct {
		attribute byte
		appended  bool
		want      [3]int64
	}{{0, false, [3]int64{700, 900, 800}}, {0x08, true, [3]int64{900, 900, 900}}} {
		wire[records.AttributesAt+1] |= c.attribute
		h, err := records.ParseHeader(wire, true)
		if err != nil {
			t.Fatal(err)
		}
		cursor := records.NewCursor(h, wire[records.HeaderLen:])
		for i, want := range c.want {
			var r records.Record
			if cursor.Next(&r); r.Appended != c.appended || r.Timestamp != want {
				t.Errorf("attribute %#x, record %d: %+v, want the time %d", c.attribute, i, r.Public, want)
			}
		}
	}
}
