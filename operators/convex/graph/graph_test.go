package graph

import (
	"slices"
	"strings"
	"testing"
)

// FuzzGraph checks that an accepted graph has vertices in topological order, and every edge on a path from the source
// to the sink.
func FuzzGraph(f *testing.F) {
	for _, edges := range [][]string{{"s>t"}, {"s>a", "s>b", "a>t", "b>t", "a>b"}, {"s>a", "a>s"}, {"é >b", "b> c"}} {
		f.Add(strings.Join(edges, "\n"))
	}
	f.Fuzz(func(t *testing.T, text string) {
		edges := strings.Split(text, "\n")
		g, err := newGraph(edges)
		if err != nil {
			return
		}
		ahead, behind := make([]bool, g.Vertices()), make([]bool, g.Vertices())
		ahead[0], behind[g.Vertices()-1] = true, true
		for vertex := range g.Vertices() {
			for _, edge := range g.Leaving(vertex) {
				if g.To[edge] <= g.From[edge] || int(g.From[edge]) != vertex {
					t.Fatalf("edge %d is from %d to %d", edge, g.From[edge], g.To[edge])
				}
				ahead[g.To[edge]] = ahead[g.To[edge]] || ahead[vertex]
			}
		}
		for vertex := g.Vertices() - 1; vertex >= 0; vertex-- {
			for _, edge := range g.Entering(vertex) {
				behind[g.From[edge]] = behind[g.From[edge]] || behind[vertex]
			}
		}
		if slices.Contains(ahead, false) || slices.Contains(behind, false) {
			t.Fatalf("%q: a vertex on no path", edges)
		}
		for i, text := range edges {
			edge, ok := ParseEdge(text)
			if again, _ := ParseEdge(edge); !ok || again != edge || g.names[g.From[i]]+">"+g.names[g.To[i]] != edge {
				t.Fatalf("edge %d is %q, read as %s", i, text, edge)
			}
		}
	})
}
