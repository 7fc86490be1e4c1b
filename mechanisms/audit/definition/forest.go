package definition

import "math/bits"

// Forest lists the nodes of a window tree that each release contains.
type Forest struct {
	Active [][]int32 // node numbers of each release; a node's releases are consecutive
	Nodes  int
}

// NewForest numbers the nodes by the definition ([WDP] §3): the release at position p of block k contains the dyadic
// prefix [1, p] of block k and the dyadic suffix [p+1, W] of block k−1.
func NewForest(window uint64, releases int) Forest {
	type node struct{ block, level, index uint64 }
	f, known := Forest{Active: make([][]int32, releases)}, map[node]int32{}
	for t := range f.Active {
		block, p := uint64(t)/window, uint64(t)%window+1
		add := func(x node) {
			number, ok := known[x]
			if !ok {
				number = int32(len(known))
				known[x] = number
			}
			f.Active[t] = append(f.Active[t], number)
		}
		start := p
		for left := window - p; block > 0 && left > 0; left &= left - 1 {
			level := uint64(bits.TrailingZeros64(left))
			add(node{block - 1, level, start >> level})
			start += 1 << level
		}
		start = 0
		for left := p; left > 0; {
			level := uint64(bits.Len64(left) - 1)
			add(node{block, level, start >> level})
			start += 1 << level
			left &^= 1 << level
		}
	}
	f.Nodes = len(known)
	return f
}
