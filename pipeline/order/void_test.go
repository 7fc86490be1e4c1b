package order_test

import (
	"testing"
	"time"

	"oriel/pipeline/order"
)

// TestVoidRecordsAreTimedFromTheFirst checks the time for which order records have been void. Late records neither
// begin nor end it.
func TestVoidRecordsAreTimedFromTheFirst(t *testing.T) {
	const counts, late = 'c', 'l' // any other record is void
	for verdicts, want := range map[string]time.Duration{
		"": 0, "c": 0, "l": 0, "cl": 0, "v": 1, "vv": time.Second, "cvlv": 2 * time.Second, "vvc": 0, "vvcv": 1,
		"vlll": 3 * time.Second,
	} {
		v, now := order.Voids{}, time.Unix(1000, 0)
		for i, verdict := range verdicts {
			now = time.Unix(1000+int64(i), 0)
			v.Take(verdict == counts, verdict == late, now)
		}
		if got := v.Last(now); got != want {
			t.Errorf("after %q, void for %v, want %v", verdicts, got, want)
		}
	}
}
