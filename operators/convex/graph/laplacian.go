package graph

import "slices"

// maxFactor and numbersPerEdge limit the size of a factor: it has at most maxFactor numbers, or numbersPerEdge for each
// edge, so that a solve costs no more than reading an event. If every remaining vertex is linked with all others, the
// limit is maxFactor alone, because eliminating these vertices costs the cube of their number.
const maxFactor, numbersPerEdge = 1 << 18, 16

// laplacian solves equations with the Laplacian of a connected graph with one grounded vertex. In these equations, the
// flow into a vertex is the sum, over its edges, of its potential minus the neighbour's potential. Eliminating a vertex
// leaves the Laplacian of a graph on the others. Edges of weights w_i and w_j to it, of total weight W, become an edge
// of weight w_i·w_j/W between its neighbours (the star-mesh transform). So weights are sums of positive numbers, and
// there is no cancellation. The vertex with the fewest neighbours is eliminated first (W. F. Tinney and J. W. Walker,
// Direct solutions of sparse network equations by optimally ordered triangular factorization, Proc. IEEE 55, 1967), and
// the last one is grounded.
type laplacian struct {
	order  []int32   // vertices in the order of elimination, without the grounded vertex
	first  []int32   // start of the links of each vertex in order, and the length of links
	links  []link    // links to vertices that are eliminated later, or to the grounded vertex
	weight []float64 // total weight W of the links of each vertex in order
}

// link is an edge to another vertex.
type link struct {
	vertex int32
	weight float64
}

// newLaplacian factors the Laplacian of a graph whose edges have weight 1. It returns false if the factor would be too
// large.
func newLaplacian(vertices int, from, to []int32) (*laplacian, bool) {
	e := newElimination(vertices, from, to)
	l := &laplacian{first: []int32{0}}
	for range vertices - 1 {
		vertex := e.fewest()
		links := e.rows[vertex]
		// A lower bound on the remaining links, because no other vertex has fewer neighbours.
		left := len(links) * (len(links) + 1) / 2
		if left > maxFactor || len(l.links)+left > max(maxFactor, numbersPerEdge*len(from)) {
			return nil, false
		}
		total := 0.0
		for _, k := range links {
			total += k.weight
		}
		l.order, l.weight = append(l.order, vertex), append(l.weight, total)
		l.links = append(l.links, links...)
		l.first = append(l.first, int32(len(l.links)))
		e.eliminate(vertex, total)
	}
	return l, true
}

// solve replaces the flow into each vertex by the vertex's potential. Flows must sum to 0, so that the flow of the
// grounded vertex is not read; its potential is 0.
func (l *laplacian) solve(b []float64) {
	for i, vertex := range l.order {
		share := b[vertex] / l.weight[i]
		for _, k := range l.links[l.first[i]:l.first[i+1]] {
			b[k.vertex] += float64(share * k.weight)
		}
	}
	b[l.grounded()] = 0
	for i := len(l.order) - 1; i >= 0; i-- {
		total := b[l.order[i]]
		for _, k := range l.links[l.first[i]:l.first[i+1]] {
			total += float64(k.weight * b[k.vertex])
		}
		b[l.order[i]] = total / l.weight[i]
	}
}

// grounded returns the grounded vertex, which is linked with the last eliminated one.
func (l *laplacian) grounded() int32 { return l.links[len(l.links)-1].vertex }

// elimination is a graph that loses one vertex at a time.
type elimination struct {
	rows    [][]link  // links of each vertex, in the order of neighbours; nil for an eliminated vertex
	waiting [][]int32 // vertices by the number of neighbours that they had when they were added
	least   int       // waiting is empty below this number of neighbours
	merged  []link    // scratch
}

func newElimination(vertices int, from, to []int32) *elimination {
	e := &elimination{rows: make([][]link, vertices), waiting: make([][]int32, vertices)}
	for i := range from {
		e.rows[from[i]] = append(e.rows[from[i]], link{to[i], 1})
		e.rows[to[i]] = append(e.rows[to[i]], link{from[i], 1})
	}
	for vertex, row := range e.rows {
		slices.SortFunc(row, func(a, b link) int { return int(a.vertex) - int(b.vertex) })
		last := 0
		for _, k := range row[1:] {
			if k.vertex == row[last].vertex { // parallel edges become one link
				row[last].weight += k.weight
				continue
			}
			last++
			row[last] = k
		}
		e.rows[vertex] = row[:last+1]
		e.wait(int32(vertex))
	}
	return e
}

// wait queues a vertex by its number of neighbours.
func (e *elimination) wait(vertex int32) {
	n := len(e.rows[vertex])
	e.waiting[n] = append(e.waiting[n], vertex)
	e.least = min(e.least, n)
}

// fewest returns a vertex with the fewest neighbours.
func (e *elimination) fewest() int32 {
	for ; ; e.least++ {
		for waiting := e.waiting[e.least]; len(waiting) > 0; waiting = e.waiting[e.least] {
			vertex := waiting[len(waiting)-1]
			e.waiting[e.least] = waiting[:len(waiting)-1]
			if row := e.rows[vertex]; row != nil && len(row) == e.least {
				return vertex
			}
		}
	}
}

// eliminate links the neighbours of a vertex with each other; total is the weight of its links.
func (e *elimination) eliminate(vertex int32, total float64) {
	links := e.rows[vertex]
	for _, k := range links {
		e.merge(k.vertex, vertex, k.weight/total, links)
		e.wait(k.vertex)
	}
	e.rows[vertex] = nil
}

// merge adds a share of links to the row of the vertex end, and removes its link to the eliminated vertex gone.
func (e *elimination) merge(end, gone int32, share float64, links []link) {
	row, merged := e.rows[end], e.merged[:0]
	for i, j := 0, 0; i < len(row) || j < len(links); {
		switch {
		case j < len(links) && links[j].vertex == end:
			j++
		case i < len(row) && row[i].vertex == gone:
			i++
		case j == len(links) || i < len(row) && row[i].vertex < links[j].vertex:
			merged = append(merged, row[i])
			i++
		default:
			k := link{links[j].vertex, float64(share * links[j].weight)}
			if i < len(row) && row[i].vertex == k.vertex {
				k.weight += row[i].weight
				i++
			}
			merged = append(merged, k)
			j++
		}
	}
	e.rows[end] = append(row[:0], merged...)
	e.merged = merged
}
