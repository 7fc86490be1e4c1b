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

// assign gives each subscriber of the topic a range of its partitions: consecutive ones, in the order of member ids, sizes
// differing by one at most. Members that do not want the topic get none of it.
func assign(topic string, partitions int, members []subscriber) []assignment {
	members = slices.Clone(members)
	slices.SortFunc(members, func(a, b subscriber) int { return cmp.Compare(a.member, b.member) })
	sharing := 0
	for _, m := range members {
		if slices.Contains(m.topics, topic) {
			sharing++
		}
	}
	shares := make([]assignment, len(members))
	place := 0
	for i, m := range members {
		shares[i].member = m.member
		if !slices.Contains(m.topics, topic) {
			continue
		}
		for p := place * partitions / sharing; p < (place+1)*partitions/sharing; p++ {
			shares[i].partitions = append(shares[i].partitions, int32(p))
		}
		place++
	}
	return shares
}
