package kafka

import "testing"

// FuzzGroupAnswers feeds the parsers of raw answers. They never panic and allocate no more than they are given.
func FuzzGroupAnswers(f *testing.F) {
	f.Add([]byte{0, 0, 0, 0, 2, 0, 0, 0, 1, 2, 'h', 0, 0, 0, 1, 0, 0, 2, 'c', 0, 0, 0, 1, 1, 0})
	f.Fuzz(func(t *testing.T, b []byte) {
		for _, parse := range []func(*wireReader){
			func(r *wireReader) { parseOffsetFetch(r) },
			func(r *wireReader) { parseJoin(r) },
			func(r *wireReader) { parseSync(r, "t") },
			func(r *wireReader) { parseLeave(r) },
			func(r *wireReader) { parseDescribeGroup(r, "t") },
		} {
			parse(&wireReader{b: b})
		}
	})
}
