package steps_test

import (
	"bytes"
	"testing"

	_ "oriel/mechanisms/mechtest/tiertest" // sets up the test process
	"oriel/mechanisms/steps"
)

// TestCount checks that each B-th record is the last one of its step, also if the count is saved and read back before
// each record, and that no impossible count is read.
func TestCount(t *testing.T) {
	for _, batch := range []uint64{1, 2, 5} {
		count := steps.Count{Batch: batch}
		for i := range 4 * batch {
			read := steps.Count{Batch: batch}
			rest, err := read.Cut(count.AppendBinary(nil))
			if err != nil || len(rest) > 0 || read != count {
				t.Fatalf("B = %d, record %d: read %+v, %v, want %+v", batch, i, read, err, count)
			}
			count = read
			if last := count.Take(); last != ((i+1)%batch == 0) {
				t.Errorf("B = %d, record %d: last %t", batch, i, last)
			}
		}
	}
	for clock, i := (steps.Count{}), 0; i < 5; i++ {
		if clock.Take() {
			t.Errorf("record %d ends a step that ends by the clock", i)
		}
	}
	count := steps.Count{Batch: 3, Records: 1}
	for _, bad := range [][]byte{nil, make([]byte, 7), {3, 0, 0, 0, 0, 0, 0, 0}, {0, 0, 0, 0, 0, 0, 0, 1}} {
		if _, err := count.Cut(bad); err == nil || count.Records != 1 {
			t.Errorf("%x: %v, count %+v", bad, err, count)
		}
	}
	rest, err := count.Cut([]byte{2, 0, 0, 0, 0, 0, 0, 0, 7})
	if err != nil || !bytes.Equal(rest, []byte{7}) || count.Records != 2 {
		t.Errorf("%x, %v, count %+v", rest, err, count)
	}
}
