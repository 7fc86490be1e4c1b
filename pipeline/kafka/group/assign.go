package group

import (
	"cmp"
	"slices"
)

// assignment is one member's share.
type assignment struct {
	member     string
	partitions []int32 // ascending
}

// claim is the share that a member had when it joined. generation is −1 for a member without a share.
type claim struct {
	partitions []int32
	generation int32
}

// assign shares the topic's partitions among its subscribers. Sizes differ by at most one. Members that do not
// subscribe to the topic, or have another mark, get none.
//
// Members keep what they claim, so that a member that comes takes only partitions above the others' sizes, and a stream
// moves as seldom as possible. A partition that its owner must give up is assigned to nobody: the owner closes its
// task, joins again without the claim, and then the partition is free. So no task is fenced that could end in order.
// Safety does not depend on claims, because a take-over fences the producers of earlier owners.
func assign(topic, mark string, partitions int, members []subscriber) []assignment {
	members = slices.Clone(members)
	slices.SortFunc(members, func(a, b subscriber) int { return cmp.Compare(a.member, b.member) })
	given := make([]assignment, len(members))
	var sharing []int // indices of the members that get partitions
	for i, m := range members {
		given[i].member = m.member
		if m.mark == mark && slices.Contains(m.topics, topic) {
			sharing = append(sharing, i)
		}
	}
	if len(sharing) == 0 {
		return given
	}
	owner, owned := owners(partitions, members, sharing), make([]int, len(members))
	for _, i := range owner {
		if i >= 0 {
			owned[i]++
		}
	}
	// The larger shares go to the members that own most, so that as few partitions as possible move.
	slices.SortStableFunc(sharing, func(a, b int) int { return cmp.Compare(owned[b], owned[a]) })
	size := make([]int, len(members))
	for place, i := range sharing {
		size[i] = partitions / len(sharing)
		if place < partitions%len(sharing) {
			size[i]++
		}
	}
	var free []int32
	for p, i := range owner {
		switch {
		case i < 0:
			free = append(free, int32(p))
		case len(given[i].partitions) < size[i]:
			given[i].partitions = append(given[i].partitions, int32(p))
		}
	}
	slices.Sort(sharing)
	for _, i := range sharing {
		n := min(len(free), size[i]-len(given[i].partitions))
		given[i].partitions, free = append(given[i].partitions, free[:n]...), free[n:]
		slices.Sort(given[i].partitions)
	}
	return given
}

// owners returns the index of the member that owns each partition, or −1. Of several claims the one of the newest
// generation counts, because a member may have missed generations. Of equal claims the first counts.
func owners(partitions int, members []subscriber, sharing []int) []int {
	owner := make([]int, partitions)
	for p := range owner {
		owner[p] = -1
		for _, i := range sharing {
			if c := members[i].claim; slices.Contains(c.partitions, int32(p)) &&
				(owner[p] < 0 || c.generation > members[owner[p]].claim.generation) {
				owner[p] = i
			}
		}
	}
	return owner
}
