package kafka

import (
	"cmp"
	"slices"
)

// assignment is one member's share.
type assignment struct {
	member     string
	partitions []int32 // ascending
}

// assign gives each subscriber of the topic a range of its partitions: consecutive ones, in the order of member ids,
// sizes differing by one at most. Members that do not want the topic, or have another mark, get none of it.
func assign(topic, mark string, partitions int, members []subscriber) []assignment {
	wants := func(s subscriber) bool { return s.mark == mark && slices.Contains(s.topics, topic) }
	members = slices.Clone(members)
	slices.SortFunc(members, func(a, b subscriber) int { return cmp.Compare(a.member, b.member) })
	sharing := 0
	for _, m := range members {
		if wants(m) {
			sharing++
		}
	}
	given := make([]assignment, len(members))
	place := 0
	for i, m := range members {
		given[i].member = m.member
		if !wants(m) {
			continue
		}
		for p := place * partitions / sharing; p < (place+1)*partitions/sharing; p++ {
			given[i].partitions = append(given[i].partitions, int32(p))
		}
		place++
	}
	return given
}
