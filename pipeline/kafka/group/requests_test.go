package group

import (
	"slices"
	"testing"
)

// FuzzMemberBytes fuzzes the parsers of bytes that foreign members may have sent. They must never panic, and shares
// must be ascending.
func FuzzMemberBytes(f *testing.F) {
	f.Add(subscriptionBytes("m", claim{[]int32{3}, 2}, "t", "u"))
	f.Add(assignmentBytes("t", []int32{5, 2}))
	f.Fuzz(func(t *testing.T, b []byte) {
		share, err := parseAssignment(b, "t")
		if claimed := parseSubscription(b, "t").claim.partitions; !slices.IsSorted(claimed) || !slices.IsSorted(share) {
			t.Errorf("%v, %v, %v", claimed, share, err)
		}
	})
}
