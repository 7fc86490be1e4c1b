package sets

import (
	"flag"
	"math/rand/v2"
	"testing"

	"oriel/operators"
	"oriel/operators/optest/flighttest"
)

var (
	flightsFile  = flag.String("flights", "", "flights.csv: figures of SPEC.md over all of it")
	airportsFile = flag.String("airports", "", "airports.csv: where they are")
)

// TestSetsOnFlights looks for three airports such that most flights end within 1 000 km of one of them, if each flight
// reports only the value of the set that it saw:
//
//	go test ./operators/sets -run TestSetsOnFlights -flights flights.csv -airports airports.csv -timeout 1h -v
func TestSetsOnFlights(t *testing.T) {
	if *flightsFile == "" || *airportsFile == "" {
		t.Skip("no -flights and -airports")
	}
	l := flighttest.ReadLandings(t, *flightsFile, *airportsFile)
	n, last := len(l.Names), len(l.Destinations)*9/10
	w := &town{rng: rand.New(rand.NewPCG(1, 99)), shares: make([]float64, n)}
	for j := range n {
		row := make([]float64, n)
		for a := range row {
			row[a] = max(0, 1-l.Kilometres(j, a)/1000)
		}
		w.values = append(w.values, row)
	}
	for _, j := range l.Destinations {
		w.shares[j] += 1 / float64(len(l.Destinations))
	}
	best, _ := w.greedy(3)
	clear(w.shares)
	for _, j := range l.Destinations[last:] {
		w.shares[j] += 1 / float64(len(l.Destinations)-last)
	}
	top, random := w.value(best), 0.0
	for range 500 {
		random += w.value(w.rng.Perm(n)[:3]) / 500
	}
	play := func(c Config, epsilon float64, seed int) float64 {
		m := machineOf(t, c, epsilon, byte(seed))
		counted := operators.ByCount(m)
		made, sum, count := m.Open(nil), 0.0, 0.0
		first, set := made[0].Index, setOf(made[0])
		for at, j := range l.Destinations {
			value := w.of(j, set)
			if at >= last {
				sum, count = sum+value, count+1
			}
			made = counted.Add(made[:0], answer(first+uint64(at%c.Actions.Records), value, int64(at)))
			if len(made) > 0 {
				first, set = made[0].Index, setOf(made[0])
			}
			if m.Stream.Ended() {
				break
			}
		}
		return (sum/count - random) / (top - random)
	}
	halving := halvingOf(n, 3, 28)
	t.Logf("%d steps of %d explore", halving.explores(), len(l.Destinations)/30)
	drawing := drawsOf(n, 3, 1, uint64(len(l.Destinations)))
	drawing.Share = 0
	fifth := drawing
	fifth.Share = 0.2
	for _, row := range []struct {
		name        string
		config      Config
		epsilon     float64
		least, most float64
	}{
		{"halving", halving, 1, 0.85, 1.1},
		{"halving at 0.1", halving, 0.1, 0.5, 1.1},
		{"draws", drawing, 1, -1, 0.5},
		{"draws of a fifth", fifth, 1, -1, 0.5},
	} {
		t.Run(row.name, func(t *testing.T) {
			mean, seeds := 0.0, 10
			if row.config.Draws {
				seeds = 1
			}
			for seed := range seeds {
				mean += play(row.config, row.epsilon, seed) / float64(seeds)
			}
			t.Logf("normal score %.4f", mean)
			if mean < row.least || mean > row.most {
				t.Errorf("normal score %.4f, want %g to %g", mean, row.least, row.most)
			}
		})
	}
}
