package main

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"

	"oriel/operators/convex"
)

// square is a grid of side × side vertices with edges to the right and down, as projection.py has it.
type square struct {
	side        int
	factor      float64 // times as fast as a projection, at least
	most        float64 // ns, where NormFloat64 takes 7
	ours, peers *line
}

// flows measures squares of 112 and 3 120 edges, in rounds of their own: what OSQP leaves in the caches slows
// others down.
func flows(ctx context.Context, python string, rounds int) error {
	squares := []square{{side: 8, factor: 100, most: 1500}, {side: 40, factor: 500, most: 10_000}}
	lines := []*line{normal()}
	for i := range squares {
		s := &squares[i]
		osqp := &peer{library: "OSQP", version: osqpVersion, script: projection, args: []int{s.side}}
		if err := osqp.start(ctx, python); err != nil {
			return err
		}
		defer osqp.stop()
		ours, err := s.shortest()
		if err != nil {
			return err
		}
		s.ours, s.peers = ours, osqp.line(fmt.Sprintf("projection, %d edges", len(s.edges())))
		lines = append(lines, s.ours, s.peers)
	}
	if err := measure(lines, rounds); err != nil {
		return err
	}
	var errs []error
	for _, s := range squares {
		errs = append(errs, s.judge(lines[0]))
	}
	return errors.Join(errs...)
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

// shortest finds shortest paths, each with other costs.
func (s square) shortest() (*line, error) {
	edges := s.edges()
	set, err := convex.Parse(convex.Spec{Name: "flow", Dimension: len(edges), Radius: 1, Edges: edges})
	if err != nil {
		return nil, err
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
	return &line{name: fmt.Sprintf("shortest path, %d edges", len(edges)), time: func() (float64, error) {
		return perCall(200, 1, func() {
			oracle.Minimise(path, costs[next%kinds])
			next++
		}), nil
	}}, nil
}

// judge holds a path to its limits. normal is the time of NormFloat64.
func (s square) judge(normal *line) error {
	factor := median(quotients(s.peers.times, s.ours.times))
	fmt.Printf("%-34s %24.0f times as fast as OSQP projects\n", s.ours.name, factor)
	limit := s.most / 7
	if ratio := median(quotients(s.ours.times, normal.times)); !(ratio <= limit) {
		return fmt.Errorf("%s: %.0f times NormFloat64, want at most %.0f", s.ours.name, ratio, limit)
	}
	if !(factor >= s.factor) {
		return fmt.Errorf("%s: %.0f times as fast as OSQP projects, want %g", s.ours.name, factor, s.factor)
	}
	return nil
}
