package graph

import (
	"fmt"
	"slices"
	"strings"
)

// MaxEdges is the largest number of edges of a graph, equal to setting.MaxDimension.
const MaxEdges = 1 << 18

// Graph is an acyclic graph with one source and one sink, in which every edge lies on a path between them. Vertices are
// numbered in topological order: 0 is the source, the last one the sink.
type Graph struct {
	From, To []int32  // ends of each edge, in the order of the list
	first    []int32  // start of each vertex's edges in out, and the length of out
	out      []int32  // edges grouped by the vertex that they leave
	into     []int32  // edges grouped by the vertex that they enter
	enter    []int32  // start of each vertex's edges in into, and the length of into
	tails    []int32  // the vertex that each edge of into leaves
	names    []string // names of the vertices
	longest  int      // number of edges of the longest path
}

// ParseEdge returns the canonical form of an entry, from>to, and whether it is valid: two different names without
// spaces and without >.
func ParseEdge(text string) (canonical string, ok bool) {
	from, to, ok := strings.Cut(text, ">")
	from, to = strings.TrimSpace(from), strings.TrimSpace(to)
	bad := func(name string) bool { return name == "" || strings.ContainsAny(name, "> \t\r\n,") }
	if !ok || bad(from) || bad(to) || from == to {
		return text, false
	}
	return from + ">" + to, true
}

// newGraph reads entries in the form of ParseEdge. Parallel edges count as different edges. Its errors name the
// position in the list, from 1, and the vertices, which are public.
func newGraph(edges []string) (*Graph, error) {
	if len(edges) == 0 || len(edges) > MaxEdges {
		return nil, fmt.Errorf("convex: %d edges: not 1 to %d", len(edges), MaxEdges)
	}
	var g Graph
	var err error
	if g.From, g.To, g.names, err = readEdges(edges, len(edges)); err != nil {
		return nil, err
	}
	g.index()
	if err := g.sort(); err != nil {
		return nil, err
	}
	if err := g.ends(); err != nil {
		return nil, err
	}
	g.measure()
	return &g, nil
}

func (g *Graph) Vertices() int { return len(g.names) }

func (g *Graph) edges() int { return len(g.From) }

// Leaving returns the edges out of a vertex, and entering the edges into it.
func (g *Graph) Leaving(vertex int) []int32  { return g.out[g.first[vertex]:g.first[vertex+1]] }
func (g *Graph) Entering(vertex int) []int32 { return g.into[g.enter[vertex]:g.enter[vertex+1]] }

// index fills first, out, enter and into.
func (g *Graph) index() {
	group := func(ends []int32) (starts, grouped []int32) {
		starts, grouped = make([]int32, len(g.names)+1), make([]int32, len(ends))
		for _, vertex := range ends {
			starts[vertex+1]++
		}
		for vertex := range g.names {
			starts[vertex+1] += starts[vertex]
		}
		next := slices.Clone(starts)
		for edge, vertex := range ends {
			grouped[next[vertex]] = int32(edge)
			next[vertex]++
		}
		return starts, grouped
	}
	g.first, g.out = group(g.From)
	g.enter, g.into = group(g.To)
	g.tails = g.tails[:0]
	for _, edge := range g.into {
		g.tails = append(g.tails, g.From[edge])
	}
}

// sort renumbers vertices in topological order (A. B. Kahn, Topological sorting of large networks, CACM 5 (1962)).
// Among vertices whose predecessors are all numbered, it takes the vertex that reached this state first.
func (g *Graph) sort() error {
	waits := make([]int32, len(g.names))
	for _, vertex := range g.To {
		waits[vertex]++
	}
	order := make([]int32, 0, len(g.names))
	for vertex := range g.names {
		if waits[vertex] == 0 {
			order = append(order, int32(vertex))
		}
	}
	for i := 0; i < len(order); i++ {
		for _, edge := range g.Leaving(int(order[i])) {
			if waits[g.To[edge]]--; waits[g.To[edge]] == 0 {
				order = append(order, g.To[edge])
			}
		}
	}
	if len(order) < len(g.names) {
		for edge, vertex := range g.To {
			if waits[vertex] > 0 && waits[g.From[edge]] > 0 {
				from := g.names[g.From[edge]]
				return fmt.Errorf("convex: edge %d: %s>%s is on a cycle or behind one: a graph without cycles is wanted", edge+1,
					from, g.names[vertex])
			}
		}
	}
	place, names := make([]int32, len(order)), make([]string, len(order))
	for i, vertex := range order {
		place[vertex], names[i] = int32(i), g.names[vertex]
	}
	for edge := range g.From {
		g.From[edge], g.To[edge] = place[g.From[edge]], place[g.To[edge]]
	}
	g.names = names
	g.index()
	return nil
}

// ends checks that there is one source and one sink. Every edge then lies on a path between them.
func (g *Graph) ends() error {
	var sources, sinks []string
	for vertex, name := range g.names {
		if len(g.Entering(vertex)) == 0 {
			sources = append(sources, name)
		}
		if len(g.Leaving(vertex)) == 0 {
			sinks = append(sinks, name)
		}
	}
	if len(sources) > 1 {
		return fmt.Errorf("convex: edges: %d vertices without an edge into them, such as %s and %s: only one source is allowed",
			len(sources), sources[0], sources[1])
	}
	if len(sinks) > 1 {
		return fmt.Errorf("convex: edges: %d vertices without an edge out of them, such as %s and %s: only one sink is allowed",
			len(sinks), sinks[0], sinks[1])
	}
	// In topological order the only source is the first vertex, and the only sink is the last one.
	return nil
}

// measure computes longest.
func (g *Graph) measure() {
	length := make([]int, g.Vertices())
	for vertex := range length {
		for _, edge := range g.Entering(vertex) {
			length[vertex] = max(length[vertex], length[g.From[edge]]+1)
		}
	}
	g.longest = length[len(length)-1]
}

// readEdges reads entries in the form of ParseEdge, one for each dimension, and numbers vertices in the order of
// appearance.
func readEdges(edges []string, n int) (from, to []int32, names []string, err error) {
	if len(edges) != n || n > MaxEdges {
		return nil, nil, nil, fmt.Errorf("convex: %d edges: not one for each of %d dimensions, at most %d", len(edges), n,
			MaxEdges)
	}
	number := map[string]int32{}
	for i, text := range edges {
		edge, ok := ParseEdge(text)
		if !ok {
			return nil, nil, nil, fmt.Errorf("convex: edge %d: not from>to, two different names", i+1)
		}
		tail, head, _ := strings.Cut(edge, ">")
		for _, name := range []string{tail, head} {
			if _, ok := number[name]; !ok {
				number[name] = int32(len(names))
				names = append(names, name)
			}
		}
		from, to = append(from, number[tail]), append(to, number[head])
	}
	return from, to, names, nil
}
