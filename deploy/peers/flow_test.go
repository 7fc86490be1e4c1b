//go:build peers

package peers

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"oriel/operators/convex"
	"oriel/operators/convex/catalogue"
)

// square is a grid of side × side vertices with edges to the right and down, the same as in projection.py.
type square struct {
	side   int
	factor float64 // the oracle must be at least this many times as fast as a projection
	most   float64 // longest allowed time in ns on a machine where NormFloat64 takes 7 ns
}

// flows measures squares of 112 and 3 120 edges. They are measured in rounds of their own, because the data that OSQP
// leaves in the caches slows other lines down.
func flows(t *testing.T) {
	t.Helper()
	squares := []square{{side: 8, factor: 100, most: 1500}, {side: 40, factor: 500, most: 10_000}}
	peers := make([]*peer, len(squares))
	for i, s := range squares {
		peers[i] = &peer{library: "OSQP", version: osqpVersion, script: projection, args: []int{s.side}}
		peers[i].start(t)
	}
	err := hold(*rounds, func() ([]*line, []claim) {
		first := normal()
		lines, claims := []*line{first}, []claim(nil)
		for i, s := range squares {
			ours := s.shortest(t)
			theirs := peers[i].line(fmt.Sprintf("projection, %d edges", len(s.edges())))
			lines = append(lines, ours, theirs)
			claims = append(claims,
				claim{of: ours, to: first, atMost: s.most / 7}, claim{of: theirs, to: ours, atLeast: s.factor})
		}
		return lines, claims
	})
	if err != nil {
		t.Error(err)
	}
}

func (s square) edges() (edges []string) {
	at := func(i, j int) string { return fmt.Sprintf("%d.%d", i, j) }
	for i := range s.side {
		for j := range s.side {
			if j+1 < s.side {
				edges = append(edges, at(i, j)+">"+at(i, j+1))
			}
			if i+1 < s.side {
				edges = append(edges, at(i, j)+">"+at(i+1, j))
			}
		}
	}
	return edges
}

// shortest returns a line that finds shortest paths; each call has other costs.
func (s square) shortest(t *testing.T) *line {
	t.Helper()
	edges := s.edges()
	set, err := catalogue.Parse(catalogue.Spec{Name: "flow", Dimension: len(edges), Radius: 1, Edges: edges})
	if err != nil {
		t.Fatal(err)
	}
	const kinds = 64
	random, costs := rand.New(rand.NewPCG(1, 1)), make([][]float64, kinds)
	for i := range costs {
		costs[i] = make([]float64, len(edges))
		for j := range costs[i] {
			costs[i][j] = random.NormFloat64()
		}
	}
	oracle, path, next := convex.NewLinearOracle(set), make([]float64, len(edges)), 0
	return &line{name: fmt.Sprintf("shortest path, %d edges", len(edges)), time: func() float64 {
		return perCall(200, 1, func() {
			oracle.Minimise(path, costs[next%kinds])
			next++
		})
	}}
}
