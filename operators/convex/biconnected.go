package convex

import "slices"

// biconnected returns the blocks of a connected graph as lists of edge numbers. Two edges are in one block if a cycle
// contains both (J. Hopcroft and R. Tarjan, Algorithm 447: efficient algorithms for graph manipulation, CACM 16, 1973).
// Parallel edges form a cycle. Every spanning tree has as many edges in a block as the block has vertices, less one.
func biconnected(vertices int, from, to []int32) [][]int32 {
	incident := make([][]int32, vertices)
	for edge := range from {
		incident[from[edge]] = append(incident[from[edge]], int32(edge))
		incident[to[edge]] = append(incident[to[edge]], int32(edge))
	}
	var blocks [][]int32
	var open []int32 // edges visited that belong to no complete block yet
	used, found := make([]bool, len(from)), 0
	number, low := make([]int, vertices), make([]int, vertices) // number gives vertices in the order of visits, from 1
	var visit func(v int32)
	visit = func(v int32) {
		found++
		number[v], low[v] = found, found
		for _, edge := range incident[v] {
			if used[edge] {
				continue
			}
			used[edge] = true
			w, before := from[edge]+to[edge]-v, len(open)
			open = append(open, edge)
			if number[w] > 0 {
				low[v] = min(low[v], number[w])
				continue
			}
			visit(w)
			low[v] = min(low[v], low[w])
			if low[w] >= number[v] {
				block := slices.Sorted(slices.Values(open[before:]))
				blocks, open = append(blocks, block), open[:before]
			}
		}
	}
	visit(0)
	return blocks
}
