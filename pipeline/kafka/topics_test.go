package kafka

import "testing"

// FuzzTopicAnswers feeds the parsers of raw answers. They never panic and allocate no more than they are given.
func FuzzTopicAnswers(f *testing.F) {
	f.Add([]byte{0, 0, 0, 0, 2, 0, 0, 0, 1, 2, 'h', 0, 0, 0, 1, 0, 0, 2, 'c', 0, 0, 0, 1, 1, 0})
	f.Fuzz(func(t *testing.T, b []byte) {
		for _, parse := range []func(*wireReader){
			func(r *wireReader) { parseListOffset(r) },
			func(r *wireReader) { parseEpochEnd(r) },
			func(r *wireReader) { parseDeleteRecords(r) },
			func(r *wireReader) {
				cluster, _ := parseMetadata(r)
				if r.err == nil && len(cluster.Topics) > len(b)/25 {
					t.Fatalf("%d topics in %d bytes", len(cluster.Topics), len(b))
				}
			},
		} {
			parse(&wireReader{b: b})
		}
	})
}
