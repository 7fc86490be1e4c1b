package takeover

import (
	"testing"

	"oriel/pipeline/kafka/topics"
	"oriel/state"
)

func TestUnsealedOffsets(t *testing.T) {
	sealed := func(from, to int64) sealedStatuses {
		return sealedStatuses{StatusRow: state.StatusRow{From: state.Place{Next: from}, To: state.Place{Next: to}}}
	}
	for _, c := range []struct {
		name       string
		found      statusesFound
		start, end int64 // bounds of the log; end is 0 for an empty log
		want       [2]int64
	}{
		{
			"all there",
			statusesFound{end: state.Place{Next: 20}, rows: []sealedStatuses{sealed(10, 20)}},
			0, 2,
			[2]int64{20, 20},
		},
		{"behind the state", statusesFound{end: state.Place{Next: 23}}, 0, 2, [2]int64{23, 20}},
		{"none, and no log", statusesFound{end: state.Place{Next: -1}}, 0, 0, [2]int64{5, 20}},
		{"none left by retention", statusesFound{end: state.Place{Next: -1}}, 8, 8, [2]int64{20, 20}},
		{"the last ones", statusesFound{end: state.Place{Next: 12}}, 0, 4, [2]int64{12, 20}},
		{
			"aborted ones that are sent again",
			statusesFound{end: state.Place{Next: 12}, resend: []sealedStatuses{sealed(12, 20)}},
			0, 6,
			[2]int64{12, 12},
		},
		{
			"some between",
			statusesFound{end: state.Place{Next: 12}, resend: []sealedStatuses{sealed(15, 20)}},
			0, 6,
			[2]int64{12, 15},
		},
	} {
		first, end := c.found.unsealed(5, 20, topics.Bounds{Start: c.start, Stable: c.end, High: c.end})
		if first != c.want[0] || end != c.want[1] {
			t.Errorf("%s: %d to %d, want %d to %d", c.name, first, end, c.want[0], c.want[1])
		}
	}
}
