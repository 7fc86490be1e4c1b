package servedtest

import (
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"oriel/cmd/internal/repotest"
)

// TestShortestPathsOfAirlines learns, through a broker at ε = 4, with which airline and from which airport flights
// leave New York with the least delay. A path leads from the city to an airport, to an airline at this airport, and
// out. An event is one hour of half a year: the mean delay of each airline at each airport, from 0 to 60 minutes, and
// 15 if none flew.
func TestShortestPathsOfAirlines(t *testing.T) {
	t.Parallel()
	hours := delaysByHour(t)
	var pairs []string // pairs of airport and airline with at least 300 flights
	total := map[string][2]float64{}
	for _, hour := range hours {
		for pair, delays := range hour {
			x := total[pair]
			for _, d := range delays {
				x[0], x[1] = x[0]+d, x[1]+1
			}
			total[pair] = x
		}
	}
	for pair, x := range total {
		if x[1] >= 300 {
			pairs = append(pairs, pair)
		}
	}
	slices.Sort(pairs)
	edges := []string{"city>EWR", "city>JFK", "city>LGA"}
	for _, pair := range pairs {
		airport, _, _ := strings.Cut(pair, " ")
		edges = append(edges, airport+">"+strings.ReplaceAll(pair, " ", "-"))
	}
	for _, pair := range pairs {
		edges = append(edges, strings.ReplaceAll(pair, " ", "-")+">out")
	}
	costs := make([][]float64, len(hours))
	mean := make([]float64, len(edges))
	for i, hour := range hours {
		costs[i] = make([]float64, len(edges))
		for k, pair := range pairs {
			cost := 0.25
			if delays := hour[pair]; len(delays) > 0 {
				cost = 0
				for _, d := range delays {
					cost += min(max(d, 0), 60) / 60 / float64(len(delays))
				}
			}
			costs[i][3+k] = cost
			mean[3+k] += cost / float64(len(hours))
		}
	}
	first, last := learnsPaths(t, edges, costs)
	price := func(x []float64) (sum float64) {
		for i, v := range x {
			sum += 60 * mean[i] * v
		}
		return sum
	}
	best, even := math.Inf(1), 0.0
	for k := range pairs {
		best, even = min(best, 60*mean[3+k]), even+60*mean[3+k]/float64(len(pairs))
	}
	t.Logf("%d paths of %d edges: minutes at first %.2f, at last %.2f, evenly %.2f, at best %.2f", len(pairs), len(edges),
		price(first), price(last), even, best)
	if price(last) > best+0.4*(even-best) {
		t.Errorf("%.2f minutes at last; evenly %.2f, at best %.2f", price(last), even, best)
	}
}

// TestShortestPathsOfAGrid learns a path through a grid of 6 × 6 crossings. Each of its 60 edges costs 0 or 1, with a
// probability of its own.
func TestShortestPathsOfAGrid(t *testing.T) {
	t.Parallel()
	const side, events = 6, 3200
	rng := rand.New(rand.NewPCG(6, 6))
	var edges []string
	var probabilities []float64
	for i := range side {
		for j := range side {
			for _, to := range [][2]int{{i + 1, j}, {i, j + 1}} {
				if to[0] < side && to[1] < side {
					edges = append(edges, fmt.Sprintf("%d-%d>%d-%d", i, j, to[0], to[1]))
					probabilities = append(probabilities, rng.Float64())
				}
			}
		}
	}
	costs := make([][]float64, events)
	for k := range costs {
		costs[k] = make([]float64, len(edges))
		for i, p := range probabilities {
			if rng.Float64() < p {
				costs[k][i] = 1
			}
		}
	}
	price := func(x []float64) (sum float64) {
		for i, v := range x {
			sum += probabilities[i] * v
		}
		return sum
	}
	reached := map[string]float64{"0-0": 0} // the edges into a crossing are listed before the edges out of it
	for i, edge := range edges {
		from, to, _ := strings.Cut(edge, ">")
		if far, known := reached[to]; !known || reached[from]+probabilities[i] < far {
			reached[to] = reached[from] + probabilities[i]
		}
	}
	best := reached[fmt.Sprintf("%d-%d", side-1, side-1)]
	first, last := learnsPaths(t, edges, costs)
	t.Logf("a way costs %.2f at first, %.2f at last, %.2f at best", price(first), price(last), best)
	if price(last) > best+0.3*(price(first)-best) {
		t.Errorf("%.2f at last; %.2f at first, %.2f at best", price(last), price(first), best)
	}
}

// learnsPaths sends costs of edges through a broker at ε = 4, and returns the first and the last flow.
func learnsPaths(t *testing.T, edges []string, costs [][]float64) (first, last []float64) {
	t.Helper()
	const every = 16
	file := filepath.Join(t.TempDir(), "edges")
	if err := os.WriteFile(file, []byte(strings.Join(edges, "\n")+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	f := newFixture(t, 1, nil)
	f.plays(map[string]string{
		"ORIEL_OPERATOR": "coco", "ORIEL_LOSS": "linear", "ORIEL_UPDATE": "llo", "ORIEL_CONSTANTS": "search",
		"ORIEL_SET": "flow", "ORIEL_EDGES": file, "ORIEL_RADIUS": "1", "ORIEL_DIMENSION": strconv.Itoa(len(edges)),
		"ORIEL_MECHANISM": "blt", "ORIEL_WINDOW": "1024", "ORIEL_EPSILON": "4", "ORIEL_DELTA": "1e-6", "ORIEL_CLIP": "2.5",
		"ORIEL_STRONG_CONVEXITY": "0.02", "ORIEL_EMIT_EVERY": strconv.Itoa(every),
	}, nil)
	for _, d := range f.decisionsOf("cost", costs, every) {
		out, start := 0.0, strings.Split(edges[0], ">")[0]+">"
		for i, x := range d.Point {
			if strings.HasPrefix(edges[i], start) {
				out += x
			}
		}
		if math.Abs(out-1) > 1e-9 {
			t.Fatalf("decision %d: %g leaves the start", d.Index, out)
		}
		if last = d.Point; first == nil {
			first = last
		}
	}
	return first, last
}

// delaysByHour returns delays in minutes by airport and airline, for each hour in which a flight was due.
func delaysByHour(t *testing.T) (hours []map[string][]float64) {
	t.Helper()
	before := ""
	repotest.EachDemoFlight(t, func(column func(name string) string, late float64) {
		if now := column("month") + " " + column("day") + " " + column("hour"); now != before {
			hours, before = append(hours, map[string][]float64{}), now
		}
		hour, pair := hours[len(hours)-1], column("origin")+" "+column("carrier")
		hour[pair] = append(hour[pair], late)
	})
	return hours
}
